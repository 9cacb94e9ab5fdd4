//! Columns: what they hold, and what a reader makes of those that nobody wrote.

use super::super::super::source::{Batch, TraceError, TraceFault, TraceSource};
use super::super::super::{Branch, BranchClass, BranchSite};
use super::super::tests::{renumbered, wild};
use super::super::{BlockCoding, CodedBlock, Directory, StoredReader, StoredWriter, StreamWriter};
use super::content::{self, Bytes, Column};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LOOP: BranchSite =
    BranchSite { pc: 0x1000, length: 2, class: BranchClass::CONDITIONAL, target: Some(0xff0) };

/// The outcomes of a loop, by the number of rounds before it is left.
fn loops(rounds: &[usize]) -> Vec<Branch> {
    let go = |taken| Branch::new(0x1000, 0xff0, 0, BranchClass::CONDITIONAL, taken, 5);
    rounds.iter().flat_map(|rounds| (0..=*rounds).map(|round| go(round < *rounds))).collect()
}

/// The content of the one block of a stream.
fn content_of(sites: &[BranchSite], branches: &[Branch]) -> Vec<u8> {
    let mut stream = StreamWriter::default();
    stream.push::<TraceFault>(sites, branches, |_| unreachable!()).unwrap();
    let mut file = StoredWriter::new(Vec::new()).unwrap();
    file.write(0, &stream.finish().unwrap()).unwrap();
    let end = file.bytes() as usize;
    file.finish(&Directory::default()).unwrap()[32..end].to_vec()
}

fn columns_of(content: &[u8]) -> Bytes {
    let mut columns = Bytes::default();
    content::unpack(content, &mut columns, &mut None).unwrap();
    columns
}

/// Reads a block as the only one of a file whose checksums are good; checks what every reader promises.
fn read(content: &[u8], branches: u32) -> (Vec<Branch>, Result<(), TraceError>) {
    let mut file = StoredWriter::new(Vec::new()).unwrap();
    file.write(0, &CodedBlock::from_parts(BlockCoding::Columns, branches, content.to_vec())).unwrap();
    let file = file.finish(&Directory::default()).unwrap();
    let mut reader = StoredReader::new(&file[..]).unwrap();
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    loop {
        let result = reader.next(&mut batch);
        for branch in &batch.branches {
            let site = &reader.sites(0)[branch.site as usize];
            assert_eq!((site.pc, site.class), (branch.pc, branch.class()));
            assert!(branch.taken() || branch.class().is_conditional());
        }
        all.extend_from_slice(&batch.branches);
        match result {
            Ok(true) => {}
            Ok(false) => return (all, Ok(())),
            Err(error) => return (all, Err(error)),
        }
    }
}

/// The directory of the file knows of no branch, so that this is how a block ends that was read as a whole.
fn is_whole(result: &Result<(), TraceError>) -> bool {
    let name = "the number of branches in the directory";
    result.as_ref().is_err_and(|error| error.fault == TraceFault::Field { name, value: 0 })
}

#[test]
fn numbers_of_every_size_come_back_and_longer_ones_are_refused() {
    let mut bytes = Vec::new();
    let numbers: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, u64::MAX << bit]).collect();
    numbers.iter().for_each(|number| content::append(&mut bytes, *number));
    let mut rest = &bytes[..];
    assert!(numbers.iter().all(|number| content::take(&mut rest) == Some(*number)) && rest.is_empty());
    assert_eq!(content::take(&mut &[0x80, 0x80][..]), None, "it does not end");
    let most = [[0xff; 9].as_slice(), &[1]].concat();
    assert_eq!(content::take(&mut &most[..]), Some(u64::MAX));
    assert_eq!(content::take(&mut &[[0xff; 9].as_slice(), &[2]].concat()[..]), None, "bit 64");
    assert_eq!(content::take(&mut &[[0x80; 10].as_slice(), &[1]].concat()[..]), None, "bit 70");
}

#[test]
fn columns_are_packed_where_that_makes_them_shorter() {
    let columns = [vec![7; 10_000], vec![], vec![1, 2, 3], vec![9; 300]];
    let content = content::pack(&columns);
    assert!(content.len() < 100, "{}", content.len());
    assert_eq!(columns_of(&content), columns);
    assert_eq!(content[..7], [0x90, 0x4e, content[2], 0, 0, 3, 3], "10,000 in two bytes, then its length");
}

#[test]
fn lengths_of_columns_are_checked_before_room_is_made() {
    let refused = |content: &[u8]| content::unpack(content, &mut Bytes::default(), &mut None).unwrap_err();
    let wrong = content::wrong_length;
    let whole = content::pack(&[vec![7; 1000], vec![], vec![], vec![]]);
    assert_eq!(refused(&whole[..whole.len() - 1]), wrong(whole.len() as u64 - 9), "cut");
    assert_eq!(refused(&[&whole[..], &[0]].concat()), wrong(1), "left over");
    assert_eq!(refused(&whole[..5]), wrong(0), "too few lengths");
    let lengths = |lengths: [u64; 8]| {
        let mut bytes = Vec::new();
        lengths.iter().for_each(|length| content::append(&mut bytes, *length));
        bytes
    };
    assert_eq!(refused(&lengths([1 << 60, 9, 0, 0, 0, 0, 0, 0])), wrong(1 << 60));
    let half = 1 << 20;
    assert_eq!(refused(&lengths([half, 1, half, 1, 1, 1, 0, 0])), wrong(1), "2 MiB in all");
    assert_eq!(refused(&lengths([3, 4, 0, 0, 0, 0, 0, 0])), wrong(3), "longer packed than unpacked");
    // A length that is not that of what is packed.
    let (packed, claims) = (zstd::bulk::compress(&[7; 1000], 1).unwrap(), [999, 1001]);
    for claim in claims {
        let header = lengths([claim, packed.len() as u64, 0, 0, 0, 0, 0, 0]);
        assert_eq!(refused(&[&header[..], &packed].concat()), wrong(claim));
    }
}

#[test]
fn a_loop_costs_a_byte_each_time_it_is_left() {
    let branches = loops(&[9; 100]);
    let columns = columns_of(&content_of(&[LOOP], &branches));
    // The first round is new; that behind a round another goes is learned by then, and that the loop is left by then, too.
    assert!((100..110).contains(&columns[Column::Tokens as usize].len()), "{columns:?}");
    assert!(columns[Column::Events as usize].len() < 10, "{columns:?}");
    let (read, result) = read(&content_of(&[LOOP], &branches), branches.len() as u32);
    assert!(is_whole(&result) && read == branches);
}

#[test]
fn what_comes_more_often_is_expected_from_then_on() {
    // Left at once for a while, then after one round.
    let branches = loops(&[[0; 50], [1; 50]].concat());
    let columns = columns_of(&content_of(&[LOOP], &branches));
    let tokens = &columns[Column::Tokens as usize];
    assert_eq!(tokens.iter().filter(|token| **token >> 6 == 1).count(), 1, "one way is given up: {tokens:?}");
    assert!(tokens.len() < 20, "and the rest is a run: {tokens:?}");
}

#[test]
fn runs_longer_than_a_batch_and_a_token_come_back() {
    let branches = loops(&[62, 63, 64, 4094, 4095, 4096, 4097, 20_000, 0, 0, 8191]);
    let content = content_of(&[LOOP], &branches);
    let (read, result) = read(&content, branches.len() as u32);
    assert!(is_whole(&result) && read == branches);
}

#[test]
fn a_block_is_read_in_stretches_of_at_most_4096() {
    let branches = loops(&[20_000]);
    let mut file = StoredWriter::new(Vec::new()).unwrap();
    let content = content_of(&[LOOP], &branches);
    file.write(0, &CodedBlock::from_parts(BlockCoding::Columns, 20_001, content)).unwrap();
    let file = file.finish(&Directory::default()).unwrap();
    let mut reader = StoredReader::new(&file[..]).unwrap();
    let mut batch = Batch::default();
    let mut sizes = Vec::new();
    while reader.next(&mut batch) == Ok(true) {
        sizes.push(batch.branches.len());
    }
    assert_eq!(sizes, [4096, 4096, 4096, 4096, 3617]);
}

#[test]
fn a_run_along_a_way_that_nobody_took_gives_the_branches_before() {
    let branches = loops(&[9, 9]);
    let mut columns = columns_of(&content_of(&[LOOP], &branches));
    // Three rounds more and out of the loop, all known; then the other way on, of which there is none, and more.
    columns[Column::Tokens as usize].extend([3, 0, 10 | 3 << 6]);
    let unknown = TraceFault::Field { name: "the way on from a place", value: 0 };
    let (read, result) = read(&content::pack(&columns), branches.len() as u32 + 15);
    assert_eq!(read, [branches, loops(&[3])].concat());
    assert_eq!(result.unwrap_err().fault, unknown);
}

#[test]
fn a_block_with_too_many_branches_or_too_few_is_refused() {
    let branches = loops(&[9, 9, 9]);
    let content = content_of(&[LOOP], &branches);
    for count in 1..40 {
        let (read, result) = read(&content, count);
        assert_eq!(is_whole(&result), count == 30, "{count}");
        let same = read.len().min(branches.len());
        assert!(read[..same] == branches[..same] && read.len() <= 30);
    }
}

#[test]
fn any_byte_changed_behind_a_good_checksum_gives_branches_or_an_error() {
    let (sites, branches) = wild(8, 150);
    let content = content_of(&sites, &branches);
    let mut whole = 0;
    for at in 0..content.len() {
        for flip in [1, 2, 0x10, 0x80, 0xff] {
            let mut changed = content.clone();
            changed[at] ^= flip;
            let (read, result) = read(&changed, 150);
            assert!(read.len() <= 150 && result.is_err());
            whole += usize::from(is_whole(&result));
        }
    }
    assert!((1..4 * content.len()).contains(&whole), "both are met: {whole} of {}", 5 * content.len());
}

#[test]
fn any_byte_of_a_column_changed_or_lost_gives_branches_or_an_error() {
    let (sites, branches) = wild(9, 150);
    let columns = columns_of(&content_of(&sites, &branches));
    let (mut whole, mut refused) = (0, 0);
    for column in 0..columns.len() {
        for at in 0..columns[column].len() {
            let mut less = columns.clone();
            less[column].remove(at);
            assert!(read(&content::pack(&less), 150).1.is_err());
            for flip in 0..8 {
                let mut changed = columns.clone();
                changed[column][at] ^= 1 << flip;
                let (read, result) = read(&content::pack(&changed), 150);
                assert!(read.len() <= 150);
                *(if is_whole(&result) { &mut whole } else { &mut refused }) += 1;
            }
        }
    }
    assert!(whole > 100 && refused > 100, "both are met: {whole}, {refused}");
}

#[test]
fn columns_that_nobody_wrote_give_branches_or_an_error() {
    let (sites, branches) = wild(10, 150);
    let written = columns_of(&content_of(&sites, &branches));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(10);
    let mut far = 0;
    for _ in 0..3000 {
        // Some bytes are others, below a limit that makes them small in some rounds; the columns end anywhere.
        let mut columns = written.clone();
        let limit = 1 << (1 + random.next_u64() % 8);
        for _ in 0..1 + random.next_u64() % 20 {
            let column = &mut columns[(random.next_u64() % 4) as usize];
            let at = (random.next_u64() % column.len() as u64) as usize;
            column[at] = (random.next_u64() % limit) as u8;
        }
        let cut = &mut columns[(random.next_u64() % 4) as usize];
        cut.truncate((random.next_u64() % (2 * cut.len() as u64)) as usize);
        let (read, result) = read(&content::pack(&columns), 1000);
        assert!(result.is_err());
        far += usize::from(read.len() > 75);
    }
    assert!((10..3000).contains(&far), "{far}");
}

#[test]
fn a_rare_way_that_nobody_took_is_refused() {
    let columns = [
        vec![2 << 6; 5],
        // A jump; twice the same after other instructions, beside an expected way that there is not; the first of these as
        // the expected one, so that nothing lies at its rank; and that.
        vec![4 | 1 << 3 | 1 << 4, 0, 2, 3 | 1 << 4 | 1 << 6, 3 | 1 << 4 | 1 << 6, 1 << 3, 0],
        vec![5, 0, 1, 0, 2, 0, 0],
        vec![0x20, 0],
    ];
    let (read, result) = read(&content::pack(&columns), 5);
    assert_eq!(read.iter().map(Branch::instructions).collect::<Vec<u32>>(), [5, 1, 2, 1]);
    let fault = TraceFault::Field { name: "the rank of a way", value: 0 };
    assert_eq!(result.unwrap_err().fault, fault);
}

#[test]
fn more_ways_from_a_place_than_are_kept_come_back() {
    let jump = BranchSite { pc: 0x1000, length: 3, class: BranchClass::INDIRECT_JUMP, target: None };
    let back = BranchSite { pc: 0x9000, length: 3, class: BranchClass::JUMP, target: None };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let branches: Vec<Branch> = (0..5000)
        .flat_map(|_| {
            let target = 0x8000 + random.next_u64() % 400;
            [
                Branch::new(0x1000, target, 0, BranchClass::INDIRECT_JUMP, true, 3),
                Branch::new(0x9000, 0xff0, 1, BranchClass::JUMP, true, 2),
            ]
        })
        .collect();
    let sites = [jump, back];
    let (read, result) = read(&content_of(&sites, &branches), branches.len() as u32);
    assert!(is_whole(&result));
    assert!(read.into_iter().zip(&renumbered(&sites, &branches)).all(|(read, (branch, _))| read == *branch));
}

#[test]
fn addresses_of_64_bits_and_targets_that_nothing_leads_to_come_back() {
    // A signal's handler: the branch behind has nothing to do with the one before.
    let sites = [0, u64::MAX, 1 << 63, 0xffff_8000_0000_1000].map(|pc| BranchSite {
        pc,
        length: 15,
        class: BranchClass::CONDITIONAL,
        target: None,
    });
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let branches: Vec<Branch> = (0..2000)
        .map(|_| {
            let site = (random.next_u64() % 4) as u32;
            let target = [0, u64::MAX, 1 << 63, random.next_u64()][(random.next_u64() % 4) as usize];
            let gap = (random.next_u64() as u32) & Branch::MAX_INSTRUCTIONS;
            let taken = random.next_u64() % 2 == 0;
            Branch::new(sites[site as usize].pc, target, site, BranchClass::CONDITIONAL, taken, gap)
        })
        .collect();
    let (read, result) = read(&content_of(&sites, &branches), branches.len() as u32);
    assert!(is_whole(&result));
    assert!(read.into_iter().zip(&renumbered(&sites, &branches)).all(|(read, (branch, _))| read == *branch));
}
