//! Indirect targets from the history that the direction predictor has.
//!
//! Tagged tables over some of its lengths, after ITTAGE (A. Seznec, "A 64-Kbytes ITTAGE indirect branch predictor", JWAC-2,
//! 2011): the longest match predicts; a target is replaced after two mistakes; a branch that was mispredicted gets an entry
//! in one longer table, where that was of no use. Below them the last target of each branch. Indirect branches are
//! few, so folds are taken from the history when one comes.

use super::super::tage::Tape;

/// The shape of an indirect predictor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetTables {
    /// Last targets, as the power of two.
    pub base_log2: u32,
    /// Sets of each tagged table, as the power of two.
    pub sets_log2: u32,
    /// Entries per set.
    pub ways: usize,
    /// History bits that each tagged table sees, the fewest first.
    pub lengths: Vec<usize>,
    /// Bits of the branch's address that enter indices and tags.
    pub place: u64,
}

const TAG_BITS: u32 = 12;
const SURE: u8 = 3;

#[derive(Clone, Copy, Default)]
struct BtbEntry {
    target: u64,
    /// With the bit above the tag set once it is taken.
    tag: u16,
    confidence: u8,
    useful: bool,
}

/// An indirect predictor over a history that is not its own.
pub struct PathTargets {
    tables: TargetTables,
    last: Vec<u64>,
    entries: Vec<BtbEntry>,
    /// Of the branch being predicted.
    sets: Vec<usize>,
    tags: Vec<u16>,
    base: usize,
    /// Table and entry of the longest match.
    longest: Option<(usize, usize)>,
}

impl PathTargets {
    /// Untrained.
    pub fn new(tables: TargetTables) -> PathTargets {
        let count = tables.lengths.len();
        PathTargets {
            last: vec![0; 1 << tables.base_log2],
            entries: vec![BtbEntry::default(); (count << tables.sets_log2) * tables.ways],
            sets: vec![0; count],
            tags: vec![0; count],
            base: 0,
            longest: None,
            tables,
        }
    }

    /// The target of the indirect jump or call at `pc`, 0 for one never seen, given the history.
    pub fn predict(&mut self, pc: u64, history: &Tape) -> u64 {
        let tables = &self.tables;
        let hash = (pc & tables.place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.base = ((pc ^ pc >> 2) & ((1 << tables.base_log2) - 1)) as usize;
        self.longest = None;
        let (low, high) = ((hash >> 48) as u32, (hash >> 32) as u32);
        for (table, &length) in tables.lengths.iter().enumerate() {
            let index = history.fold(length, tables.sets_log2) ^ low;
            let set = table << tables.sets_log2 | (index & ((1 << tables.sets_log2) - 1)) as usize;
            let tag = history.fold(length, TAG_BITS) ^ history.fold(length, TAG_BITS - 1) << 1 ^ high;
            self.sets[table] = set * tables.ways;
            self.tags[table] = (tag & ((1 << TAG_BITS) - 1) | 1 << TAG_BITS) as u16;
            let entries = &self.entries[set * tables.ways..][..tables.ways];
            if let Some(way) = entries.iter().position(|entry| entry.tag == self.tags[table]) {
                self.longest = Some((table, set * tables.ways + way));
            }
        }
        self.longest.map_or(self.last[self.base], |(_, entry)| self.entries[entry].target)
    }

    /// Learns where the branch went that was just predicted to go to `predicted`.
    pub fn train(&mut self, target: u64, predicted: u64) {
        let last = std::mem::replace(&mut self.last[self.base], target);
        if let Some((_, entry)) = self.longest {
            let entry = &mut self.entries[entry];
            if entry.target == target {
                entry.confidence = (entry.confidence + 1).min(SURE);
                entry.useful |= last != target;
            } else if entry.confidence > 0 {
                entry.confidence -= 1;
            } else {
                (entry.target, entry.useful) = (target, false);
            }
        }
        if predicted != target {
            let first = self.longest.map_or(0, |(table, _)| table + 1);
            self.allocate(first, target);
        }
    }

    /// Puts the branch into the first table from `first` on that has room; where none has, all are asked to make some.
    fn allocate(&mut self, first: usize, target: u64) {
        for table in first..self.sets.len() {
            let set = &mut self.entries[self.sets[table]..][..self.tables.ways];
            if let Some(entry) = set.iter_mut().find(|entry| !entry.useful) {
                *entry = BtbEntry { target, tag: self.tags[table], confidence: 0, useful: false };
                return;
            }
        }
        for table in first..self.sets.len() {
            self.entries[self.sets[table]..][..self.tables.ways]
                .iter_mut()
                .for_each(|entry| entry.useful = false);
        }
    }

    /// What the tables would take in hardware, bits; targets of 64.
    pub fn storage_bits(&self) -> u64 {
        64 * self.last.len() as u64 + (64 + u64::from(TAG_BITS) + 1 + 2 + 1) * self.entries.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(lengths: &[usize]) -> PathTargets {
        PathTargets::new(TargetTables {
            base_log2: 4,
            sets_log2: 4,
            ways: 2,
            lengths: lengths.to_vec(),
            place: !0,
        })
    }

    fn step(targets: &mut PathTargets, history: &Tape, target: u64) -> bool {
        let predicted = targets.predict(0x40, history);
        targets.train(target, predicted);
        predicted == target
    }

    #[test]
    fn without_a_match_it_goes_where_the_branch_last_went() {
        let (mut targets, history) = (small(&[]), Tape::new());
        let right: Vec<bool> = [5, 5, 6, 6].map(|target| step(&mut targets, &history, target)).to_vec();
        assert_eq!(right, [false, true, false, true]);
    }

    #[test]
    fn two_pasts_lead_to_two_targets() {
        let (mut targets, mut history) = (small(&[8, 24]), Tape::new());
        let mut wrong = 0;
        for i in 0..200_u64 {
            let past = i * 7 % 3;
            history.push(past, 2);
            history.push(3, 2);
            wrong += u32::from(!step(&mut targets, &history, 0x1000 + past) && i > 50);
        }
        assert_eq!(wrong, 0);
    }

    #[test]
    fn a_target_is_replaced_after_as_many_mistakes_as_it_was_sure() {
        let (mut targets, history) = (small(&[8]), Tape::new());
        // First mistake allocates; then right three times, which makes the entry sure.
        for _ in 0..5 {
            step(&mut targets, &history, 5);
        }
        let mut mistakes = 0;
        while !step(&mut targets, &history, 6) {
            mistakes += 1;
        }
        assert_eq!(mistakes, u32::from(SURE) + 1);
    }

    #[test]
    fn a_useful_entry_is_kept_until_room_was_asked_for_twice() {
        let mut targets = PathTargets::new(TargetTables {
            base_log2: 0,
            sets_log2: 4,
            ways: 1,
            lengths: vec![8],
            place: 0,
        });
        let (mut here, mut there) = (Tape::new(), Tape::new());
        // Pasts of the same set and another tag: the folds to 4 bits cancel.
        here.push(0, 8);
        there.push(0b0001_0001, 8);
        step(&mut targets, &here, 1);
        step(&mut targets, &there, 2);
        targets.entries.iter_mut().for_each(|entry| *entry = BtbEntry::default());
        step(&mut targets, &here, 1);
        // Right where the last target was wrong: useful.
        targets.last[0] = 9;
        assert!(step(&mut targets, &here, 1));
        assert!(!step(&mut targets, &there, 2), "no room");
        assert_eq!(targets.predict(0, &here), 1, "kept");
        assert!(!step(&mut targets, &there, 3), "room was made");
        assert!(step(&mut targets, &there, 3));
        targets.last[0] = 9;
        assert_eq!(targets.predict(0, &here), 9, "replaced");
    }
}
