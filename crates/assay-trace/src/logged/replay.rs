//! The code of the measured program, walked along logged outcomes.
//!
//! Method: from where one site was left, code runs to the next site without a choice: a straight piece, with direct jumps and
//! calls on its way. Such a stretch is decoded once. At its end a record says where to, and must name the site that is there.

use crate::{Observer, TraceMark};
use assay_pure::outcomes::{self, MARK_WORDS, MarkRecord, PairedTable, SiteKind, TARGET_WORDS, outcome};
use assay_pure::trace::classify::{Flow, InstructionSet, flow};
use assay_pure::trace::{Branch, BranchClass, BranchSite};
use iced_x86::{Decoder, DecoderOptions};
use std::collections::HashMap;

/// Branches that are handed on at once.
const BATCH: usize = 8192;
/// Direct jumps in a row without a choice: a loop that never ends.
const ENDLESS: usize = 10_000;
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
    /// Instructions since the last of them, or since the beginning; the site's own included.
    instructions: u32,
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

/// The walk.
pub(super) struct Replay {
    code: Vec<CodePiece>,
    sites: HashMap<u64, LoggedSite>,
    /// Addresses of sites by their numbers.
    numbered: HashMap<u32, u64>,
    /// From addresses of the logging program, as linked, to those of the measured one.
    places: HashMap<u64, u64>,
    anchor: u64,
    /// Added to an address of the logging program as linked.
    moved: u64,
    /// Added to an address of the measured program as linked, for who sees it.
    base: u64,
    stretches: Vec<Stretch>,
    known: HashMap<u64, u32>,
    branch_sites: Vec<BranchSite>,
    site_of: HashMap<u64, u32>,
    at: Option<WalkPosition>,
    /// Behind the mark that ended the last region: the address, and the instructions since the last branch.
    ended: (u64, u32),
    batch: Vec<Branch>,
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
        for place in &table.places {
            if place.kind == SiteKind::Point {
                places.entry(place.logging).or_insert(place.plain);
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
            moved: 0,
            base: if outcomes::is_position_independent(elf)? { BASE } else { 0 },
            stretches: Vec::new(),
            known: HashMap::new(),
            branch_sites: Vec::new(),
            site_of: HashMap::new(),
            at: None,
            ended: (0, 0),
            batch: Vec::with_capacity(2 * BATCH),
        })
    }

    /// Follows whole records. Returns how many words they were.
    ///
    /// # Errors
    /// The log does not fit the code, or leads out of what was instrumented.
    pub(super) fn follow(&mut self, words: &[u32], observer: &mut impl Observer) -> Result<usize, String> {
        let mut done = 0;
        loop {
            let left = &words[done..];
            let Some(place) = self.at else {
                let Some(record) = left.first_chunk::<MARK_WORDS>() else { break };
                self.begin(&MarkRecord::from_words(record), observer)?;
                done += MARK_WORDS;
                continue;
            };
            let kind = self.stretches[place.stretch as usize].kind;
            let used = match kind {
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
            if self.batch.len() >= BATCH {
                self.hand_on(observer);
            }
        }
        self.hand_on(observer);
        Ok(done)
    }

    fn hand_on(&mut self, observer: &mut impl Observer) {
        if !self.batch.is_empty() {
            observer.branches(&self.branch_sites, &self.batch);
            self.batch.clear();
        }
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
            let carry = pass(&mut self.batch, stretch, place.carry);
            // A branch to what follows it is taken either way, as a tracer sees it.
            let seen = taken == 1 || stretch.ways[0] == stretch.ways[1];
            self.batch.push(stretch.branch.again(stretch.branch.target, seen, carry));
            let mut next = stretch.next[taken];
            if next == NONE {
                next = self.stretch(stretch.ways[taken])?;
                self.stretches[place.stretch as usize].next[taken] = next;
            }
            place = WalkPosition { stretch: next, carry: 0 };
            done += 1;
        }
        self.at = Some(place);
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
            address = self.measured(target).ok_or_else(|| self.left_to(place.stretch, target))?;
            next = self.stretch(address)?;
            known = target;
            self.stretches[place.stretch as usize].went = (known, next, address);
        }
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.batch, stretch, place.carry);
        // The linker may have made a direct call of it, whose target stays its own.
        let seen =
            if stretch.branch.class().is_indirect() { address + self.base } else { stretch.branch.target };
        self.batch.push(stretch.branch.again(seen, true, carry));
        self.at = Some(WalkPosition { stretch: next, carry: 0 });
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
        let (carry, behind) = (pass(&mut self.batch, stretch, place.carry), stretch.ways[0]);
        match record.what {
            1 => self.mark(begins(record), observer),
            2 => {
                self.mark(TraceMark::RegionEnds, observer);
                self.at = None;
                self.ended = (behind, carry);
                return Ok(MARK_WORDS);
            }
            _ => {}
        }
        self.at = Some(WalkPosition { stretch: self.stretch(behind)?, carry });
        Ok(MARK_WORDS)
    }

    fn mark(&mut self, mark: TraceMark, observer: &mut impl Observer) {
        self.hand_on(observer);
        observer.mark(mark);
    }

    /// A region begins. What was executed since the last branch before it belongs to the first branch in it, as in any
    /// stream; so the walk begins at that branch.
    fn begin(&mut self, record: &MarkRecord, observer: &mut impl Observer) -> Result<(), String> {
        self.moved = record.anchor.wrapping_sub(self.anchor);
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
        self.at = Some(WalkPosition { stretch: behind, carry });
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
        self.places.get(&address.wrapping_sub(self.moved)).copied()
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
        let (mut address, mut instructions) = (start, 0_u32);
        let mut passed = Vec::new();
        loop {
            let (length, does) = self.instruction(address)?;
            let behind = address + u64::from(length);
            instructions += 1;
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
                    SiteKind::SystemCall => Branch::new(0, 0, 0, class, false, 0),
                    _ => self.branch(address, length, class, target),
                };
                let ways = [behind, target.unwrap_or(behind)];
                let word = number << 8;
                let went = (0, NONE, 0);
                let next = [NONE; 2];
                return Ok(Stretch { passed, instructions, kind, word, branch, ways, next, went });
            }
            match does {
                Flow::Branch { class, target: Some(target) } if !class.is_conditional() => {
                    let branch = self.branch(address, length, class, Some(target));
                    passed.push(branch.again(branch.target, true, instructions));
                    instructions = 0;
                    address = target;
                    if passed.len() > ENDLESS {
                        return Err(format!("from {start:#x} code loops without a logged branch"));
                    }
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
            target.wrapping_sub(self.moved)
        )
    }
}

/// Hands on the direct branches of a stretch. Returns the instructions since the last branch, the site's own included.
fn pass(batch: &mut Vec<Branch>, stretch: &Stretch, carry: u32) -> u32 {
    let mut carry = carry;
    for branch in &stretch.passed {
        batch.push(branch.again(branch.target, true, branch.instructions() + carry));
        carry = 0;
    }
    carry + stretch.instructions
}

fn begins(record: &MarkRecord) -> TraceMark {
    TraceMark::RegionBegins { variant: record.variant, input: record.input, pass: record.pass }
}
