//! `[contrasts]`: along which axes cells are compared.

use super::entries::refuse_repeats;
use super::program::table;
use super::reader::{TomlReader, TomlTable};
use super::{convert, schema};
use crate::experiment::axis::{Axis, ContrastSpec, EACH};
use crate::experiment::spec::FlagSet;

/// A compiler that is not there is no mistake of the file: another machine may have it.
pub(super) fn read(reader: &mut TomlReader, top: &TomlTable, flags: &[FlagSet]) -> ContrastSpec {
    let contrasts = table(reader, top, "contrasts", schema::CONTRASTS);
    let words = Axis::ALL.map(|axis| (axis.name(), axis));
    let along = reader.list(&contrasts, "along", convert::choice(&words));
    if along.as_ref().is_some_and(Vec::is_empty) {
        reader.complain_of(&contrasts, "along", "`contrasts.along` is empty");
    }
    let along = along.unwrap_or_else(|| ContrastSpec::default().along);
    refuse_repeats(reader, "contrasts.along", &along);
    let spec = ContrastSpec {
        compiler: reader.read(&contrasts, "compiler", convert::line),
        flags: reader.read(&contrasts, "flags", convert::line),
        along,
    };
    check_flags(reader, &contrasts, &spec, flags);
    for (key, axis) in [("compiler", Axis::Compiler), ("flags", Axis::Flags)] {
        if contrasts.has(key) && contrasts.has("along") && !spec.along.contains(&axis) {
            let message =
                format!("`contrasts.{key}` sets a baseline, but nothing is compared along that axis");
            let problem = reader.complain_of(&contrasts, key, message);
            problem.expected = Some(format!("\"{axis}\" in `contrasts.along`, or no `contrasts.{key}`"));
        }
    }
    ContrastSpec { along: implied(&contrasts, spec.along.clone()), ..spec }
}

/// Who names a baseline on an axis wants to compare along it.
fn implied(contrasts: &TomlTable, mut along: Vec<Axis>) -> Vec<Axis> {
    for (key, axis) in [("compiler", Axis::Compiler), ("flags", Axis::Flags)] {
        if !contrasts.has("along") && contrasts.has(key) {
            along.push(axis);
        }
    }
    along
}

fn check_flags(reader: &mut TomlReader, contrasts: &TomlTable, spec: &ContrastSpec, flags: &[FlagSet]) {
    let Some(wanted) = spec.flags.as_deref().filter(|wanted| *wanted != EACH) else { return };
    // Sets that could not be read are complained of already.
    if flags.is_empty() || flags.iter().any(|set| set.name == wanted) {
        return;
    }
    let names = || flags.iter().map(|set| set.name.as_str());
    let message = format!("`contrasts.flags` names an unknown flag set: \"{wanted}\"");
    let near = reader.nearest(wanted, names());
    let problem = reader.complain_of(contrasts, "flags", message);
    problem.nearest = near;
    problem.expected = Some(format!("one of {}, or \"{EACH}\"", names().collect::<Vec<_>>().join(", ")));
}
