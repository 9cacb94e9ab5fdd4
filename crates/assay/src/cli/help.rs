//! Help as wide as the screen: what clap leaves longer is broken at words and begins again where its column began.
//!
//! clap does so itself only for texts of one paragraph, and needs a feature for it; examples with a remark beside them it tears.

use console::measure_text_width as columns;

/// Longer lines are harder to read.
const WIDEST: usize = 120;

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
    const FULL: usize = 80;
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
    use super::*;

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

    #[test]
    fn colours_take_no_room() {
        let line = format!("\u{1b}[1m{}\u{1b}[0m", ["word"; 12].join(" "));
        assert_eq!(fit(&line, 60), format!("{line}\n"));
    }
}
