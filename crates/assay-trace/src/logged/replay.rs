//! The code of the measured program, walked along logged outcomes.
//!
//! Method: from where one site was left, code runs to the next site without a choice: a straight piece, with direct jumps and
//! calls on its way. Such a stretch is decoded once. At its end a record says where to, and must name the site that is there.
//! Of a whole program a stretch may also end where code without records begins ([`SiteKind::Point`]). Then the next record says where
//! control came back: it is a passage, or the first one behind a call that is not returned from.

mod elsewhere;
mod stretch;

use crate::logged::OTHER_CODE;
use crate::{ClassCounts, Observer, TraceMark};
use assay_pure::outcomes::{self, MARK_WORDS, MarkRecord, PairedTable, SiteKind, TARGET_WORDS, outcome};
use assay_pure::trace::{Branch, BranchClass, BranchKind, BranchSite};
use std::collections::HashMap;
use stretch::Stretch;

/// Branches that are handed on at once.
const BATCH: usize = 8192;
/// Direct jumps in a row without a choice: a loop that never ends.
const ENDLESS: usize = 10_000;
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
    batch: Vec<Branch>,
    /// What was executed, of whole programs.
    pub(super) counts: ClassCounts,
    /// Added to an address of the logging program as linked.
    pub(super) moved: u64,
}

/// The walk.
pub(super) struct Replay {
    code: Vec<CodePiece>,
    sites: HashMap<u64, LoggedSite>,
    /// Addresses of sites by their numbers.
    numbered: HashMap<u32, u64>,
    /// From addresses of the logging program, as linked, to those of the measured one.
    places: HashMap<u64, u64>,
    anchor: u64,
    /// Passages by their address, and addresses by their number.
    passages: HashMap<u64, u32>,
    passage_places: HashMap<u32, u64>,
    /// Other code may be executed in between.
    whole: bool,
    /// Added to an address of the measured program as linked, for who sees it.
    base: u64,
    stretches: Vec<Stretch>,
    known: HashMap<u64, u32>,
    branch_sites: Vec<BranchSite>,
    site_of: HashMap<u64, u32>,
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
        let (mut sites, mut numbered, mut places) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut passages, mut passage_places) = (HashMap::new(), HashMap::new());
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
        Ok(Replay {
            code,
            sites,
            numbered,
            places,
            anchor: table.anchor,
            passages,
            passage_places,
            whole: false,
            base: if outcomes::is_position_independent(elf)? { BASE } else { 0 },
            stretches: Vec::new(),
            known: HashMap::new(),
            branch_sites: Vec::new(),
            site_of: HashMap::new(),
            walk: Walk::default(),
            ended: (0, 0),
        })
    }

    /// The same of a whole program.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of_program(elf: &[u8], table: &PairedTable) -> Result<Replay, String> {
        let mut replay = Replay { whole: true, ..Replay::new(elf, table)? };
        for class in [BranchClass::CALL, BranchClass::RETURN] {
            replay.branch_sites.push(BranchSite {
                pc: OTHER_CODE,
                length: OTHER_CALL as u8,
                class,
                target: None,
            });
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

    /// Follows whole records. Returns how many words they were.
    ///
    /// # Errors
    /// The log does not fit the code, or leads out of what was instrumented.
    pub(super) fn follow(&mut self, words: &[u32], observer: &mut impl Observer) -> Result<usize, String> {
        let mut done = 0;
        loop {
            let left = &words[done..];
            let Some(place) = self.walk.at else {
                if self.whole {
                    if left.is_empty() {
                        break;
                    }
                    done += self.come_in(left)?;
                    continue;
                }
                let Some(record) = left.first_chunk::<MARK_WORDS>() else { break };
                self.begin(&MarkRecord::from_words(record), observer)?;
                done += MARK_WORDS;
                continue;
            };
            let kind = self.stretches[place.stretch as usize].kind;
            if kind == SiteKind::Point {
                self.leave(place);
                continue;
            }
            let used = match kind {
                SiteKind::Passage => self.passage(place, left)?,
                SiteKind::Conditional => self.conditionals(place, left)?,
                SiteKind::Indirect | SiteKind::Return => match left.first_chunk::<TARGET_WORDS>() {
                    Some(record) => self.went(place, record)?,
                    None => 0,
                },
                _ => match left.first_chunk::<MARK_WORDS>() {
                    Some(record) => self.system_call(place, &MarkRecord::from_words(record), observer)?,
                    None => 0,
                },
            };
            if used == 0 {
                break;
            }
            done += used;
            if self.walk.batch.len() >= BATCH {
                self.hand_on(observer);
            }
        }
        self.hand_on(observer);
        Ok(done)
    }

    fn hand_on(&mut self, observer: &mut impl Observer) {
        if self.walk.batch.is_empty() {
            return;
        }
        if self.whole {
            let counts = &mut self.walk.counts;
            for branch in self.walk.batch.iter().filter(|branch| branch.pc != OTHER_CODE) {
                count(counts, branch);
            }
        }
        observer.branches(&self.branch_sites, &self.walk.batch);
        self.walk.batch.clear();
    }

    /// Conditional branches in a row, up to some thousand. Returns how many.
    fn conditionals(&mut self, mut place: WalkPosition, words: &[u32]) -> Result<usize, String> {
        let mut done = 0;
        for &word in words.iter().take(BATCH) {
            let stretch = &self.stretches[place.stretch as usize];
            if stretch.kind != SiteKind::Conditional {
                break;
            }
            if word & !1 != stretch.word {
                return Err(self.apart(place.stretch, word));
            }
            let taken = (word & outcome::TAKEN) as usize;
            let carry = pass(&mut self.walk, stretch, place.carry);
            // A branch to what follows it is taken either way, as a tracer sees it.
            let seen = taken == 1 || stretch.ways[0] == stretch.ways[1];
            self.walk.batch.push(stretch.branch.again(stretch.branch.target, seen, carry));
            let mut next = stretch.next[taken];
            if next == NONE {
                next = self.stretch(stretch.ways[taken])?;
                self.stretches[place.stretch as usize].next[taken] = next;
            }
            place = WalkPosition { stretch: next, carry: 0 };
            done += 1;
        }
        self.walk.at = Some(place);
        Ok(done)
    }

    /// An indirect branch or a return.
    fn went(&mut self, place: WalkPosition, record: &[u32; TARGET_WORDS]) -> Result<usize, String> {
        let stretch = &self.stretches[place.stretch as usize];
        if record[2] != stretch.word | outcome::WENT {
            return Err(self.apart(place.stretch, record[2]));
        }
        let target = u64::from(record[0]) | u64::from(record[1]) << 32;
        let (mut known, mut next, mut address) = stretch.went;
        if known != target || next == NONE {
            let Some(found) = self.measured(target) else {
                if self.whole {
                    return Ok(self.depart(place));
                }
                return Err(self.left_to(place.stretch, target));
            };
            address = found;
            next = self.stretch(address)?;
            known = target;
            self.stretches[place.stretch as usize].went = (known, next, address);
        }
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, stretch, place.carry);
        if self.whole {
            self.walk.called(stretch, address);
        }
        // The linker may have made a direct call of it, whose target stays its own.
        let seen =
            if stretch.branch.class().is_indirect() { address + self.base } else { stretch.branch.target };
        self.walk.batch.push(stretch.branch.again(seen, true, carry));
        self.walk.at = Some(WalkPosition { stretch: next, carry: 0 });
        Ok(TARGET_WORDS)
    }

    /// A call of the system, which may be a mark.
    fn system_call(
        &mut self,
        place: WalkPosition,
        record: &MarkRecord,
        observer: &mut impl Observer,
    ) -> Result<usize, String> {
        let stretch = &self.stretches[place.stretch as usize];
        if record.word != stretch.word | outcome::SYSTEM_CALL {
            return Err(self.apart(place.stretch, record.word));
        }
        let (carry, behind) = (pass(&mut self.walk, stretch, place.carry), stretch.ways[0]);
        match record.what {
            1 => self.mark(begins(record), observer),
            2 => {
                self.mark(TraceMark::RegionEnds, observer);
                self.walk.at = None;
                self.ended = (behind, carry);
                return Ok(MARK_WORDS);
            }
            _ => {}
        }
        self.walk.at = Some(WalkPosition { stretch: self.stretch(behind)?, carry });
        Ok(MARK_WORDS)
    }

    fn mark(&mut self, mark: TraceMark, observer: &mut impl Observer) {
        self.hand_on(observer);
        observer.mark(mark);
    }

    /// A region begins. What was executed since the last branch before it belongs to the first branch in it, as in any
    /// stream; so the walk begins at that branch.
    fn begin(&mut self, record: &MarkRecord, observer: &mut impl Observer) -> Result<(), String> {
        self.walk.moved = record.anchor.wrapping_sub(self.anchor);
        let site = *self.numbered.get(&(record.word >> 8)).ok_or("its log lacks its start mark")?;
        if record.what != 1 {
            return Err("its log lacks its start mark".into());
        }
        let length = self.instruction(site)?.0;
        let behind = self.stretch(site + u64::from(length))?;
        let carry = match record.last {
            0 => 0,
            last => self.carried(last, record)?,
        };
        self.mark(begins(record), observer);
        self.walk.at = Some(WalkPosition { stretch: behind, carry });
        Ok(())
    }

    /// Instructions from the last branch before a mark to the mark's call, that included.
    fn carried(&mut self, last: u32, record: &MarkRecord) -> Result<u32, String> {
        let unknown = || "what came before a region's mark is not known".to_owned();
        let site = *self.numbered.get(&(last >> 8)).ok_or_else(unknown)?;
        let mut carry = 0;
        let from = match last & 0xff {
            outcome::SYSTEM_CALL => {
                carry = self.ended.1;
                self.ended.0
            }
            outcome::WENT => self.measured(record.last_target).ok_or_else(unknown)?,
            taken => {
                let own = self.stretch(site)?;
                self.stretches[own as usize].ways[(taken & outcome::TAKEN) as usize]
            }
        };
        let way = self.stretch(from)?;
        let way = &self.stretches[way as usize];
        if way.kind != SiteKind::SystemCall || way.word | outcome::SYSTEM_CALL != record.word {
            return Err(unknown());
        }
        Ok(way.instructions + if way.passed.is_empty() { carry } else { 0 })
    }

    /// Where an address of the running program lies in the measured one.
    fn measured(&self, address: u64) -> Option<u64> {
        self.places.get(&address.wrapping_sub(self.walk.moved)).copied()
    }

    fn apart(&self, stretch: u32, word: u32) -> String {
        let expected = self.stretches[stretch as usize].word;
        format!("its log does not fit its code: site {} where {} must be", word >> 8, expected >> 8)
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
        let counts = ClassCounts { taken: Some(0), ..ClassCounts::default() };
        Walk { moved, counts, ..Walk::default() }
    }

    /// Of a whole program: an indirect call is one that is not over, and a return ends the one that it leads behind.
    fn called(&mut self, stretch: &Stretch, address: u64) {
        if stretch.kind == SiteKind::Return {
            if let Some(depth) = self.calls.iter().rposition(|behind| *behind == address) {
                self.calls.truncate(depth);
            }
        } else if stretch.branch.class().kind() == BranchKind::Call {
            self.calls.push(stretch.ways[0]);
        }
    }
}

fn count(counts: &mut ClassCounts, branch: &Branch) {
    let class = branch.class();
    counts.instructions += u64::from(branch.instructions());
    if class.is_conditional() {
        counts.conditional += 1;
        counts.taken = counts.taken.map(|taken| taken + u64::from(branch.taken()));
        return;
    }
    *match (class.kind(), class.is_indirect()) {
        (BranchKind::Return, _) => &mut counts.returns,
        (BranchKind::Call, true) => &mut counts.indirect_calls,
        (BranchKind::Call, false) => &mut counts.calls,
        (BranchKind::Jump, true) => &mut counts.indirect_jumps,
        (BranchKind::Jump, false) => &mut counts.jumps,
    } += 1;
}

/// Hands on the direct branches of a stretch. Returns the instructions since the last branch, the site's own included.
fn pass(walk: &mut Walk, stretch: &Stretch, carry: u32) -> u32 {
    let mut carry = carry;
    for branch in &stretch.passed {
        walk.batch.push(branch.again(branch.target, true, branch.instructions() + carry));
        carry = 0;
    }
    walk.calls.extend_from_slice(&stretch.calls);
    walk.counts.system_calls += u64::from(stretch.system_calls);
    carry + stretch.instructions
}

fn begins(record: &MarkRecord) -> TraceMark {
    TraceMark::RegionBegins { variant: record.variant, input: record.input, pass: record.pass }
}
