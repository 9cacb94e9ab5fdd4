//! Words in braces that the lab fills in.

use crate::experiment::diagnostic::nearest;
use crate::experiment::read::reader::{TomlReader, TomlTable};
use crate::stages::file::PLACEHOLDERS;

/// Notes what looks like a placeholder with a letter wrong. Other braces are the shell's or the program's.
pub(super) fn check_placeholders(reader: &mut TomlReader, table: &TomlTable, name: &str, text: Option<&str>) {
    let Some(text) = text else { return };
    for (at, _) in text.match_indices('{') {
        let Some(end) = text[at..].find('}') else { continue };
        let word = &text[at + 1..at + end];
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
        if !is_word || text[..at].ends_with('$') || PLACEHOLDERS.contains(&word) {
            continue;
        }
        if let Some(near) = nearest(word, PLACEHOLDERS) {
            let path = table.path_of(name);
            let problem = reader.complain(&path, format!("`{path}` has an unknown placeholder {{{word}}}"));
            problem.nearest = Some(format!("{{{near}}}"));
        }
    }
}
