//! Words of the ledger's columns, each spelt here alone: why a sample is left out, what a cell failed at, why measuring ended.

/// An enum whose variants are words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident: $($(#[$what:meta])* $variant:ident = $word:literal,)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$what])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// As the ledger spells it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// The first that is spelt so.
            #[must_use]
            pub fn of(word: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|known| known.word() == word)
            }
        }
    };
}

words! {
    /// Why a sample is left out.
    Flag:
    /// It took no time, or its region worked through nothing.
    NoTime = "no-time",
    /// The kernel gave the processor to others during it.
    Preempted = "preempted",
    /// It had the processor for less than its time.
    Interrupted = "interrupted",
    /// The core's other hardware thread was busy beside it.
    Shared = "shared",
    /// Its visit was made again, and another making counts.
    Retaken = "retaken",
    /// Its cell failed in that round.
    FailedCell = "failed-cell",
}

words! {
    /// What a cell was at when it failed.
    Stage:
    /// Being compiled.
    Compile = "compile",
    /// Being linked.
    Link = "link",
    /// Starting and greeting.
    Start = "start",
    /// Mapping an input.
    Load = "load",
    /// Answering.
    Answer = "answer",
    /// Having its answers compared with those of others; in the ledger, answering.
    Agree = "answer",
    /// Being measured.
    Measure = "measure",
    /// Walking for a tracer or for counters; its times stand.
    Count = "count",
    /// Ending.
    End = "end",
    /// Nothing: this machine cannot run it, which is no fault.
    Skipped = "skipped",
}

words! {
    /// What comparing the machine code of two variants found.
    CodeFound:
    /// The same instructions on the same data, with nothing else that could make a difference.
    Proven = "proven",
    /// The same instructions.
    Identical = "identical",
    /// Other instructions, but all loops are the same.
    SameLoops = "same-loops",
    /// Other instructions.
    Different = "different",
    /// It could not be compared.
    Unknown = "unknown",
}

words! {
    /// Which passes over its input a count is of.
    CountWalk:
    /// The first: the predictor has not seen this data.
    First = "first",
    /// The last of several over the same data: what it has memorised by then.
    Repeated = "repeated",
}

/// What a ledger keeps; pages call it by the verb that measures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Kept {
    /// A campaign of an experiment, those of sweeps not among them.
    #[serde(rename = "run")]
    Campaign,
    /// A comparison of builds or commands.
    #[serde(rename = "compare")]
    Comparison,
    /// A sweep.
    #[serde(rename = "sweep")]
    Sweep,
    /// An optimisation diary.
    #[serde(rename = "stages")]
    Diary,
}

impl Kept {
    /// All of them.
    pub const ALL: [Kept; 4] = [Kept::Campaign, Kept::Comparison, Kept::Sweep, Kept::Diary];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kept::Campaign => "campaign",
            Kept::Comparison => "comparison",
            Kept::Sweep => "sweep",
            Kept::Diary => "diary",
        }
    }

    /// The verb that measures it.
    pub fn verb(self) -> &'static str {
        match self {
            Kept::Campaign => "run",
            Kept::Comparison => "compare",
            Kept::Sweep => "sweep",
            Kept::Diary => "stages",
        }
    }

    /// By its own name or that of its verb.
    pub fn of(word: &str) -> Option<Kept> {
        Self::ALL.into_iter().find(|kind| [kind.name(), kind.verb()].contains(&word))
    }
}

words! {
    /// Why measuring ended.
    Stopped:
    /// Everything has a verdict.
    Decided = "decided",
    /// The seconds are spent.
    Budget = "budget",
    /// As many rotations as were allowed.
    Rotations = "rotations",
    /// As many rounds as were planned.
    Rounds = "rounds",
    /// A sweep has nothing left to ask.
    Refined = "refined",
    /// A sweep's points are spent.
    Points = "points",
    /// Nothing could be measured.
    Nothing = "nothing",
    /// Somebody asked for it; it can be resumed.
    Interrupted = "interrupted",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_what_is_spelt_so() {
        assert!(Flag::ALL.iter().all(|flag| Flag::of(flag.word()) == Some(*flag)));
        for stage in Stage::ALL {
            let read = if *stage == Stage::Agree { Stage::Answer } else { *stage };
            assert_eq!(Stage::of(stage.word()), Some(read));
        }
        assert!(CountWalk::ALL.iter().all(|walk| CountWalk::of(walk.word()) == Some(*walk)));
        assert!(Stopped::ALL.iter().all(|stopped| Stopped::of(stopped.word()) == Some(*stopped)));
        assert_eq!((Stage::of("Count"), Stopped::of("")), (None, None));
    }
}
