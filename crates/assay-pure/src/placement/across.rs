//! Which functions of a file are the same machine code in another file?
//!
//! Question: two builds differ; which functions did the difference really change? Method: the functions are paired by
//! name, each pair is decoded and held line against line, and what depends on where things lie is compared by what it
//! leads to: a callee by being the other file's function of that name, or else by being the same code; what is
//! imported by its name, through whatever stub; a named object by name, size and first contents; a constant without a
//! name (a text, a number, a table) by its bytes. A function's own code is told from all that it reaches: a caller of
//! a changed function is itself unchanged. Pairs are nodes of one graph, each compared once, whatever calls it.
//! Source: Intel SDM volume 2 as decoded by iced-x86; Arm DDI 0487; System V ABI with its supplements for AMD64 and
//! AArch64. Limits: x86-64 and AArch64; functions of other files (a shared C library) are the same if their name is;
//! what cannot be decided is `Unknown`, never guessed; functions that differ in padding which is executed, ahead of a
//! loop, are changed; on x86-64 a thread's variable whose offset is a constant of its own is not recognised. Where the size
//! of a constant is not known it ends where a text does, or at the next address that something in the file refers to.
//! Checked: programs of the machine's compilers in tests/across.rs.

pub(super) mod a64;
mod data;
mod differing;
mod graph;
mod inside;
mod lead;
pub(super) mod listing;
mod names;
mod node;
mod reached;
pub(super) mod side;
mod x86;

use super::identity::Identity;
use super::layout::{FunctionPlace, LayoutError};
pub use differing::{Differing, differing};
use graph::{Graph, OwnCode};
pub(super) use inside::same_code_inside;
use names::NamePair;
use node::Node;
pub use reached::Reached;
use side::FileSide;

/// A linked file to be compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparedFile<'e> {
    /// The file.
    pub elf: &'e [u8],
    /// The file that its symbols were split off to, if they were.
    pub symbols: Option<&'e [u8]>,
}

impl<'e> From<&'e [u8]> for ComparedFile<'e> {
    fn from(elf: &'e [u8]) -> Self {
        Self { elf, symbols: None }
    }
}

/// What became of a function's own machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CodeChange {
    /// The same instructions at the same address.
    Identical,
    /// The same instructions at another address.
    Moved,
    /// The same instructions at other distances from each other: a jump is longer, or padding between blocks.
    Respaced,
    /// Other instructions, or constants of their own.
    Changed,
    /// The new file has no function of this name.
    OnlyOld,
    /// The old file has none.
    OnlyNew,
    /// It cannot be told.
    Unknown,
}

impl CodeChange {
    /// As a word of a sentence.
    pub fn word(self) -> &'static str {
        match self {
            CodeChange::Identical => "identical",
            CodeChange::Moved => "moved",
            CodeChange::Respaced => "respaced",
            CodeChange::Changed => "changed",
            CodeChange::OnlyOld => "gone",
            CodeChange::OnlyNew => "new",
            CodeChange::Unknown => "unknown",
        }
    }
}

/// One function of two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionChange {
    /// Symbol name, in the new file if that has it.
    pub name: String,
    /// Where it lies in the old file.
    pub old: Option<FunctionPlace>,
    /// Where it lies in the new file.
    pub new: Option<FunctionPlace>,
    /// Its own code.
    pub own: CodeChange,
    /// Offset in the old function of the first instruction that differs, bytes; where its own code changed.
    pub differs_at: Option<u64>,
    /// Why it cannot be told what became of its own code.
    pub unknown: Option<String>,
    /// Its code and all that it reaches.
    pub reached: Reached,
    /// Whether the data that it refers to, itself or through other data, is the same; functions that it calls are not asked.
    pub same_data: bool,
}

impl FunctionChange {
    /// Whether its own code is the same, wherever it lies.
    pub fn is_same_code(&self) -> bool {
        matches!(self.own, CodeChange::Identical | CodeChange::Moved | CodeChange::Respaced)
    }

    /// Whether executing it does the same in both files, apart from what its callees do.
    pub fn is_untouched(&self) -> bool {
        self.is_same_code() && self.same_data
    }
}

/// What became of each function from `old` to `new`, by address in the new file, then those that are only in the old.
///
/// Cost: linear in the code of both files, times the logarithm of the number of their symbols.
///
/// # Errors
/// One of the files is no ELF file, or has no function symbols.
pub fn compare(old: &[u8], new: &[u8]) -> Result<Vec<FunctionChange>, LayoutError> {
    compare_linked(old.into(), new.into())
}

/// [`compare`], with symbols from other files where they were split off.
///
/// # Errors
/// One of the files is no ELF file, or there are no function symbols.
pub fn compare_linked(old: ComparedFile, new: ComparedFile) -> Result<Vec<FunctionChange>, LayoutError> {
    let sides = (FileSide::parse(old.elf, old.symbols)?, FileSide::parse(new.elf, new.symbols)?);
    let (old, new) = (&sides.0, &sides.1);
    let pairs = names::pairs(&old.named, &new.named);
    let unsuitable = unsuitable(old, new);
    let mut graph = Graph::new(old, new, &pairs);
    let mut found = Vec::new();
    for pair in &pairs {
        match pair {
            &NamePair::Both(a, b) => {
                let node = Node::Code(old.named[a].address, new.named[b].address);
                let number = unsuitable.is_none().then(|| graph.node(node));
                found.push((Some(a), Some(b), number, unsuitable.clone()));
            }
            &NamePair::OnlyOld(a) => found.push((Some(a), None, None, None)),
            &NamePair::OnlyNew(b) => found.push((None, Some(b), None, None)),
            NamePair::Doubt(left, right, reason) => {
                found.extend(left.iter().map(|&a| (Some(a), None, None, Some(reason.clone()))));
                found.extend(right.iter().map(|&b| (None, Some(b), None, Some(reason.clone()))));
            }
        }
    }
    graph.run();
    let (reached, other_data) = (graph.reached(), graph.reads_other_data());
    let mut changes: Vec<FunctionChange> = found
        .into_iter()
        .map(|(a, b, number, reason)| {
            let (old, new) = (a.map(|a| place(old, a)), b.map(|b| place(new, b)));
            let name = new.as_ref().or(old.as_ref()).map_or(String::new(), |place| place.name.clone());
            let (own, reached) = match (number, reason) {
                (Some(number), _) => {
                    let moved =
                        old.as_ref().map(|place| place.address) != new.as_ref().map(|place| place.address);
                    (own(&graph, number, moved), reached[number].clone())
                }
                (None, Some(reason)) => (OwnChange::unknown(reason.clone()), Reached::Unknown { reason }),
                (None, None) => {
                    let own = if new.is_some() { CodeChange::OnlyNew } else { CodeChange::OnlyOld };
                    (own.into(), Reached::Changed { through: name.clone() })
                }
            };
            let OwnChange { own, differs_at, unknown } = own;
            let same_data = number.is_some_and(|number| !other_data[number]);
            FunctionChange { name, old, new, own, differs_at, unknown, reached, same_data }
        })
        .collect();
    let key = |change: &FunctionChange| {
        (change.new.is_none(), change.new.as_ref().or(change.old.as_ref()).map(|place| place.address))
    };
    changes.sort_by(|a, b| (key(a), &a.name).cmp(&(key(b), &b.name)));
    Ok(changes)
}

fn place(side: &FileSide, index: usize) -> FunctionPlace {
    let named = &side.named[index];
    FunctionPlace {
        name: named.name.clone(),
        address: named.address,
        size: named.size,
        offset: named.address % super::layout::LINE_BYTES,
        alignment: None,
    }
}

/// What became of a function's own code, and what else is known of that.
struct OwnChange {
    own: CodeChange,
    differs_at: Option<u64>,
    unknown: Option<String>,
}

impl From<CodeChange> for OwnChange {
    fn from(own: CodeChange) -> Self {
        Self { own, differs_at: None, unknown: None }
    }
}

impl OwnChange {
    fn unknown(reason: String) -> Self {
        Self { unknown: Some(reason), ..CodeChange::Unknown.into() }
    }
}

fn own(graph: &Graph, number: usize, moved: bool) -> OwnChange {
    match graph.own(number) {
        OwnCode::Same if graph.is_respaced(number) => CodeChange::Respaced.into(),
        OwnCode::Same if moved => CodeChange::Moved.into(),
        OwnCode::Same => CodeChange::Identical.into(),
        OwnCode::Different { at } => OwnChange { differs_at: Some(*at), ..CodeChange::Changed.into() },
        OwnCode::Unknown { at, reason } => OwnChange::unknown(format!("at byte {at}: {reason}")),
    }
}

fn unsuitable(old: &FileSide, new: &FileSide) -> Option<String> {
    let kinds =
        (old.aarch64 != new.aarch64).then(|| "the files are of different instruction sets".to_owned());
    old.unsuitable().or_else(|| new.unsuitable()).or(kinds)
}

/// Compares a function of one file with one of another, and all that they reach.
///
/// A name that several functions of a file bear is `Unknown`, since it cannot be told which one is meant.
///
/// # Errors
/// One of the files is no ELF file, has no function symbols, or none of this name.
pub fn same_code_across(
    old: &[u8],
    old_function: &str,
    new: &[u8],
    new_function: &str,
) -> Result<Identity, LayoutError> {
    same_code_linked((old.into(), old_function), (new.into(), new_function))
}

/// [`same_code_across`], with symbols from other files where they were split off.
///
/// # Errors
/// One of the files is no ELF file, has no function symbols, or none of this name.
pub fn same_code_linked(
    old: (ComparedFile, &str),
    new: (ComparedFile, &str),
) -> Result<Identity, LayoutError> {
    let sides = (FileSide::parse(old.0.elf, old.0.symbols)?, FileSide::parse(new.0.elf, new.0.symbols)?);
    let mut entries = [0; 2];
    for (entry, (side, name)) in entries.iter_mut().zip([(&sides.0, old.1), (&sides.1, new.1)]) {
        match addresses(side, name).as_slice() {
            [] => return Err(LayoutError::NoFunction { name: name.to_owned() }),
            [only] => *entry = *only,
            several => {
                let reason = format!("{} functions are named `{name}`", several.len());
                return Ok(Identity::Unknown { reason });
            }
        }
    }
    if let Some(reason) = unsuitable(&sides.0, &sides.1) {
        return Ok(Identity::Unknown { reason });
    }
    let pairs = names::pairs(&sides.0.named, &sides.1.named);
    let mut graph = Graph::new(&sides.0, &sides.1, &pairs);
    let number = graph.node(Node::Code(entries[0], entries[1]));
    graph.run();
    Ok(graph.identity(number))
}

fn addresses(side: &FileSide, name: &str) -> Vec<u64> {
    let mut found: Vec<u64> =
        side.named.iter().filter(|named| named.name == name).map(|named| named.address).collect();
    found.sort_unstable();
    found.dedup();
    found
}
