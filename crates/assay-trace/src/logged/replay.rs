//! The code of the measured program, walked along logged outcomes.
//!
//! Method: from where one site was left, code runs to the next site without a choice: a straight piece, with direct jumps and
//! calls on its way. Such a stretch is decoded once. At its end a record says where to; one that names a site must name the one that
//! is there, and a mark the number of bytes ahead of it.
//! Of a whole program a stretch may also end where code without records begins ([`SiteKind::Point`]). Then the next record says where
//! control came back: it is a passage, or the first one behind a call that is not returned from.

mod arrivals;
mod batch;
mod elsewhere;
mod met;
mod repeats;
mod runs;
mod stretch;
#[cfg(test)]
mod tests;

use crate::logged::OTHER_CODE;
use crate::{ClassCounts, Observer, TraceMark};
use arrivals::{AddressMap, Arrivals};
use assay_pure::outcomes::{
    self, END, FREE, MARK_BYTES, MarkRecord, NAMED_BYTES, PairedTable, SiteKind, TARGET_BYTES, TARGET_WORD,
    outcome, outcome_of, site_of, target_of, word_at,
};
use assay_pure::trace::{Branch, BranchClass, BranchKind, BranchSite};
use batch::Batch;
use met::Met;
use runs::Runs;
use stretch::Stretch;

/// Direct jumps in a row without a choice: a loop that never ends.
const ENDLESS: usize = 10_000;
/// Returns without a record in a row: the same. No recursion is as deep.
const ENDLESS_RETURNS: usize = 1 << 20;
/// Bytes of a call by other code.
const OTHER_CALL: u64 = 5;
/// Sites of other code: the call into ours, and the return behind a call of ours.
const OTHER_SITES: [u32; 2] = [0, 1];
/// Added to the address of a passage whose record was read.
const PASSED_BY: u64 = 1 << 63;
/// No stretch yet.
const NONE: u32 = u32::MAX;
/// Where QEMU's user mode puts a position-independent program; predictors see addresses.
const BASE: u64 = 0x40_0000_0000;

/// A piece of code.
struct CodePiece {
    start: u64,
    bytes: Vec<u8>,
}

/// A site's kind and the number of its records.
#[derive(Clone, Copy)]
struct LoggedSite {
    kind: SiteKind,
    number: u32,
}

/// Where the walk is: in which stretch, and how many instructions were executed since the last branch before it.
#[derive(Clone, Copy)]
struct WalkPosition {
    stretch: u32,
    carry: u32,
}

/// Where control is in one stream of records, and what was executed.
#[derive(Default)]
pub(super) struct Walk {
    at: Option<WalkPosition>,
    /// Where calls return to that are not over, as far as they were logged.
    calls: Vec<u64>,
    batch: Batch,
    /// Added to an address of the logging program as linked.
    pub(super) moved: u64,
    /// Bytes that were followed.
    position: u64,
    /// Returns without a record since the last one.
    quiet: usize,
    /// A return led elsewhere than behind the last call: whose call is over is not known from then on.
    jumped: bool,
}

/// The walk.
pub(super) struct Replay {
    code: Vec<CodePiece>,
    sites: AddressMap<u64, LoggedSite>,
    /// Addresses of sites by their numbers.
    numbered: AddressMap<u32, u64>,
    /// From addresses of the logging program, as linked, to those of the measured one.
    places: AddressMap<u64, u64>,
    anchor: u64,
    /// Passages by their address, and addresses by their number.
    passages: AddressMap<u64, u32>,
    passage_places: AddressMap<u32, u64>,
    /// Other code may be executed in between.
    whole: bool,
    /// Added to an address of the measured program as linked, for who sees it.
    base: u64,
    stretches: Vec<Stretch>,
    known: AddressMap<u64, u32>,
    runs: Runs,
    /// Which stretches were walked by steps.
    passed: Met,
    arrivals: Arrivals,
    /// Stretches that were looked for last, by addresses of the measured program.
    recent: Arrivals,
    branch_sites: Vec<BranchSite>,
    /// The branch of each site, not taken.
    step_sites: Vec<Branch>,
    site_of: AddressMap<u64, u32>,
    /// The stream that is followed.
    pub(super) walk: Walk,
    /// Behind the mark that ended the last region: the address, and the instructions since the last branch.
    ended: (u64, u32),
}

impl Replay {
    /// Of a measured program, and where its sites are.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn new(elf: &[u8], table: &PairedTable) -> Result<Replay, String> {
        let code = outcomes::code(elf)?;
        let code =
            code.into_iter().map(|(start, bytes)| CodePiece { start, bytes: bytes.to_vec() }).collect();
        let base = if outcomes::is_position_independent(elf)? { BASE } else { 0 };
        Ok(Replay::of_code(code, table, base))
    }

    fn of_code(code: Vec<CodePiece>, table: &PairedTable, base: u64) -> Replay {
        let (mut sites, mut numbered, mut places) =
            (AddressMap::default(), AddressMap::default(), AddressMap::default());
        let (mut passages, mut passage_places) = (AddressMap::default(), AddressMap::default());
        for place in &table.places {
            if place.kind == SiteKind::Point {
                places.entry(place.logging).or_insert(place.plain);
            } else if place.kind == SiteKind::Passage {
                passages.entry(place.plain).or_insert(place.site);
                passage_places.insert(place.site, place.plain);
            } else {
                // A function that several sources define is in the program once, with the first one's numbers.
                sites.entry(place.plain).or_insert(LoggedSite { kind: place.kind, number: place.site });
                numbered.insert(place.site, place.plain);
            }
        }
        Replay {
            code,
            sites,
            numbered,
            places,
            anchor: table.anchor,
            passages,
            passage_places,
            whole: false,
            base,
            stretches: Vec::new(),
            known: AddressMap::default(),
            runs: Runs::default(),
            passed: Met::default(),
            arrivals: Arrivals::default(),
            recent: Arrivals::default(),
            branch_sites: Vec::new(),
            step_sites: Vec::new(),
            site_of: AddressMap::default(),
            walk: Walk::default(),
            ended: (0, 0),
        }
    }

    /// The same of a whole program.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of_program(elf: &[u8], table: &PairedTable) -> Result<Replay, String> {
        let mut replay = Replay { whole: true, ..Replay::new(elf, table)? };
        for class in [BranchClass::CALL, BranchClass::RETURN] {
            replay.site(BranchSite { pc: OTHER_CODE, length: OTHER_CALL as u8, class, target: None });
        }
        Ok(replay)
    }

    /// All branches so far.
    pub(super) fn sites(&self) -> &[BranchSite] {
        &self.branch_sites
    }

    /// Where the measured program is, for who sees its branches.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// The address of the anchor in the logging program as linked.
    pub(super) fn anchor(&self) -> u64 {
        self.anchor
    }

    /// Follows the records of an area.
    ///
    /// # Errors
    /// The log does not fit the code, or leads out of what was instrumented.
    pub(super) fn follow(&mut self, bytes: &[u8], observer: &mut dyn Observer) -> Result<(), String> {
        let begins = self.walk.position;
        let mut done = 0;
        self.walk.batch.want(observer.wanted());
        loop {
            if self.walk.batch.is_full() || self.keeps_too_many() {
                self.hand_on(observer);
                self.forget_too_many();
            }
            self.walk.position = begins + done as u64;
            let left = &bytes[done..];
            if let Some(place) = self.walk.at
                && let Some(used) = self.go_on(place, left)?
            {
                done += used;
                continue;
            }
            if left.is_empty() {
                break;
            }
            done += match self.walk.at {
                Some(place) => self.record(place, left, observer)?,
                None if self.whole => {
                    self.come_in(left)?;
                    continue;
                }
                None => self.begin(&MarkRecord::from_bytes(whole(left)?), observer)?,
            };
            self.walk.quiet = 0;
        }
        self.count_what_was_met();
        self.hand_on(observer);
        Ok(())
    }

    /// Goes on along runs, or where no record is needed to know whereto. Returns how many bytes that took; nothing: the next record is
    /// to be walked by itself.
    fn go_on(&mut self, place: WalkPosition, left: &[u8]) -> Result<Option<usize>, String> {
        if place.carry == 0
            && let Some(used) = self.along_runs(place.stretch, left)?
        {
            return Ok(Some(used));
        }
        match self.stretches[place.stretch as usize].kind {
            SiteKind::Point => self.leave(place),
            SiteKind::Quiet => self.quiet_return(place)?,
            _ => return Ok(None),
        }
        Ok(Some(0))
    }

    /// A return to where the function was called from.
    fn quiet_return(&mut self, place: WalkPosition) -> Result<(), String> {
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        let pc = stretch.branch.pc - self.base;
        let behind = self.walk.calls.pop().filter(|_| !self.walk.jumped);
        let behind = behind.ok_or_else(|| format!("at {pc:#x} a function returns that was not called"))?;
        self.walk.quiet += 1;
        if self.walk.quiet > ENDLESS_RETURNS {
            return Err(format!("at {pc:#x} code loops without a logged branch"));
        }
        self.walk.batch.push(stretch.branch.again(behind + self.base, true, carry));
        self.walk.at = Some(WalkPosition { stretch: self.stretch(behind)?, carry: 0 });
        Ok(())
    }

    /// The record of the site that the walk has come to. Returns how many bytes it has.
    fn record(
        &mut self,
        place: WalkPosition,
        left: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<usize, String> {
        match self.stretches[place.stretch as usize].kind {
            SiteKind::Passage => self.passage(place, left),
            SiteKind::Conditional => {
                self.walk.at = Some(self.conditional(place, left[0])?);
                Ok(1)
            }
            SiteKind::Named => self.named(place, whole(left)?),
            SiteKind::Indirect | SiteKind::Return => self.went(place, whole(left)?),
            _ => self.system_call(place, &MarkRecord::from_bytes(whole(left)?), observer),
        }
    }

    fn hand_on(&mut self, observer: &mut dyn Observer) {
        self.walk.batch.hand_on(&self.branch_sites, &self.step_sites, self.runs.table(), observer);
    }

    /// A conditional branch of this outcome. Returns where it leads.
    fn conditional(&mut self, place: WalkPosition, byte: u8) -> Result<WalkPosition, String> {
        let stretch = &self.stretches[place.stretch as usize];
        let taken = match u32::from(byte) {
            outcome::NOT_TAKEN => 0,
            outcome::TAKEN => 1,
            _ if byte == END => 1,
            _ => return Err(self.no_outcome(place.stretch, byte)),
        };
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        // A branch to what follows it is taken either way, as a tracer sees it.
        let seen = taken == 1 || stretch.ways[0] == stretch.ways[1];
        self.walk.batch.push(stretch.branch.again(stretch.branch.target, seen, carry));
        self.walk.batch.counts.taken = self.walk.batch.counts.taken.map(|taken| taken + u64::from(seen));
        let mut next = stretch.next[taken];
        if next == NONE {
            next = self.stretch(stretch.ways[taken])?;
            self.stretches[place.stretch as usize].next[taken] = next;
        }
        Ok(WalkPosition { stretch: next, carry: 0 })
    }

    /// A conditional branch whose record names it.
    fn named(&mut self, place: WalkPosition, record: &[u8; NAMED_BYTES]) -> Result<usize, String> {
        let named = word_at(record, 1);
        if named != self.stretches[place.stretch as usize].word(outcome::NAMED) {
            return Err(self.apart(place.stretch, named));
        }
        self.walk.at = Some(self.conditional(place, record[0])?);
        Ok(NAMED_BYTES)
    }

    /// An indirect branch or a return.
    fn went(&mut self, place: WalkPosition, record: &[u8; TARGET_BYTES]) -> Result<usize, String> {
        let stretch = &self.stretches[place.stretch as usize];
        let named = word_at(record, TARGET_WORD);
        if named != stretch.word(outcome::WENT) {
            return Err(self.apart(place.stretch, named));
        }
        let target = target_of(record);
        let Some((next, address)) = self.arrival(target)? else {
            if self.whole {
                return Ok(self.depart(place));
            }
            return Err(self.left_to(place.stretch, target));
        };
        self.walk.at = Some(self.go(place, next, address));
        Ok(TARGET_BYTES)
    }

    /// An indirect branch or a return to this stretch, at this address.
    fn go(&mut self, place: WalkPosition, next: u32, address: u64) -> WalkPosition {
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        self.walk.called(stretch, address);
        // The linker may have made a direct call of it, whose target stays its own.
        let seen =
            if stretch.branch.class().is_indirect() { address + self.base } else { stretch.branch.target };
        self.walk.batch.push(stretch.branch.again(seen, true, carry));
        WalkPosition { stretch: next, carry: 0 }
    }

    /// A call of the system, which may be a mark.
    fn system_call(
        &mut self,
        place: WalkPosition,
        record: &MarkRecord,
        observer: &mut dyn Observer,
    ) -> Result<usize, String> {
        let stretch = &self.stretches[place.stretch as usize];
        if record.word != stretch.word(outcome::SYSTEM_CALL) {
            return Err(self.apart(place.stretch, record.word));
        }
        self.walk.is_here(record)?;
        let (carry, behind) = (pass(&mut self.walk, &mut self.passed, stretch, place), stretch.ways[0]);
        match record.what {
            1 => self.mark(begins(record), observer),
            2 => {
                self.mark(TraceMark::RegionEnds, observer);
                self.walk.at = None;
                self.ended = (behind, carry);
                return Ok(MARK_BYTES);
            }
            _ => {}
        }
        self.walk.at = Some(WalkPosition { stretch: self.stretch(behind)?, carry });
        Ok(MARK_BYTES)
    }

    fn mark(&mut self, mark: TraceMark, observer: &mut dyn Observer) {
        self.hand_on(observer);
        observer.mark(mark);
    }

    /// A region begins. What was executed since the last branch before it belongs to the first branch in it, as in any
    /// stream; so the walk begins at that branch.
    fn begin(&mut self, record: &MarkRecord, observer: &mut dyn Observer) -> Result<usize, String> {
        self.walk.moved = record.anchor.wrapping_sub(self.anchor);
        let lacks = || "its log lacks its start mark".to_owned();
        let site = *self.numbered.get(&site_of(record.word)).ok_or_else(lacks)?;
        if record.what != 1 || outcome_of(record.word) != outcome::SYSTEM_CALL {
            return Err(lacks());
        }
        self.walk.is_here(record)?;
        let length = self.instruction(site)?.0;
        let behind = self.stretch(site + u64::from(length))?;
        let carry = self.carried(record)?;
        self.walk.calls.clear();
        self.walk.jumped = false;
        self.mark(begins(record), observer);
        self.walk.at = Some(WalkPosition { stretch: behind, carry });
        Ok(MARK_BYTES)
    }

    /// Instructions from the last branch before a mark to the mark's call, that included. Branches that may be the last one
    /// name themselves, and calls that may be have a record behind them.
    fn carried(&mut self, record: &MarkRecord) -> Result<u32, String> {
        let unknown = || "what came before a region's mark is not known".to_owned();
        if record.before[TARGET_BYTES - 1] == FREE {
            // Nothing was logged.
            return Ok(0);
        }
        let last = word_at(&record.before, TARGET_WORD);
        let site = site_of(last);
        let (from, carry) = match outcome_of(last) {
            outcome::SYSTEM_CALL => self.ended,
            outcome::WENT => (self.measured(target_of(&record.before)).ok_or_else(unknown)?, 0),
            outcome::PASSED => (*self.passage_places.get(&site).ok_or_else(unknown)? | PASSED_BY, 0),
            outcome::NAMED => {
                let own = self.stretch(*self.numbered.get(&site).ok_or_else(unknown)?)?;
                let is_taken = record.before[TARGET_BYTES - NAMED_BYTES] == FREE;
                (self.stretches[own as usize].ways[usize::from(is_taken)], 0)
            }
            _ => return Err(unknown()),
        };
        let way = self.stretch(from)?;
        let way = &self.stretches[way as usize];
        if way.kind != SiteKind::SystemCall || way.word(outcome::SYSTEM_CALL) != record.word {
            return Err(unknown());
        }
        Ok(way.instructions + if way.passed.is_empty() { carry } else { 0 })
    }

    /// The stretch at an address of the running program, and where that lies in the measured one. Nothing: it is other code.
    fn arrival(&mut self, target: u64) -> Result<Option<(u32, u64)>, String> {
        let logged = target.wrapping_sub(self.walk.moved);
        if let Some(known) = self.arrivals.at(logged) {
            return Ok(known);
        }
        let place = match self.measured(target) {
            Some(address) => Some((self.stretch(address)?, address)),
            None => None,
        };
        self.arrivals.put(logged, place);
        Ok(place)
    }

    /// Where an address of the running program lies in the measured one.
    fn measured(&self, address: u64) -> Option<u64> {
        self.places.get(&address.wrapping_sub(self.walk.moved)).copied()
    }

    fn apart(&self, stretch: u32, found: u32) -> String {
        let expected = self.stretches[stretch as usize].number;
        format!("its log does not fit its code: site {} where {expected} must be", site_of(found))
    }

    fn no_outcome(&self, stretch: u32, found: u8) -> String {
        let expected = self.stretches[stretch as usize].number;
        format!("its log does not fit its code: {found} where the outcome of site {expected} must be")
    }

    fn left_to(&self, stretch: u32, target: u64) -> String {
        let pc = self.stretches[stretch as usize].branch.pc - self.base;
        format!(
            "at {pc:#x} it goes to code that was not instrumented, as that of a library ({:#x})",
            target.wrapping_sub(self.walk.moved)
        )
    }
}

impl Walk {
    /// Of a process whose logging program lies this far from where it was linked.
    pub(super) fn new(moved: u64) -> Walk {
        Walk { moved, batch: Batch::counting(), ..Walk::default() }
    }

    /// What was executed.
    pub(super) fn counts(&self) -> ClassCounts {
        self.batch.counts
    }

    /// No byte of the stream is missing ahead of this mark.
    fn is_here(&self, record: &MarkRecord) -> Result<(), String> {
        if record.position == self.position {
            return Ok(());
        }
        let (has, here) = (record.position, self.position);
        Err(format!("its log does not fit its code: {here} bytes were read ahead of a mark that has {has}"))
    }

    /// An indirect call is one that is not over, and a return ends the one that it leads behind.
    fn called(&mut self, stretch: &Stretch, address: u64) {
        if stretch.kind == SiteKind::Return {
            self.returned(address);
        } else if stretch.branch.class().kind() == BranchKind::Call {
            self.calls.push(stretch.ways[0]);
        }
    }

    /// A return ends the call that it leads behind.
    #[inline]
    fn returned(&mut self, address: u64) {
        match self.calls.iter().rposition(|behind| *behind == address) {
            Some(depth) => {
                self.jumped |= depth + 1 != self.calls.len();
                self.calls.truncate(depth);
            }
            None => self.jumped |= !self.calls.is_empty(),
        }
    }
}

/// The whole record that begins here.
fn whole<const LENGTH: usize>(bytes: &[u8]) -> Result<&[u8; LENGTH], String> {
    bytes.first_chunk().ok_or_else(|| "its log ends in the midst of a record".to_owned())
}

/// Hands on the direct branches of a stretch that the walk is in. Returns the instructions since the last branch, the site's own included.
#[inline]
fn pass(walk: &mut Walk, passed: &mut Met, stretch: &Stretch, place: WalkPosition) -> u32 {
    passed.meet(place.stretch);
    if !stretch.calls.is_empty() {
        walk.calls.extend_from_slice(&stretch.calls);
    }
    walk.batch.pass(&stretch.passed, place.carry) + stretch.instructions
}

fn begins(record: &MarkRecord) -> TraceMark {
    TraceMark::RegionBegins { variant: record.variant, input: record.input, pass: record.pass }
}
