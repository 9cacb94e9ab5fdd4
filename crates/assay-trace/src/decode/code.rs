//! The blocks of a process, ready for decoding, and the sites of its branches.

use assay_pure::trace::channel::BlockRecord;
use assay_pure::trace::classify::{self, Flow, InstructionSet};
use assay_pure::trace::{Branch, BranchClass, BranchSite};
use std::collections::{HashMap, HashSet};

/// What a block ends in, as an index of counters; where it goes is in [`BlockInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BlockEnding {
    Next = 0,
    Conditional = 1,
    Jump = 2,
    Call = 3,
    IndirectJump = 4,
    IndirectCall = 5,
    Return = 6,
    SystemCall = 7,
    Repeat = 8,
}

/// Number of endings, rounded up so that an index can be masked.
pub(crate) const ENDINGS: usize = 16;

/// A block, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct BlockInfo {
    /// The branch as it would be with the target of its instruction, not taken; without a branch the target is the
    /// address behind the block.
    pub(super) branch: Branch,
    pub(super) pc: u64,
    /// The other place where control may go; the same as the target where there is one place.
    pub(super) other: u64,
    pub(super) instructions: u32,
    pub(super) ending: BlockEnding,
    /// Control may go anywhere.
    pub(super) anywhere: bool,
    /// There is a branch to hand on.
    pub(super) emits: bool,
    /// All ones where instructions are carried on to the next branch, else 0.
    pub(super) carries: u32,
    /// Not to be entered without a closer look: a signal handler, or an instruction executed singly.
    pub(super) special: bool,
}

impl BlockInfo {
    /// Stands for the block before the first one.
    pub(super) const START: BlockInfo = BlockInfo {
        branch: Branch::new(0, 0, 0, BranchClass::JUMP, false, 0),
        pc: 0,
        other: 0,
        instructions: 0,
        ending: BlockEnding::Next,
        anywhere: true,
        emits: false,
        carries: u32::MAX,
        special: false,
    };
}

/// What is needed of a block to follow the usual steps, in half a cache line. Places are numbers instead of addresses, so
/// that two comparisons say all.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct BlockStep {
    /// Address of the first instruction, for what jumped there.
    pub(super) pc: u64,
    /// Number of that address; [`BlockStep::NOWHERE`] for a block not to be entered without a closer look.
    pub(super) here: u32,
    /// Number of the target of its branch, or of the address behind it.
    pub(super) target: u32,
    /// Number of the other place where control may go; the same where there is one.
    pub(super) other: u32,
    /// How far the number of the next place may be from `other` in its bits: 0, or nearly all where control may go
    /// anywhere.
    pub(super) slack: u32,
    /// The event of its branch, not taken.
    pub(super) event: u32,
    /// 1 each: there is a branch; it is conditional; it is indirect.
    pub(super) emits: u8,
    pub(super) conditional: u8,
    pub(super) indirect: u8,
}

impl BlockStep {
    /// No number of an address that control goes to.
    pub(super) const NOWHERE: u32 = 0;
    /// The other place and the slack of a block from which control may go anywhere but to [`BlockStep::NOWHERE`].
    const ANYWHERE: (u32, u32) = (u32::MAX, u32::MAX - 1);
}

/// All blocks of a process that were seen so far.
pub(crate) struct SeenBlocks {
    architecture: InstructionSet,
    infos: Vec<BlockInfo>,
    steps: Vec<BlockStep>,
    /// Numbers of addresses, from 1.
    places: HashMap<u64, u32>,
    /// The branch of each site, not taken; of an indirect one the target is 0.
    branches: Vec<Branch>,
    records: Vec<BlockRecord>,
    /// Lengths of instructions of each record, where they differ.
    lengths: Vec<u8>,
    sites: Vec<BranchSite>,
    numbers: HashMap<(u64, BranchClass, Option<u64>), u32>,
    handlers: HashSet<u64>,
    /// Blocks of more than one instruction, by address.
    longer: HashSet<u64>,
}

impl SeenBlocks {
    pub(crate) fn new(architecture: InstructionSet) -> SeenBlocks {
        SeenBlocks {
            architecture,
            infos: Vec::new(),
            steps: Vec::new(),
            places: HashMap::new(),
            branches: Vec::new(),
            records: Vec::new(),
            lengths: Vec::new(),
            sites: Vec::new(),
            numbers: HashMap::new(),
            handlers: HashSet::new(),
            longer: HashSet::new(),
        }
    }

    pub(crate) fn infos(&self) -> &[BlockInfo] {
        &self.infos
    }

    pub(super) fn steps(&self) -> &[BlockStep] {
        &self.steps
    }

    pub(super) fn branches(&self) -> &[Branch] {
        &self.branches
    }

    pub(crate) fn records(&self) -> &[BlockRecord] {
        &self.records
    }

    pub(crate) fn sites(&self) -> &[BranchSite] {
        &self.sites
    }

    /// The architecture's name for instructions.
    pub(crate) fn architecture(&self) -> InstructionSet {
        self.architecture
    }

    /// The sites, when nobody asks for them any more.
    pub(crate) fn take_sites(&mut self) -> Vec<BranchSite> {
        std::mem::take(&mut self.sites)
    }

    /// Adds the next block. `lengths` are those of its instructions, empty where all are 4 bytes.
    pub(crate) fn add(&mut self, mut record: BlockRecord, lengths: &[u8]) {
        record.lengths = self.lengths.len() as u32;
        self.lengths.extend_from_slice(lengths);
        let flow = classify::flow(self.architecture, record.last, record.last_bytes());
        let mut info = self.info(&record, flow);
        if record.instructions > 1 {
            self.longer.insert(record.pc);
        }
        info.special = self.handlers.contains(&record.pc) || self.executed_singly(&record, &info);
        let step = self.step(&info);
        self.steps.push(step);
        self.infos.push(info);
        self.records.push(record);
    }

    fn step(&mut self, info: &BlockInfo) -> BlockStep {
        let (target, other) = (self.place(info.branch.target), self.place(info.other));
        let (other, slack) = if info.anywhere { BlockStep::ANYWHERE } else { (other, 0) };
        BlockStep {
            pc: info.pc,
            here: if info.special { BlockStep::NOWHERE } else { self.place(info.pc) },
            // What can go anywhere is always taken, so its target is never compared.
            target: if info.anywhere { u32::MAX } else { target },
            other,
            slack,
            event: info.branch.site << 1 | u32::from(info.anywhere),
            emits: u8::from(info.emits),
            conditional: u8::from(info.ending == BlockEnding::Conditional),
            indirect: u8::from(info.emits && info.anywhere),
        }
    }

    fn place(&mut self, address: u64) -> u32 {
        let next = self.places.len() as u32 + 1;
        *self.places.entry(address).or_insert(next)
    }

    /// QEMU executes an instruction alone when it must stop all other threads for it. The rest of the block that it is
    /// from follows as a block of its own.
    fn executed_singly(&self, record: &BlockRecord, info: &BlockInfo) -> bool {
        record.instructions == 1 && info.ending == BlockEnding::Next && self.longer.contains(&record.pc)
    }

    fn info(&mut self, record: &BlockRecord, flow: Flow) -> BlockInfo {
        let behind = record.pc.wrapping_add(u64::from(record.bytes));
        let (ending, class, target, other) = match flow {
            Flow::Branch { class, target } => {
                let ending = ending_of(class);
                let other = if class.is_conditional() { behind } else { target.unwrap_or(0) };
                (ending, Some(class), target.unwrap_or(0), other)
            }
            Flow::SystemCall => (BlockEnding::SystemCall, None, behind, behind),
            Flow::Repeat => (BlockEnding::Repeat, None, behind, behind),
            Flow::Next | Flow::Unknown => (BlockEnding::Next, None, behind, behind),
        };
        let site = class.map_or(0, |class| {
            let target = if let Flow::Branch { target, .. } = flow { target } else { None };
            self.site(BranchSite { pc: record.last, length: record.tail_length, class, target })
        });
        let class_or_jump = class.unwrap_or(BranchClass::JUMP);
        BlockInfo {
            branch: Branch::new(record.last, target, site, class_or_jump, false, 0),
            pc: record.pc,
            other,
            instructions: record.instructions,
            ending,
            anywhere: class.is_some_and(|class| class.is_indirect()),
            emits: class.is_some(),
            carries: if class.is_some() { 0 } else { u32::MAX },
            special: false,
        }
    }

    fn site(&mut self, site: BranchSite) -> u32 {
        let next = self.sites.len() as u32;
        let number = *self.numbers.entry((site.pc, site.class, site.target)).or_insert(next);
        if number == next {
            self.branches.push(Branch::new(site.pc, site.target.unwrap_or(0), number, site.class, false, 0));
            self.sites.push(site);
        }
        number
    }

    /// From here on these addresses are beginnings of signal handlers too.
    pub(crate) fn add_handlers(&mut self, handlers: &[u64]) {
        let before = self.handlers.len();
        self.handlers.extend(handlers);
        if self.handlers.len() > before {
            for (info, step) in self.infos.iter_mut().zip(&mut self.steps) {
                info.special |= self.handlers.contains(&info.pc);
                if info.special {
                    step.here = BlockStep::NOWHERE;
                }
            }
        }
    }

    /// Handlers known so far.
    pub(crate) fn handlers(&self) -> usize {
        self.handlers.len()
    }

    pub(super) fn is_handler(&self, pc: u64) -> bool {
        self.handlers.contains(&pc)
    }

    /// Bytes of the first `instructions` of block `id`; all of it where their lengths are not known.
    pub(crate) fn bytes_of(&self, id: u32, instructions: u32) -> u32 {
        let Some(record) = self.records.get(id as usize) else { return 0 };
        let (from, count) = (record.lengths as usize, instructions as usize);
        match self.lengths.get(from..from + count) {
            _ if self.architecture == InstructionSet::Aarch64 => 4 * instructions,
            Some(lengths) => lengths.iter().map(|length| u32::from(*length)).sum(),
            None => record.bytes,
        }
    }

    /// How many instructions of block `id` lie before address `pc`; `None` when `pc` is not the beginning of one of them.
    pub(super) fn instructions_before(&self, id: u32, pc: u64) -> Option<u32> {
        let record = self.records.get(id as usize)?;
        let distance = pc.checked_sub(record.pc)?;
        if distance >= u64::from(record.bytes) {
            return None;
        }
        let end = self.records.get(id as usize + 1).map_or(self.lengths.len(), |next| next.lengths as usize);
        let lengths = self.lengths.get(record.lengths as usize..end)?;
        if lengths.is_empty() {
            return distance.is_multiple_of(4).then_some((distance / 4) as u32);
        }
        let mut at = 0;
        for (before, length) in lengths.iter().enumerate() {
            if at == distance {
                return Some(before as u32);
            }
            at += u64::from(*length);
        }
        None
    }
}

fn ending_of(class: BranchClass) -> BlockEnding {
    match class {
        BranchClass::CALL => BlockEnding::Call,
        BranchClass::INDIRECT_JUMP => BlockEnding::IndirectJump,
        BranchClass::INDIRECT_CALL => BlockEnding::IndirectCall,
        BranchClass::RETURN => BlockEnding::Return,
        BranchClass::JUMP => BlockEnding::Jump,
        _ => BlockEnding::Conditional,
    }
}
