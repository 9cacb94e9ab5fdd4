//! Do the readers of all formats agree on one stream?

use assay_predict::trace::source::TraceFault;
use assay_predict::trace::{Batch, Branch, BranchSite, TraceSource, bt9, cbp, champsim, sbbt, stored};
use std::io::Read;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/");

fn sbbt_of(name: &str) -> Vec<u8> {
    let packed = std::fs::read(format!("{FOLDER}{name}")).expect("the fixture is part of the repository");
    zstd::decode_all(&packed[..]).expect("the fixture is zstd")
}

fn all(source: &mut dyn TraceSource) -> Vec<Branch> {
    let (mut batch, mut branches) = (Batch::default(), Vec::new());
    while source.next(&mut batch).expect("the stream is whole") {
        branches.extend_from_slice(&batch.branches);
    }
    branches
}

#[test]
fn the_instruction_records_of_cbp_ng_give_exactly_the_branches_of_their_sbbt_form() {
    let packed = std::fs::File::open(format!("{FOLDER}cbp-ng_gcc_test_trace.gz")).unwrap();
    let mut reader = cbp::CbpReader::new(flate2::read::MultiGzDecoder::new(packed)).unwrap();
    let from_records = all(&mut reader);
    assert_eq!(reader.instructions(), 3_005_000);
    let bytes = sbbt_of("cbp-ng_gcc.sbbt.zst");
    let mut reader = sbbt::SbbtReader::new(&bytes[..], sbbt::SbbtLayout::Documented).unwrap();
    let from_sbbt = all(&mut reader);
    assert_eq!(from_sbbt.len(), 594_405);
    assert_eq!(from_sbbt.iter().filter(|branch| branch.class().is_conditional()).count(), 493_313);
    let different = from_records.iter().zip(&from_sbbt).position(|(a, b)| a != b);
    assert_eq!((from_records.len(), different), (from_sbbt.len(), None));
}

#[test]
fn a_stream_written_as_sbbt_has_the_bytes_it_was_read_from() {
    for name in ["cbp-ng_gcc.sbbt.zst", "synthetic_200k.sbbt.zst"] {
        let bytes = sbbt_of(name);
        let mut reader = sbbt::SbbtReader::new(&bytes[..], sbbt::SbbtLayout::Documented).unwrap();
        let mut writer = sbbt::SbbtWriter::new(Vec::new(), reader.instructions(), reader.promised()).unwrap();
        writer.write(&all(&mut reader)).unwrap();
        assert!(writer.finish().unwrap() == bytes, "{name}");
    }
}

#[test]
fn a_stream_survives_bt9() {
    let (sites, stream) = sbbt::decode(&sbbt_of("cbp-ng_gcc.sbbt.zst")).unwrap();
    let mut tables = bt9::Bt9Tables::default();
    tables.add(&sites, &stream).unwrap();
    tables.close().unwrap();
    let mut writer = bt9::Bt9Writer::new(Vec::new(), &tables).unwrap();
    writer.write(&sites, &stream).unwrap();
    let text = writer.finish().unwrap();
    let mut reader = bt9::Bt9Reader::new(&text[..]).unwrap();
    assert!(all(&mut reader) == stream);
}

#[test]
fn champsim_keeps_all_but_the_targets_of_branches_not_taken() {
    let (sites, stream) = sbbt::decode(&sbbt_of("cbp-ng_gcc.sbbt.zst")).unwrap();
    let stream = &stream[..100_000];
    let mut writer = champsim::ChampSimWriter::new(Vec::new());
    writer.write(&sites, stream).unwrap();
    assert_eq!((writer.flattened, writer.lost_targets), (0, 0));
    let mut records = Vec::new();
    writer.finish().unwrap().as_slice().read_to_end(&mut records).unwrap();
    let read = all(&mut champsim::ChampSimReader::new(&records[..]).unwrap());
    assert_eq!(read.len(), stream.len());
    for (before, after) in stream.iter().zip(&read) {
        let target = if before.taken() { before.target } else { after.target };
        let (class, taken, gap) = (before.class(), before.taken(), before.instructions());
        assert_eq!(*after, Branch::new(before.pc, target, before.site, class, taken, gap));
    }
}

/// A stream in our own format.
fn stored_of(coding: stored::BlockCoding, sites: &[BranchSite], stream: &[Branch]) -> Vec<u8> {
    let mut writer = stored::StoredWriter::new(Vec::new()).unwrap();
    let mut coder = stored::StreamWriter::new(coding);
    let write = |writer: &mut stored::StoredWriter<Vec<u8>>, block: stored::CodedBlock| {
        writer.write(0, &block).unwrap()
    };
    coder
        .push::<TraceFault>(sites, stream, |block| {
            write(&mut writer, block);
            Ok(())
        })
        .unwrap();
    coder.finish().into_iter().for_each(|block| write(&mut writer, block));
    let totals = stored::StreamTotals {
        branches: coder.branches(),
        instructions: coder.instructions(),
        ..stored::StreamTotals::default()
    };
    writer.finish(&stored::Directory { streams: vec![totals], ..stored::Directory::default() }).unwrap()
}

#[test]
fn our_own_format_gives_the_streams_back_in_few_bits_per_branch() {
    let (compact, columns) = (stored::BlockCoding::Compact, stored::BlockCoding::Columns);
    for (name, coding, bits_per_branch) in [
        ("cbp-ng_gcc.sbbt.zst", compact, 0.26),
        ("synthetic_200k.sbbt.zst", compact, 1.8),
        ("cbp-ng_gcc.sbbt.zst", columns, 0.59),
        ("synthetic_200k.sbbt.zst", columns, 2.57),
    ] {
        let (sites, stream) = sbbt::decode(&sbbt_of(name)).unwrap();
        let bytes = stored_of(coding, &sites, &stream);
        let bits = bytes.len() as f64 * 8.0 / stream.len() as f64;
        println!("{name}: {} bytes, {bits:.3} bits per branch", bytes.len());
        let mut reader = stored::StoredReader::new(&bytes[..]).unwrap();
        assert!(all(&mut reader) == stream, "{name}");
        assert!(bits < bits_per_branch, "{name}: {bits} bits per branch");
    }
}
