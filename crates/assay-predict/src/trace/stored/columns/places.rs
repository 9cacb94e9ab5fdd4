//! Where a stream is, and the ways on that were taken from each place.
//!
//! A place is the beginning, a direct branch or one that is not taken with its outcome, or the target of an indirect one.
//! A way is the branch that comes next, with outcome, target and instructions, and the place behind it.

use super::super::super::source::{MAX_SITES, TraceFault};
use super::super::super::{Branch, BranchClass, BranchSite};
use super::super::stream::StoredBranch;
use super::fields::Fields;
use std::collections::{BTreeMap, HashMap};

/// The next branch, and twice the number of the place that it leads to.
#[derive(Clone, Copy)]
struct Way {
    branch: Branch,
    next: u32,
}

/// The place behind a way that is unknown.
const LOST: u32 = 1 << 31;

const UNKNOWN: Way = Way { branch: Branch::new(0, 0, 0, BranchClass::JUMP, true, 0), next: LOST };

/// What a lost stream comes to.
#[cold]
fn lost<'a>() -> &'a Branch {
    &UNKNOWN.branch
}

/// Ways from a place that are kept beside the two at hand, and from all places.
const RARE: usize = 254;
const ALL_RARE: usize = MAX_SITES;

/// What is known of a site besides [`BranchSite`].
struct SiteState {
    /// Targets when not taken, when taken, last time.
    targets: [Option<u64>; 2],
    /// The places behind it, by its first targets.
    behind: [(u64, u32); 2],
}

/// How the branch of an event is named: the lowest bits of its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// A rare way of the place; its rank follows.
    Rare = 0,
    /// The site of the expected way, after as many instructions.
    Same = 1,
    /// The first site that is known at or behind the address where control went.
    Behind = 2,
    /// A known site; how many came later follows.
    Known = 3,
    /// A new site; class, length and distance follow.
    New = 4,
}

impl Naming {
    const ALL: [Naming; 5] = [Naming::Rare, Naming::Same, Naming::Behind, Naming::Known, Naming::New];
}

/// The upper bits of that byte: the way is the expected one from now on.
const EXPECTED: u8 = 1 << 3;
/// The branch is taken.
const TAKEN: u8 = 1 << 4;
/// As many instructions as lie between the addresses, where all are four bytes long.
const DENSE: u8 = 1 << 5;
/// The target of this outcome, or else of the other, was the same last time.
const SAME_TARGET: u8 = 1 << 6;

/// The state of a stream between two branches.
pub struct Places {
    /// Two ways for each place, the expected one and the one beside it: the branches, and where they lead. A reader goes
    /// from place to place along the second, which is small enough for the first-level cache, and waits for nothing else.
    branches: Vec<Branch>,
    next: Vec<u32>,
    /// More of them for some places, the latest first.
    rare: Vec<Vec<Way>>,
    rare_count: usize,
    sites: Vec<BranchSite>,
    owns: Vec<SiteState>,
    /// Numbers of sites by address, length and class.
    numbers: BTreeMap<(u64, u8, u8), u32>,
    /// Places by the target that an indirect branch went to.
    landings: HashMap<u64, u32>,
    /// Twice the number of the place.
    at: u32,
    last: Option<Branch>,
}

impl Places {
    pub fn new() -> Places {
        Places {
            branches: vec![UNKNOWN.branch; 2],
            next: vec![LOST; 2],
            rare: Vec::new(),
            rare_count: 0,
            sites: Vec::new(),
            owns: Vec::new(),
            numbers: BTreeMap::new(),
            landings: HashMap::new(),
            at: 0,
            last: None,
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

    /// The number of the place.
    pub fn place(&self) -> usize {
        self.at as usize / 2
    }

    /// Which of the two ways at hand a branch takes: the expected one is 0.
    pub fn turn_to(&self, branch: &Branch) -> Option<u8> {
        let takes = |turn: &u8| {
            let way = self.way(*turn);
            way.branch == *branch && way.next != LOST
        };
        [0, 1].into_iter().find(takes)
    }

    /// Whether no way on is known.
    pub fn is_new(&self) -> bool {
        self.way(0).next == LOST
    }

    fn way(&self, turn: u8) -> Way {
        let at = self.at as usize + usize::from(turn);
        Way { branch: self.branches[at], next: self.next[at] }
    }

    /// Puts a way at hand; gives the one that was.
    fn replace(&mut self, turn: u8, way: Way) -> Way {
        let (at, before) = (self.at as usize + usize::from(turn), self.way(turn));
        (self.branches[at], self.next[at]) = (way.branch, way.next);
        before
    }

    /// Goes one of the ways at hand.
    pub fn go(&mut self, turn: u8) -> Result<Branch, TraceFault> {
        let way = self.way(turn);
        if way.next == LOST {
            return Err(unknown_way());
        }
        self.at = way.next;
        self.last = Some(way.branch);
        Ok(way.branch)
    }

    /// Goes the ways at hand, for each turn the expected one or the other, and appends their branches.
    ///
    /// # Errors
    /// A way that is not known; the branches before it were appended.
    #[inline]
    pub fn follow(&mut self, turns: &[u8], branches: &mut Vec<Branch>) -> Result<(), TraceFault> {
        let next = &self.next[..];
        let (known, mut at, before) = (&self.branches[..next.len()], self.at, branches.len());
        branches.extend(turns.iter().map(|turn| {
            let way = at as usize + usize::from(*turn);
            // No check of each way: from a lost place all ways are unknown and lead there again.
            let branch = known.get(way).unwrap_or_else(lost);
            at = next.get(way).copied().unwrap_or(LOST);
            *branch
        }));
        if at == LOST {
            branches.truncate(before + self.known(turns));
            return Err(unknown_way());
        }
        self.at = at;
        self.last = branches.last().copied().or(self.last);
        Ok(())
    }

    /// How many of the turns lead along known ways.
    #[cold]
    fn known(&self, turns: &[u8]) -> usize {
        let mut at = self.at;
        let is_known = |turn: &&u8| {
            at = self.next[at as usize + usize::from(**turn)];
            at != LOST
        };
        turns.iter().take_while(is_known).count()
    }

    /// The other way is the expected one from now on.
    pub fn swap(&mut self) {
        let at = self.at as usize;
        self.branches.swap(at, at + 1);
        self.next.swap(at, at + 1);
    }

    /// Goes on by an event: a branch that no way at hand gives. `site` is its number if the writer knows one, and
    /// `is_expected` whether the writer expects it next time. Gives the branch.
    pub fn event<F: Fields>(
        &mut self,
        fields: &mut F,
        step: &StoredBranch,
        site: Option<u32>,
        is_expected: bool,
    ) -> Result<Branch, TraceFault> {
        let here = self.here();
        let rank = site.and_then(|site| self.rank(&step.branch(site)));
        let tag = fields.byte(self.tag(here, step, site, rank) | flag(is_expected, EXPECTED))?;
        let wrong = || TraceFault::Field { name: "the kind of an event", value: tag.into() };
        let naming = *Naming::ALL.get(usize::from(tag & 7)).ok_or_else(wrong)?;
        let possible = match naming {
            Naming::Rare => EXPECTED,
            Naming::Same => EXPECTED | TAKEN | SAME_TARGET,
            _ => EXPECTED | TAKEN | DENSE | SAME_TARGET,
        };
        if tag & !(7 | possible) != 0 {
            return Err(wrong());
        }
        let is_expected = tag & EXPECTED != 0;
        let way = if naming == Naming::Rare {
            let rank = fields.number(rank.unwrap_or(0) as u64)?;
            self.exchange(rank, is_expected)
                .ok_or(TraceFault::Field { name: "the rank of a way", value: rank })?
        } else {
            let way = self.new_way(fields, step, site, naming, tag, here)?;
            let moved = self.keep(way, is_expected);
            self.keep_rare(moved);
            way
        };
        self.at = way.next;
        self.last = Some(way.branch);
        Ok(way.branch)
    }

    /// The address where control went.
    fn here(&self) -> u64 {
        self.last.map_or(0, |last| {
            let behind = || last.pc.wrapping_add(self.sites[last.site as usize].length.into());
            if last.taken() { last.target } else { behind() }
        })
    }

    /// The place among the rare ways.
    fn rank(&self, branch: &Branch) -> Option<usize> {
        self.rare.get(self.place())?.iter().position(|way| way.branch == *branch)
    }

    /// The first byte of an event but for the expectation; a reader has no use for it.
    fn tag(&self, here: u64, step: &StoredBranch, site: Option<u32>, rank: Option<usize>) -> u8 {
        if rank.is_some() {
            return Naming::Rare as u8;
        }
        let same_target = site.and_then(|site| self.target(site, step.taken)) == Some(step.target);
        let common = flag(step.taken, TAKEN) | flag(same_target, SAME_TARGET);
        let first = self.way(0);
        let is_same = first.next != LOST
            && Some(first.branch.site) == site
            && first.branch.instructions() == step.instructions;
        if is_same {
            return common | Naming::Same as u8;
        }
        let naming = match site {
            None => Naming::New,
            Some(_) if self.first_behind(here) == site => Naming::Behind,
            Some(_) => Naming::Known,
        };
        common | naming as u8 | flag(step.instructions == dense(here, step.pc), DENSE)
    }

    /// The target that a site had last with this outcome, or else with the other.
    fn target(&self, site: u32, taken: bool) -> Option<u64> {
        let targets = self.owns[site as usize].targets;
        targets[usize::from(taken)].or(targets[usize::from(!taken)])
    }

    fn first_behind(&self, here: u64) -> Option<u32> {
        self.numbers.range((here, 0, 0)..).next().map(|(_, site)| *site)
    }

    fn new_way<F: Fields>(
        &mut self,
        fields: &mut F,
        step: &StoredBranch,
        site: Option<u32>,
        naming: Naming,
        tag: u8,
        here: u64,
    ) -> Result<Way, TraceFault> {
        let unknown = |value| TraceFault::Field { name: "the number of a site", value };
        let first = self.way(0);
        let site = match naming {
            Naming::Same if first.next == LOST => return Err(unknown(0)),
            Naming::Same => first.branch.site,
            Naming::Behind => self.first_behind(here).ok_or(unknown(0))?,
            Naming::New => self.new_site(fields, step, here)?,
            Naming::Known | Naming::Rare => {
                let last = self.sites.len() as u64;
                let back = fields.number(site.map_or(0, |site| last - 1 - u64::from(site)))?;
                last.checked_sub(1).and_then(|last| last.checked_sub(back)).ok_or(unknown(back))? as u32
            }
        };
        let BranchSite { pc, class, .. } = self.sites[site as usize];
        let instructions = match naming {
            Naming::Same => first.branch.instructions(),
            _ if tag & DENSE != 0 => dense(here, pc),
            _ => {
                let value = fields.number(step.instructions.into())?;
                let fits = u32::try_from(value).ok().filter(|value| *value <= Branch::MAX_INSTRUCTIONS);
                fits.ok_or(TraceFault::Field { name: "a number of instructions", value })?
            }
        };
        let taken = tag & TAKEN != 0;
        if !taken && !class.is_conditional() {
            return Err(TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 });
        }
        let target = if tag & SAME_TARGET != 0 {
            let known = self.target(site, taken);
            known.ok_or(TraceFault::Field { name: "the target of a branch", value: 0 })?
        } else {
            pc.wrapping_add(fields.distance(step.target.wrapping_sub(pc) as i64)? as u64)
        };
        self.learn_target(site, taken, target);
        let next = self.arrive(site, taken, target)?;
        Ok(Way { branch: Branch::new(pc, target, site, class, taken, instructions), next })
    }

    fn new_site<F: Fields>(
        &mut self,
        fields: &mut F,
        step: &StoredBranch,
        here: u64,
    ) -> Result<u32, TraceFault> {
        let bits = fields.byte(step.class.bits())?;
        let class = BranchClass::from_bits(bits);
        let class = class.ok_or(TraceFault::Field { name: "the class", value: bits.into() })?;
        let length = fields.byte(step.length)?;
        let pc = here.wrapping_add(fields.distance(step.pc.wrapping_sub(here) as i64)? as u64);
        let site = self.sites.len() as u32;
        if self.sites.len() == MAX_SITES {
            return Err(TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 });
        }
        self.sites.push(BranchSite { pc, length, class, target: None });
        self.owns.push(SiteState { targets: [None; 2], behind: [(0, LOST); 2] });
        self.numbers.insert((pc, length, class.bits()), site);
        Ok(site)
    }

    fn learn_target(&mut self, site: u32, taken: bool, target: u64) {
        self.owns[site as usize].targets[usize::from(taken)] = Some(target);
        let site = &mut self.sites[site as usize];
        // Imported streams give a branch that is not taken the address behind it; those without lengths, unsaid.
        if !site.class.is_indirect() && (taken || (site.length > 0 && site.target.is_none())) {
            site.target = Some(target);
        }
    }

    /// Twice the number of the place that a branch leads to.
    fn arrive(&mut self, site: u32, taken: bool, target: u64) -> Result<u32, TraceFault> {
        let fresh = self.next.len() as u32;
        let behind = &mut self.owns[site as usize].behind[usize::from(taken)];
        let is_direct = !(taken && self.sites[site as usize].class.is_indirect());
        if is_direct && behind.1 == LOST {
            *behind = (target, fresh);
        }
        let next = if is_direct && behind.0 == target {
            behind.1
        } else {
            if self.landings.len() == MAX_SITES && !self.landings.contains_key(&target) {
                let what = "targets of indirect branches";
                return Err(TraceFault::TooMany { what, limit: MAX_SITES as u64 });
            }
            *self.landings.entry(target).or_insert(fresh)
        };
        if next == fresh {
            self.branches.extend([UNKNOWN.branch; 2]);
            self.next.extend([LOST; 2]);
        }
        Ok(next)
    }

    /// Keeps a rare way at hand, in its stead the one that it moves; gives it.
    fn exchange(&mut self, rank: u64, is_expected: bool) -> Option<Way> {
        let place = self.place();
        let rank = usize::try_from(rank).ok()?;
        // What nobody wrote can move a way that is not known.
        let way = *self.rare.get(place)?.get(rank).filter(|way| way.next != LOST)?;
        self.rare[place][rank] = self.keep(way, is_expected);
        Some(way)
    }

    /// Keeps a way at hand, as the expected one or beside it; gives the one that had its place.
    fn keep(&mut self, way: Way, is_expected: bool) -> Way {
        let beside = if is_expected { self.replace(0, way) } else { way };
        // Where none was expected, there is none to be moved.
        if beside.next == LOST { beside } else { self.replace(1, beside) }
    }

    fn keep_rare(&mut self, way: Way) {
        let place = self.place();
        if way.next == LOST || self.rare_count == ALL_RARE {
            return;
        }
        if self.rare.len() <= place {
            self.rare.resize_with(place + 1, Vec::new);
        }
        let rare = &mut self.rare[place];
        if rare.len() == RARE {
            rare[RARE - 1] = way;
        } else {
            rare.push(way);
            self.rare_count += 1;
        }
    }
}

fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

fn unknown_way() -> TraceFault {
    TraceFault::Field { name: "the way on from a place", value: 0 }
}

/// Instructions from one address to another, that one included, where all are four bytes long.
fn dense(here: u64, pc: u64) -> u32 {
    (pc.wrapping_sub(here) >> 2).wrapping_add(1) as u32 & Branch::MAX_INSTRUCTIONS
}
