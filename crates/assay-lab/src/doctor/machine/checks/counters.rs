//! Which hardware events can be counted?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Without them, instructions and branches are counted exactly under the emulator, mispredictions are simulated, and \
cycles are not known.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    if measured.counters.is_empty() {
        return Looked::CannotTell("no event was tried".to_owned());
    }
    let tried = &measured.counters;
    let open: Vec<&str> =
        tried.iter().filter(|tried| tried.refused.is_none()).map(|tried| tried.event.as_str()).collect();
    let Some((refused, reason)) = tried.iter().find_map(|tried| Some((tried, tried.refused.as_ref()?)))
    else {
        return Looked::Well(open.join(", "));
    };
    let level = kernel.paranoid.map_or(String::new(), |level| format!(" (perf_event_paranoid is {level})"));
    let counted = if open.is_empty() { "nothing".to_owned() } else { open.join(", ") };
    let saw = format!("{counted} can be counted; {} not: {reason}{level}", refused.event);
    let otherwise = "take a machine that has them, or let them be simulated";
    note(saw, WHY, refused.remedy.clone().unwrap_or_else(|| otherwise.to_owned()))
}
