//! What counts as executed often.
//!
//! With units of work: once in twenty units. Without: one hundredth of the most executed conditional branch of the program's own
//! files, because a fault in the loop around the hottest one still counts, and start-up code does not. Never fewer than 16
//! times: what a program does so seldom costs it nothing, and of 16 outcomes that are all the same way the next one is so too
//! with a chance of 94 % (the rule of succession).

/// Executions per unit from which on a place is hot.
const PER_UNIT: f64 = 0.05;
/// The part of the hottest branch's executions from which on a place is hot, without units.
const OF_HOTTEST: f64 = 0.01;
/// Fewer are never hot.
const LEAST: u64 = 16;

/// What executions are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Units of work that the command did.
    pub units: Option<u64>,
    /// Executions of the most executed conditional branch of the program's own files.
    pub hottest: u64,
}

impl Heat {
    /// The fewest executions that are hot.
    pub fn least(&self) -> u64 {
        let share = match self.units {
            Some(units) => units as f64 * PER_UNIT,
            None => self.hottest as f64 * OF_HOTTEST,
        };
        (share.ceil() as u64).max(LEAST)
    }

    /// Whether so many executions are often.
    pub fn is_hot(&self, executed: u64) -> bool {
        executed >= self.least()
    }

    /// Whether it happens about once per unit: in every second one at least. Without units, whether it is hot.
    pub fn is_each(&self, executed: u64) -> bool {
        self.is_hot(executed) && self.units.is_none_or(|units| 2 * executed >= units)
    }

    /// Executions per unit of work.
    pub fn per_unit(&self, executed: u64) -> Option<f64> {
        self.units.map(|units| executed as f64 / units.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_is_once_in_twenty_units_or_a_hundredth_of_the_hottest_branch() {
        let with = Heat { units: Some(1000), hottest: 1_000_000 };
        assert_eq!((with.least(), with.is_hot(49), with.is_hot(50)), (50, false, true));
        assert_eq!((with.is_each(499), with.is_each(500)), (false, true));
        assert_eq!(with.per_unit(250), Some(0.25));
        let without = Heat { units: None, hottest: 100_000 };
        assert_eq!((without.is_hot(999), without.is_hot(1000), without.is_each(1000)), (false, true, true));
        assert_eq!(without.per_unit(250), None);
    }

    #[test]
    fn what_happens_a_few_times_is_never_hot() {
        let few = Heat { units: Some(10), hottest: 0 };
        assert_eq!((few.is_hot(15), few.is_hot(16)), (false, true));
        assert!(!Heat { units: None, hottest: 0 }.is_hot(15));
    }
}
