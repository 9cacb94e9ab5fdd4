//! Help pages: at most 80 columns, the same option in the same words in every verb.
//!
//! What clap leaves longer is broken at words and goes on below the column where it began. clap does so itself only for
//! texts of one paragraph, and needs a feature for it; it tears examples with a remark beside them. What stands below the
//! options is in `help/`, a file per verb.

use console::measure_text_width as columns;

/// Heading of options that choose a part of what the file asks for.
pub const SELECTION: &str = "Selection";
/// Heading of options that say what is printed or written.
pub const OUTPUT: &str = "Output";
/// Heading of options that say where data are kept.
pub const STORAGE: &str = "Storage";

/// Longer lines are harder to read.
const WIDEST: usize = 80;

/// The text of a help page with no line longer than `width` columns, where words allow it.
///
/// Lines of one paragraph that were broken in the source are joined first; colours do not count as columns.
pub fn fit(text: &str, width: usize) -> String {
    let width = width.min(WIDEST);
    joined(text).iter().flat_map(|line| broken(line, width)).map(|line| line + "\n").collect()
}

/// The lines, with those of a paragraph as one: what begins at the margin goes on with a line that looks full.
fn joined(text: &str) -> Vec<String> {
    /// A line shorter than this was not broken for want of room.
    const FULL: usize = 62;
    let mut lines: Vec<String> = Vec::new();
    let mut before = 0;
    for line in text.lines() {
        let flush = !line.is_empty() && !line.starts_with(' ');
        match lines.last_mut().filter(|last| flush && before >= FULL && !last.starts_with(' ')) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
        before = columns(line);
    }
    lines
}

/// A line in as many as it takes.
fn broken(line: &str, width: usize) -> Vec<String> {
    if columns(line) <= width {
        return vec![line.trim_end().to_owned()];
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    // An example's second line is set in, a paragraph's is not.
    let mut hang = if indent == 2 { 6 } else { indent };
    let mut lines = vec![" ".repeat(indent)];
    let (mut at, mut spaces, mut fresh) = (indent, 0, true);
    for word in line.trim_start_matches(' ').split(' ') {
        if word.is_empty() {
            spaces += 1;
            continue;
        }
        spaces += usize::from(!fresh);
        let column = at + spaces;
        // Where a second column begins, its text goes on below itself if there is room, else in a line of its own.
        let second = spaces > 1 && column <= width / 2;
        if second {
            hang = column;
        }
        let apart = spaces > 1 && !second;
        if !fresh && (apart || column + columns(word) > width) {
            lines.push(" ".repeat(hang));
            (at, spaces) = (hang, 0);
        }
        let last = lines.last_mut().expect("there is a first line");
        last.push_str(&" ".repeat(spaces));
        last.push_str(word);
        at += spaces + columns(word);
        (spaces, fresh) = (0, false);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn an_option_goes_on_below_its_own_column() {
        let line = "      --units <N>   Of a program: units of work that the command does";
        let wanted = "      --units <N>   Of a program: units\n                    of work that the\n                    \
                      command does\n";
        assert_eq!(fit(line, 40), wanted);
    }

    #[test]
    fn a_remark_that_has_no_room_beside_its_example_stands_below() {
        let line = "  assay compare --bench ./bench main      against the working tree";
        assert_eq!(fit(line, 50), "  assay compare --bench ./bench main\n      against the working tree\n");
    }

    #[test]
    fn a_paragraph_is_joined_before_it_is_broken_and_short_lines_stay() {
        let text = format!("{}\nand on.\n\nExamples:\n  assay run\nshort\nlines", ["word"; 17].join(" "));
        let wanted = format!(
            "{}\n{} and on.\n\nExamples:\n  assay run\nshort\nlines\n",
            ["word"; 12].join(" "),
            ["word"; 5].join(" ")
        );
        assert_eq!(fit(&text, 60), wanted);
    }

    /// Every verb and what it is called on the command line, with the verbs inside verbs.
    fn verbs() -> Vec<(String, clap::Command)> {
        fn collect(command: &clap::Command, path: &str, all: &mut Vec<(String, clap::Command)>) {
            for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
                let path = format!("{path} {}", verb.get_name());
                collect(verb, &path, all);
                all.push((path, verb.clone()));
            }
        }
        let mut assay = Command::command();
        assay.build();
        let mut all = vec![("assay".to_owned(), assay.clone())];
        collect(&assay, "assay", &mut all);
        all
    }

    #[test]
    fn every_page_fits_80_columns_and_ends_with_exit_codes() {
        for (name, mut verb) in verbs() {
            let page = fit(&verb.render_long_help().to_string(), 100);
            let wide: Vec<&str> = page.lines().filter(|line| columns(line) > 80).collect();
            assert!(wide.is_empty(), "{name}: {wide:#?}");
            // `stages add` has the codes of `stages`.
            let last = page.rsplit("\n\n").next().unwrap_or_default();
            assert!(last.starts_with("Exit codes: ") || name == "assay stages add", "{name}: {last}");
        }
    }

    #[test]
    fn every_example_is_a_command_that_assay_takes() {
        let mut tried = 0;
        for (name, mut verb) in verbs() {
            let page = verb.render_long_help().to_string().replace("\\\n      ", "");
            for line in page.lines().filter_map(|line| line.strip_prefix("  ")) {
                // A remark stands behind two blanks.
                let line = line.split("  ").next().unwrap_or_default();
                let Some(words) = assay_link::build::text::split(line) else { continue };
                for words in words.split(|word| ["|", "&&", ">"].contains(&word.as_str())) {
                    if words.first().is_some_and(|word| word == "assay") {
                        let parsed = Command::try_parse_from(words);
                        assert!(parsed.is_ok(), "{name}: {line}\n{}", parsed.err().expect("an error"));
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 50, "{tried}");
    }

    #[test]
    fn an_option_of_several_verbs_is_described_in_the_same_words() {
        let alike = ["ledger", "store", "cpu", "quiet", "plugin", "no_pin", "output"];
        let mut said: std::collections::BTreeMap<String, (String, String)> = Default::default();
        for (name, verb) in verbs() {
            for option in verb.get_arguments().filter(|option| option.get_long().is_some()) {
                let id = option.get_id().to_string();
                let text = option.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!text.is_empty(), "{name} --{id}");
                assert!(
                    text.chars().next().is_some_and(|first| !first.is_lowercase()) || id == "source",
                    "{text}"
                );
                // `inputs fit` writes a table, both `record` what they recorded, `report` and `history`
                // pages; the others a report.
                let is_no_report = id == "output"
                    && [
                        "assay inputs fit",
                        "assay inputs record",
                        "assay trace record",
                        "assay report",
                        "assay history",
                        "assay export",
                    ]
                    .contains(&name.as_str());
                // What a recorded command prints is its output, not progress.
                let is_no_progress = id == "quiet" && name == "assay inputs record";
                if alike.contains(&id.as_str()) && !is_no_report && !is_no_progress {
                    let (first, known) = said.entry(id.clone()).or_insert((name.clone(), text.clone()));
                    assert_eq!(*known, text, "--{id} of `{first}` and of `{name}`");
                }
            }
        }
    }

    #[test]
    fn colours_take_no_room() {
        let line = format!("\u{1b}[1m{}\u{1b}[0m", ["word"; 12].join(" "));
        assert_eq!(fit(&line, 60), format!("{line}\n"));
    }
}
