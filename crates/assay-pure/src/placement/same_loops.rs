//! Do two functions of a linked binary execute the same loops?
//!
//! Question: a flag is tested once, then the same loop runs; the functions differ, the work does not. If their times differ,
//! is that where the loop lies inside its function? Method: loops are what branches inside the function go back over;
//! loops that overlap are one. Those of both functions are held side by side in their order: the same instructions in
//! the same order, jumps inside a loop to the same place in it, jumps out of it anywhere, calls to the same function or
//! to one of the same machine code, data at the same address or constants of the same bytes. Padding inside a loop is
//! passed over. What lies outside of all loops is executed once a call and is not compared.
//! Source: Intel SDM volume 2 as decoded by iced-x86. Limits: x86-64; loops made by indirect jumps are not seen, so a
//! function that has any is not judged; constants are compared over 64 bytes. It is evidence for a cause, never a proof
//! of equality.
//! Checked: functions of the machine's compilers in tests/identity.rs.

use super::identity::code::{Disassembly, baseless, is_padding};
use super::identity::image::{Access, LinkedImage};
use super::identity::{Identity, same_code_at};
use super::layout::LayoutError;
use iced_x86::{FlowControl, Instruction, OpKind};

/// Bytes of a constant that are compared.
const CONSTANT_BYTES: u64 = 64;

/// A loop that two functions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    let image = LinkedImage::parse(elf)?;
    if image.unsuitable().is_some() {
        return Ok(None);
    }
    let (Ok(first), Ok(second)) = (Disassembly::decode(&image, a), Disassembly::decode(&image, b)) else {
        return Ok(None);
    };
    let indirect = |code: &Disassembly| {
        code.undecodable.is_some()
            || code.steps.iter().any(|step| step.instruction.flow_control() == FlowControl::IndirectBranch)
    };
    let (loops, others) = (outermost(&first), outermost(&second));
    if loops.is_empty() || loops.len() != others.len() || indirect(&first) || indirect(&second) {
        return Ok(None);
    }
    let files = Files { elf, image: &image };
    let pair = |(one, other): (&LoopSpan, &LoopSpan)| files.pair(&first, one, &second, other);
    Ok(loops.iter().zip(&others).map(pair).collect())
}

/// A loop as instructions of a function: from the first to the last, both included.
#[derive(Clone, Copy, Debug)]
struct LoopSpan {
    from: usize,
    to: usize,
}

/// Loops that are in no other, in their order.
fn outermost(code: &Disassembly) -> Vec<LoopSpan> {
    let mut found: Vec<LoopSpan> = Vec::new();
    for (to, step) in code.steps.iter().enumerate() {
        let jumps = matches!(
            step.instruction.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        ) && step.instruction.op0_kind() == OpKind::NearBranch64;
        let inside = jumps.then(|| code.inside(step.instruction.near_branch_target())).flatten();
        let Some(from) = inside.and_then(|offset| code.index_at(offset)).filter(|from| *from <= to) else {
            continue;
        };
        // One that begins inside or ahead of those that are known swallows them.
        let start = found.iter().filter(|known| known.to >= from).map(|known| known.from).min();
        found.retain(|known| known.to < from);
        found.push(LoopSpan { from: start.map_or(from, |start| start.min(from)), to });
    }
    found
}

struct Files<'i, 'e> {
    elf: &'e [u8],
    image: &'i LinkedImage<'e>,
}

impl Files<'_, '_> {
    fn pair(&self, a: &Disassembly, one: &LoopSpan, b: &Disassembly, other: &LoopSpan) -> Option<SharedLoop> {
        let (steps, others) = (executed(a, one), executed(b, other));
        let same = |(x, y): (&usize, &usize)| self.step((a, &steps, *x), (b, &others, *y));
        let all = steps.len() == others.len() && steps.iter().zip(&others).all(same);
        all.then(|| SharedLoop {
            first: a.offset(one.from),
            second: b.offset(other.from),
            instructions: steps.len(),
        })
    }

    /// Whether two instructions do the same.
    fn step(
        &self,
        (a, steps, x): (&Disassembly, &[usize], usize),
        (b, others, y): (&Disassembly, &[usize], usize),
    ) -> bool {
        let (mut one, mut other) = (a.steps[x].instruction, b.steps[y].instruction);
        if one.mnemonic() != other.mnemonic() {
            return false;
        }
        if one.op0_kind() == OpKind::NearBranch64 && other.op0_kind() == OpKind::NearBranch64 {
            let (to_a, to_b) = (one.near_branch_target(), other.near_branch_target());
            if one.flow_control() == FlowControl::Call {
                return self.same_function(to_a, to_b);
            }
            // A short and a long jump of the same condition are the same.
            return within(a, steps, to_a) == within(b, others, to_b);
        }
        if let (Some(to_a), Some(to_b)) = (baseless(&one), baseless(&other)) {
            if to_a != to_b && !self.same_constant(to_a, to_b) {
                return false;
            }
            one.set_memory_displacement64(0);
            other.set_memory_displacement64(0);
        }
        alike(&one, &other)
    }

    fn same_function(&self, a: u64, b: u64) -> bool {
        a == b || matches!(same_code_at(self.elf, a, b), Ok(Identity::Identical { .. }))
    }

    fn same_constant(&self, a: u64, b: u64) -> bool {
        let bytes = |address: u64| {
            let section =
                self.image.section_at(address).filter(|section| section.access == Access::ReadOnly)?;
            self.image.bytes(address, CONSTANT_BYTES.min(section.end() - address))
        };
        bytes(a).zip(bytes(b)).is_some_and(|(first, second)| {
            let common = first.len().min(second.len());
            common > 0 && first[..common] == second[..common]
        })
    }
}

/// The instructions of a loop that are not padding.
fn executed(code: &Disassembly, span: &LoopSpan) -> Vec<usize> {
    (span.from..=span.to).filter(|index| !is_padding(&code.steps[*index].instruction)).collect()
}

/// Which of a loop's instructions a jump leads to; none for a jump out of it.
fn within(code: &Disassembly, steps: &[usize], to: u64) -> Option<usize> {
    let index = code.index_at(code.inside(to)?)?;
    let next = steps.partition_point(|step| *step < index);
    let (first, last) = (*steps.first()?, *steps.last()?);
    (first <= index && index <= last).then_some(next)
}

/// Equal in everything but where they lie.
fn alike(one: &Instruction, other: &Instruction) -> bool {
    let at = |instruction: &Instruction| {
        let mut moved = *instruction;
        moved.set_next_ip(0);
        moved
    };
    at(one) == at(other)
}
