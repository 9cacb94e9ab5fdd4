//! Lines and numbers as programs print them for people.
//!
//! Method: a carriage return sends the cursor back, and what follows overwrites what stood there, as on a terminal: of
//! progress only the end is left. Where one figure is printed twice (a time and a rate), the one with more digits is read.

use std::borrow::Cow;

/// The lines of a text as a terminal shows them in the end.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.contains('\r') { Cow::Owned(overwritten(line)) } else { Cow::Borrowed(line) }
    })
}

fn overwritten(line: &str) -> String {
    let mut cells: Vec<char> = Vec::new();
    for pass in line.split('\r') {
        for (column, symbol) in pass.chars().enumerate() {
            match cells.get_mut(column) {
                Some(cell) => *cell = symbol,
                None => cells.push(symbol),
            }
        }
    }
    cells.into_iter().collect()
}

/// A number as it was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PrintedNumber {
    /// The number.
    pub(super) value: f64,
    /// Its digits, without leading zeros.
    pub(super) digits: usize,
}

impl PrintedNumber {
    /// `1,234.50`: digits with commas between them and a point; no sign, no exponent.
    pub(super) fn read(text: &str) -> Option<PrintedNumber> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let groups_are_whole = whole.split(',').skip(1).all(|group| group.len() == 3);
        let plain: String = whole.split(',').collect();
        let digits_only = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits_only(&plain) || !digits_only(fraction) || !groups_are_whole || whole.starts_with(',') {
            return None;
        }
        let value = format!("{plain}.{fraction}").parse().ok()?;
        let shown = text.bytes().filter(u8::is_ascii_digit).skip_while(|byte| *byte == b'0');
        Some(PrintedNumber { value, digits: shown.count() })
    }
}

/// Of one figure printed in several ways, the value of the one with the most digits; of equals the first.
///
/// Input: each printed number with what it amounts to in a common unit.
pub(super) fn finest(ways: &[(PrintedNumber, f64)]) -> Option<f64> {
    let usable = ways.iter().filter(|(_, value)| value.is_finite());
    let best = usable.reduce(|best, other| if other.0.digits > best.0.digits { other } else { best });
    best.map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_progress_only_the_end_is_left() {
        let text = "|-file : 1.0 MB/s\r/-file : 2.5 MB/s\r 1#\nplain\r\nlonger text\rshort\n";
        let shown: Vec<Cow<'_, str>> = lines(text).collect();
        assert_eq!(shown, [" 1#ile : 2.5 MB/s", "plain", "shortr text", ""]);
    }

    #[test]
    fn printed_numbers_have_digits() {
        let read = |text: &str| PrintedNumber::read(text).map(|number| (number.value, number.digits));
        assert_eq!(read("3,476,399,985.92"), Some((3_476_399_985.92, 12)));
        assert_eq!(read("0.29"), Some((0.29, 2)));
        assert_eq!(read("0.00"), Some((0.0, 0)));
        assert_eq!(read("120"), Some((120.0, 3)));
        for text in ["", ".", "1.", ".5", "-1", "1e5", "1,23", ",123", "1,2345", "nan", "1.2.3", "1 2"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_way_with_more_digits_is_read() {
        let number = |text: &str| PrintedNumber::read(text).expect("a number");
        let (time, rate) = (number("0.29"), number("3,476,399,985.92"));
        assert_eq!(finest(&[(time, 0.29), (rate, 0.2876539)]), Some(0.2876539));
        assert_eq!(finest(&[(time, 1.0), (time, 2.0)]), Some(1.0));
        assert_eq!(finest(&[(number("0.00"), f64::INFINITY)]), None);
    }
}
