//! The pseudo-random numbers of allocation: a hash of the past, so that a simulation can be repeated.
//!
//! Source: the generator as Scarab's random number class documents it (MIT), in wrapping arithmetic of 32 bits. That
//! the program of 8 KB lays a tag over each number is seen from its state while it runs: in each of 338 steps, what this
//! generator left to explain was the branch's tag in table 13; no other table's tag explained more than 18.
//! Checked: every allocation of the golden streams depends on it.

/// A generator whose state the history of branches stirs.
#[derive(Clone, Debug, Default)]
pub struct Dice {
    state: i32,
}

impl Dice {
    /// The next number, from the path history, from how many bits the history has taken in, and from `last`, which is
    /// laid over the result.
    #[inline]
    pub fn roll(&mut self, path: u32, pushed: u32, last: u16) -> u32 {
        let mut state = self.state.wrapping_add(1);
        state ^= path as i32;
        state = (state >> 21).wrapping_add(state << 11);
        state ^= pushed.wrapping_neg() as i32;
        state = (state >> 10).wrapping_add(state << 22);
        state ^= i32::from(last);
        self.state = state;
        state as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derived by hand: 1 -> 1 << 11 -> 2048 >> 10 = 2, and 2048 << 22 leaves nothing in 32 bits.
    #[test]
    fn the_first_number_without_any_past_is_two() {
        assert_eq!(Dice::default().roll(0, 0, 0), 2);
    }

    /// The same, with 0xd30 over it.
    #[test]
    fn what_is_laid_over_a_number_stays_in_the_state() {
        let mut dice = Dice::default();
        assert_eq!(dice.roll(0, 0, 0xd30), 0xd32);
        // 0xd33 << 11 = 0x69_9800; 0x69_9800 >> 10 = 0x1a66, and 0x69_9800 << 22 leaves nothing.
        assert_eq!(dice.roll(0, 0, 0), 0x1a66);
    }

    /// By hand: 1 ^ 0x8000_0001 = 0x8000_0000; its arithmetic shift by 21 is -1024, shifted left by 11 it is 0; -1024 ^ -1
    /// = 1023; 1023 >> 10 = 0, 1023 << 22 = 0xffc0_0000.
    #[test]
    fn the_state_is_shifted_with_its_sign() {
        assert_eq!(Dice::default().roll(0x8000_0001, 1, 0), 0xffc0_0000);
    }
}
