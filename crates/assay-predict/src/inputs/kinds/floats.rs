//! Floating-point numbers: uniform, or over many orders of magnitude, with what is not a number and denormal ones.

use super::{Argument, ArgumentError, Arguments, Domain, Kind, Parameter, Preset};
use crate::inputs::draw::{Draw, Selection};
use crate::inputs::number::integers;
use crate::inputs::{Format, NumberType};

const FLOATS: &[Format] = &[Format::Numbers(NumberType::F64), Format::Numbers(NumberType::F32)];

const NAN: Parameter = Parameter {
    name: "nan",
    says: "the share that is not a number",
    domain: Domain::Share,
    preset: Preset::Number(0.0),
    example: "nan = \"1 %\"",
};

const DENORMAL: Parameter = Parameter {
    name: "denormal",
    says: "the share that is denormal (subnormal)",
    domain: Domain::Share,
    preset: Preset::Number(0.0),
    example: "denormal = \"5 %\"",
};

const NEGATIVE: Parameter = Parameter {
    name: "negative",
    says: "the share with a minus sign",
    domain: Domain::Share,
    preset: Preset::Number(0.5),
    example: "negative = \"50 %\"",
};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "uniform_floats",
        says: "floating-point numbers, uniform from min to max",
        formats: FLOATS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "min",
                says: "the least number",
                domain: Domain::Number(-1e38, 1e38),
                preset: Preset::Number(0.0),
                example: "min = 0.0",
            },
            Parameter {
                name: "max",
                says: "the greatest number",
                domain: Domain::Number(-1e38, 1e38),
                preset: Preset::Number(1.0),
                example: "max = 1.0",
            },
            NAN,
            DENORMAL,
        ],
        check: check_uniform,
        make: uniform,
    },
    Kind {
        name: "wide_floats",
        says: "floating-point numbers of all magnitudes: the binary exponent uniform, then the digits",
        formats: FLOATS,
        units: 1_000_000,
        parameters: &[
            Parameter {
                name: "min_exponent",
                says: "the least power of two",
                domain: Domain::Whole(-1022, 1023),
                preset: Preset::OfType(
                    |number| Argument::Whole(exponents(number).0),
                    "the least of the format",
                ),
                example: "min_exponent = -64",
            },
            Parameter {
                name: "max_exponent",
                says: "the greatest power of two",
                domain: Domain::Whole(-1022, 1023),
                preset: Preset::OfType(
                    |number| Argument::Whole(exponents(number).1),
                    "the greatest of the format",
                ),
                example: "max_exponent = 64",
            },
            NEGATIVE,
            NAN,
            DENORMAL,
        ],
        check: check_wide,
        make: wide,
    },
];

/// The exponents of the normal numbers of a type.
fn exponents(number: NumberType) -> (i128, i128) {
    if number == NumberType::F32 { (-126, 127) } else { (-1022, 1023) }
}

fn check_shares(arguments: &Arguments) -> Result<(), ArgumentError> {
    let sum = arguments.number("nan") + arguments.number("denormal");
    if sum <= 1.0 {
        return Ok(());
    }
    Err(ArgumentError::new(
        "denormal",
        format!("nan and denormal together are {:.0} %, above 100 %", 100.0 * sum),
    ))
}

fn check_uniform(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (min, max) = (arguments.number("min"), arguments.number("max"));
    if min > max {
        return Err(ArgumentError::new("max", format!("min is {min}, above max, which is {max}")));
    }
    check_shares(arguments)
}

fn check_wide(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (min, max) = (arguments.whole("min_exponent"), arguments.whole("max_exponent"));
    let number = arguments.number_type();
    let (least, greatest) = exponents(number);
    if min < least || max > greatest {
        let at = if min < least { "min_exponent" } else { "max_exponent" };
        let message = format!("{at}: exponents of {} are {least} to {greatest}", number.word());
        return Err(ArgumentError::new(at, message));
    }
    if min > max {
        let message = format!("min_exponent is {min}, above max_exponent, which is {max}");
        return Err(ArgumentError::new("max_exponent", message));
    }
    check_shares(arguments)
}

/// The bits of what is special in a type.
struct FloatLayout {
    /// Bits of the digits.
    digits: u32,
    /// The exponent's bits of 2^0.
    bias: i128,
    sign: u64,
    nan: u64,
}

impl FloatLayout {
    fn of(number: NumberType) -> FloatLayout {
        match number {
            NumberType::F32 => FloatLayout { digits: 23, bias: 127, sign: 1 << 31, nan: 0x7fc0_0000 },
            _ => FloatLayout { digits: 52, bias: 1023, sign: 1 << 63, nan: 0x7ff8_0000_0000_0000 },
        }
    }

    /// A number below the least normal one, never 0.
    fn denormal(&self, draw: &mut Draw) -> u64 {
        draw.between(1, (1 << self.digits) - 1)
    }
}

/// Numbers of which exact shares are not a number or denormal, and `negative` of those that are a number have a sign.
/// Draws per number, each only where its share is above 0: whether it is not a number, whether it is denormal; the number;
/// whether it is negative. `normal` gives all but denormal ones.
fn mixed(
    arguments: &Arguments,
    units: u64,
    draw: &mut Draw,
    negative: f64,
    mut normal: impl FnMut(&mut Draw, &FloatLayout) -> u64,
) -> Vec<u8> {
    let number = arguments.number_type();
    let shape = FloatLayout::of(number);
    let count = |name: &str| ((arguments.number(name) * units as f64).round() as u64).min(units);
    let (nan, denormal) = (count("nan"), count("denormal"));
    let mut are_nan = Selection::new(nan, units);
    let mut are_denormal = Selection::new(denormal, units - nan);
    let mut are_negative = Selection::share(negative, units - nan);
    integers(number, units, || {
        if nan > 0 && are_nan.next(draw) {
            return shape.nan;
        }
        let is_denormal = denormal > 0 && are_denormal.next(draw);
        let bits = if is_denormal { shape.denormal(draw) } else { normal(draw, &shape) };
        if negative > 0.0 && are_negative.next(draw) { bits | shape.sign } else { bits }
    })
}

fn uniform(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (min, max) = (arguments.number("min"), arguments.number("max"));
    let single = arguments.number_type() == NumberType::F32;
    let normal = |draw: &mut Draw, _: &FloatLayout| {
        let value = min + draw.unit() * (max - min);
        if single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    };
    mixed(arguments, units, draw, 0.0, normal)
}

fn wide(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (min, max) = (arguments.whole("min_exponent"), arguments.whole("max_exponent"));
    let normal = |draw: &mut Draw, shape: &FloatLayout| {
        let exponent = draw.below((max - min + 1) as u64) + (min + shape.bias) as u64;
        exponent << shape.digits | draw.bits() >> (64 - shape.digits)
    };
    mixed(arguments, units, draw, arguments.number("negative"), normal)
}
