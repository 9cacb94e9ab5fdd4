//! Which files a compilation read, from the rule that compilers write with `-MD`, and which others could matter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Components of a path by which a header may be included: "a.h", "b/a.h", "c/b/a.h".
const INCLUDE_COMPONENTS: usize = 3;

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

/// Files that a compilation did not read although their names fit an include folder and what it read, so that one more
/// of them may come before a header in the search: a new `include/stdio.h`, say.
pub fn rivals(folder: &Path, flags: &[String], read: &[String]) -> BTreeSet<PathBuf> {
    let known: BTreeSet<PathBuf> = read.iter().map(|path| folder.join(path)).collect();
    // A header in quotes is looked for beside the file that includes it.
    let beside =
        read.iter().filter(|path| Path::new(path).is_relative()).filter_map(|path| Path::new(path).parent());
    let searched: BTreeSet<PathBuf> =
        include_folders(flags).into_iter().chain(beside).map(|path| folder.join(path)).collect();
    let names: BTreeSet<PathBuf> = read.iter().flat_map(|path| included_as(Path::new(path))).collect();
    let candidates = searched.iter().flat_map(|place| names.iter().map(move |name| place.join(name)));
    candidates.filter(|path| !known.contains(path) && path.is_file()).collect()
}

fn included_as(path: &Path) -> Vec<PathBuf> {
    let components: Vec<_> = path.components().collect();
    (1..=INCLUDE_COMPONENTS.min(components.len()))
        .map(|count| components[components.len() - count..].iter().collect())
        .filter(|name: &PathBuf| name.is_relative())
        .collect()
}

/// The folders that flags name for headers, as `-Ifolder` or `-I folder`.
fn include_folders(flags: &[String]) -> Vec<&Path> {
    const OPTIONS: [&str; 4] = ["-I", "-iquote", "-isystem", "-idirafter"];
    let mut found = Vec::new();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let Some(option) = OPTIONS.iter().find(|option| word.starts_with(**option)) else { continue };
        match &word[option.len()..] {
            "" => found.extend(words.next().map(Path::new)),
            folder => found.push(Path::new(folder)),
        }
    }
    found
}

/// Files that flags name, which no rule lists: profiles, response files, lists of functions.
pub fn named_by_flags(folder: &Path, flags: &[String]) -> BTreeSet<PathBuf> {
    let value = |flag: &String| {
        let value = flag.strip_prefix('@').or_else(|| flag.split_once('=').map(|(_, value)| value));
        folder.join(value.unwrap_or(flag))
    };
    flags.iter().map(value).filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_would_be_found_before_another_is_a_rival() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let put = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            std::fs::write(&path, "").expect("written");
            path
        };
        let flags = ["-Ifirst", "-I", "second"].map(str::to_owned);
        let read = ["src/main.c", "second/sys/a.h", "/usr/include/stdio.h"].map(str::to_owned);
        put("second/sys/a.h");
        put("first/unrelated.h");
        assert!(rivals(folder.path(), &flags, &read).is_empty());
        let expected = [put("first/stdio.h"), put("first/sys/a.h"), put("src/a.h")];
        assert_eq!(rivals(folder.path(), &flags, &read), BTreeSet::from(expected));
    }

    #[test]
    fn files_that_flags_name_are_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["main.profdata", "more.flags"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let flags = ["-O2", "-std=c11", "-fprofile-use=main.profdata", "@more.flags"].map(str::to_owned);
        let found = named_by_flags(folder.path(), &flags);
        let expected = ["main.profdata", "more.flags"].map(|name| folder.path().join(name));
        assert_eq!(found, BTreeSet::from(expected));
    }

    #[test]
    fn names_with_blanks_and_dollars_are_read_as_they_are() {
        let rule = "x/out.o: a.c include/b\\ c.h \\\n /usr/d$$e.h f\\#.h\n\na.h:\n";
        assert_eq!(prerequisites(rule), ["a.c", "include/b c.h", "/usr/d$e.h", "f#.h"]);
        assert!(prerequisites("").is_empty());
    }
}
