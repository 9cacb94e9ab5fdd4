//! Which hardware events can be counted?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Without them, instructions and branches are counted exactly under the emulator, mispredictions are simulated, and \
cycles are not known.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    if measured.counters.is_empty() {
        return Looked::CannotTell("no event was tried".to_owned());
    }
    let open: Vec<&str> = measured
        .counters
        .iter()
        .filter(|(_, opened)| opened.is_ok())
        .map(|(name, _)| name.as_str())
        .collect();
    let refused = measured.counters.iter().find_map(|(name, opened)| Some((name, opened.as_ref().err()?)));
    let Some((name, (reason, remedy))) = refused else {
        return Looked::Well(open.join(", "));
    };
    let level = kernel.paranoid.map_or(String::new(), |level| format!(" (perf_event_paranoid is {level})"));
    let counted = if open.is_empty() { "nothing".to_owned() } else { open.join(", ") };
    let saw = format!("{counted} can be counted; {name} not: {reason}{level}");
    note(
        saw,
        WHY,
        remedy.clone().unwrap_or_else(|| "take a machine that has them, or let them be simulated".to_owned()),
    )
}
