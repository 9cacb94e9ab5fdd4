//! The texts of what zig compiles.
//!
//! Question: from which text would an object of zig's be made? Written beside an object, zig's text is other code; written alone it
//! is the object's. Method: who calls zig keeps the call under the hash of the object's bytes, and it is made again for the text
//! (`-fno-emit-bin -femit-asm`). zig writes Intel's syntax and names of any characters. The names are replaced (`plain_names`),
//! then the assembler of clang, which zig has inside, puts the text into AT&T's syntax and makes objects of texts like it. What
//! zig has compiled by clang is compiled again with an empty cache, where clang tells its command (`clang`).
//! Whether an object is that of its text is compared (`pairs`).
//! Limits: zig must tell the features of the processor, which decide over padding, as 0.15 does with
//! `--verbose-llvm-cpu-features`; not for musl. Checked: `crates/assay/tests/programs/zig.rs`.

use super::assembler::texts;
use super::clang::{self, ClangCall};
use super::run::{run, said};
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::{digest, short_digest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// What names the file that zig is to write, and what has it write none.
const OUTPUT: &str = "-femit-bin=";
const NO_OUTPUT: &str = "-fno-emit-bin";
/// What names the folder of what it has compiled before.
const CACHE: &str = "--cache-dir";
/// What a line that tells a link begins with.
const LLD: &str = "ld.lld ";
/// How the line begins with which it tells the features of the processor.
const FEATURES: &str = "features: ";
/// Directives whose quotation marks are not around symbols.
const OF_STRINGS: [&str; 5] = [".ascii", ".asciz", ".string", ".file", ".ident"];

/// The text of an object.
pub struct ZigText {
    /// The text.
    pub text: String,
    assembler: ClangCall,
    /// zig, and the words for a link of the object alone, if zig made one: equal strings of an object become one there.
    link: Option<Vec<String>>,
    folder: PathBuf,
}

impl ZigText {
    /// Makes an object of a text like this one.
    pub fn assemble(&self, source: &Path, object: &Path) -> Result<(), String> {
        let Some(link) = &self.link else { return self.assembler.assemble(source, object) };
        let assembled = object.with_extension("assembled");
        self.assembler.assemble(source, &assembled)?;
        let mut command = Command::new(&link[0]);
        with_the_lab(&mut command).args(&link[1..]).arg("-o").args([object, &assembled]);
        run(command.current_dir(&self.folder))
            .map_err(|why| format!("the object with records does not link: {why}"))?;
        fs::remove_file(&assembled).map_err(|error| format!("{}: {error}", assembled.display()))
    }
}

/// One call of zig that made an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ZigCall {
    /// zig and its words.
    pub words: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The object's name, if clang inside zig compiled it, of C or C++.
    pub by_clang: Option<String>,
    /// All that zig said, told to tell its links (`--verbose-link`).
    pub said: String,
}

impl ZigCall {
    fn place(texts: &Path, object: &str) -> PathBuf {
        texts.join(format!("{object}.zig"))
    }

    /// The call that made an object, by the hash of its bytes.
    pub fn of(texts: &Path, object: &str) -> Option<ZigCall> {
        serde_json::from_slice(&fs::read(Self::place(texts, object)).ok()?).ok()
    }

    /// Keeps it for links of a store, under the hash of the object that it made.
    ///
    /// # Errors
    /// The object cannot be read, or the call not be written.
    pub fn keep(&self, store: &Path, object: &Path) -> io::Result<()> {
        let (texts, object) = (texts(&store.join("kept")), digest(&fs::read(object)?));
        fs::create_dir_all(&texts)?;
        let beside = texts.join(format!(".{object}-{}", std::process::id()));
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(beside, Self::place(&texts, &object))
    }

    /// The words of zig as a driver for C, for the same system.
    pub fn driver(&self) -> Vec<String> {
        let target = self.words.iter().position(|word| word == "-target");
        let target = target.and_then(|at| self.words.get(at..at + 2)).unwrap_or_default();
        [&[self.words[0].clone(), "cc".to_owned()], target].concat()
    }

    /// The text of the object, and what makes objects of texts like it. Below `scratch` lies what is written meanwhile.
    ///
    /// # Errors
    /// Why zig does not say, as part of a sentence.
    pub fn text(&self, scratch: &Path) -> Result<ZigText, String> {
        if self.words.iter().any(|word| word.contains("-musl")) {
            return Err("the log begins ahead of all constructors, which musl cannot (.preinit_array)".into());
        }
        let _ = fs::remove_dir_all(scratch);
        fs::create_dir_all(scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let told = match &self.by_clang {
            Some(object) => self.clang_text(object, scratch),
            None => self.own_text(scratch),
        };
        let _ = fs::remove_dir_all(scratch);
        let (text, assembler) = told?;
        Ok(ZigText { text, assembler, link: self.link(), folder: self.folder.clone() })
    }

    /// The words of a link of the object alone, as zig told it: what lld makes of strings depends on `-O`.
    fn link(&self) -> Option<Vec<String>> {
        let told = self.said.lines().find_map(|line| line.strip_prefix(LLD))?;
        let is_kept = |word: &&str| *word == "-r" || word.starts_with("-O");
        let words = told.split(' ').filter(is_kept).map(str::to_owned);
        Some([self.words[0].clone(), LLD.trim().to_owned()].into_iter().chain(words).collect())
    }

    fn own_text(&self, scratch: &Path) -> Result<(String, ClangCall), String> {
        let (intel, text) = (scratch.join("intel.s"), scratch.join("text.s"));
        let mut words = self.without_output();
        words.push("--verbose-llvm-cpu-features".into());
        words.push(format!("-femit-asm={}", intel.display()));
        let told = self.run(&words, &[])?;
        let features = told.lines().find_map(|line| line.trim().strip_prefix(FEATURES));
        let features = features.ok_or("zig does not tell for which processor it compiles")?;
        let written = plain_names(&read(&intel)?);
        fs::write(&intel, written).map_err(|error| format!("{}: {error}", intel.display()))?;
        let assembler = ClangCall::with_features(&self.words[0], &self.folder, features);
        assembler.translate(&intel, &text)?;
        Ok((read(&text)?, assembler))
    }

    fn clang_text(&self, object: &str, scratch: &Path) -> Result<(String, ClangCall), String> {
        let log = scratch.join("log");
        let mut words = self.without_output();
        for at in 1..words.len() {
            if words[at - 1] == CACHE {
                words[at] = scratch.join("cache").display().to_string();
            }
        }
        self.run(&words, &[(clang::LOGS, Path::new("1")), (clang::LOG, &log)])?;
        let calls = ClangCall::read_all(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        // zig has it write beside its cache, under a number and this name.
        let is_it = |made: &Path| {
            let name = made.file_name().unwrap_or_default().to_string_lossy();
            name.strip_suffix(object).is_some_and(|number| number.ends_with('-'))
        };
        let mut calls = calls.into_iter().filter(|(made, _)| is_it(made)).map(|(_, call)| call);
        match (calls.next(), calls.next()) {
            (Some(call), None) => Ok((call.text(&scratch.join("text.s"))?, call)),
            (None, _) => Err("called again for its text, zig does not have it compiled".into()),
            (Some(_), Some(_)) => Err("zig has several files of this name compiled; rename one".into()),
        }
    }

    fn without_output(&self) -> Vec<String> {
        let words = self.words.iter().filter(|word| !word.starts_with(OUTPUT)).cloned();
        words.chain([NO_OUTPUT.to_owned()]).collect()
    }

    fn run(&self, words: &[String], variables: &[(&str, &Path)]) -> Result<String, String> {
        let mut command = Command::new(&words[0]);
        with_the_lab(&mut command).args(&words[1..]).current_dir(&self.folder);
        command.envs(variables.iter().copied());
        said(&mut command).map_err(|why| format!("called again for its text, zig refused: {why}"))
    }
}

fn read(text: &Path) -> Result<String, String> {
    let bytes = fs::read(text).map_err(|error| format!("{}: {error}", text.display()))?;
    String::from_utf8(bytes).map_err(|_| "what zig writes as its text is no text".to_owned())
}

/// The text with a plain name for each symbol and section that is in quotation marks, the same one for the same name in any text.
/// clang's assembler writes a quotation mark in a name so that it does not read it back.
fn plain_names(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let directive = line.split_whitespace().next().unwrap_or_default();
        let mut rest = line;
        while let Some(from) = rest.find(['"', '#']).filter(|from| rest.as_bytes()[*from] == b'"') {
            let Some(length) = quoted_length(&rest[from..]) else { break };
            let name = &rest[from + 1..from + length - 1];
            let is_name = match directive {
                // Its attributes are in quotation marks, too.
                ".section" => {
                    rest.len() == line.len() && line[..from].trim() == ".section" && !is_plain_section(name)
                }
                _ => !OF_STRINGS.contains(&directive),
            };
            plain.push_str(&rest[..from]);
            match is_name {
                true => plain.push_str(&plain_name(name)),
                false => plain.push_str(&rest[from..from + length]),
            }
            rest = &rest[from + length..];
        }
        plain.push_str(rest);
    }
    plain
}

/// Begins as the name does, where that is plain.
fn plain_name(name: &str) -> String {
    let odd = name.find(|c: char| !c.is_ascii_alphanumeric() && !"_.$".contains(c)).unwrap_or(name.len());
    let begins =
        if odd == 0 || name.starts_with(|c: char| c.is_ascii_digit()) { "zig" } else { &name[..odd] };
    format!("{begins}.{}", short_digest(&digest(name.as_bytes())))
}

fn is_plain_section(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$-".contains(c))
}

/// Bytes up to the quotation mark that ends what begins with one.
fn quoted_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map(|end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_linked_alone_where_zig_said_that_it_did() {
        let link = |said: &str| {
            let words = ["zig", "build-obj", "a.zig"].map(str::to_owned).to_vec();
            ZigCall { words, folder: "/p".into(), by_clang: None, said: said.to_owned() }.link()
        };
        let told = link("warning: x\nld.lld -r --error-limit=0 -O3 -m elf_x86_64 -o 0.o /c/0_zcu.o\n");
        assert_eq!(told.expect("a link").join(" "), "zig ld.lld -r -O3");
        assert_eq!(link("warning: x\n"), None);
    }

    #[test]
    fn a_quoted_symbol_has_the_same_plain_name_wherever_it_stands() {
        let odd = "\"a (\\\"b\\\") c\"";
        let text = format!("{odd}:\n\tcall\t{odd}\n\t.size\t{odd}, .L1-{odd}\n");
        let plain = plain_names(&text);
        let name = plain.split(':').next().expect("a label");
        assert!(name.starts_with("a.") && !name.contains(['"', ' ']), "{name}");
        assert_eq!(plain, format!("{name}:\n\tcall\t{name}\n\t.size\t{name}, .L1-{name}\n"));
    }

    #[test]
    fn an_odd_name_of_a_section_keeps_its_beginning_and_its_attributes() {
        let plain = plain_names("\t.section\t\".text.f(\\\"b\\\",1)\",\"ax\",@progbits\n");
        let (name, attributes) = plain.split_once(',').expect("attributes");
        assert!(name.starts_with("\t.section\t.text.f.") && !name.contains('('), "{name}");
        assert_eq!(attributes, "\"ax\",@progbits\n");
    }

    #[test]
    fn strings_other_sections_and_comments_stay() {
        let text = "\t.asciz\t\"a b\"\n\t.section\t\".note.GNU-stack\",\"\",@progbits\n\t.section\t.text.f,\"ax\",@progbits\n\
                    \tnop # \"c d\"\n\tjmp \"e\n";
        assert_eq!(plain_names(text), text);
    }
}
