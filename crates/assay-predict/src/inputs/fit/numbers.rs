//! A generator found for recorded numbers: which of those that there are, with which parameters, makes the statistics that
//! branches depend on.
//!
//! Each generator whose parameters can be read off the recording (`candidates`) makes as many numbers, and the one whose
//! statistics (`statistics`) come nearest is taken. Two branches are then put to simulated predictors, on the recording and
//! on fitted streams, by the rules of `closeness`: whether a number is below the one before it, as sorts and merges ask, and
//! whether it is below the recorded median, as filters and searches ask. The second tells a walk, whose comparisons may be
//! coin tosses, from independent draws.
//!
//! A statistic is refused where the mean of the fitted streams is off by more than the margin and the recorded one lies
//! outside all of them. There is no interval: at [`FEWEST_UNITS`](super::structure::FEWEST_UNITS) a rate of 20 % is known to
//! 4 %, so a margin below that may refuse the very source of the data, or take its neighbour.
//!
//! Known limits: only the first [`MOST_UNITS`] numbers are looked at. A mixture of two generators is near none of them. Numbers
//! whose statistics agree may still differ in what none of them sees, such as their lowest digits.
//! Checked: what each generator makes is found again with its parameters; walks, mixtures and repeated stretches are refused.

mod candidates;
mod statistics;

use super::closeness::{BLOCKS, BranchCondition, Closeness, compare};
use super::structure::FEWEST_UNITS;
use super::{FitRefusal, MOST_UNITS};
use crate::inputs::kinds::InputRecipe;
use crate::inputs::period::period;
use crate::inputs::{Format, FormatError, NumberType};
use crate::predict::UnknownPredictor;
use statistics::{Statistics, compared};

/// Streams that are made of the generator that is taken.
const STREAMS: u64 = 3;

/// Two values in turn are made by a generator; what repeats after more is a stretch.
const LONGEST_PATTERN: usize = 2;

/// Recorded numbers as far as they are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedNumbers {
    /// Their type.
    pub number: NumberType,
    /// Where each stands in the order of the type; `None` of what is not a number.
    pub keys: Vec<Option<u64>>,
    /// Numbers of the whole recording.
    pub units: u64,
}

impl RecordedNumbers {
    /// Reads numbers of a type.
    ///
    /// # Errors
    /// The bytes end within a number.
    pub fn read(bytes: &[u8], number: NumberType) -> Result<RecordedNumbers, FormatError> {
        let units = Format::Numbers(number).count(bytes)?;
        Ok(RecordedNumbers { number, keys: number.keys(bytes).take(MOST_UNITS).collect(), units })
    }

    /// What a recipe makes of as many from a seed.
    fn made(&self, recipe: &InputRecipe, seed: u64) -> Vec<Option<u64>> {
        self.number.keys(&recipe.generate(self.keys.len() as u64, seed)).collect()
    }
}

/// One statistic of the recording and of what was fitted to it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitStatistic {
    /// What it is.
    pub name: String,
    /// Of the recording.
    pub recorded: f64,
    /// Of the fitted streams, their mean.
    pub fitted: f64,
    /// The most by which they may differ.
    pub allowed: f64,
    /// They do not differ by more, or the recording lies among the fitted streams.
    pub close: bool,
}

/// A branch on both streams.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchCloseness {
    /// What the branch asks of a number.
    pub asks: String,
    /// Both streams before simulated predictors.
    pub closeness: Closeness,
}

/// What was found for recorded numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedNumbers {
    /// The generator that comes nearest; none where none has parameters for such numbers.
    pub recipe: Option<InputRecipe>,
    /// How near, by statistic.
    pub statistics: Vec<FitStatistic>,
    /// How near, by branch.
    pub branches: Vec<BranchCloseness>,
    /// Why not to use it.
    pub refusals: Vec<NumbersRefusal>,
}

/// A reason not to use a generator in the place of recorded numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum NumbersRefusal {
    /// There are too few numbers.
    FewUnits {
        /// There are.
        have: u64,
        /// It takes.
        need: u64,
    },
    /// A stretch is repeated.
    Repeats {
        /// Its numbers.
        period: u64,
        /// Numbers looked at.
        units: u64,
    },
    /// No generator has parameters for such numbers.
    None,
    /// A statistic of the nearest generator is not that of the recording.
    Statistic {
        /// The nearest generator.
        generator: &'static str,
        /// The statistic.
        statistic: FitStatistic,
    },
    /// A branch behaves differently.
    Branch {
        /// What it asks.
        asks: String,
        /// What differs.
        refusal: FitRefusal,
    },
}

impl std::fmt::Display for NumbersRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumbersRefusal::FewUnits { have, need } => {
                write!(
                    f,
                    "there are only {have} numbers, and it takes {need} to tell their order from chance"
                )
            }
            NumbersRefusal::Repeats { period, units } => write!(
                f,
                "the numbers repeat every {period} units ({:.1} times): predictors memorise them",
                *units as f64 / *period as f64
            ),
            NumbersRefusal::None => f.write_str("no generator makes such numbers"),
            NumbersRefusal::Statistic { generator, statistic } => write!(
                f,
                "no generator is near: the nearest, {generator}, differs in \"{}\": {} recorded, {} fitted, {} allowed between \
                 them",
                statistic.name,
                digits(statistic.recorded),
                digits(statistic.fitted),
                digits(statistic.allowed)
            ),
            NumbersRefusal::Branch { asks, refusal } => {
                write!(f, "a branch on whether a number is {asks} behaves differently: {refusal}")
            }
        }
    }
}

impl NumbersRefusal {
    /// What to do instead.
    pub fn remedy(&self) -> &'static str {
        match self {
            NumbersRefusal::FewUnits { .. } => "record more of the same",
            NumbersRefusal::Repeats { .. } => {
                "record a longer one that does not repeat; if it is meant to be memorised, fit a longer recording of the same kind and set \
                 distinct_units to the length of the stretch"
            }
            NumbersRefusal::Branch { refusal: FitRefusal::Changes { .. }, .. } => {
                "cut the recording where it changes and fit each part, or use the recording itself"
            }
            NumbersRefusal::Branch { refusal: FitRefusal::Figure { says, .. }, .. }
                if *says == super::FigureComparison::Unsure =>
            {
                "record more numbers, or allow more with --margin"
            }
            _ => "use the recording itself (path), or make such numbers with your own command (command)",
        }
    }
}

/// A figure of any size, with three digits.
fn digits(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-3 || value.abs() >= 1e7) {
        format!("{value:.2e}")
    } else {
        let decimals = if value == 0.0 { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 5.0) };
        format!("{value:.*}", decimals as usize)
    }
}

/// Finds a generator for recorded numbers.
///
/// Input: numbers; the predictors that decide the branches, at least one; the share by which a figure may differ. Where
/// `anyway` is set, the nearest generator is looked for and compared whatever speaks against it beforehand.
/// Cost: for a million numbers about a second for the generators, and what the predictors take for eight streams.
///
/// # Errors
/// A name that no predictor has.
pub fn fit<S: AsRef<str>>(
    recorded: &RecordedNumbers,
    predictors: &[S],
    margin: f64,
    anyway: bool,
) -> Result<FittedNumbers, UnknownPredictor> {
    let mut found = FittedNumbers {
        recipe: None,
        statistics: Vec::new(),
        branches: Vec::new(),
        refusals: beforehand(recorded),
    };
    if recorded.keys.is_empty() || !(found.refusals.is_empty() || anyway) {
        return Ok(found);
    }
    let real = Statistics::of(recorded.number, &recorded.keys);
    let Some(recipe) = nearest(recorded, &real, margin) else {
        found.refusals.push(NumbersRefusal::None);
        return Ok(found);
    };
    let fitted: Vec<Statistics> =
        (1..=STREAMS).map(|seed| Statistics::of(recorded.number, &recorded.made(&recipe, seed))).collect();
    found.statistics = compared(&real, &fitted, margin);
    let generator = recipe.kind().name;
    let apart = found.statistics.iter().filter(|statistic| !statistic.close);
    found
        .refusals
        .extend(apart.map(|statistic| NumbersRefusal::Statistic { generator, statistic: statistic.clone() }));
    if recorded.keys.len() >= BLOCKS && (found.refusals.is_empty() || anyway) {
        for (asks, outcome) in questions(&real) {
            let of = |keys: &[Option<u64>]| outcomes(keys, &outcome);
            let stream = |seed| of(&recorded.made(&recipe, seed));
            let closeness =
                compare(BranchCondition::Comparison, &of(&recorded.keys), stream, predictors, margin)?;
            let refusals = closeness.refusals().into_iter();
            found
                .refusals
                .extend(refusals.map(|refusal| NumbersRefusal::Branch { asks: asks.clone(), refusal }));
            found.branches.push(BranchCloseness { asks, closeness });
        }
    }
    found.recipe = Some(recipe);
    Ok(found)
}

fn beforehand(recorded: &RecordedNumbers) -> Vec<NumbersRefusal> {
    let units = recorded.keys.len();
    let mut refusals = Vec::new();
    if units < FEWEST_UNITS {
        refusals.push(NumbersRefusal::FewUnits { have: units as u64, need: FEWEST_UNITS as u64 });
    }
    let period = period(&recorded.keys);
    if period > LONGEST_PATTERN && period <= units / 2 {
        refusals.push(NumbersRefusal::Repeats { period: period as u64, units: units as u64 });
    }
    refusals
}

/// The candidate whose statistics come nearest: the first of those that are all close, in their order, as the simplest
/// come first; else the one whose worst statistic is the least off.
fn nearest(recorded: &RecordedNumbers, real: &Statistics, margin: f64) -> Option<InputRecipe> {
    let mut best: Option<(f64, InputRecipe)> = None;
    for recipe in candidates::candidates(recorded, real) {
        let made = [Statistics::of(recorded.number, &recorded.made(&recipe, 1))];
        let off = |statistic: &FitStatistic| {
            let difference = (statistic.fitted - statistic.recorded).abs();
            if difference == 0.0 { 0.0 } else { difference / statistic.allowed.max(1e-12) }
        };
        let worst = compared(real, &made, margin).iter().map(off).fold(0.0, f64::max);
        if worst <= 1.0 {
            return Some(recipe);
        }
        if best.as_ref().is_none_or(|(least, _)| worst < *least) {
            best = Some((worst, recipe));
        }
    }
    best.map(|(_, recipe)| recipe)
}

/// A question that a branch asks of a number and the one before it.
enum Outcome {
    BelowLast,
    Below(u64),
}

fn questions(real: &Statistics) -> Vec<(String, Outcome)> {
    let mut questions = vec![("below the one before it".to_owned(), Outcome::BelowLast)];
    if let Some((key, shown)) = &real.middle {
        questions.push((format!("below {shown}"), Outcome::Below(*key)));
    }
    questions
}

/// The answers as symbols: 2 is yes.
fn outcomes(keys: &[Option<u64>], outcome: &Outcome) -> Vec<u8> {
    let below = |a: Option<u64>, b: Option<u64>| 1 + u8::from(a.zip(b).is_some_and(|(a, b)| a < b));
    match outcome {
        Outcome::BelowLast => keys.windows(2).map(|pair| below(pair[1], pair[0])).collect(),
        Outcome::Below(key) => keys.iter().map(|&number| below(number, Some(*key))).collect(),
    }
}

#[cfg(test)]
mod tests;
