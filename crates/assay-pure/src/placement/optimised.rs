//! Was the code built without optimisation, so that its times say nothing about the code that ships?
//!
//! Method: the flags that were given; and, in a binary with debug information, the producer that GNU compilers record
//! with their flags. Limits: clang records no flags unless asked to; compressed debug information is not read.

use super::layout;
use object::{Object, ObjectSection};

/// Why the code counts as unoptimised, or `None`.
///
/// Input: all flags of the compilation in order (the last `-O` counts, as for the compilers); the linked binary, of
/// which the debug information is read if there is any. A file that cannot be read is judged by the flags alone.
pub fn unoptimised(flags: &[String], elf: &[u8]) -> Option<String> {
    by_flags(flags).or_else(|| by_producer(elf))
}

fn by_flags(flags: &[String]) -> Option<String> {
    match flags.iter().rev().find(|flag| flag.starts_with("-O")) {
        None => Some("no -O flag was given, and compilers do not optimise by themselves".into()),
        Some(flag) if flag == "-O0" => Some("-O0 was given".into()),
        Some(_) => None,
    }
}

/// A string of `.debug_str` like "GNU C17 12.2.0 -mtune=generic -g" without any `-O`.
fn by_producer(elf: &[u8]) -> Option<String> {
    let file = layout::parse(elf).ok()?;
    let mut found = None;
    for name in [".debug_str", ".debug_line_str"] {
        let Some(section) = file.section_by_name(name) else { continue };
        let Ok(data) = section.data() else { continue };
        for string in data.split(|&byte| byte == 0) {
            // GNU AS writes a producer too, and assembly is as its author wrote it.
            if string.starts_with(b"GNU C") && unoptimised_producer(&String::from_utf8_lossy(string)) {
                found = Some(format!("the debug information names {}", String::from_utf8_lossy(string)));
            }
        }
    }
    found
}

fn unoptimised_producer(producer: &str) -> bool {
    match producer.split_whitespace().rev().find(|word| word.starts_with("-O")) {
        None => producer.contains(" -m"),
        Some(flag) => flag == "-O0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_last_flag_counts() {
        assert_eq!(unoptimised(&flags("-O0 -g -O2"), b""), None);
        assert_eq!(unoptimised(&flags("-O3 -O0"), b""), Some("-O0 was given".into()));
        assert!(unoptimised(&flags("-g -Wall"), b"").is_some());
        for optimised in ["-O", "-O1", "-Os", "-Og", "-Ofast"] {
            assert_eq!(unoptimised(&flags(optimised), b""), None, "{optimised}");
        }
    }

    #[test]
    fn a_producer_with_flags_but_without_optimisation_is_told_from_the_others() {
        assert!(unoptimised_producer("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g"));
        assert!(unoptimised_producer("GNU C++17 12.2.0 -mtune=generic -O2 -O0"));
        assert!(!unoptimised_producer("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2"));
        assert!(!unoptimised_producer("GNU C17"));
    }
}
