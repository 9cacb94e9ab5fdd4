//! A variant that the file names and the program does not register: which function was meant, and what is left to compare.
//!
//! Functions are looked for in the sources, not in the program: a compiler drops a `static` that nothing registers. Method: a
//! line that begins a definition, as C, C++, Rust and Zig write one in the first column (in Rust also below a module).
//! Limits: what a macro makes is not found.

use super::placements::BuildGroup;
use assay_linux::given;
use assay_pure::experiment::diagnostic::nearest;
use assay_pure::experiment::matrix::{Cell, Contrast};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What the sources say of a variant that is not registered: the function of that name, or of one near it, that none registers.
pub fn function(wanted: &str, sources: &[PathBuf]) -> Option<String> {
    fn read(path: &Path) -> Option<(&Path, String)> {
        let bytes = given::read(path, given::DATA).ok()?;
        Some((path, String::from_utf8_lossy(&bytes).into_owned()))
    }
    let texts: Vec<(&Path, String)> = sources.iter().filter_map(|path| read(path)).collect();
    function_in(wanted, &texts)
}

fn function_in(wanted: &str, texts: &[(&Path, String)]) -> Option<String> {
    let is_registered = |name: &str| {
        let lines = texts.iter().flat_map(|(_, text)| text.lines());
        lines.filter(|line| registers(line)).any(|line| words(line).any(|word| word == name))
    };
    let defined: Vec<(&Path, &str)> = texts
        .iter()
        .flat_map(|(path, text)| text.lines().filter_map(defined).map(move |name| (*path, name)))
        .filter(|(_, name)| !is_registered(name))
        .collect();
    let name = nearest(wanted, defined.iter().map(|(_, name)| *name))?;
    let (path, _) = defined.iter().find(|(_, own)| *own == name)?;
    let nothing = match path.extension().and_then(|ending| ending.to_str()) {
        Some("rs") => "no `.variant(...)` registers it",
        Some("zig") => "it is none of the variants that are registered",
        _ => "no ASSAY_VARIANT registers it",
    };
    Some(format!("`{name}` is a function of {}, but {nothing}", path.file_name()?.to_string_lossy()))
}

fn registers(line: &str) -> bool {
    ["ASSAY_VARIANT", "variant(", "assay."].iter().any(|word| line.contains(word))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The function that a line begins to define.
fn defined(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("fn ") {
        return words(&rest[..rest.find(['(', '<'])?]).next();
    }
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || line.trim_end().ends_with(';') || line.contains("ASSAY_") {
        return None;
    }
    words(&line[..line.find('(')?]).last()
}

/// The cells of these groups that no other is left for to compare them with, where the experiment compares them at all.
pub fn without_a_rival(
    groups: &HashSet<BuildGroup>,
    contrasts: &[Contrast],
    cells: &[Cell],
    failed: &HashSet<Cell>,
) -> Vec<Cell> {
    let has_one = |group: BuildGroup| {
        let mut own = contrasts
            .iter()
            .filter(|contrast| [contrast.candidate, contrast.baseline].map(BuildGroup::of).contains(&group))
            .peekable();
        own.peek().is_none()
            || own
                .any(|contrast| !failed.contains(&contrast.candidate) && !failed.contains(&contrast.baseline))
    };
    let alone: HashSet<BuildGroup> = groups.iter().copied().filter(|&group| !has_one(group)).collect();
    cells.iter().copied().filter(|&cell| alone.contains(&BuildGroup::of(cell))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::experiment::axis::Axis;

    fn told(wanted: &str, file: &str, text: &str) -> Option<String> {
        function_in(wanted, &[(Path::new(file), text.to_owned())])
    }

    #[test]
    fn the_function_that_none_registers_is_named_by_its_file() {
        let c = "static uint64_t forgotten(const uint8_t *data, size_t size)\n{\n    return data[0];\n}\n\
                 uint64_t known(const uint8_t *data, size_t size) {\nASSAY_VARIANT(\"known\", known)\nASSAY_MAIN()\n";
        let says =
            Some("`forgotten` is a function of program.c, but no ASSAY_VARIANT registers it".to_owned());
        assert_eq!(told("forgotten", "program.c", c), says);
        assert_eq!(told("forgoten", "program.c", c), says, "a near name");
        assert_eq!(told("know", "program.c", c), None, "it is registered");
        let rust = "pub fn forgotten<T>(data: &[T]) -> u64 {\n";
        let says = "`forgotten` is a function of main.rs, but no `.variant(...)` registers it";
        assert_eq!(told("forgotten", "main.rs", rust).as_deref(), Some(says));
        assert_eq!(told("other", "program.c", "int other(int);\n"), None, "only declared");
    }

    #[test]
    fn what_is_left_alone_is_out_and_what_still_has_a_rival_stays() {
        let cell = |variant, compiler| Cell { variant, input: 0, compiler, flags: 0 };
        let cells: Vec<Cell> =
            (0..2).flat_map(|compiler| (0..3).map(move |variant| cell(variant, compiler))).collect();
        let contrast = |candidate| Contrast {
            axis: Axis::Variant,
            candidate,
            baseline: Cell { variant: 0, ..candidate },
        };
        let contrasts: Vec<Contrast> =
            cells.iter().filter(|cell| cell.variant > 0).map(|&cell| contrast(cell)).collect();
        let lacking: HashSet<BuildGroup> = cells.iter().map(|&cell| BuildGroup::of(cell)).collect();
        // With the first compiler two of three are missing, with the second one.
        let failed: HashSet<Cell> = [cell(1, 0), cell(2, 0), cell(1, 1)].into();
        let out = without_a_rival(&lacking, &contrasts, &cells, &failed);
        assert_eq!(out, [cell(0, 0), cell(1, 0), cell(2, 0)]);
        assert_eq!(without_a_rival(&lacking, &[], &cells, &failed), [], "nothing is compared");
    }
}
