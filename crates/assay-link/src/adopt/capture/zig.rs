//! Links by zig, which has its linker inside: `zig cc`, `zig c++` and `zig build-exe`.
//!
//! A stand-in for `zig` in PATH records such a call whole, and a replay calls zig again: objects are linked only, sources
//! come from zig's own cache. zig takes no script and no list of symbols, so the padding goes ahead of all objects, and
//! those are shuffled whole. Limits: `zig build` starts zig by its own path and is not seen; sources of one call stay
//! behind its objects, in their order.
//! Source: `zig cc --help` and `zig build-exe --help` of 0.15.2.

use super::words::{PartRole, Parts};
use assay_pure::placement::order::PAD_SYMBOL;
use assay_pure::placement::shuffle::shuffled_order;
use std::io::Read;
use std::path::Path;

/// What the stand-in is called.
pub const NAME: &str = "zig";

/// Why such a link is not made again with records, as a part of a sentence.
pub const WITHOUT_RECORDS: &str = "zig links it in the call that compiles it, which is not taken apart";

/// Whether a call of zig links a program or library.
pub fn links(words: &[String]) -> bool {
    let stops = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-###", "-fno-emit-bin"];
    let verb = words.first().map_or("", String::as_str);
    let named = words.iter().skip(1).any(|word| !word.starts_with('-'));
    ["cc", "c++", "build-exe"].contains(&verb)
        && named
        && !words.iter().any(|word| stops.contains(&word.as_str()))
}

/// What a call makes that names no output: `zig build-exe` calls it like the first source.
pub fn unnamed_output(words: &[String], parts: &Parts) -> String {
    if words.first().is_none_or(|verb| verb != "build-exe") {
        return "a.out".into();
    }
    let named = words.iter().position(|word| word == "--name").and_then(|at| words.get(at + 1));
    let first = parts.parts.iter().find(|part| part.role == PartRole::Input && part.word > 0);
    let stem = first.and_then(|part| Path::new(part.value(words)).file_stem()?.to_str());
    named.map(String::as_str).or(stem).unwrap_or("a.out").to_owned()
}

/// The word that names the output where the call has none.
pub fn output_word(words: &[String], path: &Path) -> String {
    let verb = words.first().map_or("", String::as_str);
    let option = if verb == "build-exe" { "-femit-bin=" } else { "-o" };
    format!("{option}{}", path.display())
}

/// Puts the padding ahead of all inputs, and the objects in the order of a shuffle.
///
/// `files` are the inputs as they are read now, by their words.
pub fn put_order(words: &mut Vec<String>, files: &[(usize, &Path)], shuffle: u64, pad: &Path) {
    let objects: Vec<usize> =
        files.iter().filter(|(_, file)| is_object(file)).map(|(word, _)| *word).collect();
    let names: Vec<String> = objects.iter().map(|&word| words[word].clone()).collect();
    for (&word, from) in objects.iter().zip(shuffled_order(names.len(), shuffle)) {
        words[word].clone_from(&names[from]);
    }
    let keeping = match words.first().map(String::as_str) {
        Some("build-exe") => vec!["--force_undefined".to_owned(), PAD_SYMBOL.to_owned()],
        _ => vec![format!("-Wl,-u,{PAD_SYMBOL}")],
    };
    words.splice(1..1, std::iter::once(pad.to_string_lossy().into_owned()).chain(keeping));
}

/// An ELF object file, by its first bytes.
fn is_object(file: &Path) -> bool {
    let mut head = [0; 18];
    let read = std::fs::File::open(file).and_then(|mut open| open.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"\x7fELF") && (head[16] == 1 || head[17] == 1)
}

#[cfg(test)]
mod tests {
    use super::super::words;
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn calls_that_link_are_told_from_those_that_compile_or_ask() {
        for text in ["cc a.o -o app", "c++ a.cpp", "build-exe main.zig -OReleaseFast"] {
            assert!(links(&split(text)), "{text}");
        }
        for text in
            ["cc -c a.c", "cc --version", "cc -E a.c", "ar rcs x.a a.o", "version", "build-lib a.zig", "cc"]
        {
            assert!(!links(&split(text)), "{text}");
        }
    }

    #[test]
    fn what_is_made_has_the_name_that_zig_gives_it() {
        let of = |text: &str| {
            let words = split(text);
            let parts = words::parse(&words);
            unnamed_output(&words, &parts)
        };
        assert_eq!(of("build-exe src/main.zig -OReleaseFast"), "main");
        assert_eq!(of("build-exe main.zig --name tool"), "tool");
        assert_eq!(of("cc main.c"), "a.out");
        let words = split("build-exe main.zig -femit-bin=out/tool");
        assert_eq!(words::parse(&words).output(&words), "out/tool");
    }

    #[test]
    fn the_padding_comes_first_and_objects_change_places() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let object = folder.path().join("a.o");
        std::fs::write(&object, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0rest").expect("written");
        let mut words = split("cc one.o -O2 two.o text.c three.o");
        let files: Vec<(usize, &Path)> = [1, 3, 5].map(|word| (word, &*object)).to_vec();
        put_order(&mut words, &files, 0, Path::new("pad.o"));
        assert_eq!(words.join(" "), "cc pad.o -Wl,-u,assay_pad one.o -O2 two.o text.c three.o");
        let orders: std::collections::BTreeSet<String> = (1..60)
            .map(|shuffle| {
                let mut words = split("cc one.o -O2 two.o text.c three.o");
                put_order(&mut words, &files, shuffle, Path::new("pad.o"));
                words.join(" ")
            })
            .collect();
        assert_eq!(orders.len(), 6, "all orders of three objects: {orders:?}");
        assert!(orders.iter().all(|order| order.contains(" text.c ")), "a source stays");
    }
}
