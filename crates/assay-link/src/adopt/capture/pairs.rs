//! Objects with and without records, of the texts of a captured build.
//!
//! Both links of a program must number its sites alike, so an object's pair is made once: its sites get the next numbers, under a
//! lock, as assemblers of one link may run side by side.

use super::assembler::RecordedText;
use crate::build::{Scope, rewrite};
use assay_linux::tied::with_the_lab;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which object of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    /// The build's own code, with the table of its sites.
    Marked,
    /// With records.
    Logging,
}

impl PairSide {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            PairSide::Marked => "marked",
            PairSide::Logging => "logging",
        }
    }

    /// The one of this word.
    pub fn named(word: &str) -> PairSide {
        if word == "logging" { PairSide::Logging } else { PairSide::Marked }
    }
}

/// Two objects of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    marked: PathBuf,
    logging: PathBuf,
}

impl Pair {
    /// One of them.
    pub fn side(&self, side: PairSide) -> &Path {
        match side {
            PairSide::Marked => &self.marked,
            PairSide::Logging => &self.logging,
        }
    }
}

/// The pairs of one program.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Where they are.
    pub folder: PathBuf,
}

impl Pairs {
    /// The pair of an object, by the hash of its bytes. The error says why it has none, and stays with it.
    pub fn of(&self, object: &str, text: &RecordedText) -> Result<Pair, String> {
        let place = |side: PairSide| self.folder.join(format!("{object}.{}.o", side.name()));
        let pair = Pair { marked: place(PairSide::Marked), logging: place(PairSide::Logging) };
        let refused = self.folder.join(format!("{object}.refused"));
        let lock = self.lock().map_err(|error| format!("{}: {error}", self.folder.display()))?;
        if let Ok(why) = fs::read_to_string(&refused) {
            return Err(why);
        }
        if !pair.logging.is_file() {
            let made = self.make(object, text, &pair);
            if let Err(why) = &made {
                let _ = fs::write(&refused, why);
            }
            made?;
        }
        drop(lock);
        Ok(pair)
    }

    /// Why objects have no pair.
    pub fn refusals(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let refused = entries.filter(|path| path.extension().is_some_and(|ending| ending == "refused"));
        let mut all: Vec<String> = refused.filter_map(|path| fs::read_to_string(path).ok()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        let file = File::create(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn make(&self, object: &str, text: &RecordedText, pair: &Pair) -> Result<(), String> {
        let counter = self.folder.join("next");
        let first = fs::read_to_string(&counter).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1);
        let rewritten = rewrite(&text.text, first, Scope::Program).map_err(|why| why.to_string())?;
        for (side, text_of) in
            [(PairSide::Marked, &rewritten.marked), (PairSide::Logging, &rewritten.logging)]
        {
            let source = self.folder.join(format!("{object}.{}.s", side.name()));
            fs::write(&source, text_of).map_err(|error| error.to_string())?;
            self.assemble(text, &source, pair.side(side))?;
            let _ = fs::remove_file(source);
        }
        fs::write(counter, rewritten.next_site.to_string()).map_err(|error| error.to_string())
    }

    fn assemble(&self, text: &RecordedText, source: &Path, object: &Path) -> Result<(), String> {
        let mut command = Command::new(&text.assembler);
        // Debug information would be that of the rewritten text.
        let words = text.words.iter().filter(|word| !word.starts_with("-g") && !word.starts_with("--gdwarf"));
        with_the_lab(&mut command).args(words).arg("-o").arg(object).arg(source);
        let output = command.current_dir(&text.folder).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{}: {error}", text.assembler.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = said.lines().find(|line| line.contains("Error")).unwrap_or("it says nothing");
        Err(format!("it does not assemble with records: {line}"))
    }
}
