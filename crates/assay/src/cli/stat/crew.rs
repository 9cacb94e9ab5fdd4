//! The predictors of one traced thread, shared out over threads of the lab.
//!
//! Simulating several predictors takes longer than emulating the program, which then waits: the processor that it leaves
//! idle takes a share. Each share walks over the same blocks in the same order, so the figures are those of one thread.

use assay_pure::predict::{KeptSteps, PredictionKind, Steps, Tally, UnknownPredictor, Zoo};
use assay_pure::trace::Branch;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// What predictors are wrong about, in the order of what [`Crew::finish`] gives.
pub const JUDGED: [PredictionKind; 3] =
    [PredictionKind::Direction, PredictionKind::Target, PredictionKind::Return];

/// With fewer of the quick predictors than this the copy of the steps costs more than a thread of their own brings.
const WORTH_SHARING: usize = 3;
/// Threads per processor: more than one, so that shares of unequal work keep all busy.
const PER_PROCESSOR: usize = 2;
/// Stretches that wait for a share, some thousand branches each.
const WAITING: usize = 8;

/// Predictors: all on the caller's thread, or dealt out over others, that of number n to share n modulo the shares.
pub struct Crew {
    members: usize,
    sees_all: bool,
    own: PredictorShare,
    others: Vec<Hand>,
    /// A copy of the sites for the others.
    sites: Arc<[Branch]>,
}

/// Some of the predictors, with what they got wrong.
struct PredictorShare {
    zoo: Zoo,
    tally: Tally,
}

/// A share on a thread of its own.
struct Hand {
    steps: SyncSender<Arc<KeptSteps>>,
    thread: JoinHandle<PredictorShare>,
}

/// How many threads beside the caller's such predictors are worth on so many processors.
fn threads(predictors: usize, slow: bool, processors: usize) -> usize {
    if processors < 2 || predictors < WORTH_SHARING && !slow {
        0
    } else {
        predictors.min(processors * PER_PROCESSOR)
    }
}

impl PredictorShare {
    fn new(names: &[&str]) -> Result<PredictorShare, UnknownPredictor> {
        Ok(PredictorShare { zoo: Zoo::new(names)?, tally: Tally::new(names.len()) })
    }

    fn observe(&mut self, steps: Steps<'_>) {
        self.zoo.observe_steps(steps, &mut self.tally);
    }

    fn observe_all(mut self, stretches: &Receiver<Arc<KeptSteps>>) -> PredictorShare {
        while let Ok(stretch) = stretches.recv() {
            self.observe(stretch.steps());
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
    /// Predictors of these names for a lab with so many processors.
    ///
    /// # Errors
    /// A name that no predictor has.
    pub fn new(names: &[String], processors: usize) -> Result<Crew, UnknownPredictor> {
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let own = PredictorShare::new(&all)?;
        // Who looks at every branch takes longer per branch than the emulator.
        let sees_all = own.zoo.sees_all();
        match threads(names.len(), sees_all, processors) {
            0 => Ok(Crew { members: names.len(), sees_all, own, others: Vec::new(), sites: Arc::default() }),
            shares => Crew::shared(&all, sees_all, shares),
        }
    }

    fn shared(names: &[&str], sees_all: bool, shares: usize) -> Result<Crew, UnknownPredictor> {
        let mut others = Vec::new();
        for share in 0..shares {
            let dealt: Vec<&str> = names.iter().skip(share).step_by(shares).copied().collect();
            let share = PredictorShare::new(&dealt)?;
            let (steps, waiting) = sync_channel(WAITING);
            let thread = std::thread::spawn(move || share.observe_all(&waiting));
            others.push(Hand { steps, thread });
        }
        Ok(Crew {
            members: names.len(),
            sees_all,
            own: PredictorShare::new(&[])?,
            others,
            sites: Arc::default(),
        })
    }

    /// Whether a predictor looks at other branches than conditional ones.
    pub fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// The next stretch of branches, through every predictor.
    pub fn observe(&mut self, steps: Steps<'_>) {
        if self.others.is_empty() {
            return self.own.observe(steps);
        }
        if self.sites.len() != steps.sites.len() {
            self.sites = steps.sites.into();
        }
        let kept = Arc::new(KeptSteps::copy(steps, &self.sites));
        for hand in &self.others {
            hand.steps.send(Arc::clone(&kept)).expect("a share lives as long as its crew");
        }
    }

    /// Mispredictions per predictor in the order of the names, of each of [`JUDGED`].
    pub fn finish(self) -> Vec<[u64; 3]> {
        if self.others.is_empty() {
            return self.own.missed();
        }
        let mut shares = Vec::new();
        for Hand { steps, thread } in self.others {
            drop(steps);
            shares.push(thread.join().expect("predictors do not panic").missed());
        }
        (0..self.members).map(|member| shares[member % shares.len()][member / shares.len()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::BranchClass;

    /// Loops of changing length, an indirect call that alternates, returns: every predictor errs somewhere.
    fn stream() -> Vec<Branch> {
        let mut branches = Vec::new();
        for round in 0..3000u64 {
            for step in 0..=round * round % 7 {
                let again = step < round * round % 7;
                branches.push(Branch::new(0x1000, 0x900, 0, BranchClass::CONDITIONAL, again, 3));
            }
            let target = 0x4000 + 0x100 * (round % 3 % 2);
            branches.push(Branch::new(0x1010, target, 1, BranchClass::INDIRECT_CALL, true, 5));
            branches.push(Branch::new(
                target + 8,
                0x1015,
                2 + (round % 3 % 2) as u32,
                BranchClass::RETURN,
                true,
                2,
            ));
        }
        branches
    }

    fn missed(processors: usize) -> Vec<[u64; 3]> {
        let names = ["gshare", "always-taken", "last-target", "bimodal", "return-stack-8"].map(str::to_owned);
        let mut crew = Crew::new(&names, processors).unwrap();
        assert_eq!(crew.others.len(), [0, 0, 4, 5][processors]);
        let stream = stream();
        for piece in stream.chunks(500) {
            crew.observe(KeptSteps::of(&stream, piece).steps());
        }
        crew.finish()
    }

    #[test]
    fn however_the_predictors_are_shared_out_the_figures_are_the_same_and_in_order() {
        let alone = missed(1);
        assert_eq!(alone.len(), 5);
        assert!(alone[0][0] > 0 && alone[2][1] > 0 && alone[0][0] != alone[1][0], "{alone:?}");
        assert_eq!((alone[0][1], alone[2][0]), (0, 0), "each errs in what it judges only");
        for processors in [2, 3] {
            assert_eq!(missed(processors), alone, "{processors} processors");
        }
    }

    #[test]
    fn few_quick_predictors_are_not_worth_a_thread_and_a_slow_one_is() {
        assert_eq!([0, 1, 2, 3, 5].map(|predictors| threads(predictors, false, 2)), [0, 0, 0, 3, 4]);
        assert_eq!([1, 2, 3, 9].map(|predictors| threads(predictors, true, 4)), [1, 2, 3, 8]);
        assert_eq!([1, 9].map(|predictors| threads(predictors, true, 1)), [0, 0]);
    }

    #[test]
    fn a_crew_sees_all_branches_where_one_of_its_predictors_does() {
        let sees_all = |names: &[&str], processors| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Crew::new(&names, processors).unwrap().sees_all()
        };
        for processors in [1, 2] {
            assert!(!sees_all(&["gshare", "bimodal", "perceptron"], processors));
            assert!(sees_all(&["gshare", "tage"], processors) && sees_all(&["last-target"], processors));
        }
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
        crew.observe(KeptSteps::of(&stream(), &stream()).steps());
        let Crew { others, .. } = crew;
        let threads: Vec<JoinHandle<PredictorShare>> = others.into_iter().map(|hand| hand.thread).collect();
        for thread in threads {
            assert!(thread.join().is_ok());
        }
    }
}
