//! What would the kernel make of this file? Linux, fs/exec.c, fs/binfmt_script.c: the first 256 bytes decide.

use assay_predict::trace::channel::process;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

/// Interpreters of interpreters that the kernel follows.
const DEPTH: usize = 5;

/// A file that is to be executed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// For the emulator's architecture; for a script, what stands in front of its path.
    Program { interpreter: Vec<CString> },
    /// A program of another architecture.
    Other,
    /// No program that the kernel would execute.
    None,
}

pub(super) fn look_at(path: &CStr, architecture: u32) -> Image {
    look_deeper(path, architecture, DEPTH)
}

fn look_deeper(path: &CStr, architecture: u32, depth: usize) -> Image {
    let Some(head) = read_head(path) else {
        return Image::None;
    };
    let Some(line) = head.strip_prefix(b"#!") else {
        return machine(&head, architecture);
    };
    let Some(words) = (depth > 0).then(|| interpreter(line)).flatten() else {
        return Image::None;
    };
    match look_deeper(&words[0], architecture, depth - 1) {
        Image::Program { interpreter } => Image::Program { interpreter: [interpreter, words].concat() },
        other => other,
    }
}

fn read_head(path: &CStr) -> Option<Vec<u8>> {
    let file = File::open(std::ffi::OsStr::from_bytes(path.to_bytes())).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    file.take(256).read_to_end(&mut head).ok()?;
    Some(head)
}

fn machine(head: &[u8], architecture: u32) -> Image {
    if head.len() < 20 || !head.starts_with(b"\x7fELF") {
        return Image::None;
    }
    let number = u16::from_le_bytes([head[18], head[19]]);
    let ours = match architecture {
        process::AARCH64 => 183,
        _ => 62,
    };
    if head[4] == 2 && head[5] == 1 && number == ours {
        Image::Program { interpreter: Vec::new() }
    } else {
        Image::Other
    }
}

/// The interpreter and its one argument.
fn interpreter(line: &[u8]) -> Option<Vec<CString>> {
    let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (program, argument) = (&line[..end], line[end..].trim_ascii());
    let words = [program, argument].into_iter().filter(|word| !word.is_empty());
    let words: Vec<CString> = words.map(|word| CString::new(word).ok()).collect::<Option<_>>()?;
    (!program.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_script_is_cut_as_the_kernel_cuts_it() {
        let words = |line: &[u8]| interpreter(line);
        assert_eq!(words(b"/bin/sh\nrest"), Some(vec![c"/bin/sh".to_owned()]));
        let two = Some(vec![c"/usr/bin/env".to_owned(), c"python3 -u".to_owned()]);
        assert_eq!(words(b" /usr/bin/env  python3 -u \n"), two);
        assert_eq!(words(b"\n"), None);
        assert_eq!(words(b"/bin/s\0h\n"), None);
    }

    #[test]
    fn machines_are_told_apart() {
        let mut head = [0; 64];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        head[18] = 62;
        let program = Image::Program { interpreter: Vec::new() };
        assert_eq!(machine(&head, process::X86_64), program);
        assert_eq!(machine(&head, process::AARCH64), Image::Other);
        head[18] = 183;
        assert_eq!(machine(&head, process::AARCH64), program);
        head[4] = 1;
        assert_eq!(machine(&head, process::AARCH64), Image::Other);
        assert_eq!(machine(b"text", process::X86_64), Image::None);
    }
}
