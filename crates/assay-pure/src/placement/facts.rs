//! What a fetch unit and an op cache see of each function: lines, windows, loops, branches at borders.
//!
//! Question: which functions would run otherwise somewhere else? Method: the functions of the symbol table are
//! decoded; a loop is what lies between a branch that goes back inside its function and where it goes to. Source of the
//! branch rule: Intel, Mitigations for Jump Conditional Code Erratum, 2019; of macro-fusion: Intel 64 and IA-32
//! Architectures Optimization Reference Manual, 3.4.2.2. Limits: loops made by indirect jumps are not seen; a loop's
//! body is told as all that lies between its head and its last branch, also what is left out of most iterations.
//! Checked: hand-assembled functions here; objdump's own listing of programs of this machine (tests/facts.rs).

mod decode;
mod loops;
#[cfg(test)]
mod tests;

use super::across::ComparedFile;
use super::identity::image::LinkedImage;
use super::layout::{FunctionPlace, LINE_BYTES, LayoutError};
use super::{identity, layout};
pub use decode::{BranchFlow, DecodedInstruction};
pub use loops::Loop;
use object::{Architecture, Object as _};

/// Bytes of the windows that the jump erratum and many op caches are about.
pub const WINDOW_BYTES: u64 = 32;

/// A branch that crosses or ends at a border between two 32-byte windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BorderBranch {
    /// Offset in the function of the branch, or of the comparison that is fused with it.
    pub at: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Whether a comparison is fused with it.
    pub fused: bool,
    /// It crosses the border; otherwise its last byte is the last before it.
    pub crosses: bool,
}

/// One function, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedFunction {
    /// Name, address, size, offset in the 64-byte line.
    pub place: FunctionPlace,
    /// Other names of the same place.
    pub aliases: Vec<String>,
    /// Bytes of padding between what lies ahead and this function; 0 if it is no padding.
    pub padding_bytes: u64,
    /// Its instructions, as far as they are known.
    pub operations: Vec<DecodedInstruction>,
    /// Its loops, by their heads.
    pub loops: Vec<Loop>,
    /// Offset of bytes that are no known instruction.
    pub undecodable: Option<u64>,
}

impl DecodedFunction {
    /// Offset in the 32-byte window.
    pub fn window_offset(&self) -> u64 {
        self.place.address % WINDOW_BYTES
    }

    /// 64-byte lines that it touches.
    pub fn lines(&self) -> u64 {
        touched(self.place.address, self.place.size, LINE_BYTES)
    }

    /// 32-byte windows that it touches.
    pub fn windows(&self) -> u64 {
        touched(self.place.address, self.place.size, WINDOW_BYTES)
    }

    /// Bytes that it would move on if it were aligned to 64.
    pub fn pinning_bytes(&self) -> u64 {
        self.place.address.wrapping_neg() % LINE_BYTES
    }

    /// Its branches that touch a border of 32 bytes, if all code were `shift` bytes further.
    pub fn border_branches(&self, shift: u64) -> Vec<BorderBranch> {
        border_branches(&self.operations, self.place.address.wrapping_add(shift))
    }
}

/// How many stretches of `grain` bytes, each at a multiple of it, have a byte in common with `size` bytes from
/// `address` on.
pub fn touched(address: u64, size: u64, grain: u64) -> u64 {
    let Some(last) = size.checked_sub(1) else { return 0 };
    (address.saturating_add(last) / grain).saturating_sub(address / grain) + 1
}

fn border_branches(operations: &[DecodedInstruction], address: u64) -> Vec<BorderBranch> {
    let mut found = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        if operation.flow == BranchFlow::Next {
            continue;
        }
        let before = index.checked_sub(1).map(|index| &operations[index]);
        let fused = before.filter(|before| before.fuses_with(operation));
        let at = fused.map_or(operation.at, |before| before.at);
        let bytes = operation.at + operation.bytes - at;
        let (start, end) = (address.wrapping_add(at), address.wrapping_add(at + bytes));
        let crosses = start / WINDOW_BYTES != end.wrapping_sub(1) / WINDOW_BYTES;
        if crosses || end.is_multiple_of(WINDOW_BYTES) {
            found.push(BorderBranch { at, bytes, fused: fused.is_some(), crosses });
        }
    }
    found
}

/// The names of a file's functions that are most like `wanted`, the nearest first, at most `count`.
pub fn nearest_names<'n>(names: impl Iterator<Item = &'n str>, wanted: &str, count: usize) -> Vec<&'n str> {
    let plain = wanted.replace(['*', '?'], "");
    let mut found: Vec<(f64, &str)> =
        names.map(|name| (strsim::jaro_winkler(name, &plain), name)).filter(|found| found.0 > 0.7).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found.dedup();
    found.into_iter().take(count).map(|(_, name)| name).collect()
}

/// The functions of a file for which `wanted` says yes by any of their names, by address.
///
/// # Errors
/// The file is no ELF file or has no function symbols, or its instruction set is not known.
pub fn functions(
    linked: ComparedFile,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<DecodedFunction>, LayoutError> {
    let named = linked.symbols.unwrap_or(linked.elf);
    let architecture = layout::parse(linked.elf)?.architecture();
    let aarch64 = match architecture {
        Architecture::X86_64 => false,
        Architecture::Aarch64 => true,
        other => return Err(LayoutError::UnknownCode { architecture: format!("{other:?}") }),
    };
    let image = LinkedImage::parse_with(linked.elf, named)?;
    let mut found: Vec<DecodedFunction> = Vec::new();
    let mut end: u64 = 0;
    let mut budget = 8 * image.code_bytes() + (1 << 20);
    for place in image.functions() {
        if let Some(last) = found.last_mut().filter(|last| last.place.address == place.address) {
            last.aliases.push(place.name.clone());
            last.place.size = last.place.size.max(place.size);
        } else {
            let padding_bytes = padding(&image, end, place.address, aarch64);
            found.push(DecodedFunction {
                place: place.clone(),
                aliases: Vec::new(),
                padding_bytes,
                operations: Vec::new(),
                loops: Vec::new(),
                undecodable: None,
            });
        }
        end = end.max(place.address.saturating_add(place.size));
    }
    found.retain(|function| wanted(&function.place.name) || function.aliases.iter().any(|name| wanted(name)));
    for function in &mut found {
        let (start, size) = (function.place.address, function.place.size);
        budget = match budget.checked_sub(size) {
            Some(rest) => rest,
            None => return Err(LayoutError::Overlapping),
        };
        let bytes = image.bytes(start, size).filter(|_| image.is_code(start)).unwrap_or_default();
        let (operations, undecodable) = decode::operations(bytes, start, aarch64);
        function.loops = loops::find(&operations, size);
        function.operations = operations;
        function.undecodable = undecodable.or_else(|| (bytes.is_empty() && size > 0).then_some(0));
    }
    Ok(found)
}

/// Bytes between two functions, if they are all padding.
fn padding(image: &LinkedImage, end: u64, start: u64, aarch64: bool) -> u64 {
    // What lies ahead of the first function of a section is another section.
    let gap = start.checked_sub(end).filter(|gap| *gap > 0 && *gap < 4096);
    let bytes = gap.and_then(|gap| image.bytes(end, gap)).unwrap_or_default();
    let filler = match aarch64 {
        true => {
            bytes.chunks(4).all(|word| word == [0x1f, 0x20, 0x03, 0xd5] || word.iter().all(|&byte| byte == 0))
        }
        false => bytes.iter().all(|&byte| byte == 0) || identity::code::all_padding(bytes),
    };
    if filler { bytes.len() as u64 } else { 0 }
}
