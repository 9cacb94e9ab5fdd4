//! Several predictors over one stream at once, by name.
//!
//! The list of names is made of the lists that the predictors' own files keep, so what a name stands for is written
//! once, beside the predictor.

use super::block::key;
use super::conditionals::{BATCH, COUNTED, ConditionalBlocks, ConditionalStretch, RunCounts, settle};
use super::entry::PredictorEntry;
use super::family::{Named, PredictorFamily};
use super::member::BranchStretch;
use super::run_table::RunTable;
use super::{Member, PredictionKind, Steps, Tally};
use super::{
    bimodal, fixed, gshare, ittage, last_target, perceptron, profile, return_stack, tage, tage_sc, tage_sc_l,
    tournament, two_level,
};
use crate::trace::{Branch, BranchClass, BranchSite};
use assay_numbers::words;

/// What the zoo knows, family by family, in the order in which it is listed.
const FAMILIES: &[&[PredictorEntry]] = &[
    fixed::ENTRIES,
    bimodal::ENTRIES,
    gshare::ENTRIES,
    two_level::ENTRIES,
    tournament::ENTRIES,
    perceptron::ENTRIES,
    tage::ENTRIES,
    tage_sc::ENTRIES,
    tage_sc_l::ENTRIES,
    last_target::ENTRIES,
    ittage::ENTRIES,
    return_stack::ENTRIES,
    profile::ENTRIES,
];

/// Those whose parameters the user may choose.
const CONFIGURABLE: &[&PredictorFamily] =
    &[&bimodal::FAMILY, &gshare::FAMILY, &tage::FAMILY, &return_stack::FAMILY];

/// What a name stands for, for lists and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictorDescription {
    /// The name.
    pub name: String,
    /// What it is, in one line.
    pub what: String,
    /// Who described it, where.
    pub source: &'static str,
    /// Which branches it judges.
    pub judges: &'static [PredictionKind],
    /// What its tables and registers would take in hardware, bits.
    pub storage_bits: u64,
    /// What it does, as a number: a hash of its mistakes on a fixed stream of branches. A printed misprediction rate that
    /// names it can be made again; a changed predictor has another.
    pub definition: u64,
}

/// A name that no predictor or profile has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPredictor {
    /// The name.
    pub name: String,
    /// The nearest known one, if any is near.
    pub nearest: Option<String>,
    /// Of one that is known: what is wrong with its parameters.
    pub why: Option<String>,
}

impl UnknownPredictor {
    /// One whose parameters cannot be.
    pub(super) fn misconfigured(name: &str, why: String) -> UnknownPredictor {
        UnknownPredictor { name: name.to_owned(), nearest: None, why: Some(why) }
    }
}

impl std::fmt::Display for UnknownPredictor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(why) = &self.why {
            return write!(f, "`{}`: {why}", self.name);
        }
        write!(f, "no predictor is named `{}`", self.name)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPredictor {}

/// All that can be asked for by name, in the order in which it is to be listed.
pub fn entries() -> impl Iterator<Item = &'static PredictorEntry> {
    FAMILIES.iter().copied().flatten()
}

/// All whose parameters can be chosen.
pub fn families() -> impl Iterator<Item = &'static PredictorFamily> {
    CONFIGURABLE.iter().copied()
}

/// What a name stands for.
///
/// Cost: some milliseconds, for the definition's hash.
///
/// # Errors
/// A name that none has, parameters that cannot be.
pub fn describe(name: &str) -> Result<PredictorDescription, UnknownPredictor> {
    let found = find(name)?;
    Ok(PredictorDescription {
        name: name.to_owned(),
        what: found.what(),
        source: found.source(),
        judges: found.judges(),
        storage_bits: found.member().storage_bits(),
        definition: definition(name),
    })
}

/// Which branches one of this name judges.
///
/// # Errors
/// As [`describe`].
pub fn judges(name: &str) -> Result<&'static [PredictionKind], UnknownPredictor> {
    find(name).map(|found| found.judges())
}

/// The family of a name with a colon, and its parameters; none for a name without one.
pub(super) fn family(name: &str) -> Result<Option<(&'static PredictorFamily, &str)>, UnknownPredictor> {
    let Some((family, parameters)) = name.split_once(':') else { return Ok(None) };
    if let Some(found) = families().find(|known| known.name == family) {
        return Ok(Some((found, parameters)));
    }
    if entries().any(|entry| entry.name == family) {
        let known: Vec<&str> = families().map(|known| known.name).collect();
        let why = format!("{family} has no parameters; {} have", words::list(&known));
        return Err(UnknownPredictor::misconfigured(name, why));
    }
    let nearest = nearest(family, families().map(|known| known.name)).map(|nearest| format!("{nearest}:..."));
    Err(UnknownPredictor { name: name.to_owned(), nearest, why: None })
}

pub(super) fn find(name: &str) -> Result<Named, UnknownPredictor> {
    if let Some((family, parameters)) = family(name)? {
        return family.read(name, parameters).map(|values| Named::Family(family, values));
    }
    let unknown = || UnknownPredictor {
        name: name.to_owned(),
        nearest: nearest(name, entries().map(|entry| entry.name)),
        why: None,
    };
    entries().find(|entry| entry.name == name).map(Named::Entry).ok_or_else(unknown)
}

impl Named {
    /// A fresh one.
    fn member(&self) -> Box<dyn Member> {
        match self {
            Named::Entry(entry) => (entry.make)(),
            Named::Family(family, values) => (family.make)(values).expect("it was made before").member,
        }
    }

    fn what(&self) -> String {
        match self {
            Named::Entry(entry) => entry.what.to_owned(),
            Named::Family(family, values) => (family.make)(values).expect("it was made before").what,
        }
    }

    fn source(&self) -> &'static str {
        match self {
            Named::Entry(entry) => entry.source,
            Named::Family(family, _) => family.source,
        }
    }

    fn judges(&self) -> &'static [PredictionKind] {
        match self {
            Named::Entry(entry) => entry.judges,
            Named::Family(family, _) => family.judges,
        }
    }
}

/// The known name that takes the fewest edits; none if more than a third of it would change.
fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<String> {
    let wanted = name.to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&wanted, known);
    let (distance, known) =
        known.map(|known| (distance(known), known)).min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= known.len().max(3)).then(|| known.to_owned())
}

/// A predictor, and what it got wrong of runs while these are judged.
struct ZooMember {
    member: Box<dyn Member>,
    missed: RunCounts,
}

impl From<Box<dyn Member>> for ZooMember {
    fn from(member: Box<dyn Member>) -> ZooMember {
        ZooMember { member, missed: RunCounts::default() }
    }
}

/// Branches of repeated events and runs that are judged at once, if they are as many: some blocks, of which the last is not full.
const REPEATED: usize = 512;

/// Predictors that walk over the same stream.
pub struct Zoo {
    names: Vec<String>,
    members: Vec<ZooMember>,
    /// Where in a batch the conditional branches are.
    places: Box<[u16; BATCH]>,
    /// Keys by event.
    keys: Vec<u32>,
    blocks: ConditionalBlocks,
    lengths: Vec<u8>,
}

impl Zoo {
    /// The predictors and profiles of these names, in this order. None at all is a zoo too: executions are counted.
    ///
    /// # Errors
    /// A name that none has.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Result<Zoo, UnknownPredictor> {
        let found: Result<Vec<_>, _> = names.iter().map(|name| find(name.as_ref())).collect();
        Ok(Zoo {
            names: names.iter().map(|name| name.as_ref().to_owned()).collect(),
            members: found?.iter().map(|named| named.member().into()).collect(),
            places: Box::new([0; BATCH]),
            keys: Vec::new(),
            blocks: ConditionalBlocks::default(),
            lengths: Vec::new(),
        })
    }

    /// Tells members how long the branch instructions of the first sites are; some CPUs know a branch by its last byte.
    ///
    /// `sites` only grows from call to call. Without it members go by the first byte.
    pub fn know(&mut self, sites: &[BranchSite]) {
        let new = sites.get(self.lengths.len()..).unwrap_or_default();
        self.lengths.extend(new.iter().map(|site| site.length));
    }

    /// The names of its members, in the order of the tally's columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Lets every member predict and learn a stretch of stream, and counts it into `tally`.
    ///
    /// Members keep what they learned between calls; one stream may be handed over in pieces and counted into different
    /// tallies. Panics if `tally` is for another number of members.
    pub fn observe(&mut self, branches: &[Branch], tally: &mut Tally) {
        assert_eq!(self.members.len(), tally.members(), "the tally of another zoo");
        let sees_conditionals = self.sees_conditionals();
        for branches in branches.chunks(BATCH) {
            let conditional = tally.count(branches, &mut self.places[..]);
            walk(&mut self.members, &BranchStretch { branches, lengths: &self.lengths }, tally);
            if sees_conditionals {
                let conditionals = self.blocks.of_placed(branches, &self.places[..conditional]);
                judge(&mut self.members, conditionals, tally);
            }
        }
    }

    /// Whether a member looks at other branches than conditional ones; else [`Steps`] need not list them.
    pub fn sees_all(&self) -> bool {
        self.members.iter().any(|of| of.member.sees_all())
    }

    fn sees_conditionals(&self) -> bool {
        self.members.iter().any(|of| of.member.sees_conditionals())
    }

    /// [`Zoo::observe`] over steps, with one difference: executions are not counted into `tally`, since a source of steps
    /// has counted them by blocks of code; mispredictions and the sites' classes are.
    ///
    /// The tally must have met the same sites by the same numbers. Panics if it is for another number of members.
    pub fn observe_steps(&mut self, steps: Steps<'_>, tally: &mut Tally) {
        assert_eq!(self.members.len(), tally.members(), "the tally of another zoo");
        tally.meet_all(steps.sites);
        let new = steps.sites.get(self.keys.len() / 2..).unwrap_or_default();
        self.keys.extend(new.iter().flat_map(|site| [false, true].map(|taken| key(site.pc, taken))));
        if self.sees_conditionals() {
            self.observe_conditionals(steps, tally);
        }
        if self.sees_all() {
            steps.for_pieces(|branches| {
                walk(&mut self.members, &BranchStretch { branches, lengths: &self.lengths }, tally);
            });
        }
    }

    fn observe_conditionals(&mut self, steps: Steps<'_>, tally: &mut Tally) {
        self.members.iter_mut().for_each(|of| of.missed.make_room(steps.runs.len()));
        for (elements, times) in steps.pieces() {
            if times == 1 {
                self.observe_once(elements, steps.runs, tally);
            } else {
                self.observe_repeated(elements, times, steps.runs, tally);
            }
        }
    }

    /// Events and runs, each by itself.
    fn observe_once(&mut self, elements: &[u32], runs: &RunTable, tally: &mut Tally) {
        for piece in elements.chunks(COUNTED) {
            let mut left = piece;
            while !left.is_empty() {
                let conditionals;
                (conditionals, left) = self.blocks.of_steps(left, runs, &self.keys);
                judge(&mut self.members, conditionals, tally);
            }
            for (at, of) in self.members.iter_mut().enumerate() {
                settle(piece, runs, &mut of.missed.counts(tally.column(at)));
            }
        }
    }

    /// Events and runs that come several times. Who rests after some of them need not judge the others.
    fn observe_repeated(&mut self, elements: &[u32], times: usize, runs: &RunTable, tally: &mut Tally) {
        let branches: usize = elements.iter().map(|of| runs.events(of).len()).sum();
        let turns = (REPEATED / branches.max(1)).min(times).max(1);
        let several = elements.repeat(turns);
        let (conditionals, others) = self.blocks.of_steps(&several, runs, &self.keys);
        assert!(others.is_empty(), "{branches} branches are repeated");
        for (at, of) in self.members.iter_mut().enumerate() {
            let mut counted = 0;
            of.member.rests();
            for _ in 0..times / turns {
                of.member.judge(conditionals, &mut of.missed.counts(tally.column(at)));
                counted += several.len();
                if counted + several.len() > COUNTED {
                    settle(&several, runs, &mut of.missed.counts(tally.column(at)));
                    counted = 0;
                }
                if of.member.rests() {
                    break;
                }
            }
            settle(&several, runs, &mut of.missed.counts(tally.column(at)));
        }
        self.observe_once(&elements.repeat(times % turns), runs, tally);
    }
}

/// Each member that looks at all branches.
fn walk(members: &mut [ZooMember], batch: &BranchStretch<'_>, tally: &mut Tally) {
    for (at, of) in members.iter_mut().enumerate() {
        of.member.walk(batch, tally.column(at));
    }
}

/// Each member that looks at conditional branches by themselves.
fn judge(members: &mut [ZooMember], conditionals: ConditionalStretch<'_>, tally: &mut Tally) {
    for (at, of) in members.iter_mut().enumerate() {
        of.member.judge(conditionals, &mut of.missed.counts(tally.column(at)));
    }
}

/// A hash of a fresh member's mistakes per site, taken every so often over a fixed stream of branches.
fn definition(name: &str) -> u64 {
    let mut hash = Fnv::default();
    hash.bytes(name.as_bytes());
    let mut zoo = Zoo::new(&[name]).expect("the name was looked up before");
    let mut tally = Tally::new(1);
    for stretch in fixed_stream().chunks(64) {
        zoo.observe(stretch, &mut tally);
        tally.missed_by_site(0).iter().for_each(|missed| hash.bytes(&missed.to_le_bytes()));
    }
    hash.0
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// 16,384 branches in which there is something to learn and something that cannot be: functions called in a random
/// order, each with a loop of its own length, a repeated pattern, a biased and a random branch, one correlated with it,
/// a jump through a table and a return.
fn fixed_stream() -> Vec<Branch> {
    let mut stream = Vec::with_capacity(1 << 14);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while stream.len() < 1 << 14 {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        function(&mut stream, state);
    }
    stream.truncate(1 << 14);
    stream
}

/// One call of one of 16 functions; `random` decides which and what happens in it.
fn function(stream: &mut Vec<Branch>, random: u64) {
    let which = (random >> 59) as u32 & 15;
    let start = 0x40_1000 + u64::from(which) * 0x240;
    let mut branch = |at: u64, target: u64, nth: u32, class, taken| {
        stream.push(Branch::new(at, target, 1 + which * 10 + nth, class, taken, 5));
    };
    let caller = 0x40_0010;
    branch(caller, start, 0, BranchClass::CALL, true);
    for trip in 0..2 + which {
        let coin = random >> trip & 1 != 0;
        let pattern = (trip + which).is_multiple_of(3);
        branch(start + 0x10, start + 0x30, 1, BranchClass::CONDITIONAL, pattern);
        branch(start + 0x22, start + 0x30, 2, BranchClass::CONDITIONAL, coin);
        branch(start + 0x35, start + 0x44, 3, BranchClass::CONDITIONAL, coin ^ pattern);
        branch(start + 0x4b, start + 0x10, 4, BranchClass::CONDITIONAL, trip < 1 + which);
    }
    let case = u64::from(which & 1) * 4 + (random >> 20 & 3);
    branch(start + 0x60, start + 0x80 + case * 0x20, 5, BranchClass::INDIRECT_JUMP, true);
    branch(start + 0x88 + case * 0x20, start + 0x190, 6, BranchClass::JUMP, true);
    branch(start + 0x1a1, start + 0x1c0, 7, BranchClass::CONDITIONAL, random & 15 == 0);
    branch(start + 0x1d3, caller + 5, 8, BranchClass::RETURN, true);
}

#[cfg(test)]
mod tests;
