//! The description as lines of text, for a terminal of 80 columns.

use super::describe::ClassMeaning;
use super::{ClassShare, Description, Format};
use crate::words::{any_size, count, plural, rate};

/// Columns of the longest bar.
const BAR_COLUMNS: f64 = 32.0;

/// Rows of the histogram; what is left is added up in one more.
const ROWS: usize = 12;

/// With at least this many branch outcomes, no predictor that we have measured has memorised an input: Zen 4
/// knows all of 30,000 outcomes, half of 50,000 and none of 100,000.
const NEVER_LEARNT: u64 = 100_000;

impl Description {
    /// The description as lines of at most 80 columns, warnings last.
    pub fn summary_lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} in {}, {:.3} bytes per unit ({})",
            plural(self.units, "unit"),
            plural(self.bytes, "byte"),
            self.bytes_per_unit,
            self.format_name()
        )];
        if self.units == 0 {
            return lines;
        }
        lines.push(String::new());
        lines.extend(self.histogram_lines());
        lines.push(String::new());
        lines.extend(self.history_lines());
        if has_branch_of(self) {
            lines.extend(wrapped(match self.meaning {
                Some(ClassMeaning::Value) => "Misses: lower bound for one branch on the value.",
                _ => "Misses: lower bound for one branch on whether a unit is below the one before it.",
            }));
        }
        lines.push(String::new());
        lines.extend(self.fact_lines());
        lines.extend(self.order_lines());
        for warning in self.period_warning().into_iter().chain(self.length_warning()) {
            lines.push(String::new());
            lines.extend(wrapped(&format!("warning: {warning}")));
        }
        lines
    }

    /// Says so if the input is a stretch repeated at least twice.
    ///
    /// Units that are all alike do not count as a repetition unless their bytes are one as well: such an input is what
    /// its histogram says, and nobody is misled.
    pub fn period_warning(&self) -> Option<String> {
        let (period, units) = (self.class_period_units, self.units);
        if self.classes.len() > 1 && period <= units / 2 {
            return Some(format!(
                "the {} repeat every {period} units ({:.1} times): a predictor that remembers one period \
                 predicts everything after it, so this input measures its memory.",
                match self.meaning {
                    Some(ClassMeaning::Value) => "values",
                    Some(ClassMeaning::Comparison) => "comparisons of neighbours",
                    None if self.format == Format::Bytes => "values",
                    None => "lengths",
                },
                units as f64 / period as f64
            ));
        }
        let (period, bytes) = (self.byte_period_bytes, self.bytes);
        (bytes > 0 && period <= bytes / 2).then(|| {
            format!("the bytes repeat every {period} bytes ({:.1} times).", bytes as f64 / period as f64)
        })
    }

    /// Says so if an input of varints, numbers or records is short enough to be memorised when it is walked through again and again.
    pub fn length_warning(&self) -> Option<String> {
        // One branch for each byte of a varint, and for each number or record at least one.
        let outcomes = match self.format {
            Format::Varint => self.bytes,
            Format::Numbers(_) | Format::Records(_) => self.units,
            _ => return None,
        };
        let learnable = self.classes.len() > 1 && outcomes < NEVER_LEARNT;
        learnable.then(|| {
            format!(
                "one pass has only {}; repeated, a predictor memorises them (Zen 4: 30,000 yes, {} no). Use a longer input to measure fresh data.",
                plural(outcomes, "branch"),
                count(NEVER_LEARNT)
            )
        })
    }

    fn format_name(&self) -> String {
        match self.format {
            Format::Varint => "varints".to_owned(),
            Format::Whole => "one whole".to_owned(),
            Format::Records(size) => format!("records of {size} bytes"),
            Format::JsonLines => "JSON lines".to_owned(),
            other => other.word(),
        }
    }

    fn histogram_lines(&self) -> Vec<String> {
        // Too many classes (bytes have 256): the most frequent ones, still by rising class.
        let mut by_count: Vec<&ClassShare> = self.classes.iter().collect();
        by_count.sort_by_key(|class| (std::cmp::Reverse(class.count), class.class));
        let (shown, others) = by_count.split_at(by_count.len().min(ROWS));
        let mut shown = shown.to_vec();
        shown.sort_by_key(|class| class.class);
        let largest = shown.iter().map(|class| class.share).fold(0.0, f64::max);

        let mut lines = vec![format!("{:<18}{:>12}{:>9}", self.class_heading(), "units", "share")];
        for class in &shown {
            let bar = "#".repeat((class.share / largest * BAR_COLUMNS).round() as usize);
            let line = format!(
                "{:<18}{:>12}{:>8.2}%  {bar}",
                self.class_name(class.class),
                class.count,
                100.0 * class.share
            );
            lines.push(line.trim_end().to_string());
        }
        if !others.is_empty() {
            let count: u64 = others.iter().map(|class| class.count).sum();
            let share = 100.0 * count as f64 / self.units as f64;
            lines.push(format!("{:<18}{count:>12}{share:>8.2}%", format!("{} others", others.len())));
        }
        lines
    }

    fn class_heading(&self) -> &'static str {
        match self.format {
            Format::Varint => "encoded length",
            Format::Lines | Format::JsonLines => "line length",
            Format::Bytes => "value",
            Format::Whole => "size",
            Format::Messages(_) => "message length",
            Format::Numbers(_) | Format::Records(_) => match self.meaning {
                Some(ClassMeaning::Value) => "value",
                _ => "than the last",
            },
        }
    }

    fn class_name(&self, class: u64) -> String {
        match self.format {
            Format::Bytes => format!("0x{class:02x}"),
            Format::Lines | Format::JsonLines | Format::Messages(_) if class > 1 => {
                format!("{class}-{} bytes", 2 * class - 1)
            }
            Format::Numbers(number) if self.meaning == Some(ClassMeaning::Value) => number.show(class),
            Format::Numbers(_) | Format::Records(_) => match class {
                0 => "less".to_string(),
                1 => "equal".to_string(),
                2 => "greater".to_string(),
                _ => "not comparable".to_string(),
            },
            _ if class == 1 => "1 byte".to_string(),
            _ => format!("{class} bytes"),
        }
    }

    fn history_lines(&self) -> Vec<String> {
        let has_branch = self.histories.iter().any(|history| history.floor_misses_per_unit.is_some());
        let misses = if self.format == Format::Varint || has_branch { "fewest misses/unit" } else { "" };
        let mut lines =
            vec![format!("{:<18}{:>12}{:>16}{misses:>22}", "units remembered", "contexts", "entropy, bits")];
        for history in &self.histories {
            // Refused for want of units, which is said rather than left blank.
            let figure =
                |value: Option<f64>| value.map_or("too few units".to_string(), |value| format!("{value:.3}"));
            let misses =
                if misses.is_empty() { String::new() } else { figure(history.floor_misses_per_unit) };
            let entropy = figure(history.entropy_bits_per_unit);
            let line = format!("{:<18}{:>12}{entropy:>16}{misses:>22}", history.order, history.contexts);
            lines.push(line.trim_end().to_string());
        }
        lines.iter().map(|line| line.trim_end().to_string()).collect()
    }

    /// What numbers, records, lines and messages are beside their classes.
    fn fact_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(numbers) = &self.numbers {
            if let Some((least, greatest)) = numbers.range {
                lines.push(format!("from {} to {}", any_size(least, 5), any_size(greatest, 5)));
            }
            if let (Some(mean), Some(deviation)) = (numbers.mean, numbers.deviation) {
                let next = numbers.correlation.map(|next| format!("; correlation with the next {next:.3}"));
                let next = next.unwrap_or_default();
                lines.push(format!(
                    "mean {}, standard deviation {}{next}",
                    any_size(mean, 5),
                    any_size(deviation, 5)
                ));
            }
            if let (Some(nan), Some(denormal)) = (numbers.nan_share, numbers.denormal_share)
                && nan + denormal > 0.0
            {
                lines.push(format!("not a number: {}; denormal: {}", rate(nan), rate(denormal)));
            }
        }
        if let Some(sequence) = &self.sequence {
            let zipf = sequence
                .rank_exponent
                .map_or(String::new(), |exponent| format!("; Zipf's exponent {exponent:.2}"));
            lines.push(format!(
                "{} distinct; the most frequent is {} of all{zipf}",
                count(sequence.distinct),
                rate(sequence.commonest_share)
            ));
            let inversions = sequence.inversions.map_or(String::new(), |inversions| {
                let per_unit = inversions as f64 / self.units as f64;
                format!("; {} ({} per unit)", plural(inversions, "inversion"), any_size(per_unit, 5))
            });
            lines.push(format!("mean ascending run: {:.2}{inversions}", sequence.ascending_run_units));
        }
        if let Some(share) = self.hit_share {
            lines.push(format!("in its table: {} of the units", rate(share)));
        }
        if let Some(text) = &self.text {
            let zipf = text
                .rank_exponent
                .map_or(String::new(), |exponent| format!("; Zipf's exponent {exponent:.2}"));
            lines.push(format!(
                "{}, {} distinct{zipf}",
                plural(text.words, "word"),
                count(text.distinct_words)
            ));
            lines.push(match text.non_ascii_share {
                Some(share) => format!("letters that are not ASCII: {}", rate(share)),
                None => "not UTF-8".to_owned(),
            });
            lines.push(format!("standard deviation of line lengths: {:.1} bytes", text.line_deviation));
        }
        if let Some(messages) = &self.messages {
            lines.push(format!("mean message: {} bytes without its length", any_size(messages.mean_size, 5)));
            if let Some(missing) = messages.missing_share {
                lines.push(format!("messages begin with their number: {} are missing", rate(missing)));
            }
        }
        lines
    }

    fn order_lines(&self) -> Vec<String> {
        let equal = match self.meaning {
            Some(ClassMeaning::Comparison) => "equal comparisons",
            _ => "equal units",
        };
        let mut lines = vec![format!("mean run of {equal}: {:.2}", self.mean_run_units)];
        if let (Some(branches), Some(floor)) = (self.branches_per_unit, self.floor_misses_per_unit) {
            lines.push(format!("branches of the byte loop: {branches:.3} per unit"));
            lines.push(format!(
                "floor of independent lengths: {floor:.3} misses per unit, {} of them",
                rate(floor / branches)
            ));
        }
        lines
    }
}

/// Whether the fewest misses are of a branch that has to be explained.
fn has_branch_of(description: &Description) -> bool {
    description.meaning.is_some()
        && description.histories.iter().any(|history| history.floor_misses_per_unit.is_some())
}

/// Breaks a text into lines of at most 80 columns at its spaces.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= 80 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::inputs::{Format, Generator, describe};

    #[test]
    fn a_varint_stream_is_summed_up_like_this() {
        let lengths = [vec![1u8; 15], [0x80, 1].repeat(5)].concat();
        let found = describe(&lengths, Format::Varint).expect("well formed");
        // Miller-Madow at order 0: .8113 + 1 / (40 ln 2) = .847 bits; order 1: 14 of 15 ones are followed by a one.
        assert_eq!(
            found.summary_lines()[..9],
            [
                "20 units in 25 bytes, 1.250 bytes per unit (varints)",
                "",
                "encoded length           units    share",
                "1 byte                      15   75.00%  ################################",
                "2 bytes                      5   25.00%  ###########",
                "",
                "units remembered      contexts   entropy, bits    fewest misses/unit",
                "0                            1           0.847                 0.250",
                "1                            2   too few units         too few units",
            ]
        );
    }

    #[test]
    fn fits_eighty_columns_whatever_the_format() {
        let bytes = Generator::LogUniform { min_bits: 0, max_bits: 64 }.generate(1000, 1).repeat(3);
        for format in [Format::Varint, Format::Lines, Format::Bytes, Format::Whole] {
            let lines = describe(&bytes, format).expect("well formed").summary_lines();
            assert!(lines.iter().all(|line| line.len() <= 80), "{lines:#?}");
            assert!(lines.len() > 8);
        }
    }

    #[test]
    fn many_classes_are_cut_to_the_most_frequent_and_the_rest_counted() {
        let mut bytes: Vec<u8> = (0..=255).collect();
        bytes.extend([200; 9]);
        let lines = describe(&bytes, Format::Bytes).expect("bytes are bytes").summary_lines();
        assert!(lines.iter().any(|line| line.starts_with("0xc8") && line.contains(" 10 ")), "{lines:#?}");
        assert!(
            lines.iter().any(|line| line.starts_with("244 others") && line.contains(" 244 ")),
            "{lines:#?}"
        );
    }

    #[test]
    fn warnings_come_last_and_are_wrapped() {
        let bytes = Generator::LogUniform { min_bits: 0, max_bits: 32 }.generate(100, 1).repeat(9);
        let text = describe(&bytes, Format::Varint).expect("well formed").summary_lines().join("\n");
        assert!(text.contains("\n\nwarning: the lengths repeat every 100 units (9.0 times)"), "{text}");
        assert!(text.contains("\n\nwarning: one pass has only"), "{text}");
    }
}
