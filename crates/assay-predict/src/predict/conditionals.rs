//! The conditional branches of a stretch as blocks, made once for all members that judge them.

use super::block::{BLOCK, Block, BlockPredictor, key};
use super::run_table::{IS_RUN, RUN, RunTable};
use super::widest::{Pass, widest};
use crate::trace::Branch;

/// Blocks that are made at once: with the sites 20 KB, which stay in the first-level cache from one member to the next.
const BLOCKS: usize = 32;

/// Branches of so many blocks.
pub(super) const BATCH: usize = BLOCKS * BLOCK;

/// Conditional branches in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionalStretch<'a> {
    blocks: &'a [Block],
    /// The events of each one's branches.
    events: &'a [[u32; BLOCK]],
}

/// Room for the blocks of a stretch.
#[derive(Debug)]
pub(super) struct ConditionalBlocks {
    blocks: Box<[Block]>,
    events: Box<[[u32; BLOCK]]>,
    number: usize,
}

impl Default for ConditionalBlocks {
    fn default() -> ConditionalBlocks {
        let (blocks, events) = (vec![Block::EMPTY; BLOCKS].into(), vec![[0; BLOCK]; BLOCKS].into());
        ConditionalBlocks { blocks, events, number: 0 }
    }
}

impl ConditionalBlocks {
    /// Of at most [`BATCH`] branches, those at these places.
    pub(super) fn take_placed(&mut self, branches: &[Branch], places: &[u16]) {
        widest(PlacedPass { blocks: self, branches, places });
    }

    /// Of as many as there is room for, as [`super::Steps`] have them, where each event has a [`key`]. Returns the others.
    pub(super) fn take_steps<'a>(
        &mut self,
        conditionals: &'a [u32],
        runs: &RunTable,
        keys: &[u32],
    ) -> &'a [u32] {
        let mut left = conditionals;
        widest(StepsPass { blocks: self, left: &mut left, runs, keys });
        left
    }

    pub(super) fn stretch(&self) -> ConditionalStretch<'_> {
        ConditionalStretch { blocks: &self.blocks[..self.number], events: &self.events[..self.number] }
    }
}

/// Blocks of branches that lie among others.
struct PlacedPass<'a> {
    blocks: &'a mut ConditionalBlocks,
    branches: &'a [Branch],
    places: &'a [u16],
}

impl Pass for PlacedPass<'_> {
    #[inline(always)]
    fn run(self) {
        let PlacedPass { blocks: ConditionalBlocks { blocks, events, number }, branches, places } = self;
        let mut keys = [0; BLOCK];
        *number = 0;
        for (places, (block, events)) in places.chunks(BLOCK).zip(blocks.iter_mut().zip(events.iter_mut())) {
            for ((place, key_of), event_of) in places.iter().zip(&mut keys).zip(events) {
                let branch = &branches[usize::from(*place)];
                *key_of = key(branch.pc, branch.taken());
                *event_of = event(branch);
            }
            *block = Block::of(&keys, places.len());
            *number += 1;
        }
    }
}

/// Blocks of events and runs.
struct StepsPass<'a, 'b> {
    blocks: &'a mut ConditionalBlocks,
    left: &'a mut &'b [u32],
    runs: &'a RunTable,
    keys: &'a [u32],
}

impl Pass for StepsPass<'_, '_> {
    #[inline(always)]
    fn run(self) {
        let StepsPass { blocks: ConditionalBlocks { blocks, events, number }, left, runs, keys } = self;
        *number = 0;
        for (block, events) in blocks.iter_mut().zip(events.iter_mut()) {
            if left.is_empty() {
                break;
            }
            *left = match left.split_first_chunk() {
                Some((of, behind)) if of.iter().fold(0, |all, one| all | one) & IS_RUN == 0 => {
                    *block = Block::of(&of.map(|event| keys[event as usize]), BLOCK);
                    *events = *of;
                    behind
                }
                _ => mixed(block, events, left, runs, keys),
            };
            *number += 1;
        }
    }
}

/// Fills a block with events and whole runs. Returns what is behind them.
#[inline(always)]
fn mixed<'a>(
    block: &mut Block,
    events: &mut [u32; BLOCK],
    from: &'a [u32],
    runs: &RunTable,
    keys: &[u32],
) -> &'a [u32] {
    let (mut taken, mut number, mut done) = (0_u64, 0_usize, 0);
    while number < BLOCK
        && let Some(&of) = from.get(done)
    {
        if of & IS_RUN == 0 {
            let key = keys[of as usize];
            (block.addresses[number], block.outcomes[number]) = (key >> 1, super::block::outcome(key));
            events[number] = of;
            taken |= u64::from(key & 1) << (BLOCK - 1 - number);
            number += 1;
        } else {
            let (run, those) = runs.run(of);
            let behind = number + usize::from(run.number);
            if behind > BLOCK {
                break;
            }
            // Eight are copied where there is room, whether it has as many or not.
            if let Some(addresses) = block.addresses[number..].first_chunk_mut::<RUN>()
                && let Some(outcomes) = block.outcomes[number..].first_chunk_mut::<RUN>()
                && let Some(events) = events[number..].first_chunk_mut::<RUN>()
            {
                (*addresses, *outcomes, *events) = (run.addresses, run.outcomes, *those);
            } else {
                let kept = behind - number;
                block.addresses[number..behind].copy_from_slice(&run.addresses[..kept]);
                block.outcomes[number..behind].copy_from_slice(&run.outcomes[..kept]);
                events[number..behind].copy_from_slice(&those[..kept]);
            }
            taken |= u64::from(run.taken) << (BLOCK - RUN) >> number;
            number = behind;
        }
        done += 1;
    }
    (block.taken, block.number) = (taken, number);
    &from[done..]
}

#[inline(always)]
fn event(branch: &Branch) -> u32 {
    branch.site << 1 | u32::from(branch.taken())
}

impl ConditionalStretch<'_> {
    /// Of none.
    pub(super) const NONE: ConditionalStretch<'static> = ConditionalStretch { blocks: &[], events: &[] };

    /// Has a predictor judge them all, and adds one to `missed[site]` for each misprediction.
    pub(super) fn judge<P: BlockPredictor>(self, predictor: &mut P, missed: &mut [u64]) {
        widest(JudgePass { predictor, conditionals: self, missed });
    }
}

/// A predictor over a stretch.
struct JudgePass<'a, P> {
    predictor: &'a mut P,
    conditionals: ConditionalStretch<'a>,
    missed: &'a mut [u64],
}

impl<P: BlockPredictor> Pass for JudgePass<'_, P> {
    #[inline(always)]
    fn run(self) {
        let JudgePass { predictor, conditionals: ConditionalStretch { blocks, events }, missed } = self;
        for (block, events) in blocks.iter().zip(events) {
            let mut wrong = predictor.judge(block);
            while wrong != 0 {
                let nth = wrong.leading_zeros() as usize;
                missed[(events[nth % BLOCK] >> 1) as usize] += 1;
                wrong &= !(1 << (BLOCK - 1) >> nth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    /// Errs at the branches that are not taken.
    struct Optimist;

    impl BlockPredictor for Optimist {
        fn judge(&mut self, block: &Block) -> u64 {
            block.for_each(|_, outcome| 1 - (outcome >> 3))
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

    /// What is judged, branch by branch: address, outcome as a number and as a bit, event.
    fn written_out(stretch: ConditionalStretch<'_>) -> Vec<(u32, u8, bool, u32)> {
        let of_block = |(block, events): (&Block, &[u32; BLOCK])| {
            assert_eq!(
                block.taken.checked_shl(block.number as u32).unwrap_or(0),
                0,
                "bits behind the last one"
            );
            let of = |nth: usize| {
                let taken = block.taken >> (BLOCK - 1 - nth) & 1 != 0;
                (block.addresses[nth], block.outcomes[nth], taken, events[nth])
            };
            (0..block.number).map(of).collect::<Vec<_>>()
        };
        stretch.blocks.iter().zip(stretch.events).flat_map(of_block).collect()
    }

    fn expected(branches: &[Branch]) -> Vec<(u32, u8, bool, u32)> {
        let of = |branch: &Branch| {
            let taken = branch.taken();
            (branch.pc as u32, u8::from(taken) * 8, taken, event(branch))
        };
        branches.iter().map(of).collect()
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
            blocks.take_placed(&branches, &places);
            assert_eq!(written_out(blocks.stretch()), expected(&placed), "{number}");
            let mut wrong = [0; 5];
            blocks.stretch().judge(&mut Optimist, &mut wrong);
            let at = |site: u32| placed.iter().filter(|of| of.site == site && !of.taken()).count() as u64;
            assert_eq!(wrong, [0, 1, 2, 3, 4].map(at), "{number}");
        }
    }

    #[test]
    fn events_and_runs_of_any_length_become_blocks_in_their_order() {
        // Of 0 to 8 branches, whole runs alone, and events between them.
        let lengths: [fn(usize) -> usize; 5] =
            [|nth| nth % 9, |_| 8, |nth| nth * nth % 5 + 4, |_| 1, |nth| if nth < 70 { 1 } else { 8 }];
        for (kind, length) in lengths.into_iter().enumerate() {
            for number in [0, 1, 63, 64, 65, 200, BATCH, BATCH + 1, 3 * BATCH] {
                let branches = branches(number);
                let (mut runs, mut conditionals, mut rest) = (RunTable::new(), Vec::new(), &branches[..]);
                for nth in 0.. {
                    let (those, behind) = rest.split_at(length(nth).min(rest.len()));
                    if kind >= 3 && those.len() == 1 {
                        conditionals.push(event(&those[0]));
                    } else {
                        conditionals.push(IS_RUN | runs.len() as u32);
                        runs.add(those);
                    }
                    rest = behind;
                    if rest.is_empty() {
                        break;
                    }
                }
                let events: Vec<u32> = conditionals.iter().flat_map(|of| runs.events(of)).copied().collect();
                assert_eq!(events, branches.iter().map(event).collect::<Vec<_>>());
                let (mut blocks, mut left, mut met) =
                    (ConditionalBlocks::default(), &conditionals[..], Vec::new());
                while !left.is_empty() {
                    left = blocks.take_steps(left, &runs, &keys());
                    met.extend(written_out(blocks.stretch()));
                }
                assert_eq!(met, expected(&branches), "{number}, {kind}");
            }
        }
    }
}
