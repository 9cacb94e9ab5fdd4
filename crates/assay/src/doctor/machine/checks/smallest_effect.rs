//! Which effect would 60 s show? Pairs of identical code, measured in the lab's own design.

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};
use crate::report::number;

/// Effects up to this are small enough: the default margin of experiments.
const ENOUGH: f64 = 0.01;

const WHY: &str = "Experiments take 1 % as the least effect that matters unless they say otherwise; what this machine cannot \
show stays inconclusive.";

pub fn look(_: &Kernel, measured: &Measured) -> Looked {
    let Some(null) = measured.null else {
        return Looked::CannotTell("too many samples of the identical codes were interrupted".to_owned());
    };
    let saw = format!(
        "two identical codes, {} pairs in {:.1} s: {} would be told apart in 60 s (95 %, four times of five); \
         what placement adds comes on top",
        number::count(null.pairs),
        null.seconds,
        percent(null.smallest)
    );
    if null.smallest <= ENOUGH {
        return Looked::Well(saw);
    }
    warning(
        saw,
        WHY,
        "mend what is said below, measure longer (budget), or let the file say a larger minimum_effect",
    )
}

/// "0.03 %".
pub fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent >= 1.0 { format!("{percent:.1} %") } else { format!("{percent:.2} %") }
}
