//! Does casebook/COVERAGE.md name only what exists, and does it count its own rows rightly?
//!
//! Method: the third cell of each row holds references in backquotes, `FILE` or `FILE#NAME`, relative to the casebook. A
//! file or folder must be tracked; a name must stand in it as a word of its own, in a TOML file as a name, a key or the
//! last part of a table's header.
//! Limits: that a row's words are true is not seen.

use super::rules::Violation;
use super::source::File;

pub const DOCUMENT: &str = "casebook/COVERAGE.md";

/// Rows without a place to look, references to what does not exist, and counts that are not those of the rows.
pub fn problems(document: &File, files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut complain = |line: usize, what: String| {
        found.push(Violation { path: document.path.clone(), line: line + 1, what });
    };
    let (mut rows, mut open) = (0, 0);
    for (line, text) in document.text.lines().enumerate() {
        let cells: Vec<&str> = text.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if !text.starts_with("| ") || cells[0] == "place" {
            continue;
        }
        rows += 1;
        open += usize::from(text.contains("**open**"));
        let [_, _, places, finding] = cells[..] else {
            complain(line, format!("{} cells, where a row has 4", cells.len()));
            continue;
        };
        let references: Vec<&str> = places.split('`').skip(1).step_by(2).collect();
        if references.is_empty() || finding.is_empty() {
            complain(line, "a row has a place to look and a finding".to_string());
        }
        for reference in references {
            if let Some(why) = missing(reference, files) {
                complain(line, format!("`{reference}`: {why}"));
            }
        }
    }
    let counted = format!("There are {open} of {rows}.");
    if !document.text.contains(&counted) {
        complain(0, format!("its head does not say \"{counted}\""));
    }
    found
}

/// Why a reference leads nowhere.
fn missing(reference: &str, files: &[File]) -> Option<String> {
    let (path, name) = reference.split_once('#').map_or((reference, None), |(path, name)| (path, Some(name)));
    let path = path.strip_prefix("../").map_or_else(|| format!("casebook/{path}"), str::to_string);
    let Some(file) = files.iter().find(|file| file.path == path) else {
        return Some("no such file".to_string());
    };
    let name = name?;
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let stands =
        |at: usize| !file.text[..at].ends_with(word) && !file.text[at + name.len()..].starts_with(word);
    let named = |line: &str| {
        let line = line.trim();
        let key = line.split('=').next().unwrap_or(line).trim().trim_matches(|c| c == '[' || c == ']');
        let value = line.contains(&format!("\"{name}\""));
        !line.starts_with('#') && (key.rsplit('.').next() == Some(name) || value)
    };
    let found = match path.ends_with(".toml") {
        true => file.text.lines().any(named),
        false => file.text.match_indices(name).any(|(at, _)| stands(at)),
    };
    (!found).then(|| format!("{path} has no such name"))
}

mod planted {
    use super::*;

    fn lines(rows: &str, head: &str) -> Vec<usize> {
        let file = |path: &str, text: &str| File { path: path.to_string(), text: text.to_string() };
        let text =
            format!("{head}\n| place | what it says | where | what was found |\n|---|---|---|---|\n{rows}");
        let files = [
            file(
                "casebook/a/experiment.toml",
                "# was: loop\n[[variants]]\nname = \"table\"\n[inputs.random]\n",
            ),
            file("casebook/a/main.c", "int decode_all(void);\n"),
        ];
        problems(&file(DOCUMENT, &text), &files).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn sees_files_and_names_that_do_not_exist() {
        let good =
            "| x | y | `a/experiment.toml#table`, `a/experiment.toml#random`, `a/main.c#decode_all` | z |\n";
        assert_eq!(lines(good, "There are 0 of 1."), [0_usize; 0]);
        for bad in ["a/other.toml", "a/experiment.toml#loop", "a/experiment.toml#rand", "a/main.c#decode"] {
            assert_eq!(lines(&format!("| x | y | `{bad}` | z |\n"), "There are 0 of 1."), [4], "{bad}");
        }
    }

    #[test]
    fn sees_rows_without_a_place_and_wrong_counts() {
        assert_eq!(lines("| x | y | somewhere | z |\n", "There are 0 of 1."), [4]);
        assert_eq!(lines("| x | y | `a/main.c` |\n", "There are 0 of 1."), [4]);
        assert_eq!(lines("| x | y | `a/main.c` | **open**: all of it |\n", "There are 0 of 1."), [1]);
        assert_eq!(
            lines("| x | y | `a/main.c` | **open**: all of it |\n", "There are 1 of 1."),
            [0_usize; 0]
        );
    }
}
