//! The conditional branches of a stretch as blocks, made once for all members that judge them.

use super::block::{BLOCK, Block, BlockPredictor, MISSED, key, outcome};
use super::run_table::{IS_RUN, RUN, RunTable};
use super::widest::{Pass, widest};
use crate::trace::Branch;

/// Blocks that are made at once: 11 KB, which stay in the first-level cache from one member to the next.
const BLOCKS: usize = 32;

/// Branches of so many blocks.
pub(super) const BATCH: usize = BLOCKS * BLOCK;

/// Conditional branches in a row.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalStretch<'a> {
    blocks: &'a [Block],
    origins: &'a [BlockOrigin],
    source: BlockSource<'a>,
}

/// What blocks are made of.
#[derive(Clone, Copy, Debug)]
enum BlockSource<'a> {
    /// Branches, and the places of conditional ones among them.
    Placed(&'a [Branch], &'a [u16]),
    /// As in [`super::Steps`].
    Steps(&'a [u32], &'a RunTable),
}

/// Where in that the branches of a block come from.
#[derive(Clone, Copy, Debug)]
enum BlockOrigin {
    /// Places or events from this one on, one each.
    Single(usize),
    /// So many events and runs, from the first one's place on.
    Mixed { first: usize, number: usize },
}

/// Room for the blocks of a stretch.
#[derive(Debug)]
pub(super) struct ConditionalBlocks {
    blocks: Box<[Block]>,
    origins: Box<[BlockOrigin]>,
    /// The [`key`] of each branch of single ones: all are written before any is read, as what was just written one by one is not
    /// there yet to be read as vectors.
    keys: Box<[[u32; BLOCK]]>,
    number: usize,
}

impl Default for ConditionalBlocks {
    fn default() -> ConditionalBlocks {
        ConditionalBlocks {
            blocks: vec![Block::EMPTY; BLOCKS].into(),
            origins: vec![BlockOrigin::Single(0); BLOCKS].into(),
            keys: vec![[0; BLOCK]; BLOCKS].into(),
            number: 0,
        }
    }
}

impl ConditionalBlocks {
    /// Of at most [`BATCH`] branches, those at these places.
    pub(super) fn of_placed<'a>(
        &'a mut self,
        branches: &'a [Branch],
        places: &'a [u16],
    ) -> ConditionalStretch<'a> {
        widest(PlacedPass { room: self, branches, places });
        self.stretch(BlockSource::Placed(branches, places))
    }

    /// Of as many as there is room for, as [`super::Steps`] have them, where each event has a [`key`]. Returns the others, too.
    pub(super) fn of_steps<'a, 'b: 'a>(
        &'a mut self,
        conditionals: &'b [u32],
        runs: &'a RunTable,
        keys: &[u32],
    ) -> (ConditionalStretch<'a>, &'b [u32]) {
        let mut done = 0;
        widest(StepsPass { room: self, conditionals, done: &mut done, runs, keys });
        let (those, others) = conditionals.split_at(done);
        (self.stretch(BlockSource::Steps(those, runs)), others)
    }

    fn stretch<'a>(&'a self, source: BlockSource<'a>) -> ConditionalStretch<'a> {
        let ConditionalBlocks { blocks, origins, number, .. } = self;
        ConditionalStretch { blocks: &blocks[..*number], origins: &origins[..*number], source }
    }
}

/// Blocks of branches that lie among others.
struct PlacedPass<'a> {
    room: &'a mut ConditionalBlocks,
    branches: &'a [Branch],
    places: &'a [u16],
}

impl Pass for PlacedPass<'_> {
    #[inline(always)]
    fn run(self) {
        let PlacedPass { room: ConditionalBlocks { blocks, origins, keys, number }, branches, places } = self;
        *number = places.len().div_ceil(BLOCK);
        write_keys(&mut keys.as_flattened_mut()[..places.len()], places, |place| {
            let branch = &branches[usize::from(place)];
            key(branch.pc, branch.taken())
        });
        for (nth, (block, keys)) in blocks.iter_mut().zip(keys).take(*number).enumerate() {
            block.fill(keys, (places.len() - BLOCK * nth).min(BLOCK));
            origins[nth] = BlockOrigin::Single(BLOCK * nth);
        }
    }
}

/// Blocks of events and runs.
struct StepsPass<'a> {
    room: &'a mut ConditionalBlocks,
    conditionals: &'a [u32],
    done: &'a mut usize,
    runs: &'a RunTable,
    keys: &'a [u32],
}

impl Pass for StepsPass<'_> {
    #[inline(always)]
    fn run(self) {
        let StepsPass { room, conditionals, done, runs, keys: known } = self;
        let ConditionalBlocks { blocks, origins, keys, number } = room;
        *number = 0;
        while *number < BLOCKS
            && let Some(&first) = conditionals.get(*done)
        {
            let (left, block) = (&conditionals[*done..], &mut blocks[*number]);
            let events = &left[..left.len().min(BLOCK)];
            if first & IS_RUN == 0 && events.iter().fold(0, |all, one| all | one) & IS_RUN == 0 {
                write_keys(&mut keys[*number][..events.len()], events, |event| known[event as usize]);
                block.number = events.len();
                origins[*number] = BlockOrigin::Single(*done);
                *done += events.len();
            } else {
                let those = match left.first_chunk() {
                    Some(eight) if all_full(block, eight, runs) => eight.len(),
                    _ => mixed(block, left, runs, known),
                };
                origins[*number] = BlockOrigin::Mixed { first: *done, number: those };
                *done += those;
            }
            *number += 1;
        }
        for ((block, origin), keys) in blocks.iter_mut().zip(origins).zip(keys).take(*number) {
            if matches!(origin, BlockOrigin::Single(_)) {
                block.fill(keys, block.number);
            }
        }
    }
}

/// Writes the key of each of as many. Eight at once: one by one they took 0.2 ns more each. Not compiled for each width:
/// within the pass it was 0.2 ns slower.
#[inline(never)]
fn write_keys<T: Copy>(keys: &mut [u32], of: &[T], key: impl Fn(T) -> u32) {
    let (eights, rest) = keys.as_chunks_mut::<8>();
    let (of_eights, of_rest) = of.as_chunks::<8>();
    for (keys, of) in eights.iter_mut().zip(of_eights) {
        *keys = of.map(&key);
    }
    for (place, of) in rest.iter_mut().zip(of_rest) {
        *place = key(*of);
    }
}

/// Fills a block with runs, if these are as many as it has room for, which they mostly are.
#[inline(always)]
fn all_full(block: &mut Block, of: &[u32; BLOCK / RUN], runs: &RunTable) -> bool {
    if of.iter().fold(u32::MAX, |all, one| all & one) & IS_RUN == 0 {
        return false;
    }
    let runs = of.map(|of| runs.run(of));
    if runs.iter().fold(u8::MAX, |all, run| all & run.number) != RUN as u8 {
        return false;
    }
    let (addresses, outcomes) = (block.addresses.as_chunks_mut().0, block.outcomes.as_chunks_mut().0);
    let mut taken = 0;
    for (nth, run) in runs.into_iter().enumerate() {
        (addresses[nth], outcomes[nth]) = (run.addresses, run.outcomes);
        taken = taken << RUN | u64::from(run.taken);
    }
    (block.taken, block.number) = (taken, BLOCK);
    true
}

/// Fills a block with events and whole runs. Returns how many.
#[inline(always)]
fn mixed(block: &mut Block, from: &[u32], runs: &RunTable, keys: &[u32]) -> usize {
    let (mut taken, mut number, mut done) = (0_u64, 0_usize, 0);
    while number < BLOCK
        && let Some(&of) = from.get(done)
    {
        if of & IS_RUN == 0 {
            let key = keys[of as usize];
            (block.addresses[number], block.outcomes[number]) = (key >> 1, outcome(key));
            taken |= u64::from(key & 1) << (BLOCK - 1 - number);
            number += 1;
        } else {
            let run = runs.run(of);
            let behind = number + usize::from(run.number);
            if behind > BLOCK {
                break;
            }
            // Eight are copied where there is room, whether it has as many or not.
            if let Some(addresses) = block.addresses[number..].first_chunk_mut::<RUN>()
                && let Some(outcomes) = block.outcomes[number..].first_chunk_mut::<RUN>()
            {
                (*addresses, *outcomes) = (run.addresses, run.outcomes);
            } else {
                let kept = behind - number;
                block.addresses[number..behind].copy_from_slice(&run.addresses[..kept]);
                block.outcomes[number..behind].copy_from_slice(&run.outcomes[..kept]);
            }
            taken |= u64::from(run.taken) << (BLOCK - RUN) >> number;
            number = behind;
        }
        done += 1;
    }
    (block.taken, block.number) = (taken, number);
    done
}

/// Elements of [`super::Steps`] that may be judged until what was missed of their runs is settled.
pub(super) const COUNTED: usize = u16::MAX as usize;

/// What a member got wrong of each branch of each run, which is not in the counts of sites yet: eight are added at once.
#[derive(Debug, Default)]
pub(super) struct RunCounts {
    counts: Vec<[u16; RUN]>,
    /// Some may not be 0.
    any: bool,
}

impl RunCounts {
    /// There is room for so many runs.
    pub(super) fn make_room(&mut self, runs: usize) {
        self.counts.resize(runs, [0; RUN]);
    }

    /// With these counts of sites.
    pub(super) fn counts<'a>(&'a mut self, sites: &'a mut [u64]) -> MissedCounts<'a> {
        MissedCounts { sites, runs: self }
    }
}

/// Where a member counts its mispredictions.
#[derive(Debug)]
pub struct MissedCounts<'a> {
    pub(super) sites: &'a mut [u64],
    pub(super) runs: &'a mut RunCounts,
}

impl ConditionalStretch<'_> {
    /// Has a predictor judge them all, and counts its mispredictions.
    pub(super) fn judge<P: BlockPredictor>(self, predictor: &mut P, missed: &mut MissedCounts<'_>) {
        widest(JudgePass { predictor, conditionals: self, missed });
    }
}

/// A predictor over a stretch.
struct JudgePass<'a, 'b, P> {
    predictor: &'a mut P,
    conditionals: ConditionalStretch<'a>,
    missed: &'a mut MissedCounts<'b>,
}

impl<P: BlockPredictor> Pass for JudgePass<'_, '_, P> {
    #[inline(always)]
    fn run(self) {
        let ConditionalStretch { blocks, origins, source } = self.conditionals;
        let mut bytes = [0; BATCH + RUN];
        // All of them, and then all that is counted: bytes that were just written one by one are not there yet as vectors.
        for (block, missed) in blocks.iter().zip(bytes.as_chunks_mut().0) {
            self.predictor.judge(block, missed);
        }
        for (nth, (block, origin)) in blocks.iter().zip(origins).enumerate() {
            let Some(of_block) = bytes[BLOCK * nth..].first_chunk::<{ BLOCK + RUN }>() else { break };
            let missed = of_block.first_chunk().expect("it has more");
            if missed.iter().fold(0, |all, one| all | one) & MISSED == 0 {
                continue;
            }
            match (*origin, source) {
                (BlockOrigin::Single(first), BlockSource::Placed(branches, places)) => {
                    let site = |nth: usize| branches[usize::from(places[first + nth])].site;
                    count_bits(block.missed(missed), site, self.missed.sites);
                }
                (BlockOrigin::Single(first), BlockSource::Steps(conditionals, _)) => {
                    let site = |nth: usize| conditionals[first + nth] >> 1;
                    count_bits(block.missed(missed), site, self.missed.sites);
                }
                (BlockOrigin::Mixed { first, number }, BlockSource::Steps(conditionals, runs)) => {
                    self.missed.runs.any = true;
                    count_runs(of_block, &conditionals[first..first + number], runs, self.missed);
                }
                (BlockOrigin::Mixed { .. }, BlockSource::Placed(..)) => {}
            }
        }
    }
}

/// Counts the branches whose bits are set, the first one's highest.
#[inline(always)]
fn count_bits(mut wrong: u64, site: impl Fn(usize) -> u32, sites: &mut [u64]) {
    while wrong != 0 {
        let nth = wrong.leading_zeros() as usize;
        sites[site(nth) as usize] += 1;
        wrong &= !(1 << (BLOCK - 1) >> nth);
    }
}

/// Counts what was mispredicted of these events and runs, which the bytes are of.
#[inline(always)]
fn count_runs(bytes: &[u8; BLOCK + RUN], of: &[u32], runs: &RunTable, missed: &mut MissedCounts<'_>) {
    let mut at = 0;
    for of in of {
        let Some(eight) = bytes[at..].first_chunk::<RUN>() else { return };
        if of & IS_RUN == 0 {
            missed.sites[(of >> 1) as usize] += u64::from(eight[0] >> 7);
            at += 1;
        } else {
            let run = runs.run(*of);
            let counts = &mut missed.runs.counts[(of & !IS_RUN) as usize];
            *counts = std::array::from_fn(|nth| counts[nth] + u16::from((eight[nth] & run.own[nth]) >> 7));
            at += usize::from(run.number);
        }
    }
}

/// Moves what a member got wrong of these runs to the counts of sites.
pub(super) fn settle(conditionals: &[u32], runs: &RunTable, missed: &mut MissedCounts<'_>) {
    if std::mem::take(&mut missed.runs.any) {
        widest(SettlePass { conditionals, runs, missed });
    }
}

struct SettlePass<'a, 'b> {
    conditionals: &'a [u32],
    runs: &'a RunTable,
    missed: &'a mut MissedCounts<'b>,
}

impl Pass for SettlePass<'_, '_> {
    #[inline(always)]
    fn run(self) {
        for of in self.conditionals {
            if of & IS_RUN != 0 {
                let counts = &mut self.missed.runs.counts[(of & !IS_RUN) as usize];
                if *counts != [0; RUN] {
                    for (event, count) in self.runs.events(of).iter().zip(std::mem::take(counts)) {
                        self.missed.sites[(event >> 1) as usize] += u64::from(count);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{KeptSteps, Steps};
    use crate::trace::BranchClass;

    /// Errs at the branches that are not taken.
    struct Optimist;

    impl BlockPredictor for Optimist {
        fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
            block.for_each(missed, |_, outcome| (outcome << 4 ^ MISSED) | 0x15);
        }

        fn storage_bits(&self) -> u64 {
            0
        }
    }

    /// Of five sites.
    fn branches(number: usize) -> Vec<Branch> {
        let branch = |nth: usize| {
            let taken = nth * nth % 7 < 3 || nth % 11 == 4;
            Branch::new(nth as u64 % 5 * 16, 0, nth as u32 % 5, BranchClass::CONDITIONAL, taken, 1)
        };
        (0..number).map(branch).collect()
    }

    /// Of each branch what is judged: its address, its outcome as a number and as a bit.
    type Judged = Vec<(u32, u8, bool)>;

    fn expected(branches: &[Branch]) -> Judged {
        branches.iter().map(|of| (of.pc as u32, u8::from(of.taken()) * 8, of.taken())).collect()
    }

    /// Those that are not taken, by site.
    fn expected_wrong(branches: &[Branch]) -> [u64; 5] {
        [0, 1, 2, 3, 4].map(|site| branches.iter().filter(|of| of.site == site && !of.taken()).count() as u64)
    }

    fn judged(stretch: ConditionalStretch<'_>) -> Judged {
        let of_block = |block: &Block| {
            assert_eq!(
                block.taken.checked_shl(block.number as u32).unwrap_or(0),
                0,
                "bits behind the last one"
            );
            let of = |nth: usize| {
                (block.addresses[nth], block.outcomes[nth], block.taken >> (BLOCK - 1 - nth) & 1 != 0)
            };
            (0..block.number).map(of).collect::<Vec<_>>()
        };
        stretch.blocks.iter().flat_map(of_block).collect()
    }

    /// By event.
    fn keys() -> Vec<u32> {
        (0..5_u64).flat_map(|site| [false, true].map(|taken| key(site * 16, taken))).collect()
    }

    #[test]
    fn branches_among_others_become_blocks_and_mispredictions_are_counted_at_their_sites() {
        for number in [0, 1, 63, 64, 65, 128, 200, BATCH] {
            let branches = branches(number);
            let places: Vec<u16> = (0..number as u16).filter(|place| place % 3 != 1).collect();
            let placed: Vec<Branch> = places.iter().map(|place| branches[usize::from(*place)]).collect();
            let mut blocks = ConditionalBlocks::default();
            let stretch = blocks.of_placed(&branches, &places);
            assert_eq!(judged(stretch), expected(&placed), "{number}");
            let mut wrong = [0; 5];
            let mut missed = MissedCounts { sites: &mut wrong, runs: &mut RunCounts::default() };
            stretch.judge(&mut Optimist, &mut missed);
            assert_eq!(wrong, expected_wrong(&placed), "{number}");
        }
    }

    #[test]
    fn events_and_runs_of_any_length_become_blocks_in_their_order_and_are_counted_at_their_sites() {
        // Of 1 to 8 branches and events, whole runs alone, events alone, and events between runs.
        let lengths: [fn(usize) -> usize; 5] =
            [|nth| nth % 9, |_| 8, |nth| nth * nth % 5 + 4, |_| 0, |nth| if nth < 70 { 0 } else { 8 }];
        for (kind, length) in lengths.into_iter().enumerate() {
            for number in [0, 1, 63, 64, 65, 200, BATCH, BATCH + 1, 3 * BATCH] {
                let branches = branches(number);
                let kept = KeptSteps::of(&branches, &branches).in_runs(length);
                let Steps { conditionals, runs, .. } = kept.steps();
                assert!(
                    kept.steps()
                        .conditional_events()
                        .eq(branches.iter().map(|of| of.site << 1 | u32::from(of.taken())))
                );
                let (mut blocks, mut left, mut met) =
                    (ConditionalBlocks::default(), conditionals, Vec::new());
                let (mut sites, mut of_runs) = ([0; 5], RunCounts::default());
                of_runs.make_room(runs.len());
                let mut missed = MissedCounts { sites: &mut sites, runs: &mut of_runs };
                while !left.is_empty() {
                    let (stretch, others) = blocks.of_steps(left, runs, &keys());
                    met.extend(judged(stretch));
                    stretch.judge(&mut Optimist, &mut missed);
                    left = others;
                }
                settle(conditionals, runs, &mut missed);
                assert_eq!(met, expected(&branches), "{number}, {kind}");
                assert_eq!(sites, expected_wrong(&branches), "{number}, {kind}");
                assert!(of_runs.counts.iter().flatten().all(|count| *count == 0), "{number}, {kind}");
            }
        }
    }
}
