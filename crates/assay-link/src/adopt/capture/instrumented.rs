//! A captured link made again with records of its branches, and with the table of its sites alone.
//!
//! Method: each object whose text was recorded (`assembler`), or is known to rustc (`units`), clang or zig, is replaced by its pair
//! (`pairs`), in archives too. The link with tables must give the measured program's code byte for byte, so that what the other one logs is
//! said of that program. What has no text stays as it is; what it does is not seen, and that is said.

use super::assembler::{self, PAIRS_VARIABLE, RecordedText, SCOPE_VARIABLE, SIDE_VARIABLE};
use super::bitcode::LateCode;
use super::clang::ClangCall;
use super::link::{CapturedLink, Words};
use super::pairs::{Pair, PairSide, PairText, Pairs};
use super::run::run;
use super::units::{UnitFound, UnitTexts};
use super::words::{self, PartRole};
use super::zig;
use super::zig_call::ZigCall;
use crate::build::{LoggingProgram, Scope, WRAPPED, program_side};
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::{digest, short_digest};
use assay_pure::outcomes;
use object::read::archive::ArchiveFile;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A link to be made again with records.
#[derive(Clone, Copy, Debug)]
pub struct InstrumentAsked<'a> {
    /// The program that the log is to speak of: the build's own, or the link made again as it was.
    pub measured: &'a Path,
    /// What of it is followed.
    pub scope: Scope,
    /// Below this folder it is made.
    pub into: &'a Path,
    /// The folder that has the stand-in for assemblers.
    pub stand_ins: &'a Path,
}

/// What stands in the place of one input.
struct Replacement {
    /// Of the call's inputs.
    input: usize,
    marked: PathBuf,
    logging: PathBuf,
}

/// What came of an input.
enum Found {
    Pair {
        marked: PathBuf,
        logging: PathBuf,
    },
    /// It has code, but no text.
    Unknown,
    Nothing,
}

/// Where texts are found, and what becomes of them.
struct Texts {
    recorded: PathBuf,
    units: UnitTexts,
    pairs: Pairs,
    /// What LLVM generates in this link.
    late: Option<LateCode>,
    /// What compiles the program's side of the log: who compiled the program, if that is known and need not be anywhere else.
    driver: Vec<String>,
    /// For what is written meanwhile.
    scratch: PathBuf,
}

impl CapturedLink {
    /// Makes the link again, twice.
    ///
    /// # Errors
    /// It makes no program; nothing of it has records; the linker fails; the code is not the measured program's.
    pub fn instrument(&self, asked: &InstrumentAsked<'_>) -> Result<LoggingProgram, String> {
        let name = self.output.display();
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let own = read(asked.measured)?;
        outcomes::may_have_records(&own)?;
        if self.shared {
            return Err(format!("{name} is a shared library, not a program"));
        }
        if self.call().zig {
            return Err(zig::WITHOUT_RECORDS.to_owned());
        }
        let folder = self.own_folder(asked.into)?;
        let kept = self.store().join("kept");
        let pairs = Pairs { folder: folder.join("pairs"), scope: asked.scope };
        let mut texts = Texts {
            late: LateCode::of(self, &folder, &pairs)?,
            pairs,
            recorded: assembler::texts(&kept),
            driver: vec!["cc".to_owned()],
            units: UnitTexts::new(&kept, folder.join("units")),
            scratch: folder.join("text"),
        };
        let mut notes = Vec::new();
        let words = self.resolved(&folder.join("x")).map_err(|error| error.to_string())?;
        let replacements = self.replacements(&words, &mut texts, &folder, &mut notes)?;
        let undivided = texts.units.undivided();
        if let (Some(why), Scope::Regions) = (&undivided, asked.scope) {
            return Err(why.clone());
        }
        let made = |side| self.link_side(side, &replacements, &texts, asked, &folder);
        let (marked, logging) = (made(PairSide::Marked)?, made(PairSide::Logging)?);
        let units = undivided.iter().chain(texts.units.notes());
        notes.extend(units.map(|why| format!("Without records: {why}.")));
        let refusals = texts.pairs.refusals();
        notes.extend(refusals.into_iter().map(|why| format!("An object has no records: {why}.")));
        let marked = read(&marked)?;
        if outcomes::sites(&marked)? == 0 {
            return Err(format!("nothing of {name} has records. {}", notes.join(" "))
                .trim_end()
                .trim_end_matches('.')
                .to_owned());
        }
        if !outcomes::same_code(&own, &marked)? {
            return Err(format!("linked again, the code of {name} is not that of the build"));
        }
        let table = outcomes::pair(&marked, &read(&logging)?)?;
        Ok(LoggingProgram { plain: asked.measured.to_owned(), logging, table, notes })
    }

    /// An empty folder for this link: its sites are numbered anew.
    fn own_folder(&self, into: &Path) -> Result<PathBuf, String> {
        let identity = digest(self.output.to_string_lossy().as_bytes());
        let folder = into.join(format!("{}-instrumented", short_digest(&identity)));
        let _ = fs::remove_dir_all(&folder);
        let made = fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        made.map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn replacements(
        &self,
        words: &Words,
        texts: &mut Texts,
        folder: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Replacement>, String> {
        let mut all = Vec::new();
        let mut unknown = BTreeSet::new();
        for (input, (file, recorded)) in words.files.iter().zip(&self.call().inputs).enumerate() {
            let Ok(bytes) = fs::read(file) else { continue };
            let place = recorded.file.parent().unwrap_or(Path::new("/"));
            let name = recorded.file.file_name().unwrap_or_default().to_string_lossy();
            let found = if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
                let archive = InputArchive { file, bytes: &bytes, place };
                archive.paired(texts, &folder.join(format!("archive-{input}")))?
            } else if let Some(found) = texts.stub(file, None) {
                found
            } else {
                texts.object(&name, place, &bytes)
            };
            match found {
                Found::Pair { marked, logging } => all.push(Replacement { input, marked, logging }),
                Found::Unknown if recorded.kept.is_some() => {
                    unknown.insert(name.into_owned());
                }
                Found::Unknown | Found::Nothing => {}
            }
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.into_iter().collect();
            notes.push(format!(
                "Without records, as this build did not assemble them (compiled before: build from clean; or a shared library, \
                 or in another language than C, C++, Rust and Zig): {}.",
                names.join(", ")
            ));
        }
        Ok(all)
    }

    /// Ahead of which word the linker puts the code that it generates: lld behind all, others behind the last input of it.
    fn place_of_late_code(&self, words: &Words, late: &LateCode) -> usize {
        let inputs = words.files.iter().zip(&self.call().inputs);
        let last = inputs.filter(|(file, _)| late.reads(file)).map(|(_, input)| input.word).max();
        match last {
            Some(last) if !self.is_lld() => last + 1,
            _ => words.own.len(),
        }
    }

    fn link_side(
        &self,
        side: PairSide,
        replacements: &[Replacement],
        texts: &Texts,
        asked: &InstrumentAsked<'_>,
        folder: &Path,
    ) -> Result<PathBuf, String> {
        let place = folder.join(side.name());
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let made = place.join(self.output.file_name().unwrap_or_default());
        let mut words = self.resolved(&made).map_err(|error| error.to_string())?;
        // Linkers take the table for debug information, which rustc has them strip.
        words::keep_all(&mut words.own, self.parts());
        for replacement in replacements {
            let file = match side {
                PairSide::Marked => &replacement.marked,
                PairSide::Logging => &replacement.logging,
            };
            self.replace(&mut words, replacement.input, file);
        }
        if let Some(late) = &texts.late {
            let objects = late.objects.iter().map(|pair| pair.side(side).to_string_lossy().into_owned());
            let at = self.place_of_late_code(&words, late);
            words.own.splice(at..at, objects);
        }
        if side == PairSide::Logging {
            let own = compiled_side(&texts.driver, folder, asked.scope)?;
            let first = self.parts().first(PartRole::Input).map_or(words.own.len(), |part| part.word);
            words.own.insert(first, own.to_string_lossy().into_owned());
            words.ahead.extend(WRAPPED.map(|name| format!("--wrap={name}")));
        }
        let environment = [
            (PAIRS_VARIABLE, folder.join("pairs")),
            (SCOPE_VARIABLE, asked.scope.name().into()),
            (SIDE_VARIABLE, side.name().into()),
            ("COMPILER_PATH", asked.stand_ins.to_owned()),
        ];
        self.run_in(&words.all(false), &made, &environment).map_err(|error| error.to_string())?;
        Ok(made)
    }
}

/// The program's side of the log, compiled by this driver.
fn compiled_side(driver: &[String], folder: &Path, scope: Scope) -> Result<PathBuf, String> {
    let (source, object) = (folder.join("program.c"), folder.join("program.o"));
    fs::write(&source, program_side(scope)).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut command = Command::new(&driver[0]);
    let flags =
        ["-O2", "-fPIE", "-std=gnu11", "-mgeneral-regs-only", "-fno-stack-protector", "-fno-lto", "-c"];
    with_the_lab(&mut command).args(&driver[1..]).args(flags).arg(&source).arg("-o").arg(&object);
    run(&mut command).map_err(|why| format!("the log does not compile: {why}"))?;
    Ok(object)
}

impl Texts {
    /// What stands for bitcode on both sides.
    fn stub(&self, file: &Path, contents_at: Option<u64>) -> Option<Found> {
        let stub = self.late.as_ref()?.stub(file, contents_at)?;
        Some(Found::Pair { marked: stub.to_owned(), logging: stub.to_owned() })
    }

    /// The pair of an object, if its text is known and can be rewritten. It lies, as the build named it, in the folder `place`.
    fn object(&mut self, name: &str, place: &Path, bytes: &[u8]) -> Found {
        use object::{Object as _, ObjectKind, ObjectSection as _, SectionKind};
        let Ok(file) = object::File::parse(bytes) else { return Found::Nothing };
        let is_code =
            |section: object::Section<'_, '_>| section.kind() == SectionKind::Text && section.size() > 0;
        // The code of a link that optimises comes into being in it.
        let late =
            file.sections().any(|section| section.name().is_ok_and(|name| name.starts_with(".gnu.lto_")));
        if late || (file.kind() == ObjectKind::Relocatable && !file.sections().any(is_code)) {
            return Found::Nothing;
        }
        let identity = digest(bytes);
        if let Some(recorded) = RecordedText::of(&self.recorded, &identity) {
            let assemble = |source: &Path, object: &Path| recorded.assemble(source, object);
            let text = PairText { text: &recorded.text, object: None, assemble: &assemble };
            return Found::of(self.pairs.of(&identity, &text));
        }
        if let Some(call) = ClangCall::of(&self.recorded, &identity) {
            let assemble = |source: &Path, object: &Path| call.assemble(source, object);
            return match call.text(&self.scratch) {
                Ok(text) => {
                    let text = PairText { text: &text, object: Some(bytes), assemble: &assemble };
                    Found::of(self.pairs.of(&identity, &text))
                }
                Err(why) => Found::of(self.pairs.refuse(&identity, format!("{name}: {why}"))),
            };
        }
        if let Some(call) = ZigCall::of(&self.recorded, &identity) {
            self.driver = call.driver();
            return match call.text(&self.scratch) {
                Ok(own) => {
                    let assemble = |source: &Path, object: &Path| own.assemble(source, object);
                    let text = PairText { text: &own.text, object: Some(bytes), assemble: &assemble };
                    Found::of(self.pairs.of(&identity, &text))
                }
                Err(why) => Found::of(self.pairs.refuse(&identity, format!("{name}: {why}"))),
            };
        }
        match self.units.of(name, place, bytes) {
            UnitFound::Text(unit) => {
                let assemble = |source: &Path, object: &Path| unit.assemble(source, object);
                let text = PairText { text: unit.text, object: Some(bytes), assemble: &assemble };
                Found::of(self.pairs.of(&identity, &text))
            }
            UnitFound::Untold => Found::Nothing,
            UnitFound::Unknown => Found::Unknown,
        }
    }
}

impl Found {
    fn of(pair: Result<Pair, String>) -> Found {
        match pair {
            Ok(pair) => Found::Pair {
                marked: pair.side(PairSide::Marked).to_owned(),
                logging: pair.side(PairSide::Logging).to_owned(),
            },
            // Why, the pairs remember.
            Err(_) => Found::Nothing,
        }
    }
}

/// An archive among the inputs of a link.
struct InputArchive<'a> {
    /// Where it is read.
    file: &'a Path,
    bytes: &'a [u8],
    /// The folder in which the build had it.
    place: &'a Path,
}

impl InputArchive<'_> {
    /// Archives with the pairs of its members.
    fn paired(&self, texts: &mut Texts, into: &Path) -> Result<Found, String> {
        let Ok(archive) = ArchiveFile::parse(self.bytes) else { return Ok(Found::Nothing) };
        let mut sides: [Vec<PathBuf>; 2] = Default::default();
        let (mut paired, mut unknown) = (false, false);
        for (number, member) in archive.members().flatten().enumerate() {
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let outside =
                archive.is_thin().then(|| fs::read(self.file.parent().unwrap_or(Path::new("/")).join(&name)));
            let data = match outside {
                Some(read) => read.map_err(|error| format!("{name}: {error}"))?,
                None => {
                    let data = member.data(self.bytes);
                    data.map_err(|error| format!("{}: {error}", self.file.display()))?.to_vec()
                }
            };
            let short = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stub = texts.stub(self.file, Some(member.file_range().0));
            let found = stub.unwrap_or_else(|| texts.object(&short, self.place, &data));
            for (side, files) in [PairSide::Marked, PairSide::Logging].into_iter().zip(&mut sides) {
                let own = match &found {
                    Found::Pair { marked, .. } if side == PairSide::Marked => fs::read(marked),
                    Found::Pair { logging, .. } => fs::read(logging),
                    _ => Ok(data.clone()),
                };
                let place = into.join(side.name()).join(format!("{number}-{short}"));
                let written = own.and_then(|own| {
                    fs::create_dir_all(place.parent().unwrap_or(into))?;
                    fs::write(&place, own)
                });
                written.map_err(|error| format!("{}: {error}", place.display()))?;
                files.push(place);
            }
            paired |= matches!(found, Found::Pair { .. });
            unknown |= matches!(found, Found::Unknown);
        }
        if !paired {
            let _ = fs::remove_dir_all(into);
            return Ok(if unknown { Found::Unknown } else { Found::Nothing });
        }
        let name = self.file.file_name().unwrap_or_default();
        let made = |side: PairSide, files: &[PathBuf]| {
            let place = into.join(format!("{}-archive", side.name())).join(name);
            archived(&place, files).map(|()| place)
        };
        Ok(Found::Pair {
            marked: made(PairSide::Marked, &sides[0])?,
            logging: made(PairSide::Logging, &sides[1])?,
        })
    }
}

/// Makes an archive of files.
fn archived(place: &Path, files: &[PathBuf]) -> Result<(), String> {
    fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).map_err(|error| error.to_string())?;
    let mut command = Command::new("ar");
    with_the_lab(&mut command).arg("qcs").arg(place).args(files).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("ar cannot be started: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
