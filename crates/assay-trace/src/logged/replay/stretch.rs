//! Code between two sites, decoded: direct jumps and calls on its way, and the site or the place at which it ends.

use super::{ENDLESS, LoggedSite, NONE, PASSED_BY, Replay};
use crate::ClassCounts;
use assay_pure::outcomes::{self, SiteKind};
use assay_pure::trace::classify::{Flow, InstructionSet, flow};
use assay_pure::trace::{Branch, BranchClass, BranchKind, BranchSite};
use iced_x86::{Decoder, DecoderOptions};

/// Code from one place to the next site.
pub(super) struct Stretch {
    /// Direct jumps and calls on the way, in order.
    pub(super) passed: Vec<Branch>,
    /// Where the calls among them return to.
    pub(super) calls: Vec<u64>,
    /// Instructions since the last of them, or since the beginning; the site's own included.
    pub(super) instructions: u32,
    /// What is executed on it, without whether its branch is taken.
    pub(super) counts: ClassCounts,
    pub(super) kind: SiteKind,
    /// The site's number in records.
    pub(super) number: u32,
    /// The site's branch; of a call of the system, none.
    pub(super) branch: Branch,
    /// Where it goes if it is taken, and if not.
    pub(super) ways: [u64; 2],
    /// The stretches there.
    pub(super) next: [u32; 2],
    /// Runs that begin here.
    pub(super) runs: u32,
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
    /// Of a whole program: code without records begins.
    fn point(branch: Branch) -> StretchEnd {
        StretchEnd { kind: SiteKind::Point, number: 0, branch, ways: [0; 2] }
    }

    /// Whether it ends with a branch: a place without records may, as other code is gone to.
    fn is_branch(&self) -> bool {
        match self.kind {
            SiteKind::SystemCall | SiteKind::Passage => false,
            SiteKind::Point => self.branch.class().is_indirect(),
            _ => true,
        }
    }

    fn behind(self, way: StretchWay) -> Stretch {
        let StretchWay { passed, calls, instructions, system_calls } = way;
        let mut counts = ClassCounts { system_calls: u64::from(system_calls), ..ClassCounts::with_taken() };
        passed.iter().for_each(|branch| counts.count(branch));
        let is_branch = self.is_branch();
        let StretchEnd { kind, number, branch, ways } = self;
        if is_branch {
            counts.count(&branch.again(0, false, 0));
        }
        counts.instructions += u64::from(instructions);
        let (next, runs) = ([NONE; 2], NONE);
        Stretch { passed, calls, instructions, counts, kind, number, branch, ways, next, runs }
    }
}

impl Stretch {
    /// The word of the site's record, if that says this.
    #[inline]
    pub(super) fn word(&self, outcome: u32) -> u32 {
        outcomes::word(self.number, outcome)
    }
}

impl Replay {
    /// The stretch that begins here.
    pub(super) fn stretch(&mut self, start: u64) -> Result<u32, String> {
        if let Some((stretch, _)) = self.recent.at(start).flatten() {
            return Ok(stretch);
        }
        let stretch = match self.known.get(&start) {
            Some(known) => *known,
            None => self.new_stretch(start)?,
        };
        self.recent.put(start, Some((stretch, start)));
        Ok(stretch)
    }

    fn new_stretch(&mut self, start: u64) -> Result<u32, String> {
        let stretch = self.decode(start)?;
        let index = self.stretches.len() as u32;
        self.stretches.push(stretch);
        self.passed.grow();
        self.known.insert(start, index);
        Ok(index)
    }

    fn decode(&mut self, start: u64) -> Result<Stretch, String> {
        let mut address = start & !PASSED_BY;
        let mut way = StretchWay::default();
        let mut by = start & PASSED_BY != 0;
        loop {
            let passage = self.passages.get(&address).copied().filter(|_| !by);
            by = false;
            if let Some(number) = passage {
                let ways = [address | PASSED_BY; 2];
                let at = StretchEnd { kind: SiteKind::Passage, number, branch: no_branch(), ways };
                return Ok(at.behind(way));
            }
            let (length, does) = match self.instruction(address) {
                Err(_) if self.whole => {
                    return Ok(StretchEnd::point(no_branch()).behind(way));
                }
                other => other?,
            };
            let behind = address + u64::from(length);
            way.instructions += 1;
            let site = self.sites.get(&address).copied();
            if let Some(site) = site {
                return Ok(self.site_end(site, address, length, does)?.behind(way));
            }
            match does {
                Flow::Branch { class, target: Some(target) } if !class.is_conditional() => {
                    let branch = self.branch(address, length, class, Some(target));
                    way.passed.push(branch.again(branch.target, true, way.instructions));
                    if class.kind() == BranchKind::Call {
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
                    return Ok(StretchEnd::point(branch).behind(way));
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

    /// A stretch that ends at a site: its branch must be there, and of the kind that the table says.
    fn site_end(
        &mut self,
        LoggedSite { kind, number }: LoggedSite,
        address: u64,
        length: u8,
        does: Flow,
    ) -> Result<StretchEnd, String> {
        let (class, target) = match does {
            Flow::Branch { class, target } => (class, target),
            Flow::SystemCall if kind == SiteKind::SystemCall => (BranchClass::JUMP, None),
            _ => return Err(format!("at {address:#x} there is no branch, against the table")),
        };
        if matches!(kind, SiteKind::Conditional | SiteKind::Named) != class.is_conditional() {
            return Err(format!("at {address:#x} there is another branch than the table says"));
        }
        let branch = match kind {
            SiteKind::SystemCall => no_branch(),
            _ => self.branch(address, length, class, target),
        };
        let behind = address + u64::from(length);
        Ok(StretchEnd { kind, number, branch, ways: [behind, target.unwrap_or(behind)] })
    }

    /// A branch of a place, and the place among all.
    fn branch(&mut self, address: u64, length: u8, class: BranchClass, target: Option<u64>) -> Branch {
        let pc = address + self.base;
        let target = target.map(|target| target + self.base);
        let next = self.branch_sites.len() as u32;
        let site = *self.site_of.entry(address).or_insert(next);
        if site == next {
            self.site(BranchSite { pc, length, class, target });
        }
        Branch::new(pc, target.unwrap_or(0), site, class, false, 0)
    }

    /// One more place.
    pub(super) fn site(&mut self, site: BranchSite) {
        let number = self.branch_sites.len() as u32;
        self.step_sites.push(Branch::new(site.pc, site.target.unwrap_or(0), number, site.class, false, 0));
        self.branch_sites.push(site);
    }

    /// Length of an instruction, and what it does.
    pub(super) fn instruction(&self, address: u64) -> Result<(u8, Flow), String> {
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
}

/// What stands for the branch of a stretch that ends without one.
fn no_branch() -> Branch {
    Branch::new(0, 0, 0, BranchClass::JUMP, false, 0)
}
