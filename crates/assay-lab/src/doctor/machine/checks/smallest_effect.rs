//! Which effect would 60 s show? Two identical functions measured as `assay run` does, over placements; where nothing can be built,
//! pairs of identical code at one place.

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured, Null, Pair};
use assay_report::number;

/// Effects up to this are small enough: the default margin of experiments.
const ENOUGH: f64 = 0.01;

const WHY: &str = "Experiments take 1 % as the least effect that matters unless they say otherwise; what this machine cannot \
show stays inconclusive.";

pub fn look(_: &Kernel, measured: &Measured) -> Looked {
    let (saw, smallest) = match (&measured.pair, measured.null) {
        (Some(Ok(pair)), null) => (over_placements(pair, null), pair.smallest),
        (pair, Some(null)) => (at_one_place(null, pair.as_ref()), null.smallest),
        (_, None) => {
            return Looked::CannotTell(
                "too many samples of the identical codes were interrupted; end other programs (neighbours), or measure longer \
                 (--budget)"
                    .to_owned(),
            );
        }
    };
    if smallest <= ENOUGH {
        return Looked::Well(saw);
    }
    warning(
        saw,
        WHY,
        "mend what is said below, measure longer (budget), or let the file say a larger minimum_effect",
    )
}

fn over_placements(pair: &Pair, null: Option<Null>) -> String {
    let place = null.map_or(String::new(), |null| format!("; at one place {}", percent(null.smallest)));
    format!(
        "two identical functions, {} rotations of placements in {:.1} s: {} would be told apart in 60 s of one contrast (95 %, \
         four times of five){place}",
        pair.rotations,
        pair.seconds,
        percent(pair.smallest)
    )
}

fn at_one_place(null: Null, pair: Option<&Result<Pair, String>>) -> String {
    let why = match pair {
        Some(Err(reason)) => format!(", which could not be measured ({reason})"),
        _ => String::new(),
    };
    format!(
        "two identical codes at one place, {} pairs in {:.1} s: {} would be told apart in 60 s (95 %, four times of five); what \
         placement adds comes on top{why}",
        number::count(null.pairs),
        null.seconds,
        percent(null.smallest)
    )
}

/// "0.03 %".
pub fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent >= 1.0 { format!("{percent:.1} %") } else { format!("{percent:.2} %") }
}
