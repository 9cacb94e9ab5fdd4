//! The texts of what rustc compiled, and who assembles them.
//!
//! Question: from which text would each object of a build in Rust be made? rustc calls no assembler. Method: the call that
//! compiled its crate (`rustc_call`) is made again with `--emit asm`: rustc then writes a text for each of its units of code
//! generation, whose first line says which. rustc assembles these texts itself (`global_asm!`): GNU's assembler and older LLVMs
//! pad loops otherwise, so that of 14 optimised units 5 differed. Whether an object is that of its text is compared (`pairs`).
//! Limits: rustc divides a crate into units as it likes, and `--emit asm` makes it one, where no number of them is set; so only
//! a crate with a number is known. An incremental build has one (256). Checked: `crates/assay/tests/instrument/rust.rs`.

use super::run::run;
use super::rustc_call::{RustcCall, file_name};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// How the name of an object of rustc's ends.
const OBJECT: &str = ".rcgu.o";

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Untold {
    /// No number of units is set for this crate.
    Undivided(String),
    /// A sentence's part.
    Failed(String),
}

/// The text of an object.
#[derive(Debug)]
pub struct UnitText<'a> {
    /// The text.
    pub text: &'a str,
    call: &'a RustcCall,
}

/// What is known of an object of rustc's.
#[derive(Debug)]
pub enum UnitFound<'a> {
    /// Its text.
    Text(UnitText<'a>),
    /// It has none; why is told by [`UnitTexts::notes`], where it is worth telling.
    Untold,
    /// No call of a build made it.
    Unknown,
}

/// A crate whose call is known.
#[derive(Debug)]
struct KnownCrate {
    call: RustcCall,
    /// Of its units, by their names.
    texts: Result<HashMap<String, String>, Untold>,
}

/// The texts of all crates of one link, as far as they were asked for.
#[derive(Debug)]
pub struct UnitTexts {
    kept: PathBuf,
    folder: PathBuf,
    known: HashMap<String, KnownCrate>,
    untold: BTreeSet<String>,
}

impl UnitTexts {
    /// None yet. `folder` is for what is written meanwhile.
    pub fn new(kept: &Path, folder: PathBuf) -> Self {
        UnitTexts { kept: kept.to_owned(), folder, known: HashMap::new(), untold: BTreeSet::new() }
    }

    /// What is known of the object of this name, which lies in a folder of the build, by itself or in an archive.
    pub fn of(&mut self, object: &str, place: &Path, bytes: &[u8]) -> UnitFound<'_> {
        let Some((stem, unit)) = unit_of_object(object) else { return UnitFound::Unknown };
        let name = file_name(place, stem);
        if !self.known.contains_key(&name) {
            let Some(call) = RustcCall::of(&self.kept, place, stem) else { return UnitFound::Unknown };
            let texts = texts(&call, &self.folder.join(&name));
            self.known.insert(name.clone(), KnownCrate { call, texts });
        }
        let KnownCrate { call, texts } = &self.known[&name];
        match texts {
            Ok(texts) => match texts.get(unit) {
                Some(text) => UnitFound::Text(UnitText { text, call }),
                None if is_of_the_allocator(bytes) => UnitFound::Untold,
                None => {
                    let note = format!("called again, rustc divides {} otherwise", call.crate_name());
                    self.untold.insert(note);
                    UnitFound::Untold
                }
            },
            Err(Untold::Failed(why)) => {
                self.untold.insert(why.clone());
                UnitFound::Untold
            }
            Err(Untold::Undivided(_)) => UnitFound::Untold,
        }
    }

    /// The crates whose number of units is not known.
    pub fn undivided(&self) -> Option<String> {
        let names: BTreeSet<&str> = self
            .known
            .values()
            .filter_map(|known| match &known.texts {
                Err(Untold::Undivided(name)) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| {
            format!(
                "no codegen-units are set for {}, and how rustc divides them then cannot be repeated. Set codegen-units = 1, or \
                 another number, in the profile of Cargo.toml",
                names.join(", ")
            )
        })
    }

    /// Why crates have no texts, apart from those: parts of sentences.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.untold.iter()
    }
}

impl UnitText<'_> {
    /// Makes an object of a text like this one.
    pub fn assemble(&self, source: &Path, object: &Path) -> Result<(), String> {
        let program = source.with_extension("rs");
        let text = source.to_string_lossy();
        let told = format!(
            "#![no_std]\ncore::arch::global_asm!(include_str!({text:?}), options(att_syntax, raw));\n"
        );
        fs::write(&program, told).map_err(|error| format!("{}: {error}", program.display()))?;
        let mut command = self.call.rustc();
        let fixed = "--crate-name assembled --crate-type lib --edition 2021 --emit obj -C codegen-units=1 -C";
        command.args(fixed.split(' ')).arg(format!("target-cpu={}", self.call.processor()));
        if let Some(target) = self.call.target() {
            command.args(["--target", &target]);
        }
        command.arg("-o").arg(object).arg(&program);
        let made = run(&mut command);
        let _ = fs::remove_file(program);
        made
    }
}

/// The texts of the units of a call, by their names.
fn texts(call: &RustcCall, into: &Path) -> Result<HashMap<String, String>, Untold> {
    let io = |error: io::Error| Untold::Failed(format!("{}: {error}", into.display()));
    fs::create_dir_all(into).map_err(io)?;
    if call.is_link_time() {
        return Err(Untold::Failed(format!(
            "{} is compiled with link-time optimisation (lto in its profile), and the text that rustc writes then is not quite its \
             code: of 495 functions 8 differed",
            call.crate_name()
        )));
    }
    let Some(mut command) = call.for_texts(into) else { return Err(Untold::Undivided(call.crate_name())) };
    run(&mut command).map_err(|why| {
        Untold::Failed(format!("called again for its text, rustc refused {}: {why}", call.crate_name()))
    })?;
    let mut texts = HashMap::new();
    for entry in fs::read_dir(into).map_err(io)?.flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "s") {
            let text = fs::read_to_string(entry.path()).map_err(io)?;
            texts.extend(unit_of_text(&text).map(|unit| (unit.to_owned(), text.clone())));
        }
    }
    // It would cost more room than all else.
    let _ = fs::remove_dir_all(into);
    Ok(texts)
}

/// How names of the crate begin, and the unit, of the name of an object: `app-1f2e.app.9d8c-cgu.0.rcgu.o`, or, where the build is
/// incremental, `app-1f2e.0du1eq0b.1x2y3z.rcgu.o` with a word for this call of rustc behind the unit.
fn unit_of_object(name: &str) -> Option<(&str, &str)> {
    let (stem, unit) = name.strip_suffix(OBJECT)?.split_once('.')?;
    let unit = if unit.contains("-cgu.") { unit } else { unit.split('.').next().unwrap_or(unit) };
    Some((stem, unit))
}

/// The unit of a text: LLVM calls its module like it.
fn unit_of_text(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".file"))?;
    line.trim().strip_prefix('"')?.strip_suffix('"')
}

/// rustc makes this object by itself, without a text: jumps from the names by which crates allocate to the allocator.
fn is_of_the_allocator(bytes: &[u8]) -> bool {
    use object::{Object as _, ObjectSymbol as _};
    let Ok(file) = object::File::parse(bytes) else { return false };
    file.symbols()
        .any(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| name.contains("__rust_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_names_its_crate_and_unit() {
        assert_eq!(unit_of_object("app-1f2e.app.9d8c-cgu.00.rcgu.o"), Some(("app-1f2e", "app.9d8c-cgu.00")));
        assert_eq!(unit_of_object("app-1f2e.0du1eq0b.1x2y3z.rcgu.o"), Some(("app-1f2e", "0du1eq0b")));
        assert_eq!(unit_of_object("main.o"), None);
        assert_eq!(unit_of_text("\t.file\t\"app.9d8c-cgu.00\"\n\t.text\n"), Some("app.9d8c-cgu.00"));
        assert_eq!(unit_of_text("\tnop\n"), None);
    }
}
