//! Logarithm and exponential from additions, multiplications and divisions alone.
//!
//! Those of the system's library differ in their last bits between systems and versions, and a draw that uses them would
//! make other bytes elsewhere. IEEE arithmetic does not. Accurate to about 1e-15 of the result.
//! Checked: against the system's functions over their whole domain.

use std::f64::consts::{LOG2_E, SQRT_2};

/// ln 2 in two parts, the first with 21 zero bits at its end, so that its product with an exponent is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// The series of 2 artanh, by the square.
const ARTANH: [f64; 11] = [
    2.0,
    2.0 / 3.0,
    2.0 / 5.0,
    2.0 / 7.0,
    2.0 / 9.0,
    2.0 / 11.0,
    2.0 / 13.0,
    2.0 / 15.0,
    2.0 / 17.0,
    2.0 / 19.0,
    2.0 / 21.0,
];

/// The natural logarithm of a normal number above 0.
#[inline]
pub(in crate::inputs) fn ln(value: f64) -> f64 {
    let bits = value.to_bits();
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    // Not a branch, which would be mispredicted half of the time; 32 bits, of which vector instructions make numbers.
    let is_large = mantissa > SQRT_2;
    let mantissa = if is_large { 0.5 * mantissa } else { mantissa };
    let exponent = f64::from((bits >> 52) as i32 - 1023 + i32::from(is_large));
    // ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 0.172 here.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = ARTANH.iter().rev().fold(0.0, |sum, term| sum * square + term);
    exponent * LN2_HIGH + (ratio * series + exponent * LN2_LOW)
}

/// e to the power of a number; 0 below -700, and never more than e^700.
#[inline]
pub(in crate::inputs) fn exp(value: f64) -> f64 {
    let [power] = exps([value]);
    power
}

/// [`exp`] of several numbers, whose divisions overlap.
#[inline]
pub(in crate::inputs) fn exps<const N: usize>(values: [f64; N]) -> [f64; N] {
    let parts = values.map(|value| {
        let value = value.clamp(-701.0, 700.0);
        let power = round(value * LOG2_E);
        (power, (value - power * LN2_HIGH) - power * LN2_LOW)
    });
    // 0.347^15 / 15! is below 1e-19.
    let mut series = [1.0; N];
    for term in (1..15).rev() {
        for (sum, (_, rest)) in series.iter_mut().zip(parts) {
            *sum = 1.0 + *sum * rest / f64::from(term);
        }
    }
    let mut powers = values;
    for ((value, sum), (power, _)) in powers.iter_mut().zip(series).zip(parts) {
        let scale = f64::from_bits(((power as i64 + 1023) as u64) << 52);
        *value = if *value < -700.0 { 0.0 } else { sum * scale };
    }
    powers
}

/// The nearest whole number, halves away from 0, as the library has it; of numbers below 2^63, and faster, since few
/// machines that programs are built for have an instruction.
#[inline]
pub(in crate::inputs) fn round(value: f64) -> f64 {
    let whole = value as i64 as f64;
    let rest = value - whole;
    whole + f64::from(i32::from(rest >= 0.5)) - f64::from(i32::from(rest <= -0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_system_to_fifteen_digits() {
        let mut value = 1e-300;
        while value < 1e300 {
            let (found, expected) = (ln(value), f64::ln(value));
            assert!(
                (found - expected).abs() <= 4e-15 * expected.abs().max(0.1),
                "{value}: {found} {expected}"
            );
            value *= 1.0917;
        }
        for step in -6990..6990 {
            let at = f64::from(step) / 10.0 + 0.037;
            let (found, expected) = (exp(at), f64::exp(at));
            assert!((found - expected).abs() <= 4e-15 * expected, "{at}: {found} {expected}");
        }
        assert_eq!((ln(1.0), exp(0.0), exp(-1e9)), (0.0, 1.0, 0.0));
    }

    #[test]
    fn rounds_as_the_library_does() {
        for whole in [0.0, 1.0, 2.0, 1e6, 2f64.powi(51), 2f64.powi(52) + 1.0, 9e18] {
            for part in [0.0, 0.25, 0.499_999_999_999_999_94, 0.5, 0.75] {
                for value in [whole + part, -whole - part] {
                    assert_eq!(round(value), value.round(), "{value}");
                }
            }
        }
    }
}
