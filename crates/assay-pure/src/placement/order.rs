//! In which order does a placement lay out the program's code, and how is a linker told?
//!
//! Method: the padding first, then the program's own sections in the order of the shuffle, then whatever the linker
//! puts there by itself. Sections that ask for more than 16 bytes of alignment come last among the program's own: each
//! of them swallows part of the padding, for itself and for all that follows, so nothing that could move may follow.
//!
//! Each linker has a language of its own: GNU ld is given its own default script with the order written into `.text`;
//! LLVM's lld a list of symbols; gold a list of section names.
//! Checked by: reading back links with all three (`crates/assay-link/tests/build_placement.rs`).

use super::sections::CodeSection;
use super::shuffle::shuffled_order;
use std::collections::{BTreeMap, BTreeSet};

/// The section and symbol of the padding, ahead of all code.
pub const PAD_SYMBOL: &str = "assay_pad";
/// See [`PAD_SYMBOL`].
pub const PAD_SECTION: &str = ".text.assay_pad";
/// Alignments up to this leave every phase reachable, bytes.
const MOVABLE_ALIGNMENT: u64 = 16;

/// A section of the program, and the object that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedSection {
    /// The object as a pattern of GNU ld's scripts; see [`object_pattern`] and [`member_pattern`].
    pub object: String,
    /// The section.
    pub section: CodeSection,
}

/// The pattern for the object file that the linker is given as `path`.
///
/// Characters that mean something in patterns become `?`, which any character matches.
pub fn object_pattern(path: &str) -> String {
    path.chars().map(|c| if "*?[]\\\"".contains(c) { '?' } else { c }).collect()
}

/// The pattern for a member of the archive whose path ends in `archive`.
pub fn member_pattern(archive: &str, member: &str) -> String {
    format!("*{}:{}", object_pattern(archive), object_pattern(member))
}

/// The alignment the compiler asked for, by function name; names with several are left out.
pub fn alignments(pieces: &[OrderedSection]) -> BTreeMap<&str, u64> {
    let mut known: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for piece in pieces {
        for function in &piece.section.functions {
            known.entry(function).or_default().insert(piece.section.alignment);
        }
    }
    let single = |(name, values): (_, BTreeSet<u64>)| {
        (values.len() == 1).then(|| values.first().map(|&value| (name, value))).flatten()
    };
    known.into_iter().filter_map(single).collect()
}

/// The program's pieces that lie in `.text`, in the order of a shuffle, those of larger alignment last.
pub fn ordered(pieces: &[OrderedSection], shuffle: u64) -> Vec<&OrderedSection> {
    let text: Vec<&OrderedSection> = pieces.iter().filter(|piece| piece.section.is_text()).collect();
    let mut order: Vec<&OrderedSection> =
        shuffled_order(text.len(), shuffle).into_iter().map(|index| text[index]).collect();
    order.sort_by_key(|piece| piece.section.alignment.max(MOVABLE_ALIGNMENT));
    order
}

/// Why GNU ld's script could not be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTextSection;

impl std::fmt::Display for NoTextSection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "the linker's default script has no output section named .text")
    }
}

impl std::error::Error for NoTextSection {}

/// GNU ld's default script with the padding and the program's pieces ahead of everything else in `.text`.
///
/// Input: the script as printed by `ld --verbose` under the same flags; the pieces in their order. Pieces whose names
/// the script's language cannot say stay where the default puts them, behind.
///
/// # Errors
/// The script has no `.text`.
pub fn gnu_script(default: &str, order: &[&OrderedSection]) -> Result<String, NoTextSection> {
    let body = text_body(default).ok_or(NoTextSection)?;
    let mut script = String::with_capacity(default.len() + order.len() * 120);
    script.push_str(&default[..body]);
    script.push_str(&format!("\n    KEEP (*({PAD_SECTION}))\n"));
    for piece in order.iter().filter(|piece| plain(&piece.section.name)) {
        script.push_str(&format!("    {}({})\n", word(&piece.object), piece.section.name));
    }
    script.push_str(&default[body..]);
    Ok(script)
}

/// Just behind the brace that opens the output section `.text`.
fn text_body(script: &str) -> Option<usize> {
    let mut line_start = 0;
    for line in script.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let is_text =
            line[indent..].strip_prefix(".text").is_some_and(|rest| rest.trim_start().starts_with(':'));
        if is_text {
            let from = line_start + indent;
            return script[from..].find('{').map(|brace| from + brace + 1);
        }
        line_start += line.len();
    }
    None
}

/// A file's name as a word of a script, in quotes where characters of it would end the word.
fn word(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_.$/*?:-~".contains(c);
    if name.chars().all(bare) { name.to_owned() } else { format!("\"{name}\"") }
}

/// Names that are no pattern and no syntax in a linker script.
fn plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c))
}

/// lld's `--symbol-ordering-file`: one symbol per section is enough, as sections move whole.
pub fn symbol_list(order: &[&OrderedSection]) -> String {
    let symbols = order.iter().filter_map(|piece| piece.section.symbols.first()).map(String::as_str);
    lines(PAD_SYMBOL, symbols)
}

/// gold's `--section-ordering-file`.
pub fn section_list(order: &[&OrderedSection]) -> String {
    lines(PAD_SECTION, order.iter().map(|piece| piece.section.name.as_str()).filter(|name| plain(name)))
}

fn lines<'a>(first: &'a str, rest: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in std::iter::once(first).chain(rest) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The padding as assembly, for any architecture: one section of one line plus `phase_bytes`, aligned to a line.
///
/// It is never empty, because linkers treat empty sections, and their alignment, each in its own way.
pub fn pad_assembly(phase_bytes: u32) -> String {
    format!(
        "\t.section {PAD_SECTION},\"ax\",%progbits\n\t.p2align 6\n\t.globl {PAD_SYMBOL}\n\t.hidden {PAD_SYMBOL}\n\
         \t.type {PAD_SYMBOL},%object\n{PAD_SYMBOL}:\n\t.skip 64+{phase_bytes}\n\t.size {PAD_SYMBOL},64+{phase_bytes}\n\
         \t.section .note.GNU-stack,\"\",%progbits\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &str, alignment: u64) -> OrderedSection {
        let symbols = vec![name.trim_start_matches(".text.").to_owned()];
        let section =
            CodeSection { name: name.into(), alignment, size: 4, functions: symbols.clone(), symbols };
        OrderedSection { object: "*a.o".into(), section }
    }

    #[test]
    fn what_is_aligned_to_lines_comes_last_and_what_is_not_text_not_at_all() {
        let pieces = [
            piece(".text.a", 64),
            piece(".text.b", 1),
            piece(".text.c", 32),
            piece(".init.d", 1),
            piece(".text.e", 16),
        ];
        let names: Vec<&str> = ordered(&pieces, 0).iter().map(|piece| piece.section.name.as_str()).collect();
        assert_eq!(names, [".text.b", ".text.e", ".text.c", ".text.a"]);
    }

    #[test]
    fn the_script_gets_the_order_inside_text_and_is_otherwise_as_it_was() {
        let default =
            "SECTIONS\n{\n  .rela.text : { *(.text.x) }\n  .text           :\n  {\n    *(.text)\n  }\n}\n";
        let (a, odd) = (piece(".text.a", 1), piece(".text.odd*", 1));
        let script = gnu_script(default, &[&a, &odd]).expect("there is a .text");
        let expected = "SECTIONS\n{\n  .rela.text : { *(.text.x) }\n  .text           :\n  {\n    \
                        KEEP (*(.text.assay_pad))\n    *a.o(.text.a)\n\n    *(.text)\n  }\n}\n";
        assert_eq!(script, expected);
        assert_eq!(gnu_script("SECTIONS { .data : { } }", &[]), Err(NoTextSection));
        assert_eq!(gnu_script(".text :", &[]), Err(NoTextSection));
    }

    #[test]
    fn a_path_that_scripts_cannot_say_bare_is_quoted_and_what_means_a_pattern_matches_anything() {
        assert_eq!(object_pattern("sub/a b[1].o"), "sub/a b?1?.o");
        assert_eq!(member_pattern("libx+y.a", "m*.o"), "*libx+y.a:m?.o");
        assert_eq!(word("dir/a-b.cpp.o"), "dir/a-b.cpp.o");
        assert_eq!(word("x+y (1)/a.o"), "\"x+y (1)/a.o\"");
    }

    #[test]
    fn an_alignment_is_known_where_all_sections_of_the_name_agree() {
        let pieces = [piece(".text.a", 16), piece(".text.b", 16), piece(".text.b", 32), piece(".text.c", 1)];
        assert_eq!(alignments(&pieces), BTreeMap::from([("a", 16), ("c", 1)]));
    }

    #[test]
    fn the_lists_begin_with_the_padding() {
        let (a, b) = (piece(".text.a", 1), piece(".text.b", 1));
        assert_eq!(symbol_list(&[&b, &a]), "assay_pad\nb\na\n");
        assert_eq!(section_list(&[&b, &a]), ".text.assay_pad\n.text.b\n.text.a\n");
    }

    #[test]
    fn the_padding_is_a_line_and_the_phase() {
        let assembly = pad_assembly(48);
        assert!(assembly.contains(".p2align 6\n") && assembly.contains(".skip 64+48\n"));
    }
}
