//! Text that fits its place: lines that end before the margin, names of strangers in Markdown, nothing that steers a terminal.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text as it may be shown wherever it came from: a character that steers a terminal becomes `\u{fffd}`, and so does one that
/// turns the direction of writing; ends of lines and tabs stay.
///
/// Every page passes here before it is painted ([`super::ink::Palette::paint`]), so of the escape sequences on a screen none
/// is a stranger's.
pub fn clean(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || turns(c);
    if text.contains(steers) { text.replace(steers, "\u{fffd}").into() } else { text.into() }
}

/// Marks that turn the direction of what follows: a name could end where it seems to begin.
fn turns(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Breaks a text into lines of at most `width` columns, at spaces; a longer word is cut.
///
/// A number keeps to its unit and to its interval: "+8.9 % ± 0.5" is never parted. The first line starts with `first`, the
/// others with `rest`; both count towards the width. An empty text gives no line.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let room = width.saturating_sub(first.width().max(rest.width())).max(1);
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in phrases(text).iter().flat_map(|word| pieces(word, room)) {
        if !empty && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    if !empty {
        lines.push(line);
    }
    lines
}

/// Words, those that belong to a number together with it.
pub(crate) fn phrases(text: &str) -> Vec<String> {
    let mut phrases: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match phrases.last_mut().filter(|previous| belongs(previous, word)) {
            Some(previous) => {
                previous.push(' ');
                previous.push_str(word);
            }
            None => phrases.push(word.to_owned()),
        }
    }
    phrases
}

fn belongs(previous: &str, word: &str) -> bool {
    let after_number = previous.ends_with(|c: char| c.is_ascii_digit());
    let bare = word.trim_end_matches([',', ';', '.', ')', ':']);
    let is_unit =
        matches!(bare, "%" | "s" | "ms" | "µs" | "ns" | "min" | "h" | "B" | "KiB" | "MiB" | "GiB" | "TiB");
    (after_number && is_unit) || word.starts_with('±') || previous.ends_with('±')
}

/// Names are code of strangers: what Markdown or HTML would read as its own is taken literally.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c if turns(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Line breaks and other control characters of a command or a name as blanks.
pub fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The name of a file without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Shortens a text to `width` columns, the last of them "…" where something was cut.
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = head(text, width.saturating_sub(1));
    if width == 0 { String::new() } else { format!("{kept}…") }
}

/// A word in pieces that fit a line.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut left = word;
    // Not the width of all that is left: a word of megabytes would be measured anew for each piece.
    while head(left, room).len() < left.len() {
        let piece = head(left, room);
        // A single character wider than the room must still make progress.
        let at = if piece.is_empty() {
            left.chars().next().map_or(left.len(), char::len_utf8)
        } else {
            piece.len()
        };
        pieces.push(&left[..at]);
        left = &left[at..];
    }
    if !left.is_empty() {
        pieces.push(left);
    }
    pieces
}

/// The longest start of a text that fits `width` columns.
fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wrapped_line_exceeds_the_width_and_no_word_is_lost() {
        let text = "± one two three-and-a-half averyverylongwordindeedthatdoesnotfit 中文字 end";
        for width in 4..40 {
            let lines = wrap(text, width, "- ", "  ");
            for line in &lines {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
            let joined: String = lines.iter().flat_map(|line| line[2..].split_whitespace()).collect();
            assert_eq!(joined, text.split_whitespace().collect::<String>(), "{width}");
        }
    }

    #[test]
    fn a_number_is_never_parted_from_its_unit_or_interval() {
        let text = "as built +20.6 % ± 1.0, code +0.4 % ± 0.4 in 12 s, or so";
        for width in 16..40 {
            let joined = wrap(text, width, "", "").join("\n");
            for phrase in ["+20.6 % ± 1.0,", "+0.4 % ± 0.4", "12 s,"] {
                assert!(joined.contains(phrase), "{width}: {joined}");
            }
        }
    }

    #[test]
    fn a_shortened_text_ends_in_an_ellipsis_within_the_width() {
        assert_eq!(shorten("log-uniform", 11), "log-uniform");
        assert_eq!(shorten("log-uniform", 6), "log-u…");
        assert_eq!(shorten("log-uniform", 0), "");
        assert!(shorten("中文字", 4).width() <= 4);
    }
}
