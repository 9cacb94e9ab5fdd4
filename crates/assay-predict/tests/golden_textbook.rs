//! Do the textbook predictors do on whole streams what independent programs did?
//!
//! `gshare-32k` against the organisers' own gshare of CBP-2016 (fixtures/traces): counts, hashes of all predictions, and
//! where bit streams were kept each prediction. The others against a second implementation, written here from the
//! definition as plainly as can be.

use crate::golden::{STREAMS, StreamHash, golden, golden_bits, stream};
use assay_predict::predict::block::BLOCK;
use assay_predict::predict::gshare::{Gshare, LARGE, SMALL};
use assay_predict::predict::last_target::LastTarget;
use assay_predict::predict::perceptron::Perceptron;
use assay_predict::predict::tournament::Tournament;
use assay_predict::predict::two_level::TwoLevel;
use assay_predict::predict::{Block, BlockPredictor, PredictionKind, Tally, TargetPredictor, Zoo};
use assay_predict::trace::{Branch, BranchKind};
use std::collections::HashMap;

/// What a predictor says of each conditional branch, in blocks of changing length.
fn predictions(predictor: &mut impl BlockPredictor, stream: &[Branch]) -> Vec<bool> {
    let conditional: Vec<&Branch> = stream.iter().filter(|branch| branch.class().is_conditional()).collect();
    let (mut predictions, mut left) = (Vec::new(), &conditional[..]);
    for length in [64, 64, 1, 7, 8, 9, 63, 64, 33].into_iter().cycle() {
        let (these, others) = left.split_at(left.len().min(length));
        if these.is_empty() {
            break;
        }
        left = others;
        let block = Block::new(these.iter().map(|branch| (branch.pc, branch.taken())));
        let mut missed = [0; BLOCK];
        predictor.judge(&block, &mut missed);
        let wrong = block.missed(&missed);
        let bit = |nth: usize| wrong << nth >> 63 != 0;
        predictions.extend(these.iter().enumerate().map(|(nth, branch)| branch.taken() != bit(nth)));
    }
    predictions
}

#[test]
fn gshare_32k_makes_the_predictions_of_the_championships_program() {
    for name in STREAMS {
        let stream = stream(name).1;
        let expected = golden(name, "gshare32").expect("golden.csv has it for all streams");
        let predictions = predictions(&mut Gshare::<LARGE>::plain(17, 17), &stream);
        let mut hash = StreamHash::new();
        predictions.iter().for_each(|predicted| hash.take(u64::from(*predicted)));
        assert_eq!(predictions.len() as u64, expected.predicted, "{name}");
        assert_eq!(hash.value(), expected.hash, "{name}");
        if name != "synthetic_2M" {
            let bits = golden_bits(name, "gshare32");
            assert_eq!(predictions.iter().zip(&bits).position(|(ours, theirs)| ours != theirs), None);
        }
        let mut tally = Tally::new(1);
        Zoo::new(&["gshare-32k"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!(tally.missed(), [expected.missed], "{name}");
    }
}

/// The two streams that are quick to walk.
fn short_streams() -> [Vec<Branch>; 2] {
    [stream(STREAMS[0]).1, stream(STREAMS[1]).1]
}

/// Compares a predictor with a rule told of each conditional branch, which answers before it learns.
#[track_caller]
fn agrees(mut predictor: impl BlockPredictor, stream: &[Branch], mut rule: impl FnMut(u64, bool) -> bool) {
    let conditional = stream.iter().filter(|branch| branch.class().is_conditional());
    let found = predictions(&mut predictor, stream);
    let differs =
        conditional.zip(&found).position(|(branch, predicted)| rule(branch.pc, branch.taken()) != *predicted);
    assert_eq!(differs, None, "of {}", found.len());
}

/// Saturating counters that come into being when first asked for.
struct Counters {
    largest: i64,
    start: i64,
    counters: HashMap<u64, i64>,
}

impl Counters {
    fn new(bits: u32) -> Counters {
        Counters { largest: (1 << bits) - 1, start: 1 << (bits - 1), counters: HashMap::new() }
    }

    /// Whether the counter is in its upper half; then it counts.
    fn ask_and_count(&mut self, at: u64, up: bool) -> bool {
        let counter = self.counters.entry(at).or_insert(self.start);
        let upper = *counter >= self.start;
        *counter = (*counter + if up { 1 } else { -1 }).clamp(0, self.largest);
        upper
    }

    fn ask(&self, at: u64) -> bool {
        self.counters.get(&at).is_none_or(|counter| *counter >= self.start)
    }
}

/// The last outcomes as text, the oldest first: a history nobody can shift wrongly.
fn remembered(history: &mut String, taken: bool, length: usize) {
    history.push(if taken { '1' } else { '0' });
    history.drain(..history.len().saturating_sub(length));
}

fn number(history: &str) -> u64 {
    history.chars().fold(0, |number, outcome| number * 2 + u64::from(outcome == '1'))
}

/// The low bits of an address, each xor the one two places higher.
fn folded(pc: u64, bits: u32) -> u64 {
    (pc ^ (pc / 4)) % (1 << bits)
}

#[test]
fn bimodal_is_a_counter_per_address() {
    for stream in short_streams() {
        let mut counters = Counters::new(2);
        agrees(Gshare::<SMALL>::new(14, 0), &stream, |pc, taken| {
            counters.ask_and_count(folded(pc, 14), taken)
        });
    }
}

#[test]
fn gshare_is_a_counter_per_address_and_history() {
    for stream in short_streams() {
        let (mut counters, mut history) = (Counters::new(2), String::new());
        agrees(Gshare::<SMALL>::new(16, 16), &stream, |pc, taken| {
            let predicted = counters.ask_and_count(folded(pc, 16) ^ number(&history), taken);
            remembered(&mut history, taken, 16);
            predicted
        });
    }
}

#[test]
fn a_gshare_of_any_size_remembers_as_many_outcomes_as_it_is_told() {
    let stream = &short_streams()[0];
    let (mut counters, mut history) = (Counters::new(2), String::new());
    agrees(Gshare::<SMALL>::new(12, 5), stream, |pc, taken| {
        let predicted = counters.ask_and_count(folded(pc, 12) ^ number(&history), taken);
        remembered(&mut history, taken, 5);
        predicted
    });
}

#[test]
fn two_level_is_a_counter_per_history_of_the_branch() {
    for stream in short_streams() {
        let mut counters = Counters::new(2);
        let mut histories: HashMap<u64, String> = HashMap::new();
        agrees(TwoLevel::default(), &stream, |pc, taken| {
            let history = histories.entry(folded(pc, 12)).or_default();
            let predicted = counters.ask_and_count(number(history), taken);
            remembered(history, taken, 14);
            predicted
        });
    }
}

#[test]
fn the_tournament_chooses_between_its_own_and_the_common_history() {
    for stream in short_streams() {
        let (mut local, mut global, mut choice) = (Counters::new(3), Counters::new(2), Counters::new(2));
        let mut histories: HashMap<u64, String> = HashMap::new();
        let mut path = String::new();
        agrees(Tournament::default(), &stream, |pc, taken| {
            let history = histories.entry(folded(pc, 10)).or_default();
            let by_local = local.ask_and_count(number(history), taken);
            let by_global = global.ask_and_count(number(&path), taken);
            let believe_global = choice.ask(number(&path));
            if by_local != by_global {
                choice.ask_and_count(number(&path), by_global == taken);
            }
            remembered(history, taken, 10);
            remembered(&mut path, taken, 12);
            if believe_global { by_global } else { by_local }
        });
    }
}

#[test]
fn the_perceptron_sums_a_weight_per_stretch_of_history() {
    let stretches = [(0, 0), (0, 4), (0, 8), (0, 12), (8, 12), (18, 12), (30, 12), (44, 12)];
    for stream in short_streams() {
        let mut weights: HashMap<(usize, u64), i32> = HashMap::new();
        let mut history = "0".repeat(64);
        let (mut threshold, mut mistakes, mut corrections) = (8, 0, 0);
        agrees(Perceptron::default(), &stream, |pc, taken| {
            let address = (pc ^ (pc / 4)) ^ ((pc ^ (pc / 4)) / 4096);
            let rows: Vec<(usize, u64)> = stretches
                .iter()
                .enumerate()
                .map(|(table, (newer, length))| {
                    let end = history.len() - newer;
                    (table, (address ^ number(&history[end - length..end])) % 4096)
                })
                .collect();
            let sum: i32 = rows.iter().filter_map(|row| weights.get(row)).sum();
            let predicted = sum >= 0;
            if predicted != taken || sum.abs() < threshold {
                for row in rows {
                    let weight = weights.entry(row).or_insert(0);
                    *weight = (*weight + if taken { 1 } else { -1 }).clamp(-128, 127);
                }
                *(if predicted != taken { &mut mistakes } else { &mut corrections }) += 1;
                if mistakes - corrections == 64 || corrections - mistakes == 64 {
                    threshold += if mistakes > corrections { 1 } else { -1 };
                    (mistakes, corrections) = (0, 0);
                }
            }
            remembered(&mut history, taken, 64);
            predicted
        });
    }
}

#[test]
fn last_target_is_where_the_branch_last_went() {
    for stream in short_streams() {
        let mut predictor = LastTarget::default();
        let mut last: HashMap<u64, u64> = HashMap::new();
        let mut missed = 0;
        for branch in stream.iter().filter(|branch| branch.class().has_predicted_target()) {
            let at = folded(branch.pc, 12);
            let predicted = predictor.predict(branch.pc);
            assert_eq!(predicted, last.get(&at).copied().unwrap_or(0));
            predictor.train(branch, predicted);
            missed += u64::from(predicted != branch.target);
            last.insert(at, branch.target);
        }
        let mut tally = Tally::new(1);
        Zoo::new(&["last-target"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!((tally.missed(), missed > 0), (vec![missed], true));
        assert_eq!(tally.missed_of(PredictionKind::Target), [missed]);
    }
}

#[test]
fn return_stacks_lose_what_an_unlimited_one_with_their_depth_loses() {
    for (stream, unmatched) in short_streams().into_iter().zip([true, false]) {
        for depth in [8, 16, 32] {
            let mut open: Vec<u64> = Vec::new();
            let mut missed = 0;
            for branch in &stream {
                match branch.class().kind() {
                    BranchKind::Jump => {}
                    BranchKind::Call => open.push(branch.pc),
                    BranchKind::Return => {
                        let behind = open.pop().map(|call| branch.target.wrapping_sub(call));
                        missed += u64::from(!behind.is_some_and(|behind| (1..=15).contains(&behind)));
                    }
                }
                if open.len() > depth {
                    open.remove(0);
                }
            }
            let mut tally = Tally::new(1);
            Zoo::new(&[format!("return-stack-{depth}")]).expect("known").observe(&stream, &mut tally);
            assert_eq!(tally.missed(), [missed]);
            assert_eq!(missed > 0, unmatched, "all calls of the generated stream return");
        }
    }
}

#[test]
fn the_tally_agrees_with_a_count_by_hash_map() {
    let (sites, stream) = stream(STREAMS[0]);
    let mut tally = Tally::new(2);
    Zoo::new(&["always-taken", "backward-taken"]).expect("known").observe(&stream, &mut tally);
    let mut expected: HashMap<u32, [u64; 4]> = HashMap::new();
    for branch in &stream {
        let [executed, taken, always, backward] = expected.entry(branch.site).or_default();
        let conditional = branch.class().is_conditional();
        *executed += 1;
        *taken += u64::from(branch.taken());
        *always += u64::from(conditional && !branch.taken());
        *backward += u64::from(conditional && branch.taken() != (branch.target < branch.pc));
    }
    assert_eq!((tally.sites(), expected.len()), (sites.len(), sites.len()));
    for (site, at) in (0..).zip(&sites) {
        let [executed, taken, always, backward] = expected[&site];
        let found = tally.site(site);
        assert_eq!((found.executed, found.taken, found.missed), (executed, taken, vec![always, backward]));
        assert_eq!(tally.class(site), Some(at.class));
    }
    let conditional = stream.iter().filter(|branch| branch.class().is_conditional()).count() as u64;
    assert_eq!(tally.judged(PredictionKind::Direction), conditional);
    assert_eq!(tally.branches(), stream.len() as u64);
    let instructions: u64 = stream.iter().map(|branch| u64::from(branch.instructions())).sum();
    assert_eq!(tally.instructions, instructions);
}
