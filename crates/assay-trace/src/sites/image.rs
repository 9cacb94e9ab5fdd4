//! A file of machine code: its functions, its lines, its bytes.
//!
//! Addresses are the file's own (what `objdump` prints), not those of a process, so that the same place in two processes is
//! the same place here.

use super::debug_file;
use super::instruction::{self, Instruction, InstructionFlow, ModuleCode};
use super::names::demangle;
use super::plt::{self, Stub};
use super::producers::Producers;
pub use super::symbols::SymbolFunction;
use super::symbols::Symbols;
use addr2line::Loader;
use addr2line::gimli::ReaderOffset as _;
use assay_pure::placement::optimised::CodeShape;
use assay_pure::trace::hints::Position;
use object::{Object as _, ObjectSection as _, ObjectSegment as _};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// The longest function whose code is read, bytes.
const LONGEST_FUNCTION: u64 = 4 << 20;

/// A place in the source; of an inlined function also those it was inlined at, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function, as its source has it.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// Line and column; 0 where there is none.
    pub at: Position,
    /// Which copy of the function this is: two calls inlined in one function differ.
    pub copy: Option<u64>,
}

/// Where lines come from, or why there are none. The page's [`LineSourceKind`](assay_report::sites::page::LineSourceKind) is its
/// kind alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineSource {
    /// The file itself.
    Own,
    /// Its debug file.
    Separate(PathBuf),
    /// It was built without.
    Missing,
    /// They can't be read.
    Unreadable(String),
}

/// A file of machine code.
pub struct ModuleImage {
    /// Where it is.
    pub path: PathBuf,
    /// Its build id, in hexadecimal, if it has one.
    pub build_id: Option<String>,
    /// What it is for.
    pub architecture: ModuleCode,
    /// Where lines come from.
    pub lines: LineSource,
    /// When it was written.
    pub changed: Option<SystemTime>,
    symbols: Symbols,
    stubs: Vec<Stub>,
    sections: Vec<ImageSection>,
    producers: OnceCell<Producers>,
    data: Vec<u8>,
    segments: Vec<Segment>,
    loader: Option<Loader>,
    code: RefCell<BTreeMap<u64, Rc<FunctionCode>>>,
}

/// A function's instructions.
#[derive(Debug, Default)]
pub struct FunctionCode {
    /// In the order of their addresses.
    pub instructions: Vec<Instruction>,
    /// Where direct branches of the function go, with how many of them are conditional and how many are not.
    pub targets: BTreeMap<u64, [u32; 2]>,
}

impl FunctionCode {
    /// With the targets of its branches.
    pub fn new(instructions: Vec<Instruction>) -> FunctionCode {
        let mut targets: BTreeMap<u64, [u32; 2]> = BTreeMap::new();
        for instruction in &instructions {
            match instruction.flow {
                InstructionFlow::Conditional(target) => targets.entry(target).or_default()[0] += 1,
                InstructionFlow::Jump(target) => targets.entry(target).or_default()[1] += 1,
                InstructionFlow::Next | InstructionFlow::Call(_) | InstructionFlow::Away => {}
            }
        }
        FunctionCode { instructions, targets }
    }

    /// The place of the instruction at an address.
    pub fn index(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()
    }
}

/// A named range of addresses.
struct ImageSection {
    name: String,
    start: u64,
    end: u64,
}

fn sections(file: &object::File<'_>) -> Vec<ImageSection> {
    let named = file.sections().filter(|section| section.address() > 0).map(|section| ImageSection {
        name: section.name().unwrap_or_default().to_owned(),
        start: section.address(),
        end: section.address().saturating_add(section.size()),
    });
    // The image of thread-local storage overlaps what comes after it.
    named.filter(|section| !section.name.starts_with(".tbss")).collect()
}

/// A loaded part of the file.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    offset: u64,
    bytes: u64,
}

impl ModuleImage {
    /// Reads a file.
    ///
    /// # Errors
    /// It can't be read or is no object file; a whole sentence.
    pub fn open(path: &Path) -> Result<ModuleImage, String> {
        let name = path.display();
        let data = std::fs::read(path).map_err(|error| format!("{name} can't be read: {error}"))?;
        let changed = std::fs::metadata(path).and_then(|about| about.modified()).ok();
        let file =
            object::File::parse(&*data).map_err(|error| format!("{name} is not an object file: {error}"))?;
        let architecture = match file.architecture() {
            object::Architecture::X86_64 => ModuleCode::X86_64,
            object::Architecture::Aarch64 => ModuleCode::Aarch64,
            _ => ModuleCode::Other,
        };
        let segments = file
            .segments()
            .map(|segment| {
                let (offset, bytes) = segment.file_range();
                Segment { address: segment.address(), offset, bytes }
            })
            .collect();
        let build_id = file.build_id().ok().flatten();
        let build_id = build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect());
        let (lines, debug_path) = if debug_file::has_lines(&file) {
            (LineSource::Own, Some(path.to_owned()))
        } else if let Some(found) = debug_file::find(path, &file) {
            (LineSource::Separate(found.clone()), Some(found))
        } else {
            (LineSource::Missing, None)
        };
        let mut symbols = Symbols::of(&file);
        if let Some(debug) = debug_path.as_deref().filter(|debug| *debug != path) {
            symbols.add_from(debug);
        }
        let stubs = plt::stubs(&file);
        let sections = sections(&file);
        let (loader, lines) =
            match debug_path.map(|path| Loader::new_with_sup(&path, debug_file::supplement(&path))) {
                Some(Ok(loader)) => (Some(loader), lines),
                Some(Err(error)) => (None, LineSource::Unreadable(error.to_string())),
                None => (None, lines),
            };
        Ok(ModuleImage {
            path: path.to_owned(),
            build_id,
            architecture,
            lines,
            changed,
            symbols,
            stubs,
            sections,
            producers: OnceCell::new(),
            segments,
            loader,
            code: RefCell::default(),
            data,
        })
    }

    /// The address of a place in the file; `None` where nothing of it is loaded.
    pub fn address_of_offset(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|into| into < segment.bytes))?;
        Some(offset - segment.offset + segment.address)
    }

    /// The bytes from an address on, as far as they are loaded from the file.
    pub fn bytes(&self, address: u64) -> &[u8] {
        let found = self.segments.iter().find_map(|segment| {
            let into = address.checked_sub(segment.address).filter(|into| *into < segment.bytes)?;
            let (start, end) =
                (segment.offset.checked_add(into)?, segment.offset.checked_add(segment.bytes)?);
            self.data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?.min(self.data.len()))
        });
        found.unwrap_or(&[])
    }

    /// The function that holds an address.
    pub fn function(&self, address: u64) -> Option<SymbolFunction<'_>> {
        self.symbols.at(address)
    }

    /// The stub that holds an address, through which a function of another file is called.
    pub fn stub(&self, address: u64) -> Option<&Stub> {
        plt::at(&self.stubs, address)
    }

    /// The compiler of the code at an address, with its flags if it wrote them down, as the debug information has it.
    pub fn producer(&self, address: u64) -> Option<String> {
        let read = || match &self.lines {
            LineSource::Own => Producers::of(&self.data),
            LineSource::Separate(path) => Producers::of(&std::fs::read(path).unwrap_or_default()),
            LineSource::Missing | LineSource::Unreadable(_) => Producers::default(),
        };
        self.producers.get_or_init(read).at(address).map(str::to_owned)
    }

    /// The name of the section that holds an address, empty where there is none.
    pub fn section(&self, address: u64) -> &str {
        let holds = |section: &&ImageSection| (section.start..section.end).contains(&address);
        self.sections.iter().find(holds).map_or("", |section| &section.name)
    }

    /// The name of the file, without its folder.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The places an address comes from, the innermost first; nothing without debug information.
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let Some(loader) = &self.loader else { return Vec::new() };
        let mut found = Vec::new();
        let Ok(mut frames) = loader.find_frames(address) else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| {
                // Names in DWARF are mangled or bare; `demangle` leaves bare ones as they are.
                name.raw_name().ok().map(|name| demangle(&name))
            });
            let location = frame.location.as_ref();
            found.push(SourceFrame {
                function,
                file: location.and_then(|location| location.file).map(str::to_owned),
                at: Position {
                    line: location.and_then(|location| location.line).unwrap_or(0),
                    column: location.and_then(|location| location.column).unwrap_or(0),
                },
                copy: frame.dw_die_offset.map(|offset| offset.0.into_u64()),
            });
        }
        found
    }

    /// The addresses in a range at which the debug information says something of its own, with no regard to what came before.
    pub fn marked_addresses(&self, first: u64, end: u64) -> Vec<u64> {
        let Some(rows) = self.loader.as_ref().and_then(|loader| loader.find_location_range(first, end).ok())
        else {
            return Vec::new();
        };
        rows.filter(|(address, _, location)| *address >= first && location.line.unwrap_or(0) > 0)
            .map(|(address, ..)| address)
            .collect()
    }

    /// The code of the function that holds an address; none without a symbol.
    pub fn code(&self, address: u64) -> Rc<FunctionCode> {
        let Some(function) = self.function(address) else { return Rc::default() };
        if let Some(found) = self.code.borrow().get(&function.start) {
            return Rc::clone(found);
        }
        let bytes = self.bytes(function.start);
        let length = usize::try_from((function.end - function.start).min(LONGEST_FUNCTION)).unwrap_or(0);
        let decoded =
            instruction::decode(self.architecture, &bytes[..length.min(bytes.len())], function.start);
        let found = Rc::new(FunctionCode::new(decoded));
        self.code.borrow_mut().insert(function.start, Rc::clone(&found));
        found
    }

    /// The shape of the code of the function that holds an address; nothing is said of other machines' code.
    pub fn shape(&self, address: u64) -> CodeShape {
        let Some(function) = self.function(address) else { return CodeShape::default() };
        if self.architecture != ModuleCode::X86_64 {
            return CodeShape::default();
        }
        let bytes = self.bytes(function.start);
        let length = usize::try_from(function.end - function.start).unwrap_or(0).min(bytes.len());
        CodeShape::of(&bytes[..length], function.start)
    }

    /// The functions of the file, in the order of their addresses.
    pub fn functions(&self) -> impl Iterator<Item = SymbolFunction<'_>> {
        self.symbols.iter()
    }

    /// An instruction as text; a direct branch with the name of its target.
    pub fn text(&self, at: &Instruction) -> Option<String> {
        let mut text = instruction::text(self.architecture, self.bytes(at.address), at.address)?;
        let (InstructionFlow::Conditional(target)
        | InstructionFlow::Jump(target)
        | InstructionFlow::Call(target)) = at.flow
        else {
            return Some(text);
        };
        if let Some(function) = self.function(target) {
            let into = target - function.start;
            let name = assay_report::sites::names::short(&function.name());
            text += &if into == 0 { format!(" <{name}>") } else { format!(" <{name}+{into:#x}>") };
        }
        Some(text)
    }
}
