//! One stream of branches as columns: a coding that is read at the speed of memory.
//!
//! Method: each place has the ways on that were taken from it, the expected one and another at hand. A branch that took
//! the expected way costs nothing but a longer run, one that took the other a token of one byte; only what is new is
//! written out. So a reader follows pointers: no decision of the program's becomes one of the reader's, which would be
//! mispredicted as often. Which way is the expected one is the writer's choice and said in the file, so that readers count
//! nothing. What lies in the columns is packed by zstd.
//!
//! Known limits: a return is coded by the last ways from its place, not by its call.

mod content;
mod fields;
mod places;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use places::Places;
pub use read::ColumnBlock;
pub use write::ColumnWriter;

/// Branches of the fullest block.
pub const MAX_BRANCHES: u32 = 1 << 18;

/// What ends a run of branches that took the expected way: the upper bits of a token, its length below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// A branch that took the other way.
    Turn = 0,
    /// The same, and that way is expected from now on.
    Swap = 1,
    /// A branch that is described among the events.
    Event = 2,
    /// Nothing.
    Stop = 3,
}

impl Ending {
    const ALL: [Ending; 4] = [Ending::Turn, Ending::Swap, Ending::Event, Ending::Stop];

    fn of(token: u8) -> Ending {
        Ending::ALL[usize::from(token >> 6)]
    }
}

/// The longest run that a token can say; it is followed by what is left of it, as a number.
const LONG: u8 = 63;
