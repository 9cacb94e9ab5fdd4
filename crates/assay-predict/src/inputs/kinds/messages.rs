//! Messages behind their length, as a channel that loses some delivers them.

use super::{ArgumentError, Arguments, Domain, Kind, Parameter, Preset};
use crate::inputs::Format;
use crate::inputs::draw::{Draw, Selection};
use crate::inputs::format::LengthPrefix;

/// Bytes of the number that each message begins with.
const NUMBER: i128 = 8;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "messages",
    says: "random bytes behind their length; each begins with its number (8 bytes), and lost numbers are missing",
    formats: &[
        Format::Messages(LengthPrefix::U32),
        Format::Messages(LengthPrefix::U16),
        Format::Messages(LengthPrefix::U8),
        Format::Messages(LengthPrefix::U16Be),
        Format::Messages(LengthPrefix::U32Be),
        Format::Messages(LengthPrefix::Varint),
    ],
    units: 100_000,
    parameters: &[
        Parameter {
            name: "size",
            says: "bytes of a message on average, without its length",
            domain: Domain::Whole(NUMBER, 1 << 24),
            preset: Preset::Whole(128),
            example: "size = 128",
        },
        Parameter {
            name: "spread",
            says: "sizes are uniform from (1 - spread) to (1 + spread) times that",
            domain: Domain::Number(0.0, 1.0),
            preset: Preset::Number(0.5),
            example: "spread = 0.5",
        },
        Parameter {
            name: "loss",
            says: "the share of messages that are lost",
            domain: Domain::Share,
            preset: Preset::Number(0.0),
            example: "loss = \"5 %\"",
        },
        Parameter {
            name: "loss_burst",
            says: "messages lost in a row on average; 1 is independent of each other",
            domain: Domain::Number(1.0, f64::MAX),
            preset: Preset::Number(1.0),
            example: "loss_burst = 4",
        },
    ],
    check,
    make,
}];

/// The least and the greatest size.
fn sizes(arguments: &Arguments) -> (u64, u64) {
    let size = arguments.whole("size") as u64;
    let spread = (size as f64 * arguments.number("spread")) as u64;
    let spread = spread.min(size - NUMBER as u64);
    (size - spread, size + spread)
}

fn check(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    if arguments.number("loss") > 0.99 {
        return Err(ArgumentError::new("loss", "at most 99 % of the messages can be lost".to_owned()));
    }
    let (_, greatest) = sizes(arguments);
    let Format::Messages(prefix) = arguments.format else { unreachable!("messages make messages") };
    if greatest <= prefix.longest() {
        return Ok(());
    }
    let message = format!(
        "the longest message has {greatest} bytes, but the lengths of {} end at {}",
        arguments.format.word(),
        prefix.longest()
    );
    Err(ArgumentError::new("size", message))
}

/// Losses are a chain of two states (Gilbert, "Capacity of a burst-noise channel", BSTJ 39(5), 1960), of which there are
/// exactly as many as on average: bursts stand between messages at random, and the lost ones are dealt out to them at random.
/// None is lost before the first message, where nobody could tell.
fn make(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (least, greatest) = sizes(arguments);
    let loss = arguments.number("loss");
    let lost = if units > 1 { (units as f64 * loss / (1.0 - loss)).round() as u64 } else { 0 };
    // Independent losses have bursts too: of 1 / (1 - loss) on average.
    let burst = arguments.number("loss_burst").max(1.0 / (1.0 - loss));
    let bursts = ((lost as f64 / burst).round() as u64).clamp(lost.min(1), units.saturating_sub(1).max(1));
    let mut begins = Selection::new(bursts, units.saturating_sub(1));
    let mut ends = Selection::new(bursts.saturating_sub(1), lost.saturating_sub(1));
    let Format::Messages(prefix) = arguments.format else { unreachable!("messages make messages") };
    let mut bytes = Vec::with_capacity(
        units as usize * (least + greatest) as usize / 2 + super::LONGEST_PREFIX as usize * units as usize,
    );
    let mut number = 0u64;
    for at in 0..units {
        if lost > 0 && at > 0 && begins.next(draw) {
            number += 1;
            while !ends.ends(draw) {
                number += 1;
            }
        }
        let size = draw.between(least, greatest);
        prefix.write(&mut bytes, size);
        bytes.extend_from_slice(&number.to_le_bytes());
        let mut left = size as usize - NUMBER as usize;
        while left > 0 {
            let some = left.min(8);
            bytes.extend_from_slice(&draw.bits().to_le_bytes()[..some]);
            left -= some;
        }
        number += 1;
    }
    bytes
}
