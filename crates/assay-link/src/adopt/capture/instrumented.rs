//! A captured link made again with records of its branches, and with the table of its sites alone.
//!
//! Method: each object whose text was recorded (`assembler`) is replaced by its pair (`pairs`), in archives too. The link with
//! tables must give the build's own code byte for byte, so that what the other one logs is said of the build's own program. What
//! has no text stays as it is; what it does is not seen, and that is said.

use super::assembler::{self, PAIRS_VARIABLE, RecordedText, SIDE_VARIABLE};
use super::link::{CapturedLink, Words};
use super::pairs::{PairSide, Pairs};
use super::words::PartRole;
use crate::build::{LoggingProgram, PROGRAM_SIDE};
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::{digest, short_digest};
use assay_pure::outcomes;
use object::read::archive::ArchiveFile;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the program's side replaces in the C library.
const WRAPPED: [&str; 4] = ["sigaction", "signal", "sigprocmask", "pthread_sigmask"];

/// A program of somebody's build that logs its branches.
#[derive(Clone, Debug)]
pub struct InstrumentedLink {
    /// The program and what its log means.
    pub program: LoggingProgram,
    /// What has no records, and why: whole sentences.
    pub notes: Vec<String>,
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

impl CapturedLink {
    /// Makes the link again, twice, into a folder below `into`. `stand_ins` is the folder that has the stand-in for assemblers.
    ///
    /// # Errors
    /// It makes no program; nothing of it has records; the linker fails; the code is not that of the build.
    pub fn instrument(&self, into: &Path, stand_ins: &Path) -> Result<InstrumentedLink, String> {
        let name = self.output.display();
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let own = read(&self.output)?;
        outcomes::may_have_records(&own)?;
        if self.shared {
            return Err(format!("{name} is a shared library, not a program"));
        }
        if self.call().zig {
            return Err(format!(
                "zig links {name} by itself, and calls no assembler whose text could be recorded"
            ));
        }
        let identity = digest(self.output.to_string_lossy().as_bytes());
        let folder = into.join(format!("{}-instrumented", short_digest(&identity)));
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        // Sites are numbered anew.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(io)?;
        let folder = folder.canonicalize().map_err(io)?;
        let pairs = Pairs { folder: folder.join("pairs") };
        let mut notes = Vec::new();
        let words = self.resolved(&folder.join("x")).map_err(|error| error.to_string())?;
        let replacements = self.replacements(&words, &pairs, &folder, &mut notes)?;
        let made = |side| self.link_side(side, &replacements, &pairs, &folder, stand_ins);
        let (marked, logging) = (made(PairSide::Marked)?, made(PairSide::Logging)?);
        notes.extend(pairs.refusals().into_iter().map(|why| format!("An object has no records: {why}.")));
        let marked = read(&marked)?;
        if outcomes::sites(&marked)? == 0 {
            return Err(format!("nothing of {name} has records. {}", notes.join(" ")).trim_end().to_owned());
        }
        if !outcomes::same_code(&own, &marked)? {
            return Err(format!("linked again, the code of {name} is not that of the build"));
        }
        let table = outcomes::pair(&marked, &read(&logging)?)?;
        let program = LoggingProgram { plain: self.output.clone(), logging, table };
        Ok(InstrumentedLink { program, notes })
    }

    fn replacements(
        &self,
        words: &Words,
        pairs: &Pairs,
        folder: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Replacement>, String> {
        let texts = assembler::texts(&self.store().join("kept"));
        let mut all = Vec::new();
        let mut unknown = BTreeSet::new();
        for (input, (file, recorded)) in words.files.iter().zip(&self.call().inputs).enumerate() {
            let Ok(bytes) = fs::read(file) else { continue };
            let found = if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
                archive(file, &bytes, &texts, pairs, &folder.join(format!("archive-{input}")))?
            } else {
                object(&bytes, &texts, pairs)
            };
            match found {
                Found::Pair { marked, logging } => all.push(Replacement { input, marked, logging }),
                Found::Unknown if recorded.kept.is_some() => {
                    unknown
                        .insert(recorded.file.file_name().unwrap_or_default().to_string_lossy().into_owned());
                }
                Found::Unknown | Found::Nothing => {}
            }
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.into_iter().collect();
            notes.push(format!(
                "Without records, as this build did not assemble them (compiled before: build from clean; or a shared library, \
                 or not C or C++): {}.",
                names.join(", ")
            ));
        }
        Ok(all)
    }

    fn link_side(
        &self,
        side: PairSide,
        replacements: &[Replacement],
        pairs: &Pairs,
        folder: &Path,
        stand_ins: &Path,
    ) -> Result<PathBuf, String> {
        let place = folder.join(side.name());
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let made = place.join(self.output.file_name().unwrap_or_default());
        let mut words = self.resolved(&made).map_err(|error| error.to_string())?;
        for replacement in replacements {
            let file = match side {
                PairSide::Marked => &replacement.marked,
                PairSide::Logging => &replacement.logging,
            };
            self.replace(&mut words, replacement.input, file);
        }
        if side == PairSide::Logging {
            let own = self.program_side(folder)?;
            let first = self.parts().first(PartRole::Input).map_or(words.own.len(), |part| part.word);
            words.own.insert(first, own.to_string_lossy().into_owned());
            words.ahead.extend(WRAPPED.map(|name| format!("--wrap={name}")));
        }
        let environment = [
            (PAIRS_VARIABLE, pairs.folder.clone()),
            (SIDE_VARIABLE, side.name().into()),
            ("COMPILER_PATH", stand_ins.to_owned()),
        ];
        self.run_in(&words.all(false), &made, &environment).map_err(|error| error.to_string())?;
        Ok(made)
    }

    /// The program's side of the log, compiled by who compiled the program, if that is known.
    fn program_side(&self, folder: &Path) -> Result<PathBuf, String> {
        let (source, object) = (folder.join("program.c"), folder.join("program.o"));
        fs::write(&source, PROGRAM_SIDE).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut command = Command::new("cc");
        let flags =
            ["-O2", "-fPIE", "-std=gnu11", "-mgeneral-regs-only", "-fno-stack-protector", "-fno-lto", "-c"];
        with_the_lab(&mut command).args(flags).arg(&source).arg("-o").arg(&object).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("cc cannot be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("the log does not compile: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(object)
    }
}

/// The pair of an object, if its text was recorded and can be rewritten.
fn object(bytes: &[u8], texts: &Path, pairs: &Pairs) -> Found {
    use object::{Object as _, ObjectKind, ObjectSection as _, SectionKind};
    let Ok(file) = object::File::parse(bytes) else { return Found::Nothing };
    let is_code =
        |section: object::Section<'_, '_>| section.kind() == SectionKind::Text && section.size() > 0;
    // The code of a link that optimises comes into being in it.
    let late = file.sections().any(|section| section.name().is_ok_and(|name| name.starts_with(".gnu.lto_")));
    if late || (file.kind() == ObjectKind::Relocatable && !file.sections().any(is_code)) {
        return Found::Nothing;
    }
    let identity = digest(bytes);
    let Some(text) = RecordedText::of(texts, &identity) else { return Found::Unknown };
    match pairs.of(&identity, &text) {
        Ok(pair) => Found::Pair {
            marked: pair.side(PairSide::Marked).to_owned(),
            logging: pair.side(PairSide::Logging).to_owned(),
        },
        // Why, the pairs remember.
        Err(_) => Found::Nothing,
    }
}

/// Archives with the pairs of their members.
fn archive(file: &Path, bytes: &[u8], texts: &Path, pairs: &Pairs, into: &Path) -> Result<Found, String> {
    let Ok(archive) = ArchiveFile::parse(bytes) else { return Ok(Found::Nothing) };
    let mut sides: [Vec<PathBuf>; 2] = Default::default();
    let (mut paired, mut unknown) = (false, false);
    for (number, member) in archive.members().flatten().enumerate() {
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let outside =
            archive.is_thin().then(|| fs::read(file.parent().unwrap_or(Path::new("/")).join(&name)));
        let data = match outside {
            Some(read) => read.map_err(|error| format!("{name}: {error}"))?,
            None => member.data(bytes).map_err(|error| format!("{}: {error}", file.display()))?.to_vec(),
        };
        let found = object(&data, texts, pairs);
        let short = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
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
    let name = file.file_name().unwrap_or_default();
    let [marked, logging] =
        [(PairSide::Marked, &sides[0]), (PairSide::Logging, &sides[1])].map(|(side, files)| {
            let place = into.join(format!("{}-archive", side.name())).join(name);
            fs::create_dir_all(place.parent().unwrap_or(into)).map_err(|error| error.to_string())?;
            let mut command = Command::new("ar");
            with_the_lab(&mut command).arg("qcs").arg(&place).args(files).stdin(Stdio::null());
            let output = command.output().map_err(|error| format!("ar cannot be started: {error}"))?;
            if output.status.success() {
                Ok(place)
            } else {
                Err(String::from_utf8_lossy(&output.stderr).into_owned())
            }
        });
    Ok(Found::Pair { marked: marked?, logging: logging? })
}
