//! The samples of a page, small enough to be part of it.
//!
//! Method: four bytes of time and two of round for each sample, in base 64. Beyond [`MOST`] samples each strip keeps its fastest, its
//! slowest and evenly spaced ones between them in order of time, so that what is drawn has the distribution of all; the page says so.

use super::base64;
use crate::csv::{END, field};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Samples in one page: with them it stays below 2 MB.
const MOST: usize = 120_000;
/// What a strip keeps at least, if it has as many.
const LEAST: usize = 5;
/// Beside a round's number: it was left out of the estimates.
const LEFT_OUT: u16 = 0x8000;

/// One variant of one cell at one placement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripsOf {
    /// The cell, among [`Strips::cells`].
    pub cell: usize,
    /// The order of the functions; none: as built.
    pub rotation: Option<u32>,
    /// Of the entry in its 64-byte line, or what stands for it.
    pub offset: u64,
    /// In order of execution: the time, the round, whether it was left out.
    pub samples: Vec<(f64, u32, bool)>,
}

/// A strip as written: cell, rotation, offset, samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strip(usize, Option<u32>, u64, String);

/// All samples of what is shown.
#[derive(Clone, Debug)]
pub struct AllStrips {
    columns: Vec<&'static str>,
    cells: Vec<Vec<String>>,
    /// "ns per byte".
    quantity: String,
    strips: Vec<StripsOf>,
}

/// The samples of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strips {
    /// What the names of a cell are; the first is what is compared.
    pub columns: Vec<String>,
    /// The cells' names.
    pub cells: Vec<Vec<String>>,
    /// What was measured: `ns per byte`.
    pub quantity: String,
    /// All samples.
    pub total: u64,
    /// Those in the page.
    pub drawn: u64,
    /// What the reader must know of them.
    pub note: String,
    /// The command that writes all of them.
    pub all: Option<String>,
    /// The samples.
    pub strips: Vec<Strip>,
}

impl AllStrips {
    /// Samples of these cells, which are of `quantity` ("ns") per `unit`; the first column of a cell is what is compared.
    pub fn new(
        columns: &[&'static str],
        cells: Vec<Vec<String>>,
        quantity: &str,
        unit: Option<&str>,
        strips: Vec<StripsOf>,
    ) -> Self {
        let per = unit.map(|unit| format!(" per {unit}")).unwrap_or_default();
        let strips = strips.into_iter().filter(|strip| !strip.samples.is_empty()).collect();
        Self { columns: columns.to_vec(), cells, quantity: format!("{quantity}{per}"), strips }
    }

    /// As many of them as a page holds.
    pub fn thinned(self) -> Strips {
        let total: usize = self.strips.iter().map(|strip| strip.samples.len()).sum();
        let most = MOST.saturating_sub(LEAST * self.strips.len()).max(1);
        let part = if total > MOST { most as f64 / total as f64 } else { 1.0 };
        let mut drawn = 0;
        let mut strips = Vec::with_capacity(self.strips.len());
        for mut strip in self.strips {
            thin(&mut strip.samples, part);
            drawn += strip.samples.len();
            strips.push(Strip(strip.cell, strip.rotation, strip.offset, packed(&strip.samples)));
        }
        Strips {
            columns: self.columns.iter().map(|&name| name.to_owned()).collect(),
            cells: self.cells,
            quantity: self.quantity,
            total: total as u64,
            drawn: drawn as u64,
            note: note(total, drawn),
            all: None,
            strips,
        }
    }

    /// A row for each sample (RFC 4180).
    pub fn csv(&self) -> String {
        let heads = self.columns.iter().map(|&name| name.to_owned());
        let more = ["rotation", "entry_offset", "round", &self.quantity.replace(' ', "_"), "left_out"]
            .map(str::to_owned);
        let mut text = heads.chain(more).map(|name| field(&name)).collect::<Vec<_>>().join(",") + END;
        for strip in &self.strips {
            let names: Vec<String> = self.cells[strip.cell].iter().map(|name| field(name)).collect();
            let rotation = strip.rotation.map_or("as built".to_owned(), |rotation| rotation.to_string());
            let cell = format!("{},{rotation},{}", names.join(","), strip.offset);
            for (time, round, out) in &strip.samples {
                let _ = write!(text, "{cell},{round},{time},{}{END}", u8::from(*out));
            }
        }
        text
    }
}

fn note(total: usize, drawn: usize) -> String {
    let count = |number: usize| assay_pure::words::count(number as u64);
    if drawn == total {
        return format!(
            "All {} samples are drawn, those that were left out of the estimates in grey.",
            count(total)
        );
    }
    format!(
        "{} of {} samples are drawn: of each line the fastest, the slowest and evenly spaced ones between them.",
        count(drawn),
        count(total)
    )
}

/// Keeps this part of the samples, in their order.
fn thin(samples: &mut Vec<(f64, u32, bool)>, part: f64) {
    let keep = ((samples.len() as f64 * part) as usize).max(LEAST.min(samples.len()));
    if keep >= samples.len() {
        return;
    }
    // Times and places side by side: sorting places alone would look each time up where it lies.
    let mut order: Vec<(f64, usize)> = samples.iter().map(|sample| sample.0).zip(0..).collect();
    order.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let last = order.len() - 1;
    let mut kept: Vec<usize> = (0..keep).map(|at| order[at * last / (keep - 1).max(1)].1).collect();
    kept.sort_unstable();
    kept.dedup();
    *samples = kept.into_iter().map(|at| samples[at]).collect();
}

/// What is drawn has seven digits; the table has all of them.
fn packed(samples: &[(f64, u32, bool)]) -> String {
    let times = samples.iter().flat_map(|(time, ..)| (*time as f32).to_le_bytes());
    let round = |&(_, round, out): &(f64, u32, bool)| {
        // Rounds beyond what 15 bits hold are not told apart.
        let round = round.min(u32::from(LEFT_OUT - 1)) as u16;
        (if out { round | LEFT_OUT } else { round }).to_le_bytes()
    };
    base64(&times.chain(samples.iter().flat_map(round)).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: usize, of: usize) -> AllStrips {
        let strip = |rotation: usize| StripsOf {
            cell: 0,
            rotation: Some(rotation as u32),
            offset: 16,
            samples: (0..of).map(|at| (((at * 7919) % of) as f64, at as u32, at % 10 == 0)).collect(),
        };
        let cells = vec![vec!["a".to_owned()]];
        AllStrips::new(&["variant"], cells, "ns", Some("byte"), (0..count).map(strip).collect())
    }

    fn strips(count: usize, of: usize) -> Strips {
        all(count, of).thinned()
    }

    #[test]
    fn a_few_samples_are_all_there_in_their_order() {
        let found = strips(2, 3);
        assert_eq!((found.total, found.drawn, found.strips.len()), (6, 6, 2));
        assert!(found.note.starts_with("All 6 samples"), "{}", found.note);
        // 0, 1 (7919 mod 3 = 2, ...) as four bytes each, then rounds 0 (left out), 1, 2.
        let times = [0.0_f32, 2.0, 1.0].iter().flat_map(|time| time.to_le_bytes());
        let bytes: Vec<u8> = times.chain([0x00, 0x80, 1, 0, 2, 0]).collect();
        assert_eq!(found.strips[0], Strip(0, Some(0), 16, base64(&bytes)));
    }

    #[test]
    fn a_million_samples_keep_their_extremes_and_stay_small() {
        let found = strips(100, 10_000);
        assert_eq!(found.total, 1_000_000);
        assert!((100_000..=MOST as u64).contains(&found.drawn), "{}", found.drawn);
        assert!(found.note.contains("of 1,000,000 samples are drawn"), "{}", found.note);
        let size: usize = found.strips.iter().map(|strip| strip.3.len()).sum();
        assert!(size < 1_000_000, "{size}");
        let mut one: Vec<(f64, u32, bool)> =
            (0..10_000).map(|at| (f64::from((at * 7919) % 10_000), at, false)).collect();
        thin(&mut one, 0.1);
        let times = || one.iter().map(|sample| sample.0);
        assert_eq!((times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max)), (0.0, 9_999.0));
        assert_eq!(one.len(), 1000);
        assert!(one.windows(2).all(|pair| pair[0].1 < pair[1].1), "in order of execution");
    }

    #[test]
    fn many_short_strips_stay_small_too() {
        let found = strips(20_000, 50);
        assert!(found.drawn <= MOST as u64, "{}", found.drawn);
    }

    #[test]
    fn a_table_has_a_row_for_each_sample_and_no_formula() {
        let mut two = all(1, 2);
        two.cells[0][0] = "=a,\"b\"".into();
        two.strips[0].samples[1].0 = 1.000_000_01;
        let rows = "variant,rotation,entry_offset,round,ns_per_byte,left_out\r\n\"'=a,\"\"b\"\"\",0,16,0,0,1\r\n\"'=a,\"\"b\"\"\",0,16,1,1.00000001,0\r\n";
        assert_eq!(two.csv(), rows);
    }
}
