//! Reading on a second core: a thread decodes batches while another one works on those before.
//!
//! Batches go from thread to thread in blocks, which come back to be filled again: one alone is worked on in as little time
//! as it takes to wake a thread. There are never more blocks than wait, and one in each thread's hands.

use assay_pure::trace::Batch;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches of a block: 0.4 MB of branches.
const BLOCK: usize = 4;
/// Blocks that wait to be worked on.
const WAITING: usize = 2;

/// Whoever reads hands batches over to it.
pub struct HandOver {
    block: Vec<Batch>,
    filled: usize,
    full: SyncSender<Vec<Batch>>,
    used: Receiver<Vec<Batch>>,
}

impl HandOver {
    /// Takes the batch, and leaves one that may be filled in its place.
    pub fn take(&mut self, batch: &mut Batch) {
        if self.filled == self.block.len() {
            self.block.push(Batch::default());
        }
        std::mem::swap(&mut self.block[self.filled], batch);
        self.filled += 1;
        if self.filled == BLOCK {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        let empty = self.used.try_recv().unwrap_or_default();
        let mut block = std::mem::replace(&mut self.block, empty);
        block.truncate(self.filled);
        self.filled = 0;
        self.full.send(block).expect("whoever works on them ends after whoever reads");
    }
}

/// Reads on a thread of its own, and works here on every batch that it hands over, in order. Returns what reading came to.
pub fn read_on_second_thread<T: Send>(
    read: impl FnOnce(&mut HandOver) -> T + Send,
    mut work: impl FnMut(&Batch),
) -> T {
    let (full, blocks) = sync_channel::<Vec<Batch>>(WAITING);
    // As many as there can be: nobody waits to give one back.
    let (give_back, used) = sync_channel(WAITING + 2);
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let mut hand_over = HandOver { block: Vec::new(), filled: 0, full, used };
            let result = read(&mut hand_over);
            hand_over.pass_on();
            result
        });
        for block in blocks {
            block.iter().for_each(&mut work);
            // Whoever reads may have come to the end.
            let _ = give_back.try_send(block);
        }
        reading.join().expect("reading ends in order")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::{Branch, BranchClass};

    fn branches(count: u64) -> Vec<Branch> {
        (0..count).map(|at| Branch::new(at, 0, 0, BranchClass::JUMP, true, 1)).collect()
    }

    /// What comes of batches with so many branches each, of streams 0, 1, 2...
    fn handed_over(lengths: &[u64]) -> Vec<Batch> {
        let mut worked_on = Vec::new();
        let read = read_on_second_thread(
            |hand_over| {
                let mut batch = Batch::default();
                for (stream, count) in lengths.iter().enumerate() {
                    batch.stream = stream as u32;
                    batch.branches.clear();
                    batch.branches.extend(branches(*count));
                    hand_over.take(&mut batch);
                }
                lengths.len()
            },
            |batch| worked_on.push(batch.clone()),
        );
        assert_eq!(read, lengths.len());
        worked_on
    }

    #[test]
    fn every_batch_is_worked_on_once_and_in_order() {
        let whole = (WAITING + 3) * BLOCK;
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, whole, whole + 1] {
            let lengths: Vec<u64> = (0..count as u64).map(|at| at * 7 % 5).collect();
            let batch = |(stream, length): (usize, &u64)| Batch {
                stream: stream as u32,
                branches: branches(*length),
            };
            let expected: Vec<Batch> = lengths.iter().enumerate().map(batch).collect();
            assert_eq!(handed_over(&lengths), expected, "{count}");
        }
    }

    #[test]
    fn whoever_reads_is_never_further_ahead_than_the_blocks_that_wait() {
        let read = std::sync::atomic::AtomicUsize::new(0);
        let mut worked_on = 0;
        read_on_second_thread(
            |hand_over| {
                for _ in 0..20 * BLOCK {
                    hand_over.take(&mut Batch::default());
                    read.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            },
            |_| {
                worked_on += 1;
                let ahead = read.load(std::sync::atomic::Ordering::SeqCst).saturating_sub(worked_on);
                assert!(ahead <= (WAITING + 2) * BLOCK, "{ahead}");
            },
        );
    }
}
