//! What is known of a stage in a role, and what can be asked of it.

use serde::{Deserialize, Serialize};

/// A figure of a diary's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Executed instructions.
    Instructions,
    /// Executed branches of all classes.
    Branches,
    /// Mispredictions, simulated or counted.
    Misses,
    /// Mispredictions / branches.
    MissRate,
    /// Nanoseconds.
    Time,
    /// Bytes of code in the program.
    Size,
}

impl Quantity {
    /// All, in the order of the table.
    pub const ALL: [Quantity; 6] = [
        Quantity::Time,
        Quantity::Branches,
        Quantity::Misses,
        Quantity::MissRate,
        Quantity::Instructions,
        Quantity::Size,
    ];

    /// The word of files and sentences.
    pub fn word(self) -> &'static str {
        match self {
            Quantity::Instructions => "instructions",
            Quantity::Branches => "branches",
            Quantity::Misses => "misses",
            Quantity::MissRate => "miss_rate",
            Quantity::Time => "time",
            Quantity::Size => "size",
        }
    }

    /// Whether it is divided by the units of the role.
    pub fn is_per_unit(self) -> bool {
        !matches!(self, Quantity::MissRate | Quantity::Size)
    }
}

/// What one command of a role did in all; what was not measured is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandFigures {
    /// Units of work that the command does.
    pub units: f64,
    /// Executed instructions, start-up subtracted.
    pub instructions: Option<u64>,
    /// Executed branches, start-up subtracted.
    pub branches: Option<u64>,
    /// Mispredictions, start-up subtracted.
    pub misses: Option<u64>,
    /// Nanoseconds: the median over placements.
    pub time_ns: Option<f64>,
    /// Bytes of code in the program.
    pub text_bytes: Option<u64>,
}

impl CommandFigures {
    /// A quantity of the whole command; a rate and a size as they are.
    pub fn total(&self, quantity: Quantity) -> Option<f64> {
        let count = |count: Option<u64>| count.map(|count| count as f64);
        match quantity {
            Quantity::Instructions => count(self.instructions),
            Quantity::Branches => count(self.branches),
            Quantity::Misses => count(self.misses),
            Quantity::Time => self.time_ns,
            Quantity::Size => count(self.text_bytes),
            Quantity::MissRate => {
                let branches = count(self.branches).filter(|branches| *branches > 0.0)?;
                Some(count(self.misses)? / branches)
            }
        }
    }

    /// A quantity per unit; a rate and a size as they are.
    pub fn per_unit(&self, quantity: Quantity) -> Option<f64> {
        let total = self.total(quantity)?;
        if !quantity.is_per_unit() {
            return Some(total);
        }
        (self.units > 0.0).then(|| total / self.units)
    }

    /// This / another one, per unit; `None` where either is not known or the other is 0.
    pub fn ratio(&self, other: &CommandFigures, quantity: Quantity) -> Option<f64> {
        let (own, other) = (self.per_unit(quantity)?, other.per_unit(quantity)?);
        (other != 0.0).then(|| own / other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The first row of the allocator's document: 17,098,340 branches, 1,854,018 of them missed, 100,000 operations.
    fn seed() -> CommandFigures {
        CommandFigures {
            units: 100_000.0,
            instructions: None,
            branches: Some(17_098_340),
            misses: Some(1_854_018),
            time_ns: Some(1.03e8),
            text_bytes: Some(4096),
        }
    }

    #[test]
    fn figures_are_divided_by_units_but_for_rates_and_sizes() {
        assert_eq!(seed().per_unit(Quantity::Branches), Some(170.9834));
        assert_eq!(seed().per_unit(Quantity::Time), Some(1030.0));
        assert_eq!(seed().per_unit(Quantity::Size), Some(4096.0));
        let rate = seed().per_unit(Quantity::MissRate).unwrap();
        assert!((rate - 0.108432).abs() < 1e-6, "{rate}");
        assert_eq!(seed().per_unit(Quantity::Instructions), None);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let none = CommandFigures { branches: Some(0), misses: Some(0), ..CommandFigures::default() };
        assert_eq!(none.per_unit(Quantity::MissRate), None);
        assert_eq!(none.per_unit(Quantity::Branches), None);
        assert_eq!(seed().ratio(&CommandFigures { units: 1.0, ..none }, Quantity::Branches), None);
        assert_eq!(CommandFigures { units: 1.0, ..none }.ratio(&seed(), Quantity::Branches), Some(0.0));
    }
}
