//! The code of the measured program, walked along logged outcomes.
//!
//! Method: from where one site was left, code runs to the next site without a choice: a straight piece, with direct jumps and
//! calls on its way. Such a stretch is decoded once. At its end a record says where to, and must name the site that is there.
//! Of a whole program a stretch may also end where code without records begins ([`SiteKind::Point`]). Then the next record says where
//! control came back: it is a passage, or the first one behind a call that is not returned from.

use crate::logged::OTHER_CODE;
use crate::{ClassCounts, Observer, TraceMark};
use assay_pure::outcomes::{self, MARK_WORDS, MarkRecord, PairedTable, SiteKind, TARGET_WORDS, outcome};
use assay_pure::trace::classify::{Flow, InstructionSet, flow};
use assay_pure::trace::{Branch, BranchClass, BranchKind, BranchSite};
use iced_x86::{Decoder, DecoderOptions};
use std::collections::HashMap;

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

/// Code from one place to the next site.
struct Stretch {
    /// Direct jumps and calls on the way, in order.
    passed: Vec<Branch>,
    /// Where the calls among them return to, of whole programs.
    calls: Vec<u64>,
    /// Instructions since the last of them, or since the beginning; the site's own included.
    instructions: u32,
    system_calls: u32,
    kind: SiteKind,
    /// The site's number in records, in their upper bits.
    word: u32,
    /// The site's branch; of a call of the system, none.
    branch: Branch,
    /// Where it goes if it is taken, and if not.
    ways: [u64; 2],
    /// The stretches there.
    next: [u32; 2],
    /// Where it went last, as the log said it, and the stretch and address there.
    went: (u64, u32, u64),
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

    /// Control leaves to code that has no records. What is executed there is unknown.
    fn leave(&mut self, place: WalkPosition) {
        let stretch = &self.stretches[place.stretch as usize];
        let mut rest = pass(&mut self.walk, stretch, place.carry);
        if stretch.branch.class().is_indirect() {
            self.walk.batch.push(stretch.branch.again(OTHER_CODE, true, rest));
            rest = 0;
        }
        self.walk.counts.instructions += u64::from(rest);
        self.walk.at = None;
    }

    /// Control came back from other code: by a passage, or else behind a call that is not over. Returns the words of the
    /// passage.
    fn come_in(&mut self, words: &[u32]) -> Result<usize, String> {
        let first = words[0];
        for depth in (0..self.walk.calls.len()).rev() {
            let behind = self.stretch(self.walk.calls[depth])?;
            let stretch = &self.stretches[behind as usize];
            let fits = match stretch.kind {
                SiteKind::Conditional => first & !1 == stretch.word,
                SiteKind::Indirect | SiteKind::Return => {
                    words.get(TARGET_WORDS - 1) == Some(&(stretch.word | outcome::WENT))
                }
                SiteKind::Passage => first == stretch.word | outcome::PASSED,
                _ => false,
            };
            if fits {
                self.other_returns(self.walk.calls[depth]);
                self.walk.calls.truncate(depth);
                self.walk.at = Some(WalkPosition { stretch: behind, carry: 0 });
                return Ok(0);
            }
            if first & 0xff == outcome::PASSED && self.passage_places.contains_key(&(first >> 8)) {
                break;
            }
        }
        let place = self.passage_places.get(&(first >> 8)).filter(|_| first & 0xff == outcome::PASSED);
        let place = *place.ok_or_else(|| {
            format!(
                "its log does not fit its code: it came back from other code at site {}, which is not known",
                first >> 8
            )
        })?;
        // A jump over several calls leaves them behind.
        if let Some(depth) = self.walk.calls.iter().rposition(|behind| *behind == place) {
            self.walk.calls.truncate(depth);
            self.other_returns(place);
        } else {
            let call = Branch::new(OTHER_CODE, place + self.base, OTHER_SITES[0], BranchClass::CALL, true, 0);
            self.walk.batch.push(call);
        }
        let stretch = self.stretch(place | PASSED_BY)?;
        self.walk.at = Some(WalkPosition { stretch, carry: 0 });
        Ok(1)
    }

    /// Predictors keep track of returns: to them other code is a place that calls and returns.
    fn other_returns(&mut self, behind: u64) {
        let target = behind + self.base;
        self.walk.batch.push(Branch::new(OTHER_CODE, target, OTHER_SITES[1], BranchClass::RETURN, true, 0));
    }

    /// A place that other code may lead to, reached by our own.
    fn passage(&mut self, place: WalkPosition, words: &[u32]) -> Result<usize, String> {
        let Some(&word) = words.first() else { return Ok(0) };
        let stretch = &self.stretches[place.stretch as usize];
        if word != stretch.word | outcome::PASSED {
            return Err(self.apart(place.stretch, word));
        }
        let carry = pass(&mut self.walk, stretch, place.carry);
        let mut next = stretch.next[0];
        if next == NONE {
            next = self.stretch(stretch.ways[0])?;
            self.stretches[place.stretch as usize].next[0] = next;
        }
        self.walk.at = Some(WalkPosition { stretch: next, carry });
        Ok(1)
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

    /// An indirect branch or a return to code that has no records.
    fn depart(&mut self, place: WalkPosition) -> usize {
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, stretch, place.carry);
        self.walk.called(stretch, 0);
        // Where it went is of no use: it is not the address that it would have been in the measured program.
        let seen = match stretch.kind {
            SiteKind::Return => OTHER_CODE + OTHER_CALL,
            _ if stretch.branch.class().is_indirect() => OTHER_CODE,
            _ => stretch.branch.target,
        };
        self.walk.batch.push(stretch.branch.again(seen, true, carry));
        self.walk.at = None;
        TARGET_WORDS
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

    /// The stretch that begins here.
    fn stretch(&mut self, start: u64) -> Result<u32, String> {
        if let Some(known) = self.known.get(&start) {
            return Ok(*known);
        }
        let stretch = self.decode(start)?;
        let index = self.stretches.len() as u32;
        self.stretches.push(stretch);
        self.known.insert(start, index);
        Ok(index)
    }

    fn decode(&mut self, start: u64) -> Result<Stretch, String> {
        let mut address = start & !PASSED_BY;
        let mut way = StretchWay::default();
        let mut by = start & PASSED_BY != 0;
        loop {
            let passage = self.passages.get(&address).copied().filter(|_| self.whole && !by);
            by = false;
            if let Some(number) = passage {
                let ways = [address | PASSED_BY; 2];
                let at = StretchEnd { kind: SiteKind::Passage, number, branch: no_branch(), ways };
                return Ok(at.behind(way));
            }
            let (length, does) = match self.instruction(address) {
                Err(_) if self.whole => {
                    let at =
                        StretchEnd { kind: SiteKind::Point, number: 0, branch: no_branch(), ways: [0; 2] };
                    return Ok(at.behind(way));
                }
                other => other?,
            };
            let behind = address + u64::from(length);
            way.instructions += 1;
            let site = self.sites.get(&address).copied();
            if let Some(LoggedSite { kind, number }) = site {
                let (class, target) = match does {
                    Flow::Branch { class, target } => (class, target),
                    Flow::SystemCall if kind == SiteKind::SystemCall => (BranchClass::JUMP, None),
                    _ => return Err(format!("at {address:#x} there is no branch, against the table")),
                };
                if (kind == SiteKind::Conditional) != class.is_conditional() {
                    return Err(format!("at {address:#x} there is another branch than the table says"));
                }
                let branch = match kind {
                    SiteKind::SystemCall => no_branch(),
                    _ => self.branch(address, length, class, target),
                };
                let ways = [behind, target.unwrap_or(behind)];
                return Ok(StretchEnd { kind, number, branch, ways }.behind(way));
            }
            match does {
                Flow::Branch { class, target: Some(target) } if !class.is_conditional() => {
                    let branch = self.branch(address, length, class, Some(target));
                    way.passed.push(branch.again(branch.target, true, way.instructions));
                    if self.whole && class.kind() == BranchKind::Call {
                        way.calls.push(behind);
                    }
                    way.instructions = 0;
                    address = target;
                    if way.passed.len() > ENDLESS {
                        return Err(format!("from {start:#x} code loops without a logged branch"));
                    }
                }
                Flow::SystemCall if self.whole => {
                    way.system_calls += 1;
                    address = behind;
                }
                Flow::Branch { .. } | Flow::Unknown if self.whole => {
                    let branch = match does {
                        Flow::Branch { class, target: None } => self.branch(address, length, class, None),
                        _ => no_branch(),
                    };
                    let at = StretchEnd { kind: SiteKind::Point, number: 0, branch, ways: [0; 2] };
                    return Ok(at.behind(way));
                }
                Flow::Branch { .. } | Flow::SystemCall | Flow::Unknown => {
                    return Err(format!(
                        "it executes code that was not instrumented, at {address:#x}, as that of a library"
                    ));
                }
                Flow::Next | Flow::Repeat => address = behind,
            }
        }
    }

    /// A branch of a place, and the place among all.
    fn branch(&mut self, address: u64, length: u8, class: BranchClass, target: Option<u64>) -> Branch {
        let pc = address + self.base;
        let target = target.map(|target| target + self.base);
        let next = self.branch_sites.len() as u32;
        let site = *self.site_of.entry(address).or_insert(next);
        if site == next {
            self.branch_sites.push(BranchSite { pc, length, class, target });
        }
        Branch::new(pc, target.unwrap_or(0), site, class, false, 0)
    }

    /// Length of an instruction, and what it does.
    fn instruction(&self, address: u64) -> Result<(u8, Flow), String> {
        let bytes = self.code.iter().find_map(|piece| {
            let offset = usize::try_from(address.checked_sub(piece.start)?).ok()?;
            piece.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
        });
        let none = || format!("at {address:#x} there is no code");
        let bytes = bytes.ok_or_else(none)?;
        let bytes = &bytes[..bytes.len().min(15)];
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(none());
        }
        Ok((instruction.len() as u8, flow(InstructionSet::X86_64, address, bytes)))
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

/// What lies on the way of a stretch.
#[derive(Default)]
struct StretchWay {
    passed: Vec<Branch>,
    calls: Vec<u64>,
    instructions: u32,
    system_calls: u32,
}

/// Where a stretch ends.
struct StretchEnd {
    kind: SiteKind,
    number: u32,
    branch: Branch,
    ways: [u64; 2],
}

impl StretchEnd {
    fn behind(self, way: StretchWay) -> Stretch {
        let StretchWay { passed, calls, instructions, system_calls } = way;
        let StretchEnd { kind, number, branch, ways } = self;
        let (word, next, went) = (number << 8, [NONE; 2], (0, NONE, 0));
        Stretch { passed, calls, instructions, system_calls, kind, word, branch, ways, next, went }
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

/// What stands for the branch of a stretch that ends without one.
fn no_branch() -> Branch {
    Branch::new(0, 0, 0, BranchClass::JUMP, false, 0)
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
