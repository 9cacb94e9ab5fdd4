//! The pseudo-random numbers of allocation: a hash of the past, so that a simulation can be repeated.

/// A generator that path, length of the past and a tag stir. Not the one of TAGE-SC-L: additions take the place of its
/// exclusive ors.
#[derive(Clone, Debug, Default)]
pub struct Dice {
    state: i32,
    path: i32,
    pushed: i32,
    tag: i32,
}

impl Dice {
    /// What stirs the numbers until the next call: the path, the bits that have come, and a tag.
    #[inline(always)]
    pub fn stir(&mut self, path: u32, bits: u32, tag: u16) {
        (self.path, self.pushed, self.tag) = (path as i32, bits.wrapping_neg() as i32, i32::from(tag));
    }

    /// The next number.
    #[inline(always)]
    pub fn roll(&mut self) -> u32 {
        let state = self.state.wrapping_add(1).wrapping_add(self.path);
        let state = (state >> 21).wrapping_add(state << 11).wrapping_add(self.pushed);
        self.state = (state >> 10).wrapping_add(state << 22).wrapping_add(self.tag);
        self.state as u32
    }

    /// Whether the lowest `bits` bits of the next number are all 0.
    #[inline(always)]
    pub fn zeros(&mut self, bits: u32) -> bool {
        self.roll() & ((1 << bits) - 1) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derived by hand: 1 -> 1 << 11 -> 2048 >> 10 = 2, and 2048 << 22 leaves nothing in 32 bits.
    #[test]
    fn the_first_number_without_any_past_is_two() {
        assert_eq!(Dice::default().roll(), 2);
    }

    /// By hand: 1 + 0x7fff_ffff wraps to -2^31; its arithmetic shift by 21 is -1024, shifted left by 11 it is 0; -1024 - 5
    /// = -1029; -1029 >> 10 = -2, -1029 << 22 = -5 << 22 = 0xfec0_0000; -2 + 3 = 1 beside it.
    #[test]
    fn sums_wrap_and_the_state_is_shifted_with_its_sign() {
        let mut dice = Dice::default();
        dice.stir(0x7fff_ffff, 5, 3);
        assert_eq!(dice.roll(), 0xfec0_0001);
    }
}
