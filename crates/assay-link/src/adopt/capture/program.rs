//! The code of a captured link's own objects: which pieces a placement can order, and which it cannot.

use super::call::LinkerCall;
use assay_pure::placement::order::{self, OrderedSection};
use assay_pure::placement::sections::{CodeSection, ObjectCode, code_sections};
use object::read::archive::ArchiveFile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Objects named in a warning.
const NAMED: usize = 3;

/// What a placement of a link cannot do, and what the reader can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementLimit {
    /// The same for every link that has it.
    pub what: String,
    /// The objects or functions of this link that have it.
    pub of: Option<String>,
}

impl<T: Into<String>> From<T> for PlacementLimit {
    fn from(what: T) -> Self {
        PlacementLimit { what: what.into(), of: None }
    }
}

impl std::fmt::Display for PlacementLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.of {
            Some(of) => write!(f, "{} ({of})", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// The objects and members of archives that the build made.
#[derive(Debug, Default)]
pub struct BuiltObjects {
    /// Their sections of code.
    pub pieces: Vec<OrderedSection>,
    /// The linker generates some of the code.
    pub link_time: bool,
    /// An ELF file of the link, which tells the machine.
    pub model: Option<Vec<u8>>,
    /// Objects with all their functions in one section.
    whole: Vec<String>,
    objects: usize,
}

impl BuiltObjects {
    /// Reads them. `words` are those of the replay, whose names the linker's scripts must use, `files` what each input
    /// of the call is read from.
    pub fn read(call: &LinkerCall, words: &[String], files: &[PathBuf]) -> Self {
        let mut program = Self::default();
        for (input, file) in call.inputs.iter().zip(files).filter(|(input, _)| input.kept.is_some()) {
            program.file(file, &words[input.word]);
        }
        if program.model.is_none() {
            program.model = call.inputs.iter().find_map(|input| elf(&input.file));
        }
        program
    }

    fn file(&mut self, path: &Path, word: &str) {
        let Ok(bytes) = std::fs::read(path) else { return };
        if bytes.starts_with(b"!<") {
            self.archive(path, &bytes);
        } else {
            self.object(&bytes, &order::object_pattern(word), word);
        }
    }

    fn archive(&mut self, path: &Path, bytes: &[u8]) {
        let Ok(archive) = ArchiveFile::parse(bytes) else { return };
        let base = file_name(path);
        for member in archive.members().flatten() {
            let name = String::from_utf8_lossy(member.name()).into_owned();
            if archive.is_thin() {
                let file = path.parent().unwrap_or(Path::new("/")).join(&name);
                if let Ok(content) = std::fs::read(&file) {
                    // The linker knows such a member by the archive and the path in it.
                    self.object(&content, &order::member_pattern(&base, &format!("*{name}")), &name);
                }
            } else if let Ok(content) = member.data(bytes) {
                self.object(content, &order::member_pattern(&base, &name), &name);
            }
        }
    }

    fn object(&mut self, bytes: &[u8], pattern: &str, name: &str) {
        let Ok(code) = code_sections(bytes) else { return };
        if self.model.is_none() && bytes.starts_with(b"\x7fELF") {
            self.model = Some(bytes.to_vec());
        }
        self.objects += 1;
        match code {
            ObjectCode::LinkTime => self.link_time = true,
            ObjectCode::Sections(sections) => {
                if sections.iter().any(is_whole) {
                    self.whole.push(file_name(Path::new(name)));
                }
                let pieces = sections
                    .into_iter()
                    .map(|section| OrderedSection { object: pattern.to_owned(), section });
                self.pieces.extend(pieces);
            }
        }
    }

    /// The names of its functions; nothing if they are not known before the link.
    pub fn function_names(&self) -> Option<BTreeSet<&str>> {
        let names = self
            .pieces
            .iter()
            .filter(|piece| piece.section.is_text())
            .flat_map(|piece| &piece.section.functions);
        (!self.link_time).then(|| names.map(String::as_str).collect())
    }

    /// What cannot be placed as asked.
    pub fn limits(&self) -> Vec<PlacementLimit> {
        let mut found = Vec::new();
        if !self.whole.is_empty() {
            found.push(PlacementLimit {
                what: "functions of one object move together; compile with -ffunction-sections to place each"
                    .into(),
                of: Some(format!("{} of {} objects: {}", self.whole.len(), self.objects, some(&self.whole))),
            });
        }
        let elsewhere: Vec<String> =
            self.pieces.iter().filter(|piece| !piece.section.is_text()).map(described).collect();
        if !elsewhere.is_empty() {
            found.push(PlacementLimit {
                what: "the padding before .text may not move functions in other sections".into(),
                of: Some(some(&elsewhere)),
            });
        }
        found
    }
}

/// All functions of an object in one section.
fn is_whole(section: &CodeSection) -> bool {
    section.name == ".text" && section.functions.len() > 1
}

fn described(piece: &OrderedSection) -> String {
    let section = &piece.section;
    format!("{} in {}", section.functions.first().map_or("code", String::as_str), section.name)
}

fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let first = names[..names.len() - more].join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn elf(file: &PathBuf) -> Option<Vec<u8>> {
    std::fs::read(file).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))
}
