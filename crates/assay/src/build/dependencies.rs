//! Which files a compilation read, from the rule that compilers write with `-MD`.

/// The prerequisites of the first rule in a Make file, in order.
///
/// Source: GCC's `mkdeps.cc`, which LLVM follows: a blank is written `\ `, `#` as `\#`, `$` as `$$`, and a backslash
/// before the end of a line joins it with the next.
pub fn prerequisites(rule: &str) -> Vec<String> {
    let rule = rule.replace("\\\r\n", " ").replace("\\\n", " ");
    let line = rule.lines().next().unwrap_or("");
    let Some((_, list)) = line.split_once(": ") else { return Vec::new() };
    let mut found = Vec::new();
    let mut word = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ (' ' | '#' | '\\'))) => {
                word.push(next);
                chars.next();
            }
            ('$', Some('$')) => {
                word.push('$');
                chars.next();
            }
            (' ' | '\t', _) => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_and_dollars_are_read_as_they_are() {
        let rule = "x/out.o: a.c include/b\\ c.h \\\n /usr/d$$e.h f\\#.h\n\na.h:\n";
        assert_eq!(prerequisites(rule), ["a.c", "include/b c.h", "/usr/d$e.h", "f#.h"]);
        assert!(prerequisites("").is_empty());
    }
}
