//! Loops of a function by the branches that go back.

use super::decode::{BranchFlow, DecodedInstruction};
use std::collections::BTreeMap;

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Offset in the function of the instruction that the branches go back to.
    pub head: u64,
    /// Offsets of the branches that go back to it, ascending.
    pub branches: Vec<u64>,
    /// Bytes from the head to the end of the last of them.
    pub bytes: u64,
    /// Instructions in between.
    pub instructions: usize,
    /// Calls among them.
    pub calls: usize,
    /// No other loop lies inside.
    pub innermost: bool,
}

/// The loops, by their heads.
pub fn find(operations: &[DecodedInstruction], size: u64) -> Vec<Loop> {
    let mut back: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for operation in operations {
        let (BranchFlow::Conditional(to) | BranchFlow::Jump(to)) = operation.flow else { continue };
        let inside = u64::try_from(to).ok().filter(|&to| to <= operation.at && to < size);
        if let Some(head) = inside.filter(|head| starts(operations, *head).is_some()) {
            back.entry(head).or_default().push(operation.at);
        }
    }
    let mut found: Vec<Loop> =
        back.into_iter().filter_map(|(head, branches)| body(operations, head, branches)).collect();
    let spans: Vec<(u64, u64)> = found.iter().map(|body| (body.head, body.head + body.bytes)).collect();
    for (index, body) in found.iter_mut().enumerate() {
        let (start, end) = spans[index];
        body.innermost =
            !spans.iter().enumerate().any(|(other, span)| other != index && span.0 >= start && span.1 <= end);
    }
    found
}

fn starts(operations: &[DecodedInstruction], offset: u64) -> Option<usize> {
    operations.binary_search_by_key(&offset, |operation| operation.at).ok()
}

fn body(operations: &[DecodedInstruction], head: u64, branches: Vec<u64>) -> Option<Loop> {
    let (first, last) = (starts(operations, head)?, starts(operations, *branches.last()?)?);
    let inside = &operations[first..=last];
    let end = operations[last].at + operations[last].bytes;
    let calls = inside.iter().filter(|operation| operation.flow == BranchFlow::Call).count();
    Some(Loop { head, branches, bytes: end - head, instructions: inside.len(), calls, innermost: true })
}
