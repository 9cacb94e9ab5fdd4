//! The tables of `openssl speed`, and its lines for machines (`-mr`).
//!
//! Method: below a head `type 16 bytes 64 bytes ...` a row has a rate per size, in thousands of bytes per second where a `k`
//! follows; `sha256/1024 bytes` is then the time of one byte. Below a head `sign verify sign/s verify/s` (or `op op/s`, or
//! with more columns) a row has seconds and rates of the same operations: `rsa 2048 bits/verify` is the time of one, by the
//! column with more digits. Of `-mr`, `+H` and `+F` are the head and the rows of the former.
//! Limits: other lines of `-mr` are seconds in one version and rates in another; they are left out, with a note. It runs for a
//! fixed time (`-seconds`), so the time of the whole command says nothing. User time unless `-elapsed` is given.
//! Source: apps/speed.c of OpenSSL 1.0.2 to 3.4.
//! Checked by: its tables in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, finest, lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};

/// How errors and `--adapter` name it.
pub const NAME: &str = "openssl-speed";
const NS_PER_S: f64 = 1e9;

/// What the rows that follow have.
enum SpeedHead {
    /// A rate per size.
    Sizes(Vec<String>),
    /// The same for machines.
    MachineSizes(Vec<String>),
    /// Seconds of each operation, then rates of each.
    Operations(Vec<String>),
}

/// Whether a head was printed with a row below it.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    !rows(&output.stdout).is_empty()
}

/// Reads all tables.
///
/// # Errors
/// There is none, or none has a rate above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let rows = rows(&output.stdout);
    if rows.is_empty() {
        let expected = "its table `type 16 bytes 64 bytes ...`, or the one of `sign/s verify/s` or `op/s`";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures::default();
    if output.stdout.lines().any(is_ambiguous) {
        let note = "Lines from +F2 on of openssl speed -mr are left out, as their unit depends on the version; without -mr \
                    they are read.";
        reading.notes.push(note.to_owned());
    }
    for ((name, per), values) in repetitions(rows) {
        reading.add(name, Unit::ns_per(per), BenchmarkClock::Manual, &values, None);
    }
    reading.or_failed(NAME)
}

fn is_ambiguous(line: &str) -> bool {
    line.strip_prefix("+F").is_some_and(|rest| rest.starts_with(|symbol: char| symbol.is_ascii_digit()))
}

/// Names with what one time is of, and nanoseconds.
fn rows(text: &str) -> Vec<((String, &'static str), f64)> {
    let mut found = Vec::new();
    let mut known: Option<SpeedHead> = None;
    for line in lines(text) {
        match head(&line) {
            Some(next) => known = Some(next),
            None => found.extend(known.as_ref().and_then(|head| row(head, &line)).into_iter().flatten()),
        }
    }
    found
}

fn head(line: &str) -> Option<SpeedHead> {
    if let Some(sizes) = line.strip_prefix("+H:") {
        let sizes: Vec<String> = sizes.split(':').map(|size| format!("{size} bytes")).collect();
        return Some(SpeedHead::MachineSizes(sizes));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if let ["type", sizes @ ..] = &words[..] {
        let pairs = sizes.chunks(2);
        let all = pairs.clone().all(|pair| matches!(pair, [size, "bytes"] if size.parse::<u64>().is_ok()));
        return (all && !sizes.is_empty())
            .then(|| SpeedHead::Sizes(pairs.map(|pair| pair.join(" ")).collect()));
    }
    let (times, rates) = words.split_at(words.len() / 2);
    let all = !times.is_empty()
        && times.len() == rates.len()
        && times.iter().zip(rates).all(|(time, rate)| is_rate_of(time, rate));
    all.then(|| SpeedHead::Operations(times.iter().map(|time| (*time).to_owned()).collect()))
}

/// `verify/s` is the rate of `verify`, `encr./s` that of `encrypt`, `keygens/s` that of `keygen`.
fn is_rate_of(time: &str, rate: &str) -> bool {
    let stem = rate.strip_suffix("/s").map(|stem| stem.strip_suffix(['.', 's']).unwrap_or(stem));
    let is_word = time.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word && stem.is_some_and(|stem| !stem.is_empty() && (time.starts_with(stem) || rate.starts_with(time)))
}

type Row = Vec<((String, &'static str), f64)>;

fn row(head: &SpeedHead, line: &str) -> Option<Row> {
    match head {
        SpeedHead::MachineSizes(sizes) => {
            let (_, named) = line.strip_prefix("+F:")?.split_once(':')?;
            let words: Vec<&str> = named.split(':').collect();
            rates(sizes, &words)
        }
        SpeedHead::Sizes(sizes) => rates(sizes, &line.split_whitespace().collect::<Vec<_>>()),
        SpeedHead::Operations(names) => operations(names, &line.split_whitespace().collect::<Vec<_>>()),
    }
}

/// A name, then bytes per second for each size, with a `k` where they are thousands.
fn rates(sizes: &[String], words: &[&str]) -> Option<Row> {
    let (name, values) = named(words, sizes.len())?;
    let one = |(size, value): (&String, &&str)| {
        let (value, scale) = value.strip_suffix('k').map_or((*value, 1.0), |value| (value, 1e3));
        let rate = PrintedNumber::read(value)?;
        Some(((format!("{name}/{size}"), "byte"), NS_PER_S / (rate.value * scale)))
    };
    sizes.iter().zip(values).map(one).collect()
}

/// A name, then the seconds of each operation, then how many of each there are in a second.
fn operations(names: &[String], words: &[&str]) -> Option<Row> {
    let (name, values) = named(words, 2 * names.len())?;
    let (times, rates) = values.split_at(names.len());
    let one = |((operation, time), rate): ((&String, &&str), &&str)| {
        let (time, rate) = (PrintedNumber::read(time.strip_suffix('s')?)?, PrintedNumber::read(rate)?);
        let ns = finest(&[(rate, NS_PER_S / rate.value), (time, time.value * NS_PER_S)]).unwrap_or(0.0);
        Some(((format!("{name}/{operation}"), "op"), ns))
    };
    names.iter().zip(times).zip(rates).map(one).collect()
}

/// The words before the last `count`, as a name, and those.
fn named<'a, 'b>(words: &'a [&'b str], count: usize) -> Option<(String, &'a [&'b str])> {
    let (name, values) = words.split_at_checked(words.len().checked_sub(count)?)?;
    (!name.is_empty()).then(|| (name.join(" "), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Vec<(String, f64)> {
        let output = BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() };
        assert!(is_in(&output), "{text}");
        let found = read(&output).unwrap().figures;
        found.into_iter().map(|figure| (figure.name, figure.values[0])).collect()
    }

    #[test]
    fn a_rate_per_size_is_the_time_of_a_byte() {
        let text = "OpenSSL 1.0.2\nThe 'numbers' are in 1000s of bytes per second processed.\n\
                    type             16 bytes     64 bytes\n\
                    aes-128 cbc     100000.00k   200000.00k\nsha256            8000.00      12500.00k\n";
        let expected = [
            ("aes-128 cbc/16 bytes".to_owned(), 10.0),
            ("aes-128 cbc/64 bytes".to_owned(), 5.0),
            ("sha256/16 bytes".to_owned(), 125_000.0),
            ("sha256/64 bytes".to_owned(), 80.0),
        ];
        assert_eq!(figures(text), expected);
        let machine = "+H:16:64\n+F:22:aes-128 cbc:100000000.00:200000000.00\n+F2:0:512:1.0:2.0\n";
        assert_eq!(figures(machine), expected[..2]);
        let noted =
            read(&BenchmarkOutput { stdout: machine.into(), ..BenchmarkOutput::default() }).unwrap().notes;
        assert!(noted[0].contains("without -mr"), "{noted:?}");
    }

    #[test]
    fn operations_are_read_by_the_column_with_more_digits() {
        let text = "                  sign    verify    sign/s verify/s\n\
                    rsa 2048 bits 0.000625s 0.000019s   1600.0  50000.0\n\
                    rsa 15360 bits 2.500000s 0.000900s      0.4   1111.1\n\
                              op      op/s\n 253 bits ecdh (X25519)   0.0000s  20000.0\n";
        let expected = [
            ("rsa 2048 bits/sign", 625_000.0),
            ("rsa 2048 bits/verify", 20_000.0),
            ("rsa 15360 bits/sign", 2.5e9),
            ("rsa 15360 bits/verify", 1e9 / 1111.1),
            ("253 bits ecdh (X25519)/op", 50_000.0),
        ];
        assert_eq!(figures(text), expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn rows_without_a_head_and_other_tables_are_none() {
        for text in [
            "aes-128 cbc     100000.00k   200000.00k\n",
            "type 16 bytes\n",
            "type 16 bytes\naes 12.0M\n",
            "name sign/s\nrsa 0.1s 10.0\n",
            "sign sign/s\nrsa 0.1 10.0\n",
            "+F:22:aes:100.0\n",
        ] {
            let output = BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() };
            assert!(!is_in(&output), "{text}");
            assert!(matches!(read(&output), Err(FigureError::Nothing { .. })), "{text}");
        }
    }
}
