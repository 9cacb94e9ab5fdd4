//! Objects with and without records, of the texts of a captured build.
//!
//! Both links of a program must number its sites alike, so an object's pair is made once: its sites get the next numbers, under a
//! lock, as assemblers of one link may run side by side.

use crate::build::{Scope, rewrite};
use object::{Object as _, ObjectSection as _, SectionKind};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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

/// A text, and how an object is made of one like it.
pub struct PairText<'a> {
    /// The text.
    pub text: &'a str,
    /// The object whose code its own must be; nothing where this very text was assembled.
    pub object: Option<&'a [u8]>,
    /// Makes an object, the second, of a text, the first.
    pub assemble: &'a dyn Fn(&Path, &Path) -> Result<(), String>,
}

/// The pairs of one program.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Where they are.
    pub folder: PathBuf,
    /// What of the program is followed.
    pub scope: Scope,
}

impl Pairs {
    /// The pair of an object, by the hash of its bytes. The error says why it has none, and stays with it.
    pub fn of(&self, object: &str, text: &PairText<'_>) -> Result<Pair, String> {
        let place = |side: PairSide| self.folder.join(format!("{object}.{}.o", side.name()));
        let pair = Pair { marked: place(PairSide::Marked), logging: place(PairSide::Logging) };
        let lock = self.lock().map_err(|error| format!("{}: {error}", self.folder.display()))?;
        if let Ok(why) = fs::read_to_string(self.refused(object)) {
            return Err(why);
        }
        if !pair.logging.is_file() {
            let made = self.make(object, text, &pair);
            if let Err(why) = made {
                return self.refuse(object, why);
            }
        }
        drop(lock);
        Ok(pair)
    }

    /// That an object has no pair, and why.
    pub fn refuse(&self, object: &str, why: String) -> Result<Pair, String> {
        // Unwritten, it is not told: the object then has no records without a reason.
        let _ = fs::create_dir_all(&self.folder).and_then(|()| fs::write(self.refused(object), &why));
        Err(why)
    }

    fn refused(&self, object: &str) -> PathBuf {
        self.folder.join(format!("{object}.refused"))
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

    fn make(&self, object: &str, text: &PairText<'_>, pair: &Pair) -> Result<(), String> {
        let counter = self.folder.join("next");
        let first = fs::read_to_string(&counter).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1);
        let rewritten = rewrite(text.text, first, self.scope).map_err(|why| why.to_string())?;
        for (side, text_of) in
            [(PairSide::Marked, &rewritten.marked), (PairSide::Logging, &rewritten.logging)]
        {
            let source = self.folder.join(format!("{object}.{}.s", side.name()));
            fs::write(&source, text_of).map_err(|error| error.to_string())?;
            (text.assemble)(&source, pair.side(side))?;
            let _ = fs::remove_file(source);
            if let (PairSide::Marked, Some(own)) = (side, text.object) {
                let marked = fs::read(pair.side(side)).map_err(|error| error.to_string())?;
                is_its_code(own, &marked)?;
            }
        }
        fs::write(counter, rewritten.next_site.to_string()).map_err(|error| error.to_string())
    }
}

/// That an object has the code of another one. The error says how many of its sections differ, in which compilers may put a
/// function each. Names of sections do not count: not every one can be written in a text.
fn is_its_code(own: &[u8], made: &[u8]) -> Result<(), String> {
    let code = |bytes: &[u8]| -> object::Result<Vec<Vec<u8>>> {
        let file = object::File::parse(bytes)?;
        let sections =
            file.sections().filter(|section| section.kind() == SectionKind::Text && section.size() > 0);
        sections.map(|section| Ok(section.data()?.to_vec())).collect()
    };
    let (own, mut made) =
        code(own).and_then(|own| Ok((own, code(made)?))).map_err(|error| error.to_string())?;
    let mut takes = |section: &&Vec<u8>| {
        let found = made.iter().position(|other| other == *section);
        found.map(|at| made.swap_remove(at)).is_none()
    };
    let missing = own.iter().filter(&mut takes).count();
    if missing == 0 && made.is_empty() {
        return Ok(());
    }
    Err(format!("assembled from the compiler's text, {missing} of its {} sections of code differ", own.len()))
}
