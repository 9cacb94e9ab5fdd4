//! Bytes of a given entropy.

use super::{Arguments, Domain, Kind, Parameter, Preset, any};
use crate::inputs::Format;
use crate::inputs::draw::{Alias, Draw, Selection, elementary};

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "entropy",
    says: "independent bytes of a given entropy, small ones the most frequent",
    formats: &[Format::Bytes],
    units: 1_000_000,
    parameters: &[Parameter {
        name: "bits",
        says: "bits of entropy per byte: 0 is all zeros, 8 is uniform",
        domain: Domain::Number(0.0, 8.0),
        preset: Preset::Number(8.0),
        example: "bits = 4.5",
    }],
    check: any,
    make,
}];

fn make(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let bits = arguments.number("bits");
    let mut bytes = vec![0; units as usize];
    if bits < COUNTED {
        let mut others = others(&weights(bits), units);
        draw.shuffle(&mut others);
        let mut places = Selection::new(others.len() as u64, units);
        for byte in &mut bytes {
            if places.next(draw) {
                *byte = others.pop().expect("as many as places");
            }
        }
        return bytes;
    }
    let table = Alias::new(&weights(bits));
    bytes.iter_mut().for_each(|byte| *byte = table.draw(draw) as u8);
    bytes
}

/// Of less entropy than this, bytes are counted and not drawn: of a million with 0.01 bits only 850 are not 0, and how many
/// are drawn varies by 3 %.
const COUNTED: f64 = 0.5;

/// The bytes above 0, as often as their weights say: sums from the rarest on are rounded, so that those are not lost.
fn others(weights: &[f64], units: u64) -> Vec<u8> {
    let total: f64 = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let (mut sum, mut made) = (0.0, Vec::new());
    for (byte, weight) in (0..=u8::MAX).zip(weights).skip(1).rev() {
        sum += weight;
        made.resize((sum / total * units as f64).round() as usize, byte);
    }
    made
}

/// Weights of the 256 bytes that fall by a constant ratio, which is found by halving: entropy rises with it.
fn weights(bits: f64) -> Vec<f64> {
    let of = |ratio: f64| -> Vec<f64> {
        let mut weight = 1.0;
        let next = |_| {
            let now = weight;
            weight *= ratio;
            now
        };
        (0..256).map(next).collect()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if entropy(&of(middle)) < bits { low = middle } else { high = middle }
    }
    of(if bits == 8.0 { 1.0 } else { high })
}

/// Bits of entropy of weights.
fn entropy(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let bits = weights.iter().filter(|weight| **weight / total > 1e-300).map(|weight| {
        let share = weight / total;
        -share * elementary::ln(share) / std::f64::consts::LN_2
    });
    bits.fold(0.0, |sum, bits| sum + bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_have_the_entropy_that_was_asked_for() {
        for bits in [0.0, 0.1, 1.0, 4.5, 7.9, 8.0] {
            assert!((entropy(&weights(bits)) - bits).abs() < 1e-9, "{bits}: {}", entropy(&weights(bits)));
        }
        // Ratio 1/2 is two bits, less what the end of the range takes (2^-256).
        let halves = weights(2.0);
        assert!((halves[1] / halves[0] - 0.5).abs() < 1e-9, "{}", halves[1]);
    }
}
