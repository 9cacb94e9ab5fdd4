//! Runs that come again in the same order: a loop's log repeats itself byte by byte.
//!
//! Method: the last runs are remembered. Where they are the same as those before them, and as many bytes behind them are the same
//! again, the walk goes the same way again: no more than the bytes must be looked at. That holds for returns, too, while none of them
//! ends a call that was open before.

/// Runs that are looked at at once.
pub(super) const LOOK: usize = 64;
/// Runs of a period at most.
const PERIOD: usize = 32;
/// Runs that must come again for it to be worth saying.
const WORTH: usize = 32;
/// Runs at most that are not remembered after a look that found nothing.
const IDLE: usize = if cfg!(test) { LOOK } else { 16 * LOOK };

/// A run that was met.
#[derive(Clone, Copy, Default)]
pub(super) struct TrailStep {
    pub(super) run: u32,
    /// Where its records begin.
    pub(super) at: u32,
    /// Calls that were open when it began.
    pub(super) depth: u32,
    /// The fewest that were open in it.
    pub(super) least: u32,
}

/// Runs that were met in a row, at most [`LOOK`]. Where looks find nothing, fewer and fewer are remembered.
pub(super) struct Trail {
    steps: [TrailStep; LOOK],
    number: usize,
    /// How many are not remembered from now on, and how many they were after the last look.
    idle: usize,
    idled: usize,
}

impl Default for Trail {
    fn default() -> Trail {
        Trail { steps: [TrailStep::default(); LOOK], number: 0, idle: 0, idled: 0 }
    }
}

impl Trail {
    #[inline(always)]
    pub(super) fn push(&mut self, step: TrailStep) {
        if self.idle > 0 {
            self.idle -= 1;
        } else {
            self.steps[self.number % LOOK] = step;
            self.number += 1;
        }
    }

    /// What comes is not behind what is remembered.
    pub(super) fn clear(&mut self) {
        self.number = 0;
    }

    /// So many are not remembered, or as many may be before a look at them is due.
    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        if self.idle > 0 { self.idle } else { LOOK - self.number }
    }

    /// A look at them is due.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.number == LOOK
    }

    /// After a look.
    pub(super) fn looked(&mut self, found: bool) {
        self.number = 0;
        self.idled = if found { 0 } else { (2 * self.idled).clamp(LOOK, IDLE) };
        self.idle = self.idled;
    }

    /// The last runs, if they are the same as those before them and leave no other calls open than these. `depth` is that behind them.
    pub(super) fn period(&self, depth: usize) -> Option<&[TrailStep]> {
        let steps = &self.steps[..self.number];
        let last = steps.last()?.run;
        let is_period = |runs: &usize| {
            let (before, those) = steps.split_at(steps.len() - runs);
            let before = &before[before.len() - runs..];
            before[runs - 1].run == last && before.iter().zip(those).all(|(one, other)| one.run == other.run)
        };
        let runs = (1..=PERIOD.min(steps.len() / 2)).find(is_period)?;
        let period = &steps[steps.len() - runs..];
        let begun = period[0].depth;
        (depth == begun as usize && period.iter().all(|step| step.least >= begun)).then_some(period)
    }
}

/// How often the bytes that begin at the first place and end at the second come again behind them, if as many runs are worth it.
pub(super) fn turns(bytes: &[u8], from: usize, to: usize, runs: usize) -> Option<usize> {
    let behind = &bytes[to..];
    let same = alike(behind, &bytes[from..]);
    same.checked_div(to - from).filter(|turns| turns * runs >= WORTH)
}

/// How many bytes at the beginning are the same.
fn alike(one: &[u8], other: &[u8]) -> usize {
    const AT_ONCE: usize = 64;
    let blocks = one.as_chunks::<AT_ONCE>().0.iter().zip(other.as_chunks::<AT_ONCE>().0);
    let done = AT_ONCE * blocks.take_while(|(one, other)| one == other).count();
    done + one[done..].iter().zip(&other[done..]).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trail(runs: &[u32], depth: impl Fn(u32) -> (u32, u32)) -> Trail {
        let mut trail = Trail::default();
        for (nth, run) in (0..).zip(runs) {
            let (depth, least) = depth(nth);
            trail.push(TrailStep { run: *run, at: 8 * nth, depth, least });
        }
        trail
    }

    #[test]
    fn the_shortest_period_that_came_twice_is_found() {
        let runs = |runs: &[u32]| trail(runs, |_| (0, 0)).period(0).map(<[TrailStep]>::len);
        assert_eq!(runs(&[]), None);
        assert_eq!(runs(&[1]), None);
        assert_eq!(runs(&[1, 1]), Some(1));
        assert_eq!(runs(&[1, 2, 1, 3]), None);
        assert_eq!(runs(&[9, 1, 1, 2, 1, 1, 2]), Some(3));
        assert_eq!(runs(&[1, 1, 2, 9, 1, 1, 2]), None, "it came once");
    }

    #[test]
    fn a_period_that_leaves_calls_open_or_ends_others_is_none() {
        let runs = [1, 2, 1, 2];
        let found = |depth: usize, of: fn(u32) -> (u32, u32)| trail(&runs, of).period(depth).is_some();
        // The second run ends the call of the first.
        assert!(found(3, |nth| if nth % 2 == 0 { (3, 3) } else { (4, 3) }));
        assert!(!found(5, |nth| (3 + nth / 2, 3 + nth / 2)), "one more at each turn");
        assert!(
            !found(3, |nth| if nth % 2 == 0 { (3, 3) } else { (4, 2) }),
            "another call ends, and one begins"
        );
    }

    #[test]
    fn bytes_come_again_as_often_as_all_of_them_do() {
        let mut bytes = [1, 2, 3].repeat(100);
        assert_eq!(turns(&bytes, 0, 3, 1), Some(99));
        assert_eq!(turns(&bytes, 6, 9, 1), Some(97));
        bytes[150] = 9;
        assert_eq!(turns(&bytes, 0, 3, 1), Some(49));
        assert_eq!(turns(&bytes, 0, 3, 32), Some(49));
        assert_eq!(turns(&bytes, 100, 103, 1), None, "16 turns are not worth it");
        assert_eq!(turns(&bytes, 3, 3, 1), None);
    }
}
