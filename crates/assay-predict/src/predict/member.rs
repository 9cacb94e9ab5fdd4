//! How does a predictor walk over a stretch of stream? One virtual call per batch, none per branch.
//!
//! A member is a predictor in the shell that knows which branches it judges. The shells are generic, so the loop over a
//! batch is compiled for each predictor with its `predict`, `train` and `track` inlined; only [`Member::walk`] is
//! called through a pointer.
//!
//! What is judged: conditional branches for their direction; indirect jumps and calls for their target; returns for
//! theirs. A conditional branch that is also indirect or a return (A32 has them) is judged for its direction alone.

use super::block::BlockPredictor;
use super::conditionals::{ConditionalStretch, MissedCounts};
use super::widest::{Pass, widest};
use super::{DirectionPredictor, PredictionKind, TargetPredictor};
use crate::trace::Branch;

/// A stretch of stream, at most some thousands of branches.
#[derive(Clone, Copy, Debug)]
pub struct BranchStretch<'a> {
    /// All branches, in order.
    pub branches: &'a [Branch],
    /// Bytes of the branch instruction of each site that this is known of, 0 for one it is not.
    pub lengths: &'a [u8],
}

/// A predictor that counts its own mispredictions. It looks at all branches or at the conditional ones by themselves; one of several
/// parts at both.
pub trait Member: Send {
    /// Predicts and learns a batch of all branches; adds one to `missed[site]` for each wrong prediction.
    ///
    /// `missed` has an element for each site of the batch.
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]);

    /// The same of conditional branches.
    #[doc(hidden)]
    fn judge(&mut self, _: ConditionalStretch<'_>, _: &mut MissedCounts<'_>) {}

    /// [`BlockPredictor::rests`], of what judges conditional branches.
    fn rests(&mut self) -> bool {
        false
    }

    /// Whether it looks at other branches than conditional ones.
    fn sees_all(&self) -> bool {
        true
    }

    /// Whether it looks at conditional branches by themselves.
    fn sees_conditionals(&self) -> bool {
        false
    }

    /// What its tables and registers would take in hardware, bits.
    fn storage_bits(&self) -> u64;
}

/// A direction predictor whose history sees branches of all classes.
#[derive(Clone, Debug)]
pub struct Simulated<P>(pub P);

/// A direction predictor over branches of all classes.
struct DirectionPass<'a, P> {
    predictor: &'a mut P,
    branches: &'a [Branch],
    missed: &'a mut [u64],
}

impl<P: DirectionPredictor> Pass for DirectionPass<'_, P> {
    #[inline(always)]
    fn run(self) {
        for branch in self.branches {
            if branch.class().is_conditional() {
                judge_direction(self.predictor, branch, self.missed);
            }
            self.predictor.track(branch);
        }
    }
}

impl<P: DirectionPredictor + Send> Member for Simulated<P> {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        widest(DirectionPass { predictor: &mut self.0, branches: batch.branches, missed });
    }

    fn storage_bits(&self) -> u64 {
        self.0.storage_bits()
    }
}

/// A predictor that looks at nothing but conditional branches. To it each is a direct jump, whatever else it is.
#[derive(Clone, Debug)]
pub struct Conditionals<P>(pub P);

impl<P: BlockPredictor + Send> Member for Conditionals<P> {
    fn walk(&mut self, _: &BranchStretch<'_>, _: &mut [u64]) {}

    fn judge(&mut self, conditionals: ConditionalStretch<'_>, missed: &mut MissedCounts<'_>) {
        conditionals.judge(&mut self.0, missed);
    }

    fn rests(&mut self) -> bool {
        self.0.rests()
    }

    fn sees_all(&self) -> bool {
        false
    }

    fn sees_conditionals(&self) -> bool {
        true
    }

    fn storage_bits(&self) -> u64 {
        self.0.storage_bits()
    }
}

#[inline(always)]
fn judge_direction(predictor: &mut impl DirectionPredictor, branch: &Branch, missed: &mut [u64]) {
    let predicted = predictor.predict(branch.pc, branch.target);
    predictor.train(branch, predicted);
    // Added without a branch: a misprediction of the simulated machine would else be one of ours.
    missed[branch.site as usize] += u64::from(predicted != branch.taken());
}

/// A target predictor.
#[derive(Clone, Debug)]
pub struct TargetMember<P>(pub P);

impl<P: TargetPredictor + Send> Member for TargetMember<P> {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        for branch in batch.branches {
            if PredictionKind::of(branch.class()) == Some(PredictionKind::Target) {
                let predicted = self.0.predict(branch.pc);
                self.0.train(branch, predicted);
                missed[branch.site as usize] += u64::from(predicted != branch.target);
            }
            self.0.track(branch);
        }
    }

    fn storage_bits(&self) -> u64 {
        self.0.storage_bits()
    }
}

/// Members that judge different branches and stand for one machine: direction, targets, returns.
///
/// Counted together: a site has one class, so its count is of one of them ([`super::Tally::missed_of`] tells them apart).
pub struct Profile {
    parts: Vec<Box<dyn Member>>,
}

impl Profile {
    /// From its parts. No two may judge the same branches.
    pub fn new(parts: Vec<Box<dyn Member>>) -> Profile {
        Profile { parts }
    }
}

impl Member for Profile {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        for part in &mut self.parts {
            part.walk(batch, missed);
        }
    }

    fn judge(&mut self, conditionals: ConditionalStretch<'_>, missed: &mut MissedCounts<'_>) {
        for part in &mut self.parts {
            part.judge(conditionals, missed);
        }
    }

    fn rests(&mut self) -> bool {
        // Each one is asked, whatever the others say.
        let those = self.parts.iter_mut().filter(|part| part.sees_conditionals());
        those.fold(true, |all, part| part.rests() & all)
    }

    fn sees_all(&self) -> bool {
        self.parts.iter().any(|part| part.sees_all())
    }

    fn sees_conditionals(&self) -> bool {
        self.parts.iter().any(|part| part.sees_conditionals())
    }

    fn storage_bits(&self) -> u64 {
        self.parts.iter().map(|part| part.storage_bits()).sum()
    }
}
