//! How much of a whole program's time is spent in code without records?
//!
//! Method: addresses of the program with records, sampled by the kernel's clock. One is in code with records if its function, by the
//! symbols of the file, has a site; the functions of the log itself count on neither side. Limits: records make the rest slower,
//! so the share is a little less than without them; the kernel's own time is in neither part; a program's first milliseconds, before
//! its log is found, are missing. Checked: `assay/tests/instrument/whole.rs`, on programs that are in one or the other nearly always.

use assay_linux::perf::{ClockSamples, CounterRefusal};
use assay_pure::outcomes::PairedTable;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::HashMap;

/// A share of fewer samples says nothing.
const ENOUGH: u64 = 40;
/// What functions of the log are called, and those that it takes the place of.
const OWN: [&str; 2] = ["assay_", "__wrap_"];

/// Where a function lies as linked, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Function {
    start: u64,
    end: u64,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    WithRecords,
    Without,
    Log,
}

/// The shares while the program runs.
pub(super) struct TimeShares {
    functions: Vec<Function>,
    anchor: u64,
    /// By how much each process lies elsewhere than linked.
    moved: HashMap<u32, u64>,
    samples: Option<ClockSamples>,
    refused: Option<CounterRefusal>,
    inside: u64,
    outside: u64,
}

impl TimeShares {
    /// Of the program with records.
    ///
    /// # Errors
    /// It is not an ELF file.
    pub(super) fn new(logging: &[u8], table: &PairedTable) -> Result<TimeShares, String> {
        Ok(TimeShares {
            functions: functions(logging, table)?,
            anchor: table.anchor,
            moved: HashMap::new(),
            samples: None,
            refused: None,
            inside: 0,
            outside: 0,
        })
    }

    /// A stream of this process was found. The first one is sampled, with what it starts.
    pub(super) fn found(&mut self, process: u32, anchor: u64) {
        self.moved.insert(process, anchor.wrapping_sub(self.anchor));
        if self.samples.is_none() && self.refused.is_none() {
            match ClockSamples::open(process) {
                Ok(samples) => self.samples = Some(samples),
                Err(refusal) => self.refused = Some(refusal),
            }
        }
    }

    /// Counts what was sampled since the last call.
    pub(super) fn count(&mut self) {
        let TimeShares { functions, moved, samples, inside, outside, .. } = self;
        let Some(samples) = samples else { return };
        samples.take(&mut |sample| {
            let linked = moved.get(&sample.process).map(|moved| sample.address.wrapping_sub(*moved));
            match linked.map_or(Part::Without, |address| part(functions, address)) {
                Part::WithRecords => *inside += 1,
                Part::Without => *outside += 1,
                Part::Log => {}
            }
        });
    }

    /// What is to be said of it, a whole sentence; nothing of a program that ended soon.
    pub(super) fn sentence(&self) -> Option<String> {
        if let Some(refusal) = &self.refused {
            return Some(format!(
                "How much of its time is spent in code without records is unknown: {refusal}."
            ));
        }
        let all = self.inside + self.outside;
        let share = 100.0 * self.outside as f64 / all as f64;
        let shown = match share {
            share if share < 1.0 => "less than 1 %".to_owned(),
            share if share > 99.0 => "more than 99 %".to_owned(),
            share => format!("about {share:.0} %"),
        };
        (all >= ENOUGH).then(|| {
            format!("Code without records takes {shown} of its time outside the kernel, by {all} samples.")
        })
    }
}

/// Whose code lies at an address, as linked.
fn part(functions: &[Function], address: u64) -> Part {
    let behind = functions.partition_point(|function| function.start <= address);
    let found = behind.checked_sub(1).map(|at| functions[at]).filter(|function| address < function.end);
    found.map_or(Part::Without, |function| function.part)
}

/// All functions that the file names, by address. One without a size ends where the next begins.
fn functions(logging: &[u8], table: &PairedTable) -> Result<Vec<Function>, String> {
    let file = object::File::parse(logging).map_err(|error| error.to_string())?;
    let mut named: Vec<(u64, u64, bool)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .map(|symbol| {
            let own = symbol.name().is_ok_and(|name| OWN.iter().any(|own| name.starts_with(own)));
            (symbol.address(), symbol.size(), own)
        })
        .collect();
    // Of several names for one place that with the largest size is last.
    named.sort_unstable();
    let mut sites: Vec<u64> = table.places.iter().map(|place| place.logging).collect();
    sites.sort_unstable();
    let mut found: Vec<Function> = Vec::new();
    for (at, (start, size, own)) in named.iter().enumerate() {
        let next = named[at + 1..].iter().map(|other| other.0).find(|other| other > start);
        let end = if *size > 0 { start + size } else { next.unwrap_or(start + 1) };
        let has_site = sites.get(sites.partition_point(|site| site < start)).is_some_and(|site| *site < end);
        let part = match (own, has_site) {
            (true, _) => Part::Log,
            (false, true) => Part::WithRecords,
            (false, false) => Part::Without,
        };
        found.push(Function { start: *start, end, part });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_the_function_around_it_and_of_none_between_two() {
        let function = |start, end, part| Function { start, end, part };
        let functions = [function(0x100, 0x140, Part::WithRecords), function(0x150, 0x160, Part::Log)];
        let of = |address| part(&functions, address);
        assert_eq!((of(0xff), of(0x100), of(0x13f)), (Part::Without, Part::WithRecords, Part::WithRecords));
        assert_eq!((of(0x140), of(0x15f), of(0x160)), (Part::Without, Part::Log, Part::Without));
    }
}
