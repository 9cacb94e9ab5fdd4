//! What does reading cost per branch, with the file in memory and no predictor behind it?
//!
//! Method: the golden streams as SBBT and in our own format, read batch by batch into the same batch; formats take turns.
//! A figure is the median over the repeats, and in brackets the least. Usage: reading_speed [REPEATS]

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../../crates/assay-predict/tests/golden/mod.rs"]
mod golden;

use assay_predict::trace::sbbt::{SbbtLayout, SbbtReader, SbbtWriter};
use assay_predict::trace::source::{Batch, TraceFault, TraceSource};
use assay_predict::trace::stored::{Directory, StoredReader, StoredWriter, StreamTotals, StreamWriter};
use assay_predict::trace::{Branch, BranchSite};
use std::time::Instant;

fn main() {
    let repeats: usize = std::env::args().nth(1).map_or(9, |repeats| repeats.parse().expect("a number"));
    println!("| ns per branch | SBBT | our own |\n|---|---|---|");
    for name in golden::STREAMS {
        let (sites, branches) = golden::stream(name);
        let (sbbt, own) = (as_sbbt(&branches), as_own(&sites, &branches));
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..repeats {
            let mut reader = SbbtReader::new(&sbbt[..], SbbtLayout::Documented).expect("SBBT");
            times[0].push(timed(&mut reader, branches.len()));
            let mut reader = StoredReader::new(&own[..]).expect("our own format");
            times[1].push(timed(&mut reader, branches.len()));
        }
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        let [sbbt, own] = times.map(|times| format!("{:.2} ({:.2})", times[repeats / 2], times[0]));
        println!("| {name} | {sbbt} | {own} |");
    }
}

fn as_sbbt(branches: &[Branch]) -> Vec<u8> {
    let instructions = branches.iter().map(|branch| u64::from(branch.instructions())).sum();
    let mut bytes = Vec::new();
    let mut writer = SbbtWriter::new(&mut bytes, instructions, branches.len() as u64).expect("memory");
    writer.write(branches).expect("memory");
    bytes
}

fn as_own(sites: &[BranchSite], branches: &[Branch]) -> Vec<u8> {
    let mut writer = StoredWriter::new(Vec::new()).expect("memory");
    let mut stream = StreamWriter::default();
    stream
        .push(sites, branches, |block| writer.write(0, &block).map_err(|_| TraceFault::Empty))
        .expect("memory");
    if let Some(block) = stream.finish() {
        writer.write(0, &block).expect("memory");
    }
    let totals = StreamTotals { branches: branches.len() as u64, ..StreamTotals::default() };
    writer.finish(&Directory { streams: vec![totals], ..Directory::default() }).expect("memory")
}

fn timed(reader: &mut impl TraceSource, branches: usize) -> f64 {
    let mut batch = Batch::default();
    let start = Instant::now();
    let mut have = 0;
    while reader.next(&mut batch).expect("a whole file") {
        have += std::hint::black_box(&batch.branches).len();
    }
    assert_eq!(have, branches);
    start.elapsed().as_nanos() as f64 / branches as f64
}
