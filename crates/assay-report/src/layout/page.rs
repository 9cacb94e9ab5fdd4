//! Where functions lie, as plain data. Addresses are link-time ones; offsets and sizes are in bytes.

pub use assay_pure::placement::CodeChange;
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const LAYOUT_SCHEMA: &str = "assay.layout/1";

/// Where the functions of linked files lie, what their loops touch at each offset, and what changed from another file. Addresses are link-time ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LayoutPage {
    /// Name and version of this format.
    pub schema: String,
    /// In plain words.
    pub answer: String,
    /// What the reader must know before believing a figure.
    pub warnings: Vec<String>,
    /// Whose rule is used.
    pub host: Host,
    /// The files.
    pub binaries: Vec<Binary>,
    /// What changed from another file to the first, where that was asked for.
    pub against: Option<FileChanges>,
}

/// The processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Host {
    /// Its name.
    pub cpu: String,
    /// How it fetches and caches code; null where unknown.
    pub rule: Option<Rule>,
}

/// A processor's rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rule {
    /// Microarchitecture.
    pub name: String,
    /// Bytes fetched for decoding at once.
    pub fetch_bytes: u64,
    /// Bytes that an entry of the op cache is for.
    pub window_bytes: u64,
    /// Operations that an entry holds.
    pub entry_operations: u64,
    /// Branches at 32-byte borders keep their window out of the op cache.
    pub jump_erratum: bool,
    /// Who says so.
    pub source: String,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Binary {
    /// Where it is.
    pub path: String,
    /// Bytes of executable code.
    pub text_bytes: u64,
    /// Bytes of padding between functions.
    pub padding_bytes: u64,
    /// Functions in the file.
    pub functions_in_file: u64,
    /// Its instruction set, where no rule of a front end is known for it: then nothing is said of where its loops lie. Null for x86-64.
    pub without_rule: Option<String>,
    /// Those that were asked for, by address.
    pub functions: Vec<FunctionLayout>,
    /// What pinning would cost and bring.
    pub advice: Vec<AlignmentAdvice>,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionLayout {
    /// Its name, as its source has it.
    pub name: String,
    /// As it stands in the file.
    pub symbol: String,
    /// Its address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Offset in its 64-byte line.
    pub line_offset: u64,
    /// Offset in its 32-byte window.
    pub window_offset: u64,
    /// Lines that it touches.
    pub lines: u64,
    /// Windows that it touches.
    pub windows: u64,
    /// Padding ahead of it.
    pub padding_bytes: u64,
    /// Bytes that it would move on if it were aligned to 64.
    pub pinning_bytes: u64,
    /// Branches that cross or end at a 32-byte border; none where no rule is known.
    pub border_branches: Vec<Border>,
    /// Loops, by their heads.
    pub loops: Vec<LoopLayout>,
    /// Offset of bytes that are no known instruction.
    pub undecodable: Option<u64>,
    /// What a ledger's campaign measured of it.
    pub measured: Vec<MeasuredVariant>,
}

/// A branch at a border.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Border {
    /// Offset in the function.
    pub at: u64,
    /// Bytes, with what is fused to it.
    pub bytes: u64,
    /// A comparison is fused with it.
    pub fused: bool,
    /// It crosses the border; otherwise it ends there.
    pub crosses: bool,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopLayout {
    /// Offset in the function of where its branches go back to.
    pub head: u64,
    /// Offsets of these branches.
    pub branches: Vec<u64>,
    /// Bytes from the head to the end of the last of them.
    pub bytes: u64,
    /// Instructions in between.
    pub instructions: u64,
    /// Calls among them.
    pub calls: u64,
    /// No other loop lies inside.
    pub innermost: bool,
    /// Where it lies can matter: by the host's rule it touches more at some phases than at others.
    pub depends_on_place: bool,
    /// What an iteration touches with all code moved by 0, 16, 32 and 48 bytes; empty where no rule is known.
    pub at: Vec<IterationAtPhase>,
}

/// What an iteration touches at one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationAtPhase {
    /// How far all code is moved.
    pub phase_bytes: u64,
    /// The function's offset in its 64-byte line then.
    pub offset: u64,
    /// The loop head's.
    pub head_offset: u64,
    /// 64-byte lines.
    pub lines: u64,
    /// 32-byte windows.
    pub windows: u64,
    /// Branches that cross or end at a 32-byte border.
    pub border_branches: u64,
    /// Stretches fetched for decoding, by the host's rule.
    pub fetches: Option<u64>,
    /// Windows of the op cache, by the host's rule.
    pub op_cache_windows: Option<u64>,
    /// Entries of the op cache at least, by the host's rule.
    pub op_cache_entries: Option<u64>,
    /// Windows that cannot be in the op cache, by the host's rule.
    pub left_out: Option<u64>,
}

/// Times of a variant whose function this is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredVariant {
    /// Variant name.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Nanoseconds per unit by the function's offset in its line.
    pub by_offset: Vec<TimeAtOffset>,
}

/// A time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeAtOffset {
    /// Offset in the 64-byte line.
    pub offset: u64,
    /// Nanoseconds per unit.
    pub ns_per_unit: f64,
}

/// A function worth pinning to a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AlignmentAdvice {
    /// Its name, as its source has it.
    pub function: String,
    /// Bytes that `aligned(64)` would add ahead of it in this file; at most 63 in another.
    pub pin_bytes: u64,
    /// Why.
    pub reason: String,
    /// Time at offset 0 / mean over the offsets, where that was measured.
    pub pinned_ratio: Option<f64>,
}

/// What changed from one file to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileChanges {
    /// The old file.
    pub old: String,
    /// The new file.
    pub new: String,
    /// Bytes of code in the old file.
    pub old_text_bytes: u64,
    /// Bytes of code in the new file.
    pub new_text_bytes: u64,
    /// Bytes of padding between functions in the old file.
    pub old_padding_bytes: u64,
    /// Bytes of padding between functions in the new file.
    pub new_padding_bytes: u64,
    /// How many functions became what.
    pub counts: ChangeCounts,
    /// The functions that were asked for, but those that are identical with all that they reach.
    pub functions: Vec<FunctionAcross>,
    /// Why there are no source lines, if so.
    pub without_lines: Option<String>,
}

/// How many functions became what, over those that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeCounts {
    /// The same code at the same address.
    pub identical: u64,
    /// The same code elsewhere.
    pub moved: u64,
    /// The same instructions at other distances from each other.
    pub respaced: u64,
    /// Other code.
    pub changed: u64,
    /// In the old file only.
    pub only_old: u64,
    /// In the new file only.
    pub only_new: u64,
    /// It cannot be told.
    pub unknown: u64,
    /// The same code itself, but something that it reaches is not.
    pub reaches_a_change: u64,
}

/// One function of both files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionAcross {
    /// Its name, as its source has it.
    pub name: String,
    /// As it stands in the file.
    pub symbol: String,
    /// What its own code became.
    pub own: CodeChange,
    /// What it reaches that changed; null where nothing did or that cannot be told.
    pub through: Option<String>,
    /// Why it cannot be told.
    pub reason: Option<String>,
    /// Where it was.
    pub old: Option<FunctionExtent>,
    /// Where it is.
    pub new: Option<FunctionExtent>,
    /// Lines of the old source whose code is not in the new file.
    pub old_lines: Vec<String>,
    /// Lines of the new source whose code was not in the old file.
    pub new_lines: Vec<String>,
}

/// Where a function lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionExtent {
    /// Its address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Offset in its 64-byte line.
    pub line_offset: u64,
}

impl LayoutPage {
    /// The page as one JSON object.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
