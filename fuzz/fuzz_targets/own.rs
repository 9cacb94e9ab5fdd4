#![no_main]

mod walk;

use assay_pure::trace::source::TraceFault;
use assay_pure::trace::stored::{
    BlockCoding, CodedBlock, Directory, StoredReader, StoredWriter, StreamTotals, StreamWriter,
};
use assay_pure::trace::{Branch, BranchClass, BranchSite};

// By the first byte: the rest as a file; as blocks of two streams with good checksums; as branches, written and read again.
// One of them at a time, because a compact stream's tables are 3 MB and cost more to make than the bytes to read. Above, by
// its highest bit: the coding.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&way, bytes)) = bytes.split_first() else { return };
    let coding = if way & 0x80 == 0 { BlockCoding::Columns } else { BlockCoding::Compact };
    match way % 4 {
        0 => drop(walk::walk(StoredReader::new(bytes))),
        1 => round_trip(coding, bytes),
        _ => drop(walk::walk(StoredReader::new(&framed(coding, way, bytes)[..]))),
    }
});

fn framed(coding: BlockCoding, count: u8, content: &[u8]) -> Vec<u8> {
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    let (one, two) = content.split_at(content.len() / 2);
    for (stream, content) in [(0, one), (1, two), (0, two)] {
        let block = CodedBlock::from_parts(coding, u32::from(count) * 16 + 1, content.to_vec());
        writer.write(stream, &block).unwrap();
    }
    writer.finish(&Directory::default()).unwrap()
}

fn round_trip(coding: BlockCoding, bytes: &[u8]) {
    let branches: Vec<Branch> = bytes
        .chunks_exact(6)
        .map(|piece| {
            let class = BranchClass::from_bits(piece[0] & 15).unwrap_or(BranchClass::CONDITIONAL);
            let taken = piece[0] & 16 != 0 || !class.is_conditional();
            let target = u64::from(piece[2]) << (piece[0] >> 5);
            let pc = u64::from(piece[1]) | u64::from(piece[3]) << 56;
            Branch::new(pc, target, u32::from(piece[4] & 7), class, taken, u32::from(piece[5]))
        })
        .collect();
    let sites: Vec<BranchSite> =
        (0..8).map(|length| BranchSite { pc: 0, length, class: BranchClass::JUMP, target: None }).collect();
    let mut stream = StreamWriter::new(coding);
    stream.push::<TraceFault>(&sites, &branches, |_| Ok(())).unwrap();
    let Some(block) = stream.finish() else { return };
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    writer.write(0, &block).unwrap();
    let totals = StreamTotals { branches: branches.len() as u64, ..StreamTotals::default() };
    let file = writer.finish(&Directory { streams: vec![totals], ..Directory::default() }).unwrap();
    let read = walk::walk(StoredReader::new(&file[..])).expect("what was written is whole");
    assert_eq!(read.len(), branches.len());
    for (read, branch) in read.iter().zip(&branches) {
        let (class, taken) = (branch.class(), branch.taken());
        assert_eq!(
            *read,
            Branch::new(branch.pc, branch.target, read.site, class, taken, branch.instructions())
        );
    }
}
