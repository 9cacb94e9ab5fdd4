//! The golden streams and what reference predictors made of them (fixtures/traces/README.md).

pub mod synthetic;
pub mod wild;

use assay_predict::trace::{Branch, BranchSite, sbbt};
use std::path::PathBuf;

/// The streams by the names that golden.csv has for them.
pub const STREAMS: [&str; 3] = ["CBP-NG/gcc_test", "synthetic_200k", "synthetic_2M"];

fn read_compressed(below_fixtures: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(below_fixtures);
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    zstd::decode_all(file).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A stream with its sites.
pub fn stream(name: &str) -> (Vec<BranchSite>, Vec<Branch>) {
    match name {
        "CBP-NG/gcc_test" => sbbt::decode(&read_compressed("cbp-ng_gcc.sbbt.zst")).unwrap(),
        "synthetic_200k" => sbbt::decode(&read_compressed("synthetic_200k.sbbt.zst")).unwrap(),
        "synthetic_2M" => sbbt::decode(&synthetic::sbbt(2_000_000)).unwrap(),
        _ => panic!("no golden stream is named {name}"),
    }
}

/// What a reference predictor made of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Golden {
    /// Branches that it judged.
    pub predicted: u64,
    /// Those it got wrong.
    pub missed: u64,
    /// Hash of its predictions ([`StreamHash`]).
    pub hash: u64,
}

/// The row of golden.csv, if it has one.
pub fn golden(stream: &str, predictor: &str) -> Option<Golden> {
    let table = include_str!("../../../../fixtures/traces/golden/golden.csv");
    table.lines().skip(1).find_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0] == stream && cells[1] == predictor).then(|| Golden {
            predicted: cells[3].parse().unwrap(),
            missed: cells[4].parse().unwrap(),
            hash: u64::from_str_radix(cells[5], 16).unwrap(),
        })
    })
}

/// The reference's predictions one by one (the first two streams only): predicted taken, or target correct.
pub fn golden_bits(stream: &str, predictor: &str) -> Vec<bool> {
    let short = match stream {
        "CBP-NG/gcc_test" => "NGgcc",
        "synthetic_200k" => "SYN200k",
        _ => panic!("no bit stream of {stream} was kept"),
    };
    let bytes = read_compressed(&format!("golden/{short}.{predictor}.bits.zst"));
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 != 0)).collect()
}

/// The hash over a stream of predictions: FNV-1a's arithmetic over values instead of bytes.
pub struct StreamHash(u64);

impl StreamHash {
    /// Of no prediction yet.
    pub fn new() -> StreamHash {
        StreamHash(1_469_598_103_934_665_603)
    }

    /// Takes in a prediction: 0 or 1 for a direction, the target for an indirect branch.
    pub fn take(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(1_099_511_628_211);
    }

    /// The hash so far.
    pub fn value(&self) -> u64 {
        self.0
    }
}
