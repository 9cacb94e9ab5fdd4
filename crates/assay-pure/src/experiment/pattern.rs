//! Names by pattern, as a shell does: `*` is any text, `?` one character.

/// Does a name fit a pattern?
pub fn matches(pattern: &str, name: &str) -> bool {
    wildmatch::WildMatch::new(pattern).matches(name)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn fits_as_in_a_shell() {
        assert!(matches("gcc*", "gcc-12") && matches("gcc-1?", "gcc-12") && matches("gcc", "gcc"));
        assert!(!matches("gcc", "gcc-12") && !matches("gcc-?", "gcc-12"));
    }
}
