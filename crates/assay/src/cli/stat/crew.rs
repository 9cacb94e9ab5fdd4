//! The predictors of one traced thread, shared out over threads of the lab.
//!
//! Simulating several predictors takes longer than emulating the program, which then waits: the processor that it leaves
//! idle takes a share. Each share walks over the same blocks in the same order, so the figures are those of one thread.

use assay_pure::predict::{Judged, Tally, UnknownPredictor, Zoo};
use assay_pure::trace::Branch;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// What predictors are wrong about, in the order of what [`Crew::finish`] gives.
pub const JUDGED: [Judged; 3] = [Judged::Direction, Judged::Target, Judged::Return];

/// With fewer predictors than this the copy of the blocks costs more than the second thread brings.
const WORTH_SHARING: usize = 3;
/// Blocks that wait for a share, some thousand branches each.
const WAITING: usize = 8;

/// How many threads of the lab so many predictors are worth on so many processors.
pub fn shares(predictors: usize, processors: usize) -> usize {
    if predictors < WORTH_SHARING { 1 } else { predictors.min(processors).max(1) }
}

/// Predictors, dealt out: that of number n belongs to share n modulo the shares.
pub struct Crew {
    members: usize,
    own: Share,
    others: Vec<Hand>,
}

/// Some of the predictors, with what they got wrong.
struct Share {
    zoo: Zoo,
    tally: Tally,
}

/// A share on a thread of its own.
struct Hand {
    blocks: SyncSender<Arc<[Branch]>>,
    thread: JoinHandle<Share>,
}

impl Share {
    fn new(names: &[&str]) -> Result<Share, UnknownPredictor> {
        Ok(Share { zoo: Zoo::new(names)?, tally: Tally::new(names.len()) })
    }

    fn observe(&mut self, branches: &[Branch]) {
        self.zoo.observe(branches, &mut self.tally);
    }

    fn observe_all(mut self, blocks: &Receiver<Arc<[Branch]>>) -> Share {
        while let Ok(block) = blocks.recv() {
            self.observe(&block);
        }
        self
    }

    /// Mispredictions per member.
    fn missed(&self) -> Vec<[u64; 3]> {
        let mut missed = vec![[0; 3]; self.tally.members()];
        for (at, judged) in JUDGED.into_iter().enumerate() {
            for (row, count) in missed.iter_mut().zip(self.tally.missed_of(judged)) {
                row[at] = count;
            }
        }
        missed
    }
}

impl Crew {
    /// Predictors of these names on so many threads of the lab; one is the caller's.
    ///
    /// # Errors
    /// A name that no predictor has.
    pub fn new(names: &[String], shares: usize) -> Result<Crew, UnknownPredictor> {
        let dealt = |share: usize| -> Vec<&str> {
            names.iter().skip(share).step_by(shares.max(1)).map(String::as_str).collect()
        };
        let own = Share::new(&dealt(0))?;
        let mut others = Vec::new();
        for share in 1..shares {
            let share = Share::new(&dealt(share))?;
            let (blocks, waiting) = sync_channel(WAITING);
            let thread = std::thread::spawn(move || share.observe_all(&waiting));
            others.push(Hand { blocks, thread });
        }
        Ok(Crew { members: names.len(), own, others })
    }

    /// The next stretch of branches, through every predictor.
    pub fn observe(&mut self, branches: &[Branch]) {
        if !self.others.is_empty() {
            let block: Arc<[Branch]> = branches.into();
            for hand in &self.others {
                hand.blocks.send(Arc::clone(&block)).expect("a share lives as long as its crew");
            }
        }
        self.own.observe(branches);
    }

    /// Mispredictions per predictor in the order of the names, of each of [`JUDGED`].
    pub fn finish(self) -> Vec<[u64; 3]> {
        let mut shares = vec![self.own.missed()];
        for Hand { blocks, thread } in self.others {
            drop(blocks);
            shares.push(thread.join().expect("predictors do not panic").missed());
        }
        (0..self.members).map(|member| shares[member % shares.len()][member / shares.len()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::Class;

    /// Loops of changing length, an indirect call that alternates, returns: every predictor errs somewhere.
    fn stream() -> Vec<Branch> {
        let mut branches = Vec::new();
        for round in 0..3000u64 {
            for step in 0..=round * round % 7 {
                let again = step < round * round % 7;
                branches.push(Branch::new(0x1000, 0x900, 0, Class::CONDITIONAL, again, 3));
            }
            let target = 0x4000 + 0x100 * (round % 3 % 2);
            branches.push(Branch::new(0x1010, target, 1, Class::INDIRECT_CALL, true, 5));
            branches.push(Branch::new(
                target + 8,
                0x1015,
                2 + (round % 3 % 2) as u32,
                Class::RETURN,
                true,
                2,
            ));
        }
        branches
    }

    fn missed(shares: usize) -> Vec<[u64; 3]> {
        let names = ["gshare", "always-taken", "last-target", "bimodal", "return-stack-8"].map(str::to_owned);
        let mut crew = Crew::new(&names, shares).unwrap();
        for block in stream().chunks(500) {
            crew.observe(block);
        }
        crew.finish()
    }

    #[test]
    fn however_the_predictors_are_shared_out_the_figures_are_the_same_and_in_order() {
        let alone = missed(1);
        assert_eq!(alone.len(), 5);
        assert!(alone[0][0] > 0 && alone[2][1] > 0 && alone[0][0] != alone[1][0], "{alone:?}");
        assert_eq!((alone[0][1], alone[2][0]), (0, 0), "each errs in what it judges only");
        for shares in [2, 3, 5] {
            assert_eq!(missed(shares), alone, "{shares} shares");
        }
    }

    #[test]
    fn few_predictors_are_not_worth_a_second_thread() {
        assert_eq!((shares(0, 8), shares(1, 8), shares(2, 8)), (1, 1, 1));
        assert_eq!((shares(3, 2), shares(6, 4), shares(3, 16), shares(6, 1)), (2, 4, 3, 1));
    }

    #[test]
    fn an_unknown_name_is_refused_wherever_it_would_be_dealt() {
        for at in 0..4 {
            let mut names = ["gshare", "bimodal", "always-taken", "gshare"].map(str::to_owned);
            names[at] = "no-such-predictor".to_owned();
            assert!(Crew::new(&names, 2).is_err(), "{at}");
        }
    }

    #[test]
    fn a_crew_that_is_dropped_leaves_no_thread_waiting() {
        let mut crew = Crew::new(&["gshare", "bimodal", "always-taken"].map(str::to_owned), 3).unwrap();
        crew.observe(&stream());
        let Crew { others, .. } = crew;
        let threads: Vec<JoinHandle<Share>> = others.into_iter().map(|hand| hand.thread).collect();
        for thread in threads {
            assert!(thread.join().is_ok());
        }
    }
}
