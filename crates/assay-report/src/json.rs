//! Pages as JSON, for other programs.

use crate::prose;
use serde::Serialize;

/// A page's JSON, with a newline at its end.
pub(crate) fn written(page: &impl Serialize) -> String {
    escaped(&(serde_json::to_string_pretty(page).expect("a page has only string keys") + "\n"))
}

/// JSON that may be shown: what steers a terminal, and is not escaped anyway, is. It means the same.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if prose::clean(c.encode_utf8(&mut [0; 4])) == "\u{fffd}" && c != '\u{fffd}' {
            // None lies beyond the first plane, so it is one unit of UTF-16.
            text += &format!("\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_no_terminal_and_says_the_same() {
        let name = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{fffd}é\n";
        let text = written(&[name]);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [name]);
    }
}
