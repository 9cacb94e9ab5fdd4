//! `states`, `measure` and `copies`: for all inputs above the tables, or for one in its own.

use super::reader::{TomlReader, TomlTable};
use super::{convert, entries};
use crate::experiment::spec::InputSpec;
use crate::experiment::usage::{self, CacheState, Measure, Usage};

const MOST_COPIES: i64 = 1_000_000;

/// What the keys say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Usages {
    states: Vec<CacheState>,
    measures: Vec<Measure>,
    copies: Option<u64>,
}

impl Default for Usages {
    fn default() -> Self {
        Self { states: vec![CacheState::Hot], measures: vec![Measure::Throughput], copies: None }
    }
}

impl Usages {
    /// One use for each combination.
    pub(super) fn spanned(&self) -> Vec<Usage> {
        usage::usages(&self.states, &self.measures, self.copies)
    }

    /// Whether `copies` is used by none.
    fn is_idle(&self) -> bool {
        self.copies.is_some() && !self.states.contains(&CacheState::Rotating)
    }
}

/// Reads the three keys of a table; what it leaves out is as in `default`.
pub(super) fn read(reader: &mut TomlReader, table: &TomlTable, default: &Usages) -> Usages {
    let states = list(reader, table, "states", CacheState::ALL.map(|state| (state.word(), state)));
    let measures = list(reader, table, "measure", Measure::ALL.map(|measure| (measure.word(), measure)));
    let copies = reader.read(table, "copies", convert::whole(2..=MOST_COPIES));
    let uses = Usages {
        states: states.unwrap_or_else(|| default.states.clone()),
        measures: measures.unwrap_or_else(|| default.measures.clone()),
        copies: copies.map(|copies| copies as u64).or(default.copies),
    };
    if copies.is_some() && !table.path.is_empty() && uses.is_idle() {
        refuse(reader, table);
    }
    uses
}

/// Notes copies above the tables that no input rotates over.
pub(super) fn refuse_idle_copies(reader: &mut TomlReader, top: &TomlTable, inputs: &[InputSpec]) {
    if top.has("copies") && inputs.iter().all(|input| input.usage.state != CacheState::Rotating) {
        refuse(reader, top);
    }
}

fn refuse(reader: &mut TomlReader, table: &TomlTable) {
    let message = format!("`{}` has no effect without the state \"rotating\"", table.path_of("copies"));
    let problem = reader.complain_of(table, "copies", message);
    problem.example = Some(table.example_of("states"));
}

/// A list of different words, at least one.
fn list<T: Copy + PartialEq + ToString, const N: usize>(
    reader: &mut TomlReader,
    table: &TomlTable,
    name: &str,
    words: [(&str, T); N],
) -> Option<Vec<T>> {
    let found = reader.list(table, name, convert::choice(&words))?;
    if found.is_empty() {
        reader.complain_of(table, name, format!("`{}` is empty", table.path_of(name)));
        return None;
    }
    entries::refuse_repeats(reader, &table.path_of(name), &found);
    Some(found)
}

/// The input in each of its uses, named after it.
pub(super) fn expand(input: &InputSpec, uses: &[Usage]) -> Vec<InputSpec> {
    let used = |&usage: &Usage| InputSpec {
        name: format!("{}{}", input.name, usage.suffix()),
        usage,
        of: if usage.is_plain() { input.of.clone() } else { Some(input.name.clone()) },
        ..input.clone()
    };
    uses.iter().map(used).collect()
}
