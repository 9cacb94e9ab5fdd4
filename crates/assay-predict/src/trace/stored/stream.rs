//! One stream of branches, to coded bits and back.
//!
//! Method: where control goes after a branch decides which branch comes next and how many instructions later; both were
//! seen when it went there before, and only a difference is written. What is left of a known branch is its outcome
//! ([`super::outcome`]) and, for an indirect one, its target ([`super::target`]). A new site is written where it first
//! appears. Reading and writing are the same steps, so that they cannot differ.

use super::super::source::{MAX_SITES, TraceFault};
use super::super::{Branch, BranchClass, BranchKind, BranchSite};
use super::coder::{Chance, Coder, NumberCode, SymbolCode};
use super::{outcome, target};
use std::collections::HashMap;

/// A branch as the stream says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredBranch {
    pub pc: u64,
    pub length: u8,
    pub class: BranchClass,
    pub target: u64,
    pub taken: bool,
    pub instructions: u32,
}

impl StoredBranch {
    /// What a reader hands in where a writer hands in a branch.
    pub const UNKNOWN: StoredBranch =
        StoredBranch { pc: 0, length: 0, class: BranchClass::JUMP, target: 0, taken: false, instructions: 0 };

    /// At the site of this number.
    pub fn branch(&self, site: u32) -> Branch {
        Branch::new(self.pc, self.target, site, self.class, self.taken, self.instructions)
    }
}

/// What came after a place last time, and whether that will be so again.
#[derive(Clone, Copy)]
struct Follower {
    site: u32,
    instructions: u32,
    again: Chance<6>,
}

const NOWHERE: Follower = Follower { site: u32::MAX, instructions: 0, again: Chance(64_000) };

/// What is known of a site besides [`BranchSite`].
struct SiteState {
    /// Targets when not taken, when taken.
    targets: [Option<u64>; 2],
    /// What comes after it when not taken, when taken; of an indirect one that is taken, its target decides.
    next: [Follower; 2],
    outcome: outcome::SiteModel,
}

/// Where the last branch led.
#[derive(Clone, Copy)]
enum LastPlace {
    Beginning,
    Behind { site: u32, taken: bool },
    Landing(u32),
}

/// The state of a stream between two branches.
pub struct StreamState {
    sites: Vec<BranchSite>,
    owns: Vec<SiteState>,
    indirect: Vec<target::SiteTargets>,
    numbers: HashMap<(u64, u8, u8), u32>,
    landings: HashMap<u64, u32>,
    landed: Vec<Follower>,
    beginning: Follower,
    place: LastPlace,
    /// The address there.
    here: u64,
    outcomes: outcome::Outcomes,
    targets: target::TargetModel,
    is_known: Chance,
    number: NumberCode,
    bits: SymbolCode<4>,
    length: SymbolCode<8>,
    offset: NumberCode,
    is_dense: Chance,
    instructions: NumberCode,
    is_same: [Chance; 2],
    distance: [NumberCode; 2],
}

impl StreamState {
    pub fn new() -> StreamState {
        StreamState {
            sites: Vec::new(),
            owns: Vec::new(),
            indirect: Vec::new(),
            numbers: HashMap::new(),
            landings: HashMap::new(),
            landed: Vec::new(),
            beginning: NOWHERE,
            place: LastPlace::Beginning,
            here: 0,
            outcomes: outcome::Outcomes::new(),
            targets: target::TargetModel::new(),
            is_known: Chance::EVEN,
            number: NumberCode::new(),
            bits: SymbolCode::new(),
            length: SymbolCode::new(),
            offset: NumberCode::new(),
            is_dense: Chance::EVEN,
            instructions: NumberCode::new(),
            is_same: [Chance::EVEN; 2],
            distance: [NumberCode::new(), NumberCode::new()],
        }
    }

    /// The sites so far, in the order of their first appearance.
    pub fn sites(&self) -> &[BranchSite] {
        &self.sites
    }

    /// The number of a branch's site, if it was named before.
    pub fn number(&self, pc: u64, length: u8, class: BranchClass) -> Option<u32> {
        self.numbers.get(&(pc, length, class.bits())).copied()
    }

    /// Codes a branch; `site` is its number if the writer knows one. Gives its number and the branch, which is the one
    /// that was handed in when writing.
    pub fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        step: &StoredBranch,
        site: Option<u32>,
    ) -> Result<(u32, StoredBranch), TraceFault> {
        let next = *self.next_mut();
        let as_before = next.site != u32::MAX && {
            let again = site == Some(next.site)
                && step.instructions == next.instructions
                && self.is_expected(next.site, step);
            self.next_mut().again.code(coder, again)
        };
        let (site, instructions) = if as_before {
            (next.site, next.instructions)
        } else {
            let site = self.code_site(coder, step, site)?;
            let instructions = self.code_instructions(coder, site, step.instructions)?;
            let next = self.next_mut();
            (next.site, next.instructions) = (site, instructions);
            (site, instructions)
        };
        let BranchSite { pc, length, class, .. } = self.sites[site as usize];
        let own = &mut self.owns[site as usize].outcome;
        let taken = !class.is_conditional() || self.outcomes.code(coder, site, own, step.taken);
        let target = if class.is_indirect() && taken {
            self.code_indirect(coder, site, step.target)
        } else if as_before {
            let expected = self.owns[site as usize].targets[usize::from(taken)];
            expected.ok_or(TraceFault::Field { name: "the target of a branch", value: 0 })?
        } else {
            self.code_target(coder, site, taken, step.target)
        };
        self.arrive(site, taken, target)?;
        Ok((site, StoredBranch { pc, length, class, target, taken, instructions }))
    }

    fn next_mut(&mut self) -> &mut Follower {
        match self.place {
            LastPlace::Beginning => &mut self.beginning,
            LastPlace::Behind { site, taken } => &mut self.owns[site as usize].next[usize::from(taken)],
            LastPlace::Landing(landing) => &mut self.landed[landing as usize],
        }
    }

    /// Whether the target needs no word.
    fn is_expected(&self, site: u32, step: &StoredBranch) -> bool {
        let by_model = step.taken && self.sites[site as usize].class.is_indirect();
        by_model || self.owns[site as usize].targets[usize::from(step.taken)] == Some(step.target)
    }

    fn code_site<C: Coder>(
        &mut self,
        coder: &mut C,
        step: &StoredBranch,
        site: Option<u32>,
    ) -> Result<u32, TraceFault> {
        if self.is_known.code(coder, site.is_some()) {
            // The latest sites are the likeliest.
            let back =
                self.number.code(coder, site.map_or(0, |site| (self.sites.len() as u32 - 1 - site).into()));
            let site = (self.sites.len() as u64).checked_sub(1).and_then(|last| last.checked_sub(back));
            return site
                .map(|site| site as u32)
                .ok_or(TraceFault::Field { name: "the number of a site", value: back });
        }
        let bits = self.bits.code(coder, step.class.bits().into());
        let class = BranchClass::from_bits(bits as u8);
        let class = class.ok_or(TraceFault::Field { name: "the class", value: bits.into() })?;
        let length = self.length.code(coder, step.length.into()) as u8;
        let offset = self.offset.code_signed(coder, step.pc.wrapping_sub(self.here) as i64);
        let pc = self.here.wrapping_add(offset as u64);
        if self.sites.len() == MAX_SITES {
            return Err(TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 });
        }
        let site = self.sites.len() as u32;
        self.sites.push(BranchSite { pc, length, class, target: None });
        self.owns.push(SiteState {
            targets: [None; 2],
            next: [NOWHERE; 2],
            outcome: outcome::SiteModel::NEW,
        });
        self.indirect.push(target::SiteTargets::default());
        self.numbers.insert((pc, length, class.bits()), site);
        Ok(site)
    }

    /// Where all instructions are four bytes long, their number follows from the addresses.
    fn code_instructions<C: Coder>(
        &mut self,
        coder: &mut C,
        site: u32,
        instructions: u32,
    ) -> Result<u32, TraceFault> {
        let dense = (self.sites[site as usize].pc.wrapping_sub(self.here) >> 2).wrapping_add(1) as u32;
        let dense = dense & Branch::MAX_INSTRUCTIONS;
        if self.is_dense.code(coder, instructions == dense) {
            return Ok(dense);
        }
        let value = self.instructions.code(coder, instructions.into());
        let fits = u32::try_from(value).ok().filter(|value| *value <= Branch::MAX_INSTRUCTIONS);
        fits.ok_or(TraceFault::Field { name: "a number of instructions", value })
    }

    /// The target of a direct branch, or of one that is not taken, where it may be new.
    fn code_target<C: Coder>(&mut self, coder: &mut C, site: u32, taken: bool, target: u64) -> u64 {
        let (pc, length) = (self.sites[site as usize].pc, self.sites[site as usize].length);
        let targets = self.owns[site as usize].targets;
        let way = usize::from(taken);
        let target = match targets[way].or(targets[1 - way]) {
            Some(known) if self.is_same[way].code(coder, known == target) => known,
            _ => {
                let distance = self.distance[way].code_signed(coder, target.wrapping_sub(pc) as i64);
                pc.wrapping_add(distance as u64)
            }
        };
        self.owns[site as usize].targets[way] = Some(target);
        let site = &mut self.sites[site as usize];
        // Imported streams give a branch that is not taken the address behind it; those without lengths, unsaid.
        if !site.class.is_indirect() && (taken || (length > 0 && site.target.is_none())) {
            site.target = Some(target);
        }
        target
    }

    fn code_indirect<C: Coder>(&mut self, coder: &mut C, site: u32, target: u64) -> u64 {
        let past = self.outcomes.past();
        if self.sites[site as usize].class.kind() == BranchKind::Return {
            let sites = &self.sites;
            let length = |call: u32| sites[call as usize].length;
            self.targets.code_return(coder, &mut self.indirect, site, past, target, length)
        } else {
            self.targets.code_jump(coder, &mut self.indirect[site as usize], site, past, target)
        }
    }

    /// Goes to where the branch led.
    fn arrive(&mut self, site: u32, taken: bool, target: u64) -> Result<(), TraceFault> {
        let BranchSite { pc, length, class, .. } = self.sites[site as usize];
        self.here = if taken { target } else { pc.wrapping_add(length.into()) };
        if taken && class.kind() == BranchKind::Call {
            self.targets.call(pc, site);
        }
        if !(taken && class.is_indirect()) {
            self.place = LastPlace::Behind { site, taken };
            return Ok(());
        }
        let fresh = self.landed.len() as u32;
        let landing = *self.landings.entry(target).or_insert(fresh);
        if landing == fresh {
            if self.landed.len() == MAX_SITES {
                return Err(TraceFault::TooMany {
                    what: "targets of indirect branches",
                    limit: MAX_SITES as u64,
                });
            }
            self.landed.push(NOWHERE);
        }
        self.place = LastPlace::Landing(landing);
        Ok(())
    }
}
