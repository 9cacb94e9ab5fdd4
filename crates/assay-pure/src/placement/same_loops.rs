//! Do two functions, of one linked binary or of two, execute the same loops?
//!
//! Question: a flag is tested once, then the same loop runs; the functions differ, the work does not. If their times differ,
//! is that where the loop lies inside its function? Method: a loop is a set of instructions each of which can be reached
//! from each other one (a strongly connected component of the function's control flow), so loops inside of loops are one with
//! them, and a jump back to the function's end is none. Those of both functions are held side by side in their order: the same instructions in
//! the same order, jumps inside a loop to the same place in it, jumps out of it anywhere, calls to the same function or
//! to one of the same machine code, data at the same address or constants of the same bytes. Padding inside a loop is
//! passed over. What lies outside of all loops is executed once a call and is not compared.
//! What an instruction is, `same_loops/x86.rs` and `same_loops/a64.rs` say.
//! Limits: x86-64 and AArch64; loops made by indirect jumps are not seen, so a function that has any is not judged; constants are
//! compared over 64 bytes, and what a register holds when a loop begins is not: an address that is taken once a call may be of
//! other data. On AArch64 that address is followed into the loop, where it serves as the base of a load or store at a fixed
//! distance; where it is indexed it is not. It is evidence for a cause, never a proof of equality. Across two files a callee is the
//! same by its name, data by the name of its object or by its bytes.
//! Checked: functions of the machine's compilers in tests/identity.rs, tests/aarch64_pairs.rs and tests/across.rs.

mod a64;
mod x86;

use super::across::side::{FileSide, LoaderSlot};
use super::identity::code::Disassembly;
use super::identity::image::{Access, LinkedImage};
use super::identity::{Identity, same_code_at};
use super::layout::LayoutError;
use a64::A64Code;
pub(super) use x86::LoopsOfBoth;

/// Functions are moved by multiples of this, bytes.
pub const ENTRY_STEP: u64 = 16;

/// Bytes of a constant that are compared.
const CONSTANT_BYTES: u64 = 64;

/// Larger functions are not looked at where all of a file's are: the time that loops take to be found grows with their square.
const MOST_BYTES: u64 = 1 << 16;

/// A loop that two functions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedLoop {
    /// Where it begins in the first function, bytes from the entry.
    pub first: u64,
    /// Where it begins in the second.
    pub second: u64,
    /// Instructions in it, without padding.
    pub instructions: usize,
}

impl SharedLoop {
    /// Whether shifting whole functions by multiples of `step` bytes can bring both to the same places in a line.
    pub fn reaches_the_same(&self, step: u64) -> bool {
        self.first % step == self.second % step
    }
}

/// The loops that the functions at the link-time addresses `a` and `b` have in common, if all of them are the same.
///
/// Returns: `None` where a loop differs, there is none, or it cannot be told.
///
/// # Errors
/// The file is no ELF file or has no function symbols.
pub fn same_loops(elf: &[u8], a: u64, b: u64) -> Result<Option<Vec<SharedLoop>>, LayoutError> {
    let file = FileSide::parse(elf, None)?;
    if file.unsuitable().is_some() {
        return Ok(None);
    }
    Ok(common((&file, a), (&file, b), &OneFile { elf, file: &file }))
}

/// The loops that functions of two builds have in common: for each pair of addresses in the old file and in the new one as
/// [`same_loops`] has it.
///
/// # Errors
/// One of the files is no ELF file or has no function symbols.
pub fn same_loops_across(
    old: &[u8],
    new: &[u8],
    pairs: &[(u64, u64)],
) -> Result<Vec<Option<Vec<SharedLoop>>>, LayoutError> {
    let (old, new) = (FileSide::parse(old, None)?, FileSide::parse(new, None)?);
    if old.aarch64 != new.aarch64 || old.unsuitable().or(new.unsuitable()).is_some() {
        return Ok(vec![None; pairs.len()]);
    }
    let in_common = TwoFiles { old: &old, new: &new };
    let is_small = |side: &FileSide<'_>, address| {
        side.image.function_at(address).is_some_and(|function| function.size <= MOST_BYTES)
    };
    let one = |&(a, b): &(u64, u64)| {
        let small = is_small(&old, a) && is_small(&new, b);
        small.then(|| common((&old, a), (&new, b), &in_common)).flatten()
    };
    Ok(pairs.iter().map(one).collect())
}

/// The loops of a function of one file and of another of another, or of the same, if all are the same.
fn common(
    (file, a): (&FileSide<'_>, u64),
    (other, b): (&FileSide<'_>, u64),
    in_common: &dyn InCommon,
) -> Option<Vec<SharedLoop>> {
    if file.aarch64 {
        return shared_by(&A64Code::decode(file, a)?, &A64Code::decode(other, b)?, in_common);
    }
    let x86 = |file: &FileSide<'_>, entry| Disassembly::decode(&file.image, entry).ok();
    shared_by(&x86(file, a)?, &x86(other, b)?, in_common)
}

fn shared_by<C: LoopCode>(first: &C, second: &C, in_common: &dyn InCommon) -> Option<Vec<SharedLoop>> {
    Some(paired(first, second, in_common)?.iter().map(|(one, other)| shared(one, other)).collect())
}

/// A function as the comparison of loops sees it: instructions, by their numbers in the order of their addresses.
trait LoopCode {
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether all of it is known, and all its jumps say where they lead.
    fn is_whole(&self) -> bool;
    /// Where an instruction lies, bytes from the entry.
    fn offset(&self, index: usize) -> u64;
    /// The instruction at an address, if one of this function begins there.
    fn index_of(&self, address: u64) -> Option<usize>;
    /// Whether it only fills a gap.
    fn is_padding(&self, index: usize) -> bool;
    /// Whether control never passes it.
    fn ends(&self, index: usize) -> bool;
    /// What it leads to by the addresses in it.
    fn references(&self, index: usize) -> Vec<LoopReference>;
    /// Whether it is the same as one of another function but for these addresses.
    fn is_alike(&self, index: usize, other: &Self, at: usize) -> bool;
}

/// Where an address in an instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopReference {
    Jump(u64),
    Callee(u64),
    Data(u64),
    /// A variable of the thread, by its offset from the thread pointer.
    Thread(i64),
    /// What uses it says where.
    Nothing,
    /// It was not followed.
    Unclear,
}

/// The loops of two functions side by side, if all are the same.
fn paired<'c, C: LoopCode>(
    first: &'c C,
    second: &'c C,
    in_common: &dyn InCommon,
) -> Option<Vec<(LoopSide<'c, C>, LoopSide<'c, C>)>> {
    if !first.is_whole() || !second.is_whole() {
        return None;
    }
    let (loops, others) = (outermost(first), outermost(second));
    if loops.is_empty() || loops.len() != others.len() {
        return None;
    }
    let sides = |(one, other)| (LoopSide::new(first, one), LoopSide::new(second, other));
    let pairs: Vec<_> = loops.into_iter().zip(others).map(sides).collect();
    pairs.iter().all(|(one, other)| is_same(one, other, in_common)).then_some(pairs)
}

/// The instructions of a loop, by their numbers in the function, in the order of their addresses.
pub(super) type LoopSteps = Vec<usize>;

/// Loops that are in no other, in their order.
fn outermost(code: &impl LoopCode) -> Vec<LoopSteps> {
    let next: Vec<Vec<usize>> = (0..code.len()).map(|step| next(code, step)).collect();
    let mut before = vec![Vec::new(); next.len()];
    for (step, after) in next.iter().enumerate() {
        after.iter().for_each(|&after| before[after].push(step));
    }
    let mut found: Vec<LoopSteps> = Vec::new();
    // Whatever goes in a circle goes back to a lower address somewhere.
    let heads = next.iter().enumerate().flat_map(|(step, after)| after.iter().filter(move |to| **to <= step));
    for &head in heads {
        if found.iter().any(|known| known.contains(&head)) {
            continue;
        }
        let (ahead, behind) = (reached(&next, head), reached(&before, head));
        let circle: LoopSteps = (0..next.len()).filter(|&step| ahead[step] && behind[step]).collect();
        if !circle.is_empty() {
            found.push(circle);
        }
    }
    found.sort();
    found
}

/// Which instructions may follow one inside its function.
fn next(code: &impl LoopCode, step: usize) -> Vec<usize> {
    let target = |reference| match reference {
        LoopReference::Jump(to) => code.index_of(to),
        _ => None,
    };
    let falls = !code.ends(step) && step + 1 < code.len();
    code.references(step).into_iter().filter_map(target).chain(falls.then_some(step + 1)).collect()
}

/// What can be reached from `start` in one step or more.
fn reached(next: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut open = next[start].clone();
    while let Some(step) = open.pop() {
        if !std::mem::replace(&mut seen[step], true) {
            open.extend(&next[step]);
        }
    }
    seen
}

/// A loop of one of the functions.
struct LoopSide<'c, C> {
    code: &'c C,
    circle: LoopSteps,
    /// Its instructions that are not padding.
    executed: Vec<usize>,
}

impl<'c, C: LoopCode> LoopSide<'c, C> {
    fn new(code: &'c C, circle: LoopSteps) -> Self {
        let executed = circle.iter().copied().filter(|&step| !code.is_padding(step)).collect();
        Self { code, executed, circle }
    }

    fn begin(&self) -> u64 {
        self.code.offset(self.circle[0])
    }

    /// How many of its instructions lie ahead of where a jump leads to; none for a jump out of it.
    fn within(&self, to: u64) -> Option<usize> {
        let target = self.code.index_of(to)?;
        self.circle.contains(&target).then(|| self.executed.partition_point(|&step| step < target))
    }
}

/// What lies at two addresses, the first of the first function's file.
trait InCommon {
    /// Whether it is one function, or the same code.
    fn function(&self, a: u64, b: u64) -> bool;
    /// Whether it is the same data.
    fn data(&self, a: u64, b: u64) -> bool;
    /// Whether two offsets from the thread pointer are those of the same variable of the thread.
    fn thread(&self, a: i64, b: i64) -> bool;
}

/// Both functions are in one file.
struct OneFile<'i, 'e> {
    elf: &'e [u8],
    file: &'i FileSide<'e>,
}

impl InCommon for OneFile<'_, '_> {
    fn function(&self, a: u64, b: u64) -> bool {
        a == b || matches!(same_code_at(self.elf, a, b), Ok(Identity::Identical { .. }))
    }

    fn data(&self, a: u64, b: u64) -> bool {
        a == b || same_constant((&self.file.image, a), (&self.file.image, b), CONSTANT_BYTES)
    }

    fn thread(&self, a: i64, b: i64) -> bool {
        a == b
    }
}

/// Each is in a file of its own.
struct TwoFiles<'s, 'e> {
    old: &'s FileSide<'e>,
    new: &'s FileSide<'e>,
}

impl TwoFiles<'_, '_> {
    /// What the loader puts into two slots: one symbol, or what lies in the files.
    fn slots(&self, a: &LoaderSlot, b: &LoaderSlot) -> bool {
        match (a, b) {
            (LoaderSlot::Symbol { .. }, LoaderSlot::Symbol { .. }) => a == b,
            (&LoaderSlot::Inside(a), &LoaderSlot::Inside(b)) => self.function(a, b) || self.object(a, b),
            _ => false,
        }
    }

    /// Named by both files, or constant bytes without a name.
    fn object(&self, a: u64, b: u64) -> bool {
        let constant = |bytes| same_constant((&self.old.image, a), (&self.new.image, b), bytes);
        match (self.old.variable_at(a), self.new.variable_at(b)) {
            (Some(old), Some(new)) => {
                let is_one = (&old.name, old.size, a - old.address) == (&new.name, new.size, b - new.address);
                let writable = |side: &FileSide<'_>, at| {
                    side.image.section_at(at).is_none_or(|section| section.access != Access::ReadOnly)
                };
                is_one && (writable(self.old, a) && writable(self.new, b) || constant(old.size))
            }
            (None, None) => constant(CONSTANT_BYTES),
            _ => false,
        }
    }
}

impl InCommon for TwoFiles<'_, '_> {
    fn function(&self, a: u64, b: u64) -> bool {
        let named = self.old.names_at(a).iter().any(|name| self.new.names_at(b).contains(name));
        named || self.old.stub(a).zip(self.new.stub(b)).is_some_and(|(a, b)| self.slots(a, b))
    }

    fn data(&self, a: u64, b: u64) -> bool {
        match (self.old.slot(a), self.new.slot(b)) {
            (Some(old), Some(new)) => self.slots(old, new),
            (None, None) => self.object(a, b),
            _ => false,
        }
    }

    fn thread(&self, a: i64, b: i64) -> bool {
        let (old, new) = (self.old.thread_variable(a), self.new.thread_variable(b));
        old.is_some() && old == new
    }
}

/// Whether so many bytes are the same and never written, or as many as there are.
fn same_constant(a: (&LinkedImage<'_>, u64), b: (&LinkedImage<'_>, u64), most: u64) -> bool {
    let bytes = |(image, address): (&LinkedImage<'_>, u64)| {
        let section = image.section_at(address).filter(|section| section.access == Access::ReadOnly)?;
        image.bytes(address, most.min(section.end() - address)).map(<[u8]>::to_vec)
    };
    bytes(a).zip(bytes(b)).is_some_and(|(first, second)| {
        let common = first.len().min(second.len());
        common > 0 && first[..common] == second[..common]
    })
}

fn is_same<C: LoopCode>(a: &LoopSide<'_, C>, b: &LoopSide<'_, C>, in_common: &dyn InCommon) -> bool {
    let same = |(x, y): (&usize, &usize)| step((a, *x), (b, *y), in_common);
    a.executed.len() == b.executed.len() && a.executed.iter().zip(&b.executed).all(same)
}

fn shared<C: LoopCode>(a: &LoopSide<'_, C>, b: &LoopSide<'_, C>) -> SharedLoop {
    SharedLoop { first: a.begin(), second: b.begin(), instructions: a.executed.len() }
}

/// Whether two instructions do the same.
fn step<C: LoopCode>(
    (a, x): (&LoopSide<'_, C>, usize),
    (b, y): (&LoopSide<'_, C>, usize),
    in_common: &dyn InCommon,
) -> bool {
    use LoopReference::{Callee, Data, Jump, Nothing, Thread};
    let same = |(one, other): (&LoopReference, &LoopReference)| match (*one, *other) {
        (Jump(to_a), Jump(to_b)) => a.within(to_a) == b.within(to_b),
        (Callee(to_a), Callee(to_b)) => in_common.function(to_a, to_b),
        (Data(at_a), Data(at_b)) => in_common.data(at_a, at_b),
        (Thread(at_a), Thread(at_b)) => in_common.thread(at_a, at_b),
        (Nothing, Nothing) => true,
        _ => false,
    };
    let (lead_a, lead_b) = (a.code.references(x), b.code.references(y));
    a.code.is_alike(x, b.code, y) && lead_a.len() == lead_b.len() && lead_a.iter().zip(&lead_b).all(same)
}
