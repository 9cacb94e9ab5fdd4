//! A return goes back to the last call that has not returned yet.
//!
//! Source: D. R. Kaeli and P. G. Emma, "Branch history table prediction of moving target branches due to subroutine
//! returns", ISCA 1991. A ring: a call on a full stack overwrites the oldest entry; on an empty one there is no
//! prediction, and the return counts as wrong. Nothing repairs it: the stream has no wrong path.
//!
//! Known limits: a branch of a stream has no length, so the stack holds the address of the call itself, and a return
//! is right if it goes to 1 to 15 bytes behind it: x86 instructions take no more, and no return goes elsewhere in there.

use super::family::{Configured, Parameter, PredictorFamily};
use super::member::{BranchStretch, Member};
use super::{PredictionKind, PredictorEntry};
use crate::trace::{Branch, BranchKind};

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    PredictorEntry {
        name: "return-stack-8",
        what: "a return goes behind the last open call of 8",
        source: "Kaeli and Emma, ISCA 1991",
        judges: &[PredictionKind::Return],
        make: || Box::new(Returns(ReturnStack::new(8))),
    },
    PredictorEntry {
        name: "return-stack-16",
        what: "a return goes behind the last open call of 16",
        source: "Kaeli and Emma, ISCA 1991",
        judges: &[PredictionKind::Return],
        make: || Box::new(Returns(ReturnStack::new(16))),
    },
    PredictorEntry {
        name: "return-stack-32",
        what: "a return goes behind the last open call of 32",
        source: "Kaeli and Emma, ISCA 1991",
        judges: &[PredictionKind::Return],
        make: || Box::new(Returns(ReturnStack::new(32))),
    },
];

/// `return-stack:depth=16`.
pub const FAMILY: PredictorFamily = PredictorFamily {
    name: "return-stack",
    source: "Kaeli and Emma, ISCA 1991",
    judges: &[PredictionKind::Return],
    parameters: &[Parameter {
        name: "depth",
        what: "open calls that it holds",
        domain: (1, 1024),
        usual: "16",
    }],
    make: |values| {
        let depth = values[0].unwrap_or(16);
        Ok(Configured {
            what: format!("a return goes behind the last open call of {depth}"),
            member: Box::new(Returns(ReturnStack::new(depth as usize))),
        })
    },
};

/// The longest instruction, bytes: how far behind a call its return address can lie.
const LONGEST_CALL: u64 = 15;

/// The calls that are open, the newest at `top`.
#[derive(Clone, Debug)]
pub struct ReturnStack {
    calls: Box<[u64]>,
    top: usize,
    open: usize,
}

impl ReturnStack {
    /// One that holds so many open calls.
    ///
    /// Panics if it is none.
    pub fn new(depth: usize) -> ReturnStack {
        assert!(depth > 0, "a return stack of no entries");
        ReturnStack { calls: vec![0; depth].into_boxed_slice(), top: depth - 1, open: 0 }
    }

    /// Follows a branch of any class; whether it is a return that went where the stack said. One not taken does nothing.
    #[inline]
    pub fn follow(&mut self, branch: &Branch) -> bool {
        if !branch.taken() {
            return false;
        }
        match branch.class().kind() {
            BranchKind::Jump => false,
            BranchKind::Call => {
                self.push(branch.pc);
                false
            }
            BranchKind::Return => {
                self.pop().is_some_and(|call| (1..=LONGEST_CALL).contains(&branch.target.wrapping_sub(call)))
            }
        }
    }

    /// What the entries would take in hardware, bits; addresses of 64.
    pub fn storage_bits(&self) -> u64 {
        64 * self.calls.len() as u64
    }

    fn push(&mut self, call: u64) {
        self.top = if self.top + 1 == self.calls.len() { 0 } else { self.top + 1 };
        self.calls[self.top] = call;
        self.open = (self.open + 1).min(self.calls.len());
    }

    fn pop(&mut self) -> Option<u64> {
        if self.open == 0 {
            return None;
        }
        let call = self.calls[self.top];
        self.top = if self.top == 0 { self.calls.len() - 1 } else { self.top - 1 };
        self.open -= 1;
        Some(call)
    }
}

/// A return stack.
#[derive(Clone, Debug)]
pub struct Returns(pub ReturnStack);

impl Member for Returns {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        for branch in batch.branches {
            let right = self.0.follow(branch);
            if PredictionKind::of(branch.class()) == Some(PredictionKind::Return) {
                missed[branch.site as usize] += u64::from(!right);
            }
        }
    }

    fn storage_bits(&self) -> u64 {
        self.0.storage_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    fn call(pc: u64) -> Branch {
        Branch::new(pc, 0x9000, 0, BranchClass::CALL, true, 1)
    }

    fn return_to(target: u64) -> Branch {
        Branch::new(0x9010, target, 1, BranchClass::RETURN, true, 1)
    }

    /// Calls from 100, 200, .. and then returns to behind them, newest first; which were right.
    fn nested(stack: &mut ReturnStack, calls: u64) -> Vec<bool> {
        (1..=calls).for_each(|nth| assert!(!stack.follow(&call(100 * nth))));
        (1..=calls).rev().map(|nth| stack.follow(&return_to(100 * nth + 5))).collect()
    }

    #[test]
    fn nested_calls_return_in_turn_up_to_the_depth() {
        let mut stack = ReturnStack::new(4);
        for _ in 0..3 {
            assert_eq!(nested(&mut stack, 4), [true; 4]);
        }
    }

    #[test]
    fn what_is_nested_deeper_loses_the_oldest_calls_and_only_those() {
        let mut stack = ReturnStack::new(4);
        assert_eq!(nested(&mut stack, 6), [true, true, true, true, false, false]);
        assert_eq!(nested(&mut stack, 4), [true; 4], "an empty stack starts anew wherever the ring stands");
        assert_eq!(nested(&mut ReturnStack::new(1), 2), [true, false]);
    }

    #[test]
    fn a_return_must_go_right_behind_its_call() {
        for (target, right) in [(100, false), (101, true), (115, true), (116, false), (99, false)] {
            let mut stack = ReturnStack::new(2);
            stack.follow(&call(100));
            assert_eq!(stack.follow(&return_to(target)), right, "{target}");
        }
    }

    #[test]
    fn a_wrong_return_takes_its_entry_all_the_same() {
        let mut stack = ReturnStack::new(4);
        stack.follow(&call(100));
        stack.follow(&call(200));
        assert!(!stack.follow(&return_to(7)));
        assert!(stack.follow(&return_to(105)));
        assert!(!stack.follow(&return_to(105)), "it is empty now");
    }

    #[test]
    fn what_returned_long_ago_is_not_returned_to_again() {
        let mut stack = ReturnStack::new(4);
        nested(&mut stack, 4);
        stack.follow(&call(900));
        assert!(stack.follow(&return_to(905)));
        for stale in [105, 205, 305, 405] {
            assert!(!stack.clone().follow(&return_to(stale)), "{stale}");
        }
    }

    #[test]
    fn jumps_and_what_is_not_taken_leave_it_alone_and_indirect_calls_do_not() {
        let mut stack = ReturnStack::new(4);
        stack.follow(&call(100));
        let conditional_call = BranchClass::new(BranchKind::Call, true, false);
        let conditional_return = BranchClass::new(BranchKind::Return, true, true);
        assert!(!stack.follow(&Branch::new(300, 0, 0, BranchClass::INDIRECT_JUMP, true, 1)));
        assert!(!stack.follow(&Branch::new(300, 0, 0, conditional_call, false, 1)));
        assert!(!stack.follow(&Branch::new(300, 105, 0, conditional_return, false, 1)));
        assert!(stack.follow(&return_to(105)));
        stack.follow(&Branch::new(300, 0, 0, BranchClass::INDIRECT_CALL, true, 1));
        assert!(stack.follow(&Branch::new(9, 302, 0, conditional_return, true, 1)));
    }

    #[test]
    #[should_panic(expected = "no entries")]
    fn refuses_a_stack_of_nothing() {
        ReturnStack::new(0);
    }

    #[test]
    fn storage_is_that_of_the_entries() {
        assert_eq!(ReturnStack::new(16).storage_bits(), 1024);
    }
}
