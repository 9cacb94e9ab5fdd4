//! Whole numbers by their order: ascending, descending, nearly sorted, in runs, a permutation.

use super::integers::{FIRST, MAX, MIN, from_least, holds};
use super::{ArgumentError, Arguments, Domain, Kind, NUMBERS, Parameter, Preset};
use crate::inputs::draw::Draw;
use lists::Lists;

mod insertions;
mod lists;

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "ascending",
        says: "integers evenly spaced from min up to max",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[MIN, MAX],
        check: |arguments, _| arguments.range().map(|_| ()),
        make: |arguments, units, _| spaced(arguments, units, |rank, _| rank),
    },
    Kind {
        name: "descending",
        says: "integers evenly spaced from max down to min",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[MIN, MAX],
        check: |arguments, _| arguments.range().map(|_| ()),
        make: |arguments, units, _| spaced(arguments, units, |rank, last| last - rank),
    },
    Kind {
        name: "nearly_sorted",
        says: "integers evenly spaced from min to max, ascending but for exactly so many inversions",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "inversions",
                says: "pairs of values that are in the wrong order, of the whole input",
                domain: Domain::Whole(0, i64::MAX as i128),
                preset: Preset::Whole(1000),
                example: "inversions = 1000",
            },
            MIN,
            MAX,
        ],
        check: check_nearly,
        make: nearly_sorted,
    },
    Kind {
        name: "runs",
        says: "ascending stretches of integers from min to max, each beginning below the end of the one before",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "length",
                says: "values of each stretch",
                domain: Domain::Whole(2, 1_000_000_000),
                preset: Preset::Whole(32),
                example: "length = 32",
            },
            MIN,
            MAX,
        ],
        check: check_runs,
        make: runs,
    },
    Kind {
        name: "permutation",
        says: "each integer from min on once, in random order",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[FIRST],
        check: |arguments, units| {
            let last = arguments.whole("min") + i128::from(units) - 1;
            holds(arguments.number_type(), last, "units")
        },
        make: permutation,
    },
];

/// Distances from the least value, evenly spaced over so many ranks: rank × span / (ranks - 1), without a division for each.
struct Spacing {
    step: u64,
    rest: u64,
    gaps: u64,
}

impl Spacing {
    fn new(arguments: &Arguments, units: u64) -> Spacing {
        let span = (arguments.whole("max") - arguments.whole("min")) as u64;
        let gaps = units.max(2) - 1;
        Spacing { step: span / gaps, rest: span % gaps, gaps }
    }

    fn distance(&self, rank: u64) -> u64 {
        // The rest times the rank is below 2^60, as both are below 10^9.
        rank * self.step + self.rest * rank / self.gaps
    }
}

fn spaced(arguments: &Arguments, units: u64, place: fn(u64, u64) -> u64) -> Vec<u8> {
    let spacing = Spacing::new(arguments, units);
    let mut ranks = 0..units;
    from_least(arguments.number_type(), units, arguments.whole("min"), || {
        spacing.distance(place(ranks.next().expect("one for each unit"), units - 1))
    })
}

/// The most inversions of so many values: all pairs.
fn pairs(units: u64) -> u64 {
    (u128::from(units) * u128::from(units.saturating_sub(1)) / 2) as u64
}

fn check_nearly(arguments: &Arguments, units: u64) -> Result<(), ArgumentError> {
    let (min, max) = arguments.range()?;
    if max - min < i128::from(units) - 1 {
        let message = format!(
            "{units} different values are needed, but there are {} from {min} to {max}",
            max - min + 1
        );
        return Err(ArgumentError::new("max", message));
    }
    let inversions = arguments.whole("inversions") as u64;
    if inversions <= pairs(units) {
        return Ok(());
    }
    let message = format!("{units} values have {} pairs, fewer than {inversions} inversions", pairs(units));
    Err(ArgumentError::new("inversions", message))
}

fn nearly_sorted(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    // Of a beginning of the input only so many can be wrong.
    let inversions = (arguments.whole("inversions") as u64).min(pairs(units));
    let mut ranks = disordered(units, inversions, draw);
    let spacing = Spacing::new(arguments, units);
    from_least(arguments.number_type(), units, arguments.whole("min"), || {
        spacing.distance(u64::from(ranks.next().expect("one for each unit")))
    })
}

/// A permutation of 0, 1, ... with exactly so many inversions, spread at random.
fn disordered(units: u64, inversions: u64, draw: &mut Draw) -> impl ExactSizeIterator<Item = u32> + use<> {
    // Beyond half of all pairs, what is drawn is the pairs that are in order.
    let mirrored = inversions > pairs(units) / 2;
    let wanted = if mirrored { pairs(units) - inversions } else { inversions };
    let mut earlier = earlier_greater(units, wanted, draw);
    if mirrored {
        (0..).zip(&mut earlier).for_each(|(at, count)| *count = at - *count);
    }
    insertions::inserted(&earlier)
}

/// What is missing up to so much is made up for one by one.
const NEAR: u64 = 1 << 22;

/// How many greater values come before each, with this sum: each first drawn evenly up to a common bound. The sum then is off
/// by about sqrt(units) times a third of the bound. Counts at random are drawn again, and kept if that brings the sum nearer,
/// until it is near; then counts are raised or lowered at random by one until the sum is right. At most half of all pairs.
fn earlier_greater(units: u64, wanted: u64, draw: &mut Draw) -> Vec<u32> {
    let expected = |bound: u64| {
        let (short, long) = (bound.min(units), units.saturating_sub(bound));
        (pairs(short) + bound * long) / 2
    };
    // The largest bound whose expected sum is not above what is wanted.
    let (mut bound, mut beyond) = (0, units + 1);
    while beyond - bound > 1 {
        let middle = (bound + beyond) / 2;
        if expected(middle) <= wanted { bound = middle } else { beyond = middle }
    }
    let mut counts: Vec<u32> = (0..units).map(|at| draw.below(at.min(bound) + 1) as u32).collect();
    let mut sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    while sum.abs_diff(wanted) > NEAR {
        let at = draw.below(units);
        let count = draw.below(at.min(bound) + 1) as u32;
        let now = sum - u64::from(counts[at as usize]) + u64::from(count);
        // Not beyond what is wanted: each counts towards it.
        if now.abs_diff(wanted) < sum.abs_diff(wanted) {
            counts[at as usize] = count;
            sum = now;
        }
    }
    while sum != wanted {
        let at = draw.below(units);
        let count = &mut counts[at as usize];
        if sum < wanted && u64::from(*count) < at {
            *count += 1;
            sum += 1;
        } else if sum > wanted && *count > 0 {
            *count -= 1;
            sum -= 1;
        }
    }
    counts
}

fn check_runs(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (min, max) = arguments.range()?;
    if min < max {
        return Ok(());
    }
    Err(ArgumentError::new(
        "max",
        format!("a stretch begins below the end of the one before, so max must be above min = {min}"),
    ))
}

/// A stretch that does not begin below the last value is drawn again so often at most.
const TRIES: u32 = 1000;

fn runs(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let span = (arguments.whole("max") - arguments.whole("min")) as u64;
    let length = (arguments.whole("length") as u64).clamp(1, units.max(1)) as usize;
    // Of floating point, the range in which all integers are exact is narrower than the type.
    match arguments.number_type().width() {
        1 => in_runs(arguments, units, Lists::new(length, span, |value| value as u8), draw),
        2 => in_runs(arguments, units, Lists::new(length, span, |value| value as u16), draw),
        4 => in_runs(arguments, units, Lists::new(length, span, |value| value as u32), draw),
        _ => in_runs(arguments, units, Lists::new(length, span, |value| value), draw),
    }
}

fn in_runs<T: Copy + Ord + Default + Into<u64>>(
    arguments: &Arguments,
    units: u64,
    mut lists: Lists<T, impl Fn(u64) -> T>,
    draw: &mut Draw,
) -> Vec<u8> {
    let (mut next, mut last) = (lists.length(), None);
    from_least(arguments.number_type(), units, arguments.whole("min"), || {
        if next == lists.length() {
            for _ in 0..TRIES {
                lists.advance(draw);
                // One value alone below the least there is would never come.
                if last.is_none_or(|last| lists.value(0) < last || last == T::default()) {
                    break;
                }
            }
            next = 0;
        }
        next += 1;
        let value = lists.value(next - 1);
        last = Some(value);
        value.into()
    })
}

fn permutation(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let mut order: Vec<u32> = (0..units as u32).collect();
    draw.shuffle(&mut order);
    let mut order = order.into_iter();
    from_least(arguments.number_type(), units, arguments.whole("min"), || {
        u64::from(order.next().expect("one for each unit"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs in the wrong order, by definition.
    fn inversions(list: &[u32]) -> u64 {
        (0..list.len()).map(|at| list[..at].iter().filter(|&&before| before > list[at]).count() as u64).sum()
    }

    #[test]
    fn a_disordered_list_has_exactly_the_inversions_that_were_asked_for() {
        for units in [1u64, 2, 3, 10, 300] {
            for wanted in [
                0,
                1,
                units / 2,
                units,
                3 * units,
                pairs(units) / 2,
                pairs(units) - pairs(units) / 3,
                pairs(units),
            ] {
                let wanted = wanted.min(pairs(units));
                let list: Vec<u32> = disordered(units, wanted, &mut Draw::new(wanted + 1)).collect();
                assert_eq!(inversions(&list), wanted, "{units} values");
                let mut sorted = list;
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..units as u32));
            }
        }
    }

    #[test]
    fn a_sum_that_is_far_off_is_made_up_for_in_large_steps() {
        // Off by about 2 * 10^8 at first; one by one that takes minutes without optimisation.
        for wanted in [pairs(300_000) / 2, pairs(300_000) / 3] {
            let counts = earlier_greater(300_000, wanted, &mut Draw::new(9));
            assert_eq!(counts.iter().map(|&count| u64::from(count)).sum::<u64>(), wanted);
            assert!((0..).zip(&counts).all(|(at, &count)| count <= at));
        }
    }
}
