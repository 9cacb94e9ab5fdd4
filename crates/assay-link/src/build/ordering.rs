//! How a linker is told the order of a placement, whoever compiled the objects.
//!
//! The words are those of the linker itself; a driver is given each behind `-Xlinker`.

use super::linker::LinkerKind;
use assay_pure::placement::layout::{self, FunctionPlace, LINE_BYTES, LayoutError};
use assay_pure::placement::order::{self, NoTextSection, OrderedSection};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What is to be ordered, and by which linker.
pub struct Ordering<'a> {
    /// The linker.
    pub kind: LinkerKind,
    /// The default script that it follows (GNU ld).
    pub script: Option<&'a str>,
    /// The program's sections of code.
    pub pieces: &'a [OrderedSection],
    /// Functions come into being in the linker, so the pieces are not known before.
    pub link_time: bool,
}

/// Why no order can be given.
#[derive(Debug)]
pub enum OrderError {
    /// GNU ld did not print its default script.
    NoScript,
    /// The script has nowhere to put the order.
    NoText(NoTextSection),
    /// The order could not be written.
    Unwritten(io::Error),
}

impl fmt::Display for OrderError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScript => write!(out, "GNU ld did not print its default script"),
            Self::NoText(why) => write!(out, "{why}"),
            Self::Unwritten(error) => write!(out, "storing an order of functions: {error}"),
        }
    }
}

impl std::error::Error for OrderError {}

/// The linker's words for padding, then the program's functions as shuffled, then the rest.
///
/// `keep` writes a text to a file whose name ends as given, and returns where.
///
/// # Errors
/// GNU ld's script is missing or has no `.text`; the order cannot be written.
pub fn words(
    ordering: &Ordering<'_>,
    shuffle: u64,
    keep: &dyn Fn(&str, &str) -> io::Result<PathBuf>,
) -> Result<Vec<String>, OrderError> {
    let order = order::ordered(ordering.pieces, shuffle);
    let kept = |text: &str, extension: &str| {
        let place = keep(text, extension).map_err(OrderError::Unwritten)?;
        Ok(place.to_string_lossy().into_owned())
    };
    // Sections are collected as garbage where the user asks for it; this keeps the padding.
    let mut words = vec!["-u".to_owned(), order::PAD_SYMBOL.to_owned()];
    match ordering.kind {
        LinkerKind::Gnu => {
            let default = ordering.script.ok_or(OrderError::NoScript)?;
            let script = order::gnu_script(default, &order).map_err(OrderError::NoText)?;
            words.extend(["-T".into(), kept(&script, "ld")?]);
        }
        LinkerKind::Lld => {
            words.push(format!("--symbol-ordering-file={}", kept(&order::symbol_list(&order), "symbols")?));
            words.push("--no-warn-symbol-ordering".into());
            if ordering.link_time && shuffle != 0 {
                // To lld seed 0 means a random one and 2^32 - 1 the reverse order.
                let seed = shuffle % (u64::from(u32::MAX) - 1) + 1;
                words.push(format!("--shuffle-sections=.text*={seed}"));
            }
        }
        LinkerKind::Gold => {
            words
                .push(format!("--section-ordering-file={}", kept(&order::section_list(&order), "sections")?));
        }
        LinkerKind::Mold | LinkerKind::Other => {}
    }
    Ok(words)
}

/// What the padding does not move, as read back from a placed link.
///
/// Input: the file, its functions, the names of those that were meant to move (nothing if they are not known).
///
/// # Errors
/// It is no ELF file.
pub fn misplaced(
    elf: &[u8],
    functions: &[FunctionPlace],
    meant: Option<&BTreeSet<&str>>,
) -> Result<Vec<String>, LayoutError> {
    let Some(pad) = layout::symbol_address(elf, order::PAD_SYMBOL)? else {
        return Ok(vec!["the padding has no symbol, so its address cannot be read".into()]);
    };
    let mut found = Vec::new();
    if pad % LINE_BYTES != 0 {
        found.push(format!("the padding is at {pad:#x}, not at a 64-byte boundary"));
    }
    if let Some(names) = meant {
        let ahead =
            |function: &&FunctionPlace| function.address < pad && names.contains(function.name.as_str());
        for function in functions.iter().filter(ahead) {
            found.push(format!("{} lies before the padding", function.name));
        }
    }
    Ok(found)
}

/// Whether a linker's option names a script: `-T FILE` in all its spellings, but not `-Ttext=ADDRESS` and the like,
/// which only say where a section starts.
pub fn names_a_script(option: &str) -> bool {
    const STARTS: [&str; 6] =
        ["-Ttext", "-Tdata", "-Tbss", "-Ttext-segment", "-Trodata-segment", "-Tldata-segment"];
    let is_start = STARTS.contains(&option.split('=').next().unwrap_or(option));
    (option.starts_with("-T") && !is_start)
        || ["--script", "-dT", "--default-script"].iter().any(|mark| option.starts_with(mark))
}
