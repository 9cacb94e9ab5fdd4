//! What does reading cost per branch, with the file in memory and no predictor behind it?
//!
//! Method: the golden streams as SBBT and in our own format, read batch by batch into the same batch; formats take turns.
//! Beside it what writing our own costs, all of it, and the bits per branch.
//! A figure is the median over the repeats, and in brackets the least. Usage: reading_speed [REPEATS [FILE...]]
//! Files are uncompressed SBBT, in place of the golden streams.

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../../crates/assay-predict/tests/golden/mod.rs"]
mod golden;

use assay_predict::trace::sbbt::{self, SbbtLayout, SbbtReader, SbbtWriter};
use assay_predict::trace::source::{Batch, TraceFault, TraceSource};
use assay_predict::trace::stored::{
    BlockCoding, Directory, StoredReader, StoredWriter, StreamTotals, StreamWriter,
};
use assay_predict::trace::{Branch, BranchSite};
use std::time::Instant;

const CODINGS: [BlockCoding; 2] = [BlockCoding::Columns, BlockCoding::Compact];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let repeats: usize = arguments.next().map_or(9, |repeats| repeats.parse().expect("a number"));
    let files: Vec<String> = arguments.collect();
    let names = if files.is_empty() { golden::STREAMS.map(str::to_owned).to_vec() } else { files.clone() };
    println!(
        "| ns per branch | SBBT | our own | compact | our own written | compact written | bits | compact |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in names {
        let (sites, branches) = if files.is_empty() { golden::stream(&name) } else { of_file(&name) };
        let count = branches.len() as f64;
        let sbbt = as_sbbt(&branches);
        let (mut read, mut written) = ([const { Vec::new() }; 3], [const { Vec::new() }; 2]);
        let mut bits = [0.0; 2];
        for _ in 0..repeats {
            let mut reader = SbbtReader::new(&sbbt[..], SbbtLayout::Documented).expect("SBBT");
            read[0].push(timed(&mut reader, branches.len()));
            for (at, coding) in CODINGS.into_iter().enumerate() {
                let start = Instant::now();
                let own = as_own(coding, &sites, &branches);
                written[at].push(start.elapsed().as_nanos() as f64 / count);
                bits[at] = own.len() as f64 * 8.0 / count;
                let mut reader = StoredReader::new(&own[..]).expect("our own format");
                read[at + 1].push(timed(&mut reader, branches.len()));
            }
        }
        let times: Vec<String> = read.into_iter().chain(written).map(said).collect();
        println!("| {name} | {} | {:.3} | {:.3} |", times.join(" | "), bits[0], bits[1]);
    }
}

fn of_file(path: &str) -> (Vec<BranchSite>, Vec<Branch>) {
    let bytes = std::fs::read(path).expect("a file that can be read");
    sbbt::decode(&bytes).expect("uncompressed SBBT")
}

/// The median, and in brackets the least.
fn said(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2})", times[times.len() / 2], times[0])
}

fn as_sbbt(branches: &[Branch]) -> Vec<u8> {
    let instructions = branches.iter().map(|branch| u64::from(branch.instructions())).sum();
    let mut bytes = Vec::new();
    let mut writer = SbbtWriter::new(&mut bytes, instructions, branches.len() as u64).expect("memory");
    writer.write(branches).expect("memory");
    bytes
}

fn as_own(coding: BlockCoding, sites: &[BranchSite], branches: &[Branch]) -> Vec<u8> {
    let mut writer = StoredWriter::new(Vec::new()).expect("memory");
    let mut stream = StreamWriter::new(coding);
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
