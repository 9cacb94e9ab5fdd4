//! A benchmark command for some of its benchmarks only, and for few iterations of one.
//!
//! Google Benchmark and divan read the environment; criterion, divan and libtest take arguments, which are written at the end of a
//! plain command. Whether they understood them is seen by the names that they report.

use super::executed::{ExecutedCommand, program_words, words};
use assay_link::adopt::bench::{Adapter, BenchCommand};
use assay_link::adopt::capture::started;
use std::ffi::OsString;
use std::path::Path;

/// Bytes of one argument or variable that every kernel takes, with room to spare.
const LONGEST: usize = 100_000;

/// The command for these benchmarks only, where its library can be asked for some by name.
pub fn only_these(command: &BenchCommand, names: &[&str]) -> Option<BenchCommand> {
    let all = |of: &dyn Fn(&str) -> String| names.iter().map(|name| of(name)).collect::<Vec<_>>().join("|");
    let filter = match command.adapter {
        Adapter::GoogleBenchmark => all(&|name| only(own_name(name))),
        Adapter::Criterion => all(&only),
        // The program is no part of the name that its filter sees; what stands between the others depends on the version.
        Adapter::Divan => all(&|name| {
            name.split('/').skip(1).map(escaped).collect::<Vec<_>>().join("(::|/| )(.*::)?") + "$"
        }),
        Adapter::Libtest => String::new(),
        _ => return None,
    };
    let arguments = if command.adapter == Adapter::Libtest {
        [&["--exact"], names].concat()
    } else {
        vec![filter.as_str()]
    };
    if arguments.iter().map(|word| word.len()).sum::<usize>() > LONGEST {
        return None;
    }
    if command.adapter == Adapter::GoogleBenchmark {
        return Some(BenchCommand { filter: Some(filter), ..command.clone() });
    }
    let words = with_arguments(&command.command, &arguments)?;
    Some(BenchCommand { command: words, ..command.clone() })
}

/// How one benchmark is executed under the emulator.
#[derive(Clone, Debug)]
pub struct CountedBench {
    /// All that it does, in as few iterations as can be.
    pub whole: BenchCommand,
    /// The same in another number of iterations; none where its library cannot be asked for one.
    pub other: Option<OtherIterations>,
}

/// A benchmark in another number of iterations.
#[derive(Clone, Debug)]
pub struct OtherIterations {
    /// Its command.
    pub command: BenchCommand,
    /// So many iterations more, or fewer.
    pub further: i32,
    /// Nothing else differs: what the library does for a benchmark as such is the same.
    pub alone: bool,
}

/// The commands for one benchmark; none where its library cannot be asked for one. libtest measures as long as it likes.
pub fn counted(command: &BenchCommand, name: &str) -> Option<CountedBench> {
    let one = only_these(command, &[name])?;
    let with = |variables: &[(&str, &str)]| {
        let mut one = one.clone();
        one.environment
            .extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        one
    };
    let further = |command, further| Some(OtherIterations { command, further, alone: true });
    match command.adapter {
        Adapter::GoogleBenchmark => {
            let filter = only(own_name(name));
            let so_long = |time| {
                with(&[
                    ("BENCHMARK_FILTER", &filter),
                    ("BENCHMARK_REPETITIONS", "1"),
                    ("BENCHMARK_MIN_TIME", time),
                ])
            };
            // A number of iterations since 1.8. Before, it would run as long as it likes.
            Some(CountedBench { whole: so_long("0.000000001"), other: further(so_long("4x"), 3) })
        }
        Adapter::Divan => {
            let iterations = |number| with(&[("DIVAN_SAMPLE_COUNT", "1"), ("DIVAN_SAMPLE_SIZE", number)]);
            Some(CountedBench { whole: iterations("1"), other: further(iterations("5"), 4) })
        }
        Adapter::Criterion => {
            let test = |command: &str, words: &[&str]| {
                Some(BenchCommand { command: with_arguments(command, words)?, ..one.clone() })
            };
            // One iteration, and no benchmark at all.
            let other = test(&command.command, &["^$", "--test"]);
            let other = other.map(|command| OtherIterations { command, further: -1, alone: false });
            Some(CountedBench { whole: test(&one.command, &["--test"])?, other })
        }
        _ => Some(CountedBench { whole: one, other: None }),
    }
}

/// The words by which a command is executed under the emulator; several programs where it starts several. cargo itself is not
/// executed there, but what it would start.
///
/// Input: `scratch`, a folder for what is found out on the way.
pub fn traced(command: &BenchCommand, scratch: &Path) -> Vec<Vec<OsString>> {
    let BenchCommand { command, folder, environment, .. } = command;
    let is_cargo = command.split_whitespace().any(|word| word == "cargo");
    let programs =
        if is_cargo { started(command, folder, environment, &scratch.join("started")) } else { Vec::new() };
    if programs.is_empty() {
        return vec![words(&ExecutedCommand { command, folder, environment })];
    }
    programs.into_iter().map(program_words).collect()
}

/// A plain command with more arguments for the benchmark program; none where the shell would do something else with them.
fn with_arguments(command: &str, arguments: &[&str]) -> Option<String> {
    if command.contains(['|', '&', ';', '<', '>', '(', ')', '`', '#', '\n']) {
        return None;
    }
    let has = |wanted: &str| command.split_whitespace().any(|word| word == wanted);
    let mut words = command.to_owned();
    if has("cargo") && !has("--") {
        words += " --";
    }
    for argument in arguments {
        words += &format!(" '{}'", argument.replace('\'', r"'\''"));
    }
    Some(words)
}

/// What a benchmark is called inside its program: names of several programs begin with the program's.
pub fn own_name(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, own)| own)
}

/// A regular expression that matches this name alone, as POSIX, ECMAScript and Rust read it: `\<` is a name's to some of them.
fn only(name: &str) -> String {
    format!("^{}$", escaped(name))
}

/// A regular expression that matches this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for symbol in text.chars() {
        if r"\.+*?()|[]{}^$".contains(symbol) {
            pattern.push('\\');
        }
        pattern.push(symbol);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(adapter: Adapter, command: &str, names: &[&str]) -> Option<(String, Option<String>)> {
        let command = BenchCommand { adapter, ..BenchCommand::new(command, Path::new("/")) };
        only_these(&command, names).map(|found| (found.command, found.filter))
    }

    #[test]
    fn a_name_is_asked_for_literally() {
        assert_eq!(only("BM_sort<int>/64"), "^BM_sort<int>/64$");
        assert_eq!(only("of(a|b)[2]. x"), r"^of\(a\|b\)\[2\]\. x$");
    }

    #[test]
    fn each_library_is_asked_in_its_own_way() {
        let google = asked(Adapter::GoogleBenchmark, "make bench", &["suite: BM<int>/8", "b"]);
        assert_eq!(google, Some(("make bench".into(), Some("^BM<int>/8$|^b$".into()))));
        let criterion = |command| asked(Adapter::Criterion, command, &["group/it's"]).map(|found| found.0);
        assert_eq!(
            criterion("cargo bench --bench b").as_deref(),
            Some(r"cargo bench --bench b -- '^group/it'\''s$'")
        );
        assert_eq!(
            criterion("cargo bench -- --noplot").as_deref(),
            Some(r"cargo bench -- --noplot '^group/it'\''s$'")
        );
        assert_eq!(criterion("./b --bench").as_deref(), Some(r"./b --bench '^group/it'\''s$'"));
        for script in ["cargo bench | tee log", "cargo bench; true", "(cargo bench)", "cargo bench > log"] {
            assert_eq!(criterion(script), None, "{script}");
        }
        assert_eq!(asked(Adapter::Nanobench, "./b", &["a"]), None);
        let divan = asked(Adapter::Divan, "./b", &["program/group/of 8"]).unwrap().0;
        assert_eq!(divan, "./b 'group(::|/| )(.*::)?of 8$'");
        let libtest = asked(Adapter::Libtest, "cargo bench", &["a::b", "c"]).unwrap().0;
        assert_eq!(libtest, "cargo bench -- '--exact' 'a::b' 'c'");
    }
}
