//! The command line as somebody would type it again.

use std::ffi::OsString;

/// "assay run skip.toml --quick": the words after the program's name, each as a shell reads it. Bytes that are no UTF-8 are replaced.
pub fn line(words: impl Iterator<Item = OsString>) -> String {
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("assay".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_typed() {
        let typed = ["compare", "--build", "make -j2", "a-b.toml", "it's; rm", ""];
        assert_eq!(
            line(typed.into_iter().map(OsString::from)),
            r"assay compare --build 'make -j2' a-b.toml 'it'\''s; rm' ''"
        );
    }
}
