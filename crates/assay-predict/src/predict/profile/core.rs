//! A modelled core: direction, indirect targets and returns over one history, in one walk over the stream.

use super::super::member::BranchStretch;
use super::super::return_stack::ReturnStack;
use super::super::tage::{HistoryRule, Tage, Tape};
use super::super::{DirectionPredictor, Member, PredictionKind};
use super::targets::PathTargets;
use crate::trace::Branch;

/// A direction predictor whose history an indirect predictor can read.
pub trait Historied: DirectionPredictor {
    /// The history.
    fn history(&self) -> &Tape;
}

impl<R: HistoryRule, const N: usize, const W: usize> Historied for Tage<R, N, W> {
    fn history(&self) -> &Tape {
        self.register()
    }
}

/// A direction predictor with a history beside its own.
pub struct WithOwnHistory<P, R> {
    predictor: P,
    rule: R,
    history: Tape,
}

impl<P, R: HistoryRule> WithOwnHistory<P, R> {
    /// Of a predictor and what branches leave in the other history.
    pub fn new(predictor: P, rule: R) -> WithOwnHistory<P, R> {
        WithOwnHistory { predictor, rule, history: Tape::new() }
    }
}

impl<P: DirectionPredictor, R: HistoryRule> DirectionPredictor for WithOwnHistory<P, R> {
    #[inline]
    fn predict(&mut self, pc: u64, target: u64) -> bool {
        self.predictor.predict(pc, target)
    }

    #[inline]
    fn train(&mut self, branch: &Branch, predicted: bool) {
        self.predictor.train(branch, predicted);
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            self.predictor.track(branch);
        }
        if let Some([footprint, _]) = self.rule.footprints(branch) {
            self.history.push(footprint, self.rule.shift());
        }
    }

    fn storage_bits(&self) -> u64 {
        self.predictor.storage_bits()
    }
}

impl<P: DirectionPredictor, R: HistoryRule> Historied for WithOwnHistory<P, R> {
    fn history(&self) -> &Tape {
        &self.history
    }
}

/// What a modelled core looks at as a branch's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Of its first byte.
    FirstByte,
    /// Of its last byte, where the zoo knows the lengths of instructions; else of the first.
    LastByte,
}

/// A modelled core.
pub struct Core<P> {
    direction: P,
    targets: PathTargets,
    returns: ReturnStack,
    address: Address,
}

impl<P: Historied> Core<P> {
    /// From its parts.
    pub fn new(direction: P, targets: PathTargets, return_depth: usize, address: Address) -> Core<P> {
        Core { direction, targets, returns: ReturnStack::new(return_depth), address }
    }

    /// Predicts and learns a branch; says whether that was wrong.
    #[inline]
    fn step(&mut self, branch: &Branch) -> bool {
        let missed = match PredictionKind::of(branch.class()) {
            Some(PredictionKind::Direction) => {
                let predicted = self.direction.predict(branch.pc, branch.target);
                self.direction.train(branch, predicted);
                predicted != branch.taken()
            }
            Some(PredictionKind::Target) => {
                let predicted = self.targets.predict(branch.pc, self.direction.history());
                self.targets.train(branch.target, predicted);
                self.returns.follow(branch);
                predicted != branch.target
            }
            Some(PredictionKind::Return) => !self.returns.follow(branch),
            None => {
                self.returns.follow(branch);
                false
            }
        };
        self.direction.track(branch);
        missed
    }
}

impl<P: Historied + Send> Member for Core<P> {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        let BranchStretch { branches, lengths, .. } = *batch;
        if self.address == Address::FirstByte || lengths.is_empty() {
            for branch in branches {
                missed[branch.site as usize] += u64::from(self.step(branch));
            }
            return;
        }
        for branch in branches {
            let length = lengths.get(branch.site as usize).copied().unwrap_or(0);
            let mut last = *branch;
            last.pc += u64::from(length).saturating_sub(1);
            missed[branch.site as usize] += u64::from(self.step(&last));
        }
    }

    fn storage_bits(&self) -> u64 {
        self.direction.storage_bits() + self.targets.storage_bits() + self.returns.storage_bits()
    }
}
