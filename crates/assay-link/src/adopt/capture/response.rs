//! Files that hold further words of a call, `@FILE`, which drivers write where a call is long and remove afterwards.
//!
//! Source: libiberty's `expandargv`, which GNU ld, gold, mold and (on Linux) lld follow: words end at white space, may be
//! quoted by `'` or `"`, and a backslash takes the next character as it is. A file that cannot be read is a plain word.

use std::path::Path;

/// Files within files; more are a circle.
const DEPTH: usize = 16;

/// All words, those in files included.
pub fn expanded(words: &[String], folder: &Path) -> Vec<String> {
    let mut all = Vec::with_capacity(words.len());
    expand(words, folder, DEPTH, &mut all);
    all
}

fn expand(words: &[String], folder: &Path, depth: usize, all: &mut Vec<String>) {
    for word in words {
        let file = word.strip_prefix('@').filter(|_| depth > 0);
        match file.and_then(|file| std::fs::read_to_string(folder.join(file)).ok()) {
            Some(text) => expand(&split(&text), folder, depth - 1, all),
            None => all.push(word.clone()),
        }
    }
}

/// A text as words.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let current = &mut word;
        match (c, quote) {
            ('\\', _) => current.get_or_insert_default().extend(characters.next()),
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => current.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (c, None) if c.is_ascii_whitespace() => words.extend(current.take()),
            (c, None) => current.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Words as the text of such a file.
pub fn written(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        text.push('"');
        for c in word.chars() {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_linkers_split_them() {
        assert_eq!(
            split("-o x\n a.o\t\"b c.o\" 'd\"e' f\\ g ''"),
            ["-o", "x", "a.o", "b c.o", "d\"e", "f g", ""]
        );
        assert_eq!(split("a\"b c\"d"), ["ab cd"]);
        assert_eq!(split("'a\\'b' "), ["a'b"]);
        assert_eq!(split(" \n"), Vec::<String>::new());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let words: Vec<String> = ["a b", "c\"d", "e\\f", "", "g'h", "-o"].map(String::from).to_vec();
        assert_eq!(split(&written(&words)), words);
    }

    #[test]
    fn files_of_words_take_the_place_of_their_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("inner"), "b.o @missing").expect("written");
        std::fs::write(folder.path().join("outer"), "-o x @inner").expect("written");
        std::fs::write(folder.path().join("circle"), "@circle y").expect("written");
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(expanded(&words("a.o @outer c.o"), folder.path()), words("a.o -o x b.o @missing c.o"));
        assert_eq!(expanded(&words("@circle"), folder.path()).len(), DEPTH + 1);
    }
}
