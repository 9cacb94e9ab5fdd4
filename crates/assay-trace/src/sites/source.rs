//! Source files that debug information names, read once, where they are on this machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::SystemTime;

/// A larger source was made by a program and nobody reads it.
const LARGEST_BYTES: u64 = 8 << 20;

/// A source file.
#[derive(Debug)]
pub struct SourceFile {
    /// Its text.
    pub text: String,
    /// When it was last changed.
    pub changed: Option<SystemTime>,
}

impl SourceFile {
    /// A line, from 1, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)? as usize)
    }
}

/// Source files by the paths that debug information has for them.
#[derive(Debug, Default)]
pub struct SourceFiles {
    read: RefCell<BTreeMap<String, Option<Rc<SourceFile>>>>,
}

impl SourceFiles {
    /// A file; `None` where it is not there, too large or no text.
    pub fn get(&self, path: &str) -> Option<Rc<SourceFile>> {
        if let Some(found) = self.read.borrow().get(path) {
            return found.clone();
        }
        let found = read(path).map(Rc::new);
        self.read.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

fn read(path: &str) -> Option<SourceFile> {
    let about =
        std::fs::metadata(path).ok().filter(|about| about.is_file() && about.len() <= LARGEST_BYTES)?;
    let bytes = std::fs::read(path).ok()?;
    // Old sources have names in other encodings in their comments; columns count bytes, so each stays one byte.
    let text = String::from_utf8(bytes).unwrap_or_else(|error| ascii(error.as_bytes()));
    Some(SourceFile { text, changed: about.modified().ok() })
}

fn ascii(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_what_is_not_there_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.c");
        std::fs::write(&path, b"one\ntwo \xe9\n").expect("written");
        let sources = SourceFiles::default();
        let name = path.to_str().expect("a plain path");
        let source = sources.get(name).expect("it is there");
        assert_eq!((source.line(1), source.line(2)), (Some("one"), Some("two ?")));
        assert_eq!((source.line(0), source.line(3)), (None, None));
        assert!(sources.get("/nowhere/at/all.c").is_none() && sources.get("/").is_none());
        std::fs::remove_file(&path).expect("removed");
        assert!(sources.get(name).is_some(), "it is read once");
    }
}
