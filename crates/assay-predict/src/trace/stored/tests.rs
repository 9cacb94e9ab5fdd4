//! What is written is read again; what is damaged is found.

use super::super::source::{Batch, TraceError, TraceFault, TracePlace, TraceSource};
use super::super::{Branch, BranchClass, BranchKind, BranchSite};
use super::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The streams' branches with the length of each, the directory if there is one, and how it ended.
pub(super) type Read = (Vec<Vec<(Branch, u8)>>, Option<Directory>, Result<(), TraceError>);

pub(super) fn read(bytes: &[u8]) -> Read {
    let mut streams = Vec::new();
    let mut reader = match StoredReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (streams, None, Err(error)),
    };
    let mut batch = Batch::default();
    let result = loop {
        let result = reader.next(&mut batch);
        let at = batch.stream as usize;
        if streams.len() <= at {
            streams.resize(at + 1, Vec::new());
        }
        let sites = reader.sites(batch.stream);
        streams[at].extend(batch.branches.iter().map(|branch| (*branch, sites[branch.site as usize].length)));
        match result {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    (streams, reader.directory().cloned(), result)
}

pub(super) const CODINGS: [BlockCoding; 2] = BlockCoding::CODINGS;

pub(super) fn written(
    coding: BlockCoding,
    feeds: &[(&[BranchSite], &[Branch])],
    cut: usize,
) -> (Vec<u8>, Directory) {
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    let mut directory = Directory { source: "a test".to_owned(), ..Directory::default() };
    for (number, (sites, branches)) in feeds.iter().enumerate() {
        let mut stream = StreamWriter::new(coding);
        for piece in branches.chunks(cut) {
            stream
                .push(sites, piece, |block| {
                    writer.write(number as u32, &block).map_err(|_| TraceFault::Empty)
                })
                .unwrap();
        }
        if let Some(block) = stream.finish() {
            writer.write(number as u32, &block).unwrap();
        }
        let (branches, instructions) = (stream.branches(), stream.instructions());
        directory.streams.push(StreamTotals { process: 0, thread: number as u32, branches, instructions });
    }
    (writer.finish(&directory).unwrap(), directory)
}

/// The same stream with the sites numbered by first appearance, as they come back.
pub(super) fn renumbered(sites: &[BranchSite], branches: &[Branch]) -> Vec<(Branch, u8)> {
    let mut seen: Vec<(u64, u8, BranchClass)> = Vec::new();
    branches
        .iter()
        .map(|branch| {
            let length = sites.get(branch.site as usize).map_or(0, |site| site.length);
            let key = (branch.pc, length, branch.class());
            let site = seen.iter().position(|other| *other == key).unwrap_or_else(|| {
                seen.push(key);
                seen.len() - 1
            });
            let (class, taken) = (branch.class(), branch.taken());
            (Branch::new(branch.pc, branch.target, site as u32, class, taken, branch.instructions()), length)
        })
        .collect()
}

/// A stream without any sense: every class, wild addresses beside near ones, gaps of every size.
pub(super) fn wild(seed: u64, count: usize) -> (Vec<BranchSite>, Vec<Branch>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw = |below: u64| random.next_u64() % below;
    let sites: Vec<BranchSite> = (0..40)
        .map(|site| {
            let kind = [BranchKind::Jump, BranchKind::Return, BranchKind::Call][draw(3) as usize];
            let class = BranchClass::new(kind, draw(2) == 0, kind == BranchKind::Return || draw(3) == 0);
            let pc = if site % 7 == 0 { draw(u64::MAX) } else { 0x40_0000 + draw(4096) };
            BranchSite { pc, length: draw(16) as u8, class, target: None }
        })
        .collect();
    let branches = (0..count)
        .map(|_| {
            let site = draw(40) as u32;
            let BranchSite { pc, class, .. } = sites[site as usize];
            let taken = !class.is_conditional() || draw(3) > 0;
            let target = match draw(4) {
                0 => draw(u64::MAX),
                1 => pc.wrapping_add(draw(64)),
                _ => sites[draw(40) as usize].pc,
            };
            let gap = if draw(5) == 0 { draw(1 << 27) } else { draw(9) };
            Branch::new(pc, target, site, class, taken, gap as u32)
        })
        .collect();
    (sites, branches)
}

#[test]
fn any_stream_comes_back_whatever_sense_it_makes() {
    for seed in 0..20 {
        let (sites, branches) = wild(seed, 3000);
        for coding in CODINGS {
            let (bytes, directory) = written(coding, &[(&sites, &branches)], 1000);
            let (streams, found, result) = read(&bytes);
            assert_eq!(result, Ok(()), "seed {seed}");
            assert!(streams[0] == renumbered(&sites, &branches), "seed {seed}");
            assert_eq!(found, Some(directory));
        }
    }
}

#[test]
fn streams_lie_side_by_side_and_blocks_go_on_where_they_stopped() {
    let (sites, branches) = wild(1, 150_000);
    let (other_sites, other) = wild(2, 500);
    let feeds: [(&[BranchSite], &[Branch]); 3] = [(&sites, &branches), (&[], &[]), (&other_sites, &other)];
    for coding in CODINGS {
        let (bytes, _) = written(coding, &feeds, 7000);
        let (streams, _, result) = read(&bytes);
        assert_eq!(result, Ok(()));
        let expected = renumbered(&sites, &branches);
        assert!(streams[0].len() == 150_000 && streams[0][149_000..] == expected[149_000..]);
        assert!(streams[1].is_empty() && streams[2] == renumbered(&other_sites, &other));
        let mut reader = StoredReader::only(&bytes[..], 2..3).unwrap();
        let mut batch = Batch::default();
        assert_eq!((reader.next(&mut batch), reader.coding()), (Ok(true), Some(coding)));
        assert_eq!((batch.stream, batch.branches.len(), reader.skipped()), (2, 500, 150_000));
        assert_eq!(reader.next(&mut batch), Ok(false));
        assert_eq!(reader.streams(), 3);
    }
}

#[test]
fn static_targets_are_known_from_either_outcome_where_lengths_are() {
    let site = |pc, length| BranchSite { pc, length, class: BranchClass::CONDITIONAL, target: None };
    let indirect = BranchSite { class: BranchClass::new(BranchKind::Jump, true, true), ..site(0x40, 2) };
    let sites = [site(0x10, 2), site(0x20, 0), site(0x30, 0), indirect];
    let branch = |site: u32, target, taken| {
        let BranchSite { pc, class, .. } = sites[site as usize];
        Branch::new(pc, target, site, class, taken, 1)
    };
    let stream = [
        branch(0, 0x99, false),
        branch(1, 0x24, false),
        branch(2, 0x34, false),
        branch(2, 0x80, true),
        branch(3, 0x42, false),
    ];
    for coding in CODINGS {
        let (bytes, _) = written(coding, &[(&sites, &stream)], 10);
        let mut reader = StoredReader::new(&bytes[..]).unwrap();
        assert_eq!(reader.next(&mut Batch::default()), Ok(true));
        assert_eq!(
            (reader.next(&mut Batch::default()), reader.next(&mut Batch::default())),
            (Ok(false), Ok(false))
        );
        let targets: Vec<Option<u64>> = reader.sites(0).iter().map(|site| site.target).collect();
        assert_eq!(targets, [Some(0x99), None, Some(0x80), None], "an indirect one has none");
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_blocks_before() {
    let (sites, branches) = wild(3, 400);
    let whole = renumbered(&sites, &branches);
    for coding in CODINGS {
        let mut writer = StoredWriter::new(Vec::new()).unwrap();
        let mut stream = StreamWriter::new(coding);
        let mut ends = vec![(8, 0)];
        for piece in branches.chunks(100) {
            stream.push::<TraceFault>(&sites, piece, |_| unreachable!()).unwrap();
            writer.write(0, &stream.finish().unwrap()).unwrap();
            ends.push((writer.bytes() as usize, stream.branches()));
        }
        let totals = StreamTotals { branches: 400, ..StreamTotals::default() };
        let bytes = writer.finish(&Directory { streams: vec![totals], ..Directory::default() }).unwrap();
        for length in 0..bytes.len() {
            let (streams, directory, result) = read(&bytes[..length]);
            let error = result.unwrap_err();
            let have = ends.iter().rev().find(|end| end.0 <= length).map_or(0, |end| end.1);
            let expected =
                if length == 0 { TraceFault::Empty } else { TraceFault::Cut { have, promised: None } };
            assert_eq!((error.fault, directory), (expected, None), "cut at {length}");
            assert!(streams.concat() == whole[..have as usize]);
        }
    }
}

#[test]
fn every_damaged_byte_is_found() {
    let (sites, branches) = wild(4, 60);
    for coding in CODINGS {
        let (bytes, _) = written(coding, &[(&sites, &branches)], 100);
        for at in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                assert!(read(&damaged).2.is_err(), "byte {at}");
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(read(&longer).2.unwrap_err().fault, TraceFault::Trailing);
        for found in [0, 3, 9] {
            let mut other = bytes.clone();
            other[7] = found;
            let version = TraceFault::Version { found: found.into() };
            assert_eq!(read(&other).2, Err(TraceError::new(TracePlace::Byte(0), version)));
        }
    }
    let format = TraceFault::Format { expected: "a trace of assay" };
    assert_eq!(read(b"SBBT\n").2.unwrap_err(), TraceError::new(TracePlace::Byte(0), format));
}

#[test]
fn a_block_out_of_its_order_is_found() {
    let (sites, branches) = wild(5, 200);
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    let mut stream = StreamWriter::default();
    let mut ends = vec![writer.bytes() as usize];
    for piece in branches.chunks(100) {
        stream.push::<TraceFault>(&sites, piece, |_| unreachable!()).unwrap();
        writer.write(0, &stream.finish().unwrap()).unwrap();
        ends.push(writer.bytes() as usize);
    }
    let bytes = writer.finish(&Directory::default()).unwrap();
    let swapped =
        [&bytes[..8], &bytes[ends[1]..ends[2]], &bytes[ends[0]..ends[1]], &bytes[ends[2]..]].concat();
    let error = read(&swapped).2.unwrap_err();
    assert_eq!(error, TraceError::new(TracePlace::Block { number: 0, byte: 8 }, TraceFault::Checksum));
    let fault = TraceFault::Field { name: "the number of branches in the directory", value: 0 };
    assert_eq!(read(&bytes).2.unwrap_err().fault, fault, "a directory that does not agree");
}

#[test]
fn a_directory_keeps_processes_modules_and_notes() {
    let module =
        StoredModule { start: 1 << 47, end: u64::MAX, file_offset: 4096, path: "/lib/libc.so.6".to_owned() };
    let process = TracedProcess {
        pid: 4_000_000_000,
        parent: Some(0),
        program: "größer".to_owned(),
        ended: "exited with 3".to_owned(),
        modules: vec![module.clone(), StoredModule { path: String::new(), ..module }],
        notes: vec!["A child could not be followed.".to_owned()],
    };
    let directory = Directory {
        source: "qemu 7.2.22".to_owned(),
        streams: vec![],
        processes: vec![TracedProcess { parent: None, ..process.clone() }, process],
        without_instructions: true,
    };
    let bytes = StoredWriter::new(Vec::new()).unwrap().finish(&directory).unwrap();
    assert_eq!(read(&bytes).1, Some(directory));
}

#[test]
fn a_jump_that_is_not_taken_is_refused() {
    let jump = Branch::new(1, 2, 0, BranchClass::JUMP, false, 1);
    let result = StreamWriter::default().push::<TraceFault>(&[], &[jump], |_| Ok(()));
    assert_eq!(result, Err(TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 }));
}

#[test]
fn a_stream_beyond_the_last_is_refused() {
    let mut stream = StreamWriter::default();
    stream.push::<TraceFault>(&[], &[Branch::new(1, 2, 0, BranchClass::JUMP, true, 1)], |_| Ok(())).unwrap();
    let block = stream.finish().unwrap();
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    assert!(writer.write(MAX_STREAMS, &block).is_err());
    assert!(writer.write(MAX_STREAMS - 1, &block).is_ok());
}
