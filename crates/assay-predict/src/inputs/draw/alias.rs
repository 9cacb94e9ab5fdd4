//! A choice among many by weight, in constant time: the alias method of Walker as Vose makes its table
//! (Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE TSE 17(9), 1991).
//!
//! Checked: the exact probabilities of its table against the weights.

use super::Draw;

/// A table of weights to draw from.
pub(in crate::inputs) struct Alias {
    places: Vec<AliasSlot>,
}

/// One place of the table: itself below the threshold, another index above it.
#[derive(Clone, Copy)]
struct AliasSlot {
    threshold: u64,
    other: u32,
}

impl Alias {
    /// The table of weights that are finite and not negative, with a sum above 0. At most 2^32 of them.
    pub(in crate::inputs) fn new(weights: &[f64]) -> Alias {
        let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
        let mut scaled: Vec<f64> =
            weights.iter().map(|weight| weight / total * weights.len() as f64).collect();
        let mut places: Vec<AliasSlot> =
            (0..weights.len() as u32).map(|index| AliasSlot { threshold: u64::MAX, other: index }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| scaled[index] < 1.0);
        while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
            small.pop();
            places[less] = AliasSlot { threshold: fraction(scaled[less]), other: more as u32 };
            scaled[more] -= 1.0 - scaled[less];
            if scaled[more] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        Alias { places }
    }

    /// An index, with a probability proportional to its weight. Takes one draw: the high word of its product with the number
    /// of weights is the place, the low word decides between the place's two.
    #[inline]
    pub(in crate::inputs) fn draw(&self, draw: &mut Draw) -> usize {
        let product = u128::from(draw.bits()) * self.places.len() as u128;
        let (at, coin) = ((product >> 64) as usize, product as u64);
        let place = self.places[at];
        std::hint::select_unpredictable(coin < place.threshold, at, place.other as usize)
    }
}

/// A fraction of 2^64; 1 and above is all of it.
fn fraction(value: f64) -> u64 {
    // 2^64 as a double; the conversion saturates.
    (value * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_table_has_the_probabilities_of_the_weights() {
        for weights in [vec![1.0], vec![0.0, 3.0, 0.0, 1.0], (1..=500).map(|k| 1.0 / f64::from(k)).collect()]
        {
            let table = Alias::new(&weights);
            let mut found = vec![0.0; weights.len()];
            for (at, place) in table.places.iter().enumerate() {
                let own = place.threshold as f64 / 2f64.powi(64);
                found[at] += own;
                found[place.other as usize] += 1.0 - own;
            }
            let total: f64 = weights.iter().sum();
            for (weight, found) in weights.iter().zip(found) {
                let expected = weight / total * weights.len() as f64;
                assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
            }
        }
    }
}
