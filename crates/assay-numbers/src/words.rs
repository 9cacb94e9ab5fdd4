//! How numbers, times and names are written in a sentence or a table: one rule for each, for every page.
//!
//! Nothing here knows what is measured. Where a caller seems to need another number of digits, either its number carries more
//! than the rule thinks, and the rule is wrong, or the reader is told digits that mean nothing.

mod compact;
mod noun;
mod number;
mod time;

pub use compact::{compact, compact_span, part};
pub use noun::{capital, list, list_or, plural, plural_noun, sentence};
pub use number::{
    any_size, asked, bytes, change, change_span, change_with_interval, confidence, count, figure,
    fine_change, fine_span, fraction, rate, rate_span, short, size_span,
};
pub use time::{TimeUnit, duration, ns, ns_with_interval, signed_time, time, time_with_interval};

#[cfg(test)]
mod tests {
    use super::*;

    /// What pages write too: `html/page/dom.js` of assay-report, compared with the same table by `scripts/page/words.cjs`.
    #[test]
    fn a_table_of_values_reads_as_on_a_page() {
        let lines = include_str!("words/table.tsv").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let [function, values, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("not three columns: {line}")
            };
            let numbers: Vec<f64> = values.split(' ').filter_map(|value| value.parse().ok()).collect();
            let written = match (function, numbers.as_slice()) {
                ("change", [ratio]) => change(*ratio),
                ("within", [ratio, lower, upper]) => change_with_interval(*ratio, *lower, *upper),
                ("fraction", [value]) => fraction(*value),
                ("asked", [value]) => asked(*value),
                ("confidence", [level]) => confidence(*level),
                ("plural", [number]) => {
                    plural(*number as u64, values.split_once(' ').expect("a number and a noun").1)
                }
                _ => panic!("what is it? {line}"),
            };
            assert_eq!(written, expected, "{line}");
        }
    }
}
