//! Whole numbers by their distribution: uniform, normal, Zipf, few distinct ones.

use super::{Argument, ArgumentError, Arguments, Domain, INTEGERS, Kind, NUMBERS, Parameter, Preset};
use crate::inputs::NumberType;
use crate::inputs::draw::{Alias, Draw, Normals, Selection, Threshold, elementary};
use crate::inputs::number::{floats, integers};

/// More ranks than this have no table: they are drawn by rejection.
const LARGEST_TABLE: u64 = 1 << 20;

pub(super) const MIN: Parameter = Parameter {
    name: "min",
    says: "the least value",
    domain: Domain::Value,
    preset: Preset::OfType(|number| Argument::Whole(number.range().0), "the least of the format"),
    example: "min = 0",
};

pub(super) const MAX: Parameter = Parameter {
    name: "max",
    says: "the greatest value",
    domain: Domain::Value,
    preset: Preset::OfType(|number| Argument::Whole(number.range().1), "the greatest of the format"),
    example: "max = 1_000_000_000",
};

pub(super) const FIRST: Parameter = Parameter {
    name: "min",
    says: "the least value",
    domain: Domain::Value,
    preset: Preset::Whole(0),
    example: "min = 0",
};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "uniform",
        says: "integers, each from min to max equally likely",
        formats: INTEGERS,
        units: 1_000_000,
        parameters: &[MIN, MAX],
        check: |arguments, _| arguments.range().map(|_| ()),
        make: uniform,
    },
    Kind {
        name: "normal",
        says: "integers of a normal distribution, rounded",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "mean",
                says: "the mean",
                domain: Domain::Number(f64::MIN, f64::MAX),
                preset: Preset::OfType(middle, "the middle of the format"),
                example: "mean = 100",
            },
            Parameter {
                name: "deviation",
                says: "the standard deviation",
                domain: Domain::Number(0.0, f64::MAX),
                preset: Preset::OfType(sixteenth, "a sixteenth of the format's range"),
                example: "deviation = 15",
            },
        ],
        check: check_normal,
        make: normal,
    },
    Kind {
        name: "zipf",
        says: "integers of which a few are frequent: the k-th comes 1 / k^exponent as often as the first",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "distinct",
                says: "how many values there are: min, min + 1, ...; the least is the most frequent",
                domain: Domain::Whole(1, 1_000_000_000),
                preset: Preset::Whole(1000),
                example: "distinct = 1000",
            },
            Parameter {
                name: "exponent",
                says: "how steeply the frequency falls; 0 is uniform",
                domain: Domain::Number(0.0, 10.0),
                preset: Preset::Number(1.0),
                example: "exponent = 1.0",
            },
            FIRST,
        ],
        check: |arguments, _| {
            let last = arguments.whole("min") + arguments.whole("distinct") - 1;
            holds(arguments.number_type(), last, "distinct")
        },
        make: zipf,
    },
    Kind {
        name: "few_distinct",
        says: "integers of which there are few, evenly spaced from min to max",
        formats: NUMBERS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "distinct",
                says: "how many values there are",
                domain: Domain::Whole(1, 1_000_000_000),
                preset: Preset::Whole(16),
                example: "distinct = 16",
            },
            Parameter {
                name: "run_length",
                says: "how many times in a row a value comes on average; 1 draws each independently",
                domain: Domain::Number(1.0, f64::MAX),
                preset: Preset::Number(1.0),
                example: "run_length = 8",
            },
            MIN,
            MAX,
        ],
        check: check_few,
        make: few_distinct,
    },
];

/// A value that the type can hold, or which parameter takes it beyond.
pub(super) fn holds(number: NumberType, last: i128, parameter: &'static str) -> Result<(), ArgumentError> {
    let (_, greatest) = number.range();
    if last <= greatest {
        return Ok(());
    }
    let message = format!("the greatest value would be {last}, but {} ends at {greatest}", number.word());
    Err(ArgumentError::new(parameter, message))
}

/// The bytes of whole numbers, each given as its distance from the least one.
pub(super) fn from_least(
    number: NumberType,
    units: u64,
    least: i128,
    mut distance: impl FnMut() -> u64,
) -> Vec<u8> {
    if number.is_float() {
        // Both are exact: the type's range ends where integers do.
        return floats(number, units, || (least as i64).wrapping_add(distance() as i64) as f64);
    }
    integers(number, units, || (least as u64).wrapping_add(distance()))
}

fn uniform(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (min, max) = (arguments.whole("min"), arguments.whole("max"));
    let span = (max - min) as u64;
    from_least(arguments.number_type(), units, min, || draw.between(0, span))
}

fn middle(number: NumberType) -> Argument {
    let (least, greatest) = number.range();
    Argument::Number(((least + greatest + 1) / 2) as f64)
}

fn sixteenth(number: NumberType) -> Argument {
    let (least, greatest) = number.range();
    Argument::Number(((greatest - least + 1) / 16) as f64)
}

/// Values beyond the type's ends would have to be left out, and then neither mean nor deviation were what was asked.
fn check_normal(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (mean, deviation) = (arguments.number("mean"), arguments.number("deviation"));
    let number = arguments.number_type();
    let (least, greatest) = number.range();
    let (low, high) = (mean - 4.0 * deviation, mean + 4.0 * deviation);
    if low >= least as f64 && high <= greatest as f64 {
        return Ok(());
    }
    let message = format!(
        "values lie from {low} to {high} (mean ± 4 deviations), but {} holds {least} to {greatest}",
        number.word()
    );
    Err(ArgumentError::new("deviation", message))
}

fn normal(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (mean, deviation) = (arguments.number("mean"), arguments.number("deviation"));
    let number = arguments.number_type();
    let (least, greatest) = number.range();
    if number.width() < 4 && deviation >= 1.0 {
        // Of few values a table is ten times as fast.
        let table = Alias::new(&masses(mean, deviation, greatest as u64));
        return integers(number, units, || table.draw(draw) as u64);
    }
    let (least, greatest) = (least as f64, greatest as f64);
    // Of the widest integers, some lie beyond what the faster one takes.
    let is_wide = number.width() == 8 && !number.is_float();
    let round = if is_wide { f64::round } else { elementary::round };
    let mut normals = Normals::new();
    let mut next = || loop {
        let value = round(mean + deviation * normals.next(draw));
        if value >= least && value <= greatest {
            return value;
        }
    };
    match number {
        _ if number.is_float() => floats(number, units, next),
        // Saturates at the type's end, which a double cannot hold exactly.
        NumberType::U64 => integers(number, units, || next() as u64),
        _ => integers(number, units, || next() as i64 as u64),
    }
}

/// The mass of a normal distribution about each whole number from 0 on: Simpson's rule on four intervals, whose error is
/// below 1e-4 of the mass for a deviation of 1 and falls with its fourth power.
fn masses(mean: f64, deviation: f64, greatest: u64) -> Vec<f64> {
    let density = |at: f64| {
        let distance = (at - mean) / deviation;
        elementary::exp(-0.5 * distance * distance)
    };
    let mass = |value: u64| {
        let at = value as f64;
        let odd = density(at - 0.25) + density(at + 0.25);
        density(at - 0.5) + 4.0 * odd + 2.0 * density(at) + density(at + 0.5)
    };
    (0..=greatest).map(mass).collect()
}

fn zipf(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (distinct, exponent) = (arguments.whole("distinct") as u64, arguments.number("exponent"));
    let (number, min) = (arguments.number_type(), arguments.whole("min"));
    // A loop for each way to draw.
    match Ranks::new(distinct, exponent) {
        Ranks::Table(table) => from_least(number, units, min, || table.draw(draw) as u64),
        Ranks::Inversion(inversion) => {
            let mut ahead = DrawnAhead::default();
            from_least(number, units, min, || ahead.next(&inversion, draw) - 1)
        }
    }
}

/// Ranks 0, 1, ... by Zipf's law.
pub(in crate::inputs) enum Ranks {
    /// All probabilities, in a table.
    Table(Alias),
    /// By rejection from the integral of the density.
    Inversion(Inversion),
}

impl Ranks {
    pub(in crate::inputs) fn new(distinct: u64, exponent: f64) -> Ranks {
        if distinct > LARGEST_TABLE {
            return Ranks::Inversion(Inversion::new(distinct as f64, exponent));
        }
        let weights: Vec<f64> =
            (1..=distinct).map(|rank| elementary::exp(-exponent * elementary::ln(rank as f64))).collect();
        Ranks::Table(Alias::new(&weights))
    }

    pub(in crate::inputs) fn draw(&self, draw: &mut Draw) -> u64 {
        match self {
            Ranks::Table(table) => table.draw(draw) as u64,
            Ranks::Inversion(inversion) => inversion.draw(draw) - 1,
        }
    }
}

/// Rejection-inversion: a point below the integral of x^-exponent, turned back into x, and kept unless the rounded x lies
/// beyond the probability (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996).
pub(in crate::inputs) struct Inversion {
    exponent: f64,
    distinct: f64,
    /// The integral at 1.5, less the first probability.
    from: f64,
    /// The integral beyond the last rank.
    to: f64,
    /// Points so near below their integer are always kept.
    sure: f64,
}

impl Inversion {
    fn new(distinct: f64, exponent: f64) -> Inversion {
        let mut made = Inversion { exponent, distinct, from: 0.0, to: 0.0, sure: 0.0 };
        made.from = made.integral(1.5) - 1.0;
        made.to = made.integral(distinct + 0.5);
        made.sure = 2.0 - made.inverse(made.integral(2.5) - made.density(2.0));
        made
    }

    fn density(&self, at: f64) -> f64 {
        elementary::exp(-self.exponent * elementary::ln(at))
    }

    /// (x^(1 - exponent) - 1) / (1 - exponent), which is ln x where the exponent is 1.
    fn integral(&self, at: f64) -> f64 {
        let log = elementary::ln(at);
        let less = 1.0 - self.exponent;
        if (less * log).abs() < 1e-8 { log } else { (elementary::exp(less * log) - 1.0) / less }
    }

    /// The numbers whose integrals these are.
    #[inline]
    fn inverses<const N: usize>(&self, values: [f64; N]) -> [f64; N] {
        let less = 1.0 - self.exponent;
        elementary::exps(values.map(|value| {
            let inner = less * value;
            if inner.abs() < 1e-8 { value } else { elementary::ln(1.0 + inner) / less }
        }))
    }

    fn inverse(&self, value: f64) -> f64 {
        let [number] = self.inverses([value]);
        number
    }

    /// A point of the integral. Takes one draw.
    fn point(&self, draw: &mut Draw) -> f64 {
        self.to + draw.unit() * (self.from - self.to)
    }

    /// The rank of a point and the number that it is turned back into, unless it is not kept.
    fn kept(&self, point: f64, at: f64) -> Option<u64> {
        let rank = elementary::round(at).clamp(1.0, self.distinct);
        let kept = rank - at <= self.sure || point >= self.integral(rank + 0.5) - self.density(rank);
        kept.then_some(rank as u64)
    }

    fn draw(&self, draw: &mut Draw) -> u64 {
        loop {
            let point = self.point(draw);
            if let Some(rank) = self.kept(point, self.inverse(point)) {
                return rank;
            }
        }
    }
}

/// Points that are turned back together, which takes half as long. Only for a stream that nothing else is drawn from: the
/// ranks are those of [`Inversion::draw`], but the last points are drawn for nobody.
#[derive(Default)]
struct DrawnAhead {
    points: [f64; 8],
    numbers: [f64; 8],
    left: usize,
}

impl DrawnAhead {
    fn next(&mut self, inversion: &Inversion, draw: &mut Draw) -> u64 {
        loop {
            if self.left == 0 {
                self.points = std::array::from_fn(|_| inversion.point(draw));
                self.numbers = inversion.inverses(self.points);
                self.left = self.points.len();
            }
            let at = self.points.len() - self.left;
            self.left -= 1;
            if let Some(rank) = inversion.kept(self.points[at], self.numbers[at]) {
                return rank;
            }
        }
    }
}

fn check_few(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (min, max) = arguments.range()?;
    let distinct = arguments.whole("distinct");
    if distinct - 1 <= max - min {
        return Ok(());
    }
    let message = format!("there are {} values from {min} to {max}, fewer than {distinct}", max - min + 1);
    Err(ArgumentError::new("distinct", message))
}

/// Places that are shuffled together, few enough for caches.
const SHUFFLED: usize = 1 << 16;

/// Values up to so many are counted. Of more, fewer than 16 would be shuffled together, and a value that has just come would
/// come again more rarely than by chance.
const COUNTED: u64 = SHUFFLED as u64 / 16;

fn few_distinct(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (min, max) = (arguments.whole("min"), arguments.whole("max"));
    let (distinct, span) = (arguments.whole("distinct") as u64, (max - min) as u128);
    // With one value there is nothing between.
    let gaps = u128::from(distinct.max(2) - 1);
    let value = |rank: u64| (u128::from(rank) * span / gaps) as u64;
    let run_length = arguments.number("run_length");
    let stays = ((units as f64 / run_length).round() as u64).clamp(units.min(1), units);
    if distinct > COUNTED.min(stays) {
        return independent(arguments, units, draw, value);
    }
    let values: Vec<u64> = (0..distinct).map(value).collect();
    if stays == units {
        let mut ranks = Balanced::new(distinct, stays);
        return from_least(arguments.number_type(), units, min, || values[ranks.next(draw)]);
    }
    let mut ranks = Changing::new(distinct, stays);
    // Of each value, how many units there are, and how many stays they are cut into, at random places.
    let share = |all: u64, rank: u64| all / distinct + u64::from(rank < all % distinct);
    let mut ends: Vec<Selection> = (0..distinct)
        .map(|rank| {
            let (stays, units) = (share(stays, rank), share(units, rank));
            Selection::new(stays.saturating_sub(1), units.saturating_sub(1))
        })
        .collect();
    let mut rank = None;
    from_least(arguments.number_type(), units, min, || {
        let now = rank.unwrap_or_else(|| ranks.next(draw));
        rank = Some(now).filter(|_| !ends[now].ends(draw));
        values[now]
    })
}

/// Each unit by itself, where there are too many values to count.
fn independent(arguments: &Arguments, units: u64, draw: &mut Draw, value: impl Fn(u64) -> u64) -> Vec<u8> {
    let distinct = arguments.whole("distinct") as u64;
    let run_length = arguments.number("run_length");
    let ends = Threshold::new(1.0 / run_length);
    let mut now = None;
    from_least(arguments.number_type(), units, arguments.whole("min"), || {
        let kept = now.filter(|_| !draw.happens(ends));
        let rank = kept.unwrap_or_else(|| match now {
            // Another one, or the run would go on.
            Some(last) if run_length > 1.0 => another(distinct, last, draw),
            _ => draw.below(distinct),
        });
        now = Some(rank);
        value(rank)
    })
}

/// A rank below a number, but not the last one where there are others.
fn another(distinct: u64, last: u64, draw: &mut Draw) -> u64 {
    if distinct == 1 {
        return 0;
    }
    let rank = draw.below(distinct - 1);
    rank + u64::from(rank >= last)
}

/// Ranks below a number, each another than the one before, each as often as any other, but for one. Each is drawn among the
/// others; then, in stretches, ranks at random places give way to those that came too rarely, where neighbours allow it. So
/// few do that what comes next stays as good as unknown.
struct Changing {
    distinct: u64,
    left: u64,
    /// The rank that comes once more often than others, if one does.
    rank: u64,
    last: Option<u16>,
    /// The stretch, its end first.
    drawn: Vec<u16>,
}

impl Changing {
    fn new(distinct: u64, draws: u64) -> Changing {
        Changing { distinct, left: draws, rank: 0, last: None, drawn: Vec::new() }
    }

    fn next(&mut self, draw: &mut Draw) -> usize {
        if self.drawn.is_empty() {
            let count = self.left.min(SHUFFLED as u64);
            self.stretch(count as usize, draw);
            self.left -= count;
        }
        usize::from(self.drawn.pop().expect("no more are asked for than there are"))
    }

    fn stretch(&mut self, count: usize, draw: &mut Draw) {
        let distinct = self.distinct;
        // How many of each there are too many or too few.
        let mut excess = vec![0i64; distinct as usize];
        for _ in 0..count {
            excess[self.rank as usize] -= 1;
            self.rank = if self.rank + 1 == distinct { 0 } else { self.rank + 1 };
        }
        let before = self.last;
        let mut ranks: Vec<u16> = Vec::with_capacity(count);
        for _ in 0..count {
            let rank = match ranks.last().copied().or(before) {
                Some(last) => another(distinct, u64::from(last), draw),
                // Of two in turn, the first comes once more often where their number is odd.
                None if distinct == 2 && self.left % 2 == 1 => 0,
                None => draw.below(distinct),
            };
            excess[rank as usize] += 1;
            ranks.push(rank as u16);
        }
        let mut missing: Vec<u16> = (0..distinct as u16)
            .flat_map(|rank| std::iter::repeat_n(rank, -excess[usize::from(rank)].min(0) as usize))
            .collect();
        draw.shuffle(&mut missing);
        // Of two or three values, neighbours may allow nothing: then one run is longer.
        let mut tries = 256 * (count as u64 + 64);
        while let Some(&wanted) = missing.last() {
            let at = draw.below(count as u64) as usize;
            let is_beside = |place: Option<usize>| place.and_then(|at| ranks.get(at)) == Some(&wanted);
            let is_run =
                is_beside(at.checked_sub(1)) || is_beside(Some(at + 1)) || at == 0 && before == Some(wanted);
            tries = tries.saturating_sub(1);
            if excess[usize::from(ranks[at])] > 0 && (!is_run || tries == 0) {
                excess[usize::from(ranks[at])] -= 1;
                ranks[at] = wanted;
                missing.pop();
            }
        }
        self.last = ranks.last().copied().or(before);
        ranks.reverse();
        self.drawn = ranks;
    }
}

/// Ranks below a number in random order, each as often as any other, but for one: 0, 1, ... again and again, shuffled in
/// stretches.
struct Balanced {
    distinct: u64,
    left: u64,
    rank: u64,
    shuffled: Vec<u16>,
}

impl Balanced {
    fn new(distinct: u64, draws: u64) -> Balanced {
        Balanced { distinct, left: draws, rank: 0, shuffled: Vec::new() }
    }

    fn next(&mut self, draw: &mut Draw) -> usize {
        if self.shuffled.is_empty() {
            for _ in 0..self.left.min(SHUFFLED as u64) {
                self.shuffled.push(self.rank as u16);
                self.rank = if self.rank + 1 == self.distinct { 0 } else { self.rank + 1 };
            }
            self.left -= self.shuffled.len() as u64;
            draw.shuffle(&mut self.shuffled);
        }
        usize::from(self.shuffled.pop().expect("no more are asked for than there are"))
    }
}
