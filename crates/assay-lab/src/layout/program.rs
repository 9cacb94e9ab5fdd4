//! A linked file with its symbols and lines, which may be in a file of their own.

use crate::lead::Misuse;
use anyhow::Result;
use assay_linux::given;
use assay_pure::placement::ComparedFile;
use assay_pure::placement::layout::{self, LayoutError};
use assay_trace::sites::image::{LineSource, ModuleImage};
use std::path::{Path, PathBuf};

/// A linked file.
pub struct LinkedFile {
    /// Where it is, as the user wrote it.
    pub path: PathBuf,
    /// Its functions by line.
    pub image: ModuleImage,
    elf: Vec<u8>,
    symbols: Option<Vec<u8>>,
}

impl LinkedFile {
    /// Reads a file, and the file of its symbols if it was stripped.
    ///
    /// # Errors
    /// It cannot be read, is no ELF file, or has no symbols anywhere; with the remedy.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        let misuse = |text: String| anyhow::Error::from(Misuse(text));
        let elf = given::read(path, given::DATA)
            .map_err(|error| misuse(format!("{name} cannot be read: {error}")))?;
        // Told before anything else looks at it, in these words.
        layout::text_bytes(&elf).map_err(|error| misuse(format!("{name}: {error}")))?;
        let image = ModuleImage::open(path).map_err(misuse)?;
        let symbols = match &image.lines {
            LineSource::Separate(debug) if is_stripped(&elf) => std::fs::read(debug).ok(),
            _ => None,
        };
        let program = Self { path: path.to_owned(), image, elf, symbols };
        match layout::functions(program.linked().symbols.unwrap_or(&program.elf)) {
            Ok(_) => Ok(program),
            Err(LayoutError::NoSymbols) => Err(misuse(format!(
                "{name} has no symbols of functions: it is stripped. Link it without -s (cargo: strip = false), or put \
                 its debug file beside it (objcopy --only-keep-debug, --add-gnu-debuglink)"
            ))),
            Err(error) => Err(misuse(format!("{name}: {error}"))),
        }
    }

    /// For the comparison of code.
    pub fn linked(&self) -> ComparedFile<'_> {
        ComparedFile { elf: &self.elf, symbols: self.symbols.as_deref() }
    }

    /// Bytes of executable code.
    pub fn text_bytes(&self) -> u64 {
        layout::text_bytes(&self.elf).unwrap_or(0)
    }

    /// `file:line` of an address, if its source is known.
    pub fn line(&self, address: u64) -> Option<String> {
        let frame = self.image.frames(address).into_iter().next()?;
        let file = frame.file.filter(|_| frame.at.line > 0)?;
        Some(format!("{file}:{}", frame.at.line))
    }

    /// Why there are no lines, if there are none.
    pub fn without_lines(&self) -> Option<String> {
        match &self.image.lines {
            LineSource::Own | LineSource::Separate(_) => None,
            LineSource::Missing => {
                Some(format!("{} has no line information; build with -g", self.path.display()))
            }
            LineSource::Unreadable(why) => {
                Some(format!("the line information of {} cannot be read: {why}", self.path.display()))
            }
        }
    }
}

/// Whether a file has no symbol table of its own but perhaps what it offers to the dynamic linker.
fn is_stripped(elf: &[u8]) -> bool {
    use object::Object as _;
    object::File::parse(elf).is_ok_and(|file| file.symbols().next().is_none())
}
