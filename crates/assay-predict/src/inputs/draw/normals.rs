//! Normal numbers by the polar method, many at a time.
//!
//! One by one, each waits for a logarithm, a root and a branch that cannot be predicted; of many the compiler makes vector
//! instructions. The numbers and their order are those of one by one.
//! Checked: moments; digests of what is generated, which are those of one by one.

use super::{Draw, elementary};

/// Pairs at a time.
const PAIRS: usize = 256;

/// Numbers of the normal distribution with mean 0 and standard deviation 1. Takes two draws for two numbers, and two more
/// for each pair rejected; whoever has it must leave the draws to it alone, because it takes more than are used.
pub(in crate::inputs) struct Normals {
    ready: [f64; 2 * PAIRS],
    next: usize,
}

impl Normals {
    /// None is drawn yet.
    pub(in crate::inputs) fn new() -> Normals {
        Normals { ready: [0.0; 2 * PAIRS], next: 2 * PAIRS }
    }

    /// The next number.
    pub(in crate::inputs) fn next(&mut self, draw: &mut Draw) -> f64 {
        if self.next == self.ready.len() {
            self.draw(draw);
            self.next = 0;
        }
        self.next += 1;
        self.ready[self.next - 1]
    }

    #[inline(never)]
    fn draw(&mut self, draw: &mut Draw) {
        let (mut x, mut y, mut square) = ([0.0; PAIRS], [0.0; PAIRS], [0.0; PAIRS]);
        let mut count = 0;
        while count < PAIRS {
            x[count] = 2.0 * draw.unit() - 1.0;
            y[count] = 2.0 * draw.unit() - 1.0;
            square[count] = x[count] * x[count] + y[count] * y[count];
            // Not a branch: a fifth of the pairs is rejected.
            count += usize::from((square[count] < 1.0) & (square[count] > 0.0));
        }
        for ((pair, (x, y)), square) in
            self.ready.as_chunks_mut::<2>().0.iter_mut().zip(x.into_iter().zip(y)).zip(square)
        {
            let scale = (-2.0 * elementary::ln(square) / square).sqrt();
            *pair = [x * scale, y * scale];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_the_moments_of_the_distribution() {
        let (mut draw, mut normals) = (Draw::new(11), Normals::new());
        let found: Vec<f64> = (0..200_000).map(|_| normals.next(&mut draw)).collect();
        let moment = |power: i32| found.iter().map(|x| x.powi(power)).sum::<f64>() / found.len() as f64;
        // 0, 1, 0, 3 with standard errors of 0.0022, 0.0032, 0.0087, 0.022; five of each.
        for (power, expected, allowed) in [(1, 0.0, 0.011), (2, 1.0, 0.016), (3, 0.0, 0.044), (4, 3.0, 0.11)]
        {
            assert!((moment(power) - expected).abs() < allowed, "{power}: {}", moment(power));
        }
        // 68.27 % within one deviation; the standard error is 0.1 %.
        let within = found.iter().filter(|x| x.abs() < 1.0).count() as f64 / found.len() as f64;
        assert!((within - 0.6827).abs() < 0.005, "{within}");
    }
}
