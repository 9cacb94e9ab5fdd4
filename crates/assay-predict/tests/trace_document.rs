//! Is a stored trace what TRACE.md says, byte by byte?

use assay_predict::trace::source::TraceFault;
use assay_predict::trace::stored::{
    BlockCoding, Directory, LIVE, MAGIC, MAX_STREAMS, StoredWriter, StreamTotals, StreamWriter,
};
use assay_predict::trace::{Branch, BranchClass, BranchSite, TraceFormat};
use sha2::{Digest as _, Sha256};

fn document() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../TRACE.md"))
        .expect("TRACE.md lies at the root")
}

/// A loop of three rounds in each of two streams.
fn file() -> Vec<u8> {
    let site = BranchSite { pc: 0x1000, length: 2, class: BranchClass::CONDITIONAL, target: Some(0xff0) };
    let mut writer = StoredWriter::new(Vec::new()).unwrap();
    let mut directory = Directory { source: "a test".to_owned(), ..Directory::default() };
    for number in 0..2 {
        let mut stream = StreamWriter::default();
        for round in 0..3 {
            let branch = Branch::new(0x1000, 0xff0, 0, BranchClass::CONDITIONAL, round < 2, 5);
            stream.push::<TraceFault>(std::slice::from_ref(&site), &[branch], |_| Ok(())).unwrap();
        }
        writer.write(number, &stream.finish().unwrap()).unwrap();
        let (branches, instructions) = (stream.branches(), stream.instructions());
        directory.streams.push(StreamTotals { process: 0, thread: number, branches, instructions });
    }
    writer.finish(&directory).unwrap()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

#[test]
fn chunks_lie_as_the_document_says_and_each_checksum_covers_the_one_before() {
    let bytes = file();
    assert_eq!((&bytes[..7], bytes[7]), (&b"assaytr"[..], 2));
    let (mut before, mut at, mut kinds) = (bytes[..8].to_vec(), 8, Vec::new());
    while at < bytes.len() {
        let length = word(&bytes, at + 12) as usize;
        let content = &bytes[at + 24..at + 24 + length];
        let sum = Sha256::new()
            .chain_update(&before)
            .chain_update(&bytes[at..at + 16])
            .chain_update(content)
            .finalize();
        assert_eq!(sum[..8], bytes[at + 16..at + 24]);
        before = sum[..8].to_vec();
        kinds.push((word(&bytes, at), word(&bytes, at + 4), word(&bytes, at + 8)));
        at += 24 + length;
    }
    assert_eq!((at, kinds), (bytes.len(), vec![(3, 0, 3), (3, 1, 3), (2, 0, 0)]));
}

#[test]
fn a_block_in_columns_is_what_the_document_says() {
    let bytes = file();
    let content = &bytes[32..32 + word(&bytes, 20) as usize];
    let lengths = [3, 3, 5, 5, 1, 1, 3, 3];
    // Each branch is an event: no way on was known from its place.
    let tokens = [2 << 6; 3];
    let events = [
        // A new site, expected, taken; its class and length.
        [4 | 1 << 3 | 1 << 4, 1, 2].as_slice(),
        // The first site behind, expected, taken, as many instructions as the addresses say, the same target.
        &[2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6],
        // The site of the expected way, not taken, the same target.
        &[1 | 1 << 6],
    ]
    .concat();
    // Instructions of the first branch; its address, 0x1000 from the beginning, and its target, 16 before it, folded.
    let (numbers, distances) = ([5], [0x80, 0x2000_u32.wrapping_shr(7) as u8, 31]);
    assert_eq!(content, [&lengths[..], &tokens, &events, &numbers, &distances].concat());
}

#[test]
fn the_directory_is_what_the_document_says() {
    let bytes = file();
    let mut at = 8;
    while word(&bytes, at) != 2 {
        at += 24 + word(&bytes, at + 12) as usize;
    }
    let plain = zstd::decode_all(&bytes[at + 24..]).unwrap();
    let (source, numbers) = plain.split_at(8 + "a test".len());
    assert_eq!((source[..8].to_vec(), &source[8..]), (6u64.to_le_bytes().to_vec(), &b"a test"[..]));
    let numbers: Vec<u64> =
        numbers.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(numbers, [0, 2, 0, 0, 3, 15, 0, 1, 3, 15, 0], "nothing missing, two streams, no process");
}

#[test]
fn limits_and_names_in_the_document_are_those_of_the_code() {
    let text = document();
    for limit in [
        "below 65,536",
        "1 to 65,536",
        "1 to 262,144",
        "at most 2,097,152 bytes",
        "at most 4,194,304",
        "most 16 streams at a time",
        "at most 254 more",
        "134,217,727",
        "4,095",
    ] {
        assert!(text.contains(limit), "{limit}");
    }
    assert_eq!((MAX_STREAMS, LIVE, Branch::MAX_INSTRUCTIONS), (65_536, 16, 134_217_727));
    assert_eq!(BlockCoding::CODINGS.map(BlockCoding::max_branches), [65_536, 262_144]);
    assert_eq!(TraceFormat::Sbbt.longest_gap(), 4095);
    assert_eq!(MAGIC, *b"assaytr\x02");
    for format in TraceFormat::ALL {
        assert!(
            text.contains(&format!("`{format}`")) || text.contains(&format!("--from {format}`")),
            "{format}"
        );
    }
}
