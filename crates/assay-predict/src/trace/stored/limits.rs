//! What a file may hold at most, what a reader does with content that nobody wrote, and that version 1 stays readable.

use super::super::source::{Batch, TraceError, TraceFault, TracePlace, TraceSource};
use super::super::{Branch, BranchClass, BranchKind, BranchSite};
use super::chunk::{self, ChunkHeader, ChunkKind, Chunks, MAX_BRANCHES, MAX_CONTENT};
use super::tests::{CODINGS, read, renumbered, wild, written};
use super::write::FULL;
use super::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest as _, Sha256};

/// A file whose first chunk begins with these words; its content and checksum are missing.
fn begun(kind: u32, stream: u32, branches: u32, length: u32) -> Vec<u8> {
    let words = [kind, stream, branches, length].map(u32::to_le_bytes).concat();
    [&MAGIC[..], &words, &[0; 8]].concat()
}

#[test]
fn headers_beyond_the_limits_are_refused_before_anything_is_made_room_for() {
    let fault = |bytes: &[u8]| {
        let error = read(bytes).2.expect_err("refused");
        assert_eq!(error.place, TracePlace::Block { number: 0, byte: 8 });
        error.fault
    };
    let field = |name, value: u32| TraceFault::Field { name, value: value.into() };
    assert_eq!(fault(&begun(4, 0, 1, 0)), field("the kind of a chunk", 4));
    let mut first = begun(3, 0, 1, 0);
    first[7] = 1;
    assert_eq!(fault(&first), field("the kind of a chunk", 3), "version 1 had no columns");
    assert_eq!(fault(&begun(1, MAX_STREAMS, 1, 0)), field("the number of a stream", MAX_STREAMS));
    let branches = "the number of branches in a block";
    assert_eq!(fault(&begun(1, 0, MAX_BRANCHES + 1, 0)), field(branches, MAX_BRANCHES + 1));
    let most = BlockCoding::Columns.max_branches();
    assert_eq!(fault(&begun(3, 0, most + 1, 0)), field(branches, most + 1));
    assert_eq!(fault(&begun(1, 0, 0, 0)), field(branches, 0));
    assert_eq!(fault(&begun(3, 0, 0, 0)), field(branches, 0));
    assert_eq!(fault(&begun(2, 0, 1, 0)), field(branches, 1));
    assert_eq!(fault(&begun(1, 0, 1, MAX_CONTENT + 1)), field("the length of a chunk", MAX_CONTENT + 1));
    let last = MAX_STREAMS - 1;
    for fine in
        [begun(1, last, MAX_BRANCHES, MAX_CONTENT), begun(3, last, most, MAX_CONTENT), begun(2, 0, 0, 9)]
    {
        assert_eq!(fault(&fine), TraceFault::Cut { have: 0, promised: None });
    }
}

#[test]
fn damage_is_said_with_its_block_and_byte_and_ends_the_stream() {
    let (sites, branches) = wild(6, 200);
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    let mut stream = StreamWriter::default();
    let mut begins = 0;
    for piece in branches.chunks(100) {
        stream.push::<TraceFault>(&sites, piece, |_| unreachable!()).unwrap();
        begins = writer.bytes();
        writer.write(0, &stream.finish().unwrap()).unwrap();
    }
    let mut bytes = writer.finish(&Directory::default()).unwrap();
    bytes[begins as usize + 30] ^= 1;
    let mut reader = StoredReader::new(&bytes[..]).unwrap();
    let mut batch = Batch::default();
    assert_eq!(reader.next(&mut batch), Ok(true));
    let place = TracePlace::Block { number: 1, byte: begins };
    assert_eq!(reader.next(&mut batch), Err(TraceError::new(place, TraceFault::Checksum)));
    assert_eq!(reader.next(&mut batch), Ok(false), "nothing is tried behind the damage");
}

#[test]
fn a_block_ends_at_its_most_branches() {
    let jump = Branch::new(0x10, 0x10, 0, BranchClass::JUMP, true, 1);
    for (coding, most) in CODINGS.into_iter().zip([65_536, BlockCoding::Columns.max_branches()]) {
        let mut sizes = Vec::new();
        let mut stream = StreamWriter::new(coding);
        let feed = vec![jump; most as usize + 5];
        stream
            .push::<TraceFault>(&[], &feed, |block| {
                sizes.push(block.branches());
                Ok(())
            })
            .unwrap();
        assert_eq!((sizes, stream.finish().map(|block| block.branches())), (vec![most], Some(5)));
    }
}

#[test]
fn a_block_ends_at_a_megabyte_however_few_branches_that_is() {
    // New sites at wild addresses with wild targets: some twenty bytes each. zstd spares little of it.
    for coding in CODINGS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut stream = StreamWriter::new(coding);
        let mut blocks = Vec::new();
        for site in 0..MAX_BRANCHES - 1 {
            let jump = Branch::new(random.next_u64(), random.next_u64(), site, BranchClass::JUMP, true, 1);
            stream
                .push::<TraceFault>(&[], &[jump], |block| {
                    blocks.push((block.bytes(), block.branches()));
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(blocks.len(), 1);
        let size = if coding == BlockCoding::Compact { FULL..FULL + 100 } else { FULL * 2 / 3..FULL + 100 };
        assert!(size.contains(&blocks[0].0) && blocks[0].1 < MAX_BRANCHES - 1, "{blocks:?}");
    }
}

#[test]
fn a_feed_may_give_a_number_to_another_site_later() {
    let site = |pc, length, class| BranchSite { pc, length, class, target: None };
    let feeds = [
        site(0x10, 2, BranchClass::JUMP),
        site(0x20, 2, BranchClass::JUMP),
        site(0x20, 3, BranchClass::JUMP),
        site(0x20, 3, BranchClass::CALL),
        site(0x10, 2, BranchClass::JUMP),
    ];
    let mut stream = StreamWriter::default();
    let mut expected = Vec::new();
    let mut seen: Vec<BranchSite> = Vec::new();
    for site in feeds {
        let branch = Branch::new(site.pc, 0x100, 0, site.class, true, 1);
        stream.push::<TraceFault>(std::slice::from_ref(&site), &[branch], |_| unreachable!()).unwrap();
        let number = seen.iter().position(|other| *other == site).unwrap_or(seen.len());
        if number == seen.len() {
            seen.push(site.clone());
        }
        expected.push((Branch::new(site.pc, 0x100, number as u32, site.class, true, 1), site.length));
    }
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    writer.write(0, &stream.finish().unwrap()).unwrap();
    let totals = StreamTotals { branches: 5, ..StreamTotals::default() };
    let bytes = writer.finish(&Directory { streams: vec![totals], ..Directory::default() }).unwrap();
    let (streams, _, result) = read(&bytes);
    assert_eq!((result, &streams[0]), (Ok(()), &expected));
}

/// A file of no block and this directory, packed as it is.
fn ending(plain: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(plain, 1).unwrap();
    let mut bytes = MAGIC.to_vec();
    let header =
        ChunkHeader { kind: ChunkKind::Directory, stream: 0, branches: 0, length: packed.len() as u32 };
    chunk::write(&mut bytes, &mut MAGIC.clone(), header, &packed).unwrap();
    bytes
}

#[test]
fn a_directory_that_is_not_all_a_directory_is_refused() {
    let no_directory = TraceFault::Field { name: "the directory", value: 0 };
    // An empty text, no lack of instructions, no stream, no process.
    let whole = [0; 32];
    assert_eq!(read(&ending(&whole)).2, Ok(()));
    assert_eq!(read(&ending(&[&whole[..], &[0]].concat())).2.unwrap_err().fault, no_directory);
    assert_eq!(read(&ending(&whole[..31])).2.unwrap_err().fault, no_directory);
}

#[test]
fn a_directory_that_unpacks_to_more_than_its_limit_is_refused() {
    let text = |length: usize| [&(length as u64).to_le_bytes()[..], &vec![b'x'; length], &[0; 24]].concat();
    assert_eq!(read(&ending(&text((1 << 26) - 32))).2, Ok(()));
    let no_directory = TraceFault::Field { name: "the directory", value: 0 };
    assert_eq!(read(&ending(&text((1 << 26) - 31))).2.unwrap_err().fault, no_directory);
}

#[test]
fn a_directory_that_packs_to_more_than_a_chunk_holds_is_not_written() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    // Six bits a letter, so that packing helps little.
    let source: String = (0..6 << 20).map(|_| char::from(b'0' + (random.next_u64() >> 58) as u8)).collect();
    let result = StoredWriter::new(Vec::new()).unwrap().finish(&Directory { source, ..Directory::default() });
    assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn content_that_nobody_wrote_gives_branches_or_an_error() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut whole = 0;
    for round in 0..300 {
        let mut content = vec![0; 100];
        random.fill_bytes(&mut content);
        let mut writer = StoredWriter::new(Vec::new()).unwrap();
        let block = CodedBlock::from_parts(BlockCoding::Compact, 1 + round % 12, content);
        writer.write(0, &block).unwrap();
        let (streams, _, result) = read(&writer.finish(&Directory::default()).unwrap());
        assert!(streams[0].len() <= 12);
        // Where all of it makes branches, the directory is found to know none.
        let TraceFault::Field { name, .. } = result.unwrap_err().fault else { panic!("another fault") };
        whole += usize::from(name == "the number of branches in the directory");
    }
    assert!((1..300).contains(&whole), "{whole}");
}

/// What a program does: a loop, recursion a hundred deep, a switch over more targets than are kept, and calls whose length is
/// not known.
fn program() -> (Vec<BranchSite>, Vec<Branch>) {
    let site = |pc, length, class| BranchSite { pc, length, class, target: None };
    let returning = BranchClass::new(BranchKind::Return, false, true);
    let switching = BranchClass::new(BranchKind::Jump, false, true);
    let sites = vec![
        site(0x1000, 2, BranchClass::CONDITIONAL),
        site(0x2000, 5, BranchClass::CALL),
        site(0x2100, 1, returning),
        site(0x3000, 3, switching),
        site(0x4000, 0, BranchClass::CALL),
        site(0x4100, 0, returning),
    ];
    let mut branches = Vec::new();
    let mut go = |site: usize, target, taken| {
        let BranchSite { pc, class, .. } = sites[site];
        branches.push(Branch::new(pc, target, site as u32, class, taken, 7));
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    for round in 0..40 {
        (0..300).for_each(|step| go(0, if step < 299 { 0x0f00 } else { 0x1002 }, step < 299));
        (0..100).for_each(|_| go(1, 0x2000, true));
        (0..100).for_each(|_| go(2, 0x2005, true));
        (0..30).for_each(|_| go(3, 0x5000 + (random.next_u64() % 90) * 16, true));
        (0..5).for_each(|_| go(4, 0x4000, true));
        (0..5).for_each(|_| go(5, if round < 20 { 0x4004 } else { 0x4008 }, true));
    }
    (sites, branches)
}

/// The same chunks in a file of version 1.
fn as_version_1(bytes: &[u8]) -> Vec<u8> {
    let mut chunks = Chunks::new(bytes).unwrap();
    let (mut out, mut content) = (b"assaytr\x01".to_vec(), Vec::new());
    let mut check = *b"assaytr\x01";
    while let Some(header) = chunks.next(&mut content, 0).unwrap() {
        chunk::write(&mut out, &mut check, header, &content).unwrap();
    }
    out
}

#[test]
fn a_program_comes_back_in_either_coding() {
    let (sites, branches) = program();
    for coding in CODINGS {
        let (streams, _, result) = read(&written(coding, &[(&sites, &branches)], 1000).0);
        assert_eq!(result, Ok(()));
        assert!(streams[0] == renumbered(&sites, &branches));
    }
}

#[test]
fn a_stream_whose_blocks_are_coded_in_different_ways_is_refused() {
    let (sites, branches) = program();
    for codings in [CODINGS, [BlockCoding::Columns, BlockCoding::Compact]] {
        let mut writer = StoredWriter::new(Vec::new()).unwrap();
        for coding in codings {
            let mut stream = StreamWriter::new(coding);
            stream.push::<TraceFault>(&sites, &branches[..10], |_| unreachable!()).unwrap();
            writer.write(0, &stream.finish().unwrap()).unwrap();
        }
        let (streams, _, result) = read(&writer.finish(&Directory::default()).unwrap());
        let name = "the coding of a stream that began in another";
        assert_eq!(result.unwrap_err().fault, TraceFault::Field { name, value: 0 });
        assert_eq!(streams[0].len(), 10);
    }
}

#[test]
fn version_1_is_read_and_its_blocks_are_written_as_they_always_were() {
    let (wild_sites, wild_branches) = wild(7, 4000);
    let (sites, branches) = program();
    let feeds: [(&[BranchSite], &[Branch]); 2] = [(&wild_sites, &wild_branches), (&sites, &branches)];
    let bytes = as_version_1(&written(BlockCoding::Compact, &feeds, 1000).0);
    let (streams, _, result) = read(&bytes);
    assert_eq!(result, Ok(()));
    assert!(streams[1] == renumbered(&sites, &branches));
    // The directory is left out: how well it is packed is zstd's business.
    let mut end = 8;
    while bytes[end] == 1 {
        let length: [u8; 4] = std::array::from_fn(|byte| bytes[end + 12 + byte]);
        end += 24 + u32::from_le_bytes(length) as usize;
    }
    let digest: String = Sha256::digest(&bytes[..end]).iter().map(|byte| format!("{byte:02x}")).collect();
    // Written by the first release of the format. Another value means that compact files, of version 1 among them, can no
    // longer be read: then their kind of chunk has to change, not this line.
    assert_eq!((end, &digest[..16]), (28_315, "cdf39a401a15de9e"));
}
