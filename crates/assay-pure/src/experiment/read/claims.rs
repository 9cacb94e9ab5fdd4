//! `[[claims]]`: each must say something that can be compared with a measurement or plain arithmetic, and of whom.

use toml_edit::{Item, TableLike};

use super::entries::{self, Element, Names};
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::{convert, schema};
use crate::experiment::spec::Variant;
use crate::experiment::{ClaimSpec, Says};

const SAYS: &[(&str, Says)] =
    &[("faster", Says::Faster), ("slower", Says::Slower), ("equivalent", Says::Equivalent)];

/// At least one of these must be stated.
const STATEMENTS: [&str; 15] = [
    "says",
    "ratio",
    "ns_per_unit",
    "gigabytes_per_second",
    "million_units_per_second",
    "miss_rate",
    "misses_per_unit",
    "instructions_per_unit",
    "branches_per_unit",
    "cycles_per_unit",
    "allocations_per_unit",
    "allocated_bytes_per_unit",
    "peak_bytes_per_unit",
    "share",
    "change",
];

/// Figures of a variant's cells: what they are may be off by a tolerance, and whose they are must be known.
const FIGURES: [&str; 11] = [
    "ns_per_unit",
    "gigabytes_per_second",
    "million_units_per_second",
    "miss_rate",
    "misses_per_unit",
    "instructions_per_unit",
    "branches_per_unit",
    "cycles_per_unit",
    "allocations_per_unit",
    "allocated_bytes_per_unit",
    "peak_bytes_per_unit",
];

/// What claims may refer to.
pub(super) struct ClaimScope<'a> {
    pub(super) variants: &'a [Variant],
    pub(super) baseline: &'a str,
    pub(super) variant_names: Names,
    pub(super) input_names: Names,
}

pub(super) fn read(reader: &mut TomlReader, top: &TomlTable, context: &ClaimScope) -> Vec<ClaimSpec> {
    let Some(item) = top.item("claims") else {
        return Vec::new();
    };
    let Some(elements) = entries::elements(item) else {
        reader.complain_of(top, "claims", WrongValue::Type.sentence("claims", item));
        return Vec::new();
    };
    let mut claims = Vec::new();
    for (index, element) in elements.into_iter().enumerate() {
        let path = format!("claims[{index}]");
        match element {
            Element::Table(items) => claims.push(read_claim(reader, &path, items, context)),
            Element::Value(value) => {
                let message = WrongValue::Type.sentence(&path, &Item::Value(value.clone()));
                let problem = reader.complain(&path, message);
                problem.example = Some(top.example_of("claims"));
            }
        }
    }
    claims
}

fn read_claim(reader: &mut TomlReader, path: &str, items: &dyn TableLike, context: &ClaimScope) -> ClaimSpec {
    let table = TomlTable::new(path, Some(items), &[schema::CLAIM]);
    reader.unknown_keys(&table);
    if !table.has("text") {
        reader.missing(&table, "text");
    }
    let mut claim = read_keys(reader, &table);
    check_references(reader, &table, &claim, context);
    check_statement(reader, &table);
    check_numbers(reader, &table);
    claim.candidate = candidate(reader, &table, &claim, context);
    claim
}

fn read_keys(reader: &mut TomlReader, table: &TomlTable) -> ClaimSpec {
    let any = convert::fraction(|_| true);
    let from_0 = convert::fraction(|number| number >= 0.0);
    let above_0 = convert::number(|number| number > 0.0);
    let least_0 = convert::number(|number| number >= 0.0);
    ClaimSpec {
        text: reader.read(table, "text", convert::text).unwrap_or_default(),
        source: reader.read(table, "source", convert::text),
        candidate: reader.read(table, "candidate", convert::text),
        baseline: reader.read(table, "baseline", convert::text),
        inputs: reader.list(table, "inputs", convert::text).unwrap_or_default(),
        compilers: reader.list(table, "compilers", convert::line).unwrap_or_default(),
        flags: reader.list(table, "flags", convert::line).unwrap_or_default(),
        baseline_compiler: reader.read(table, "baseline_compiler", convert::line),
        baseline_flags: reader.read(table, "baseline_flags", convert::line),
        says: reader.read(table, "says", convert::choice(SAYS)),
        ratio: reader.read(table, "ratio", &above_0),
        ratio_tolerance: reader.read(table, "ratio_tolerance", &from_0),
        ns_per_unit: reader.read(table, "ns_per_unit", &above_0),
        gigabytes_per_second: reader.read(table, "gigabytes_per_second", &above_0),
        million_units_per_second: reader.read(table, "million_units_per_second", &above_0),
        // Not bounded by 1: an impossible rate is a claim to refute, not a mistake in the file.
        miss_rate: reader.read(table, "miss_rate", &from_0),
        misses_per_unit: reader.read(table, "misses_per_unit", &least_0),
        instructions_per_unit: reader.read(table, "instructions_per_unit", &above_0),
        branches_per_unit: reader.read(table, "branches_per_unit", &least_0),
        cycles_per_unit: reader.read(table, "cycles_per_unit", &above_0),
        allocations_per_unit: reader.read(table, "allocations_per_unit", &least_0),
        allocated_bytes_per_unit: reader.read(table, "allocated_bytes_per_unit", &least_0),
        peak_bytes_per_unit: reader.read(table, "peak_bytes_per_unit", &least_0),
        share: reader.read(table, "share", &from_0),
        before: reader.read(table, "before", &above_0),
        after: reader.read(table, "after", &least_0),
        change: reader.read(table, "change", &any),
    }
}

fn check_references(reader: &mut TomlReader, table: &TomlTable, claim: &ClaimSpec, context: &ClaimScope) {
    for (key, name) in [("candidate", &claim.candidate), ("baseline", &claim.baseline)] {
        if let Some(name) = name {
            context.variant_names.check(reader, &table.path_of(key), name);
        }
    }
    for (index, input) in claim.inputs.iter().enumerate() {
        context.input_names.check(reader, &format!("{}.inputs[{index}]", table.path), input);
    }
    let with_itself = claim.baseline_variant(context.baseline) == claim.candidate.as_deref();
    let baseline = claim.baseline.as_deref().unwrap_or(context.baseline);
    let compares = (table.has("says") || table.has("ratio")) && !claim.compares_builds();
    if claim.candidate.is_some() && with_itself && compares {
        let message = format!("`{}` compares \"{baseline}\" with itself", table.path_of("candidate"));
        reader.complain(&table.path_of("candidate"), message);
    }
}

fn check_statement(reader: &mut TomlReader, table: &TomlTable) {
    // Two numbers without what follows from them are complained of as such.
    let incomplete = table.has("before") || table.has("after");
    if incomplete || STATEMENTS.iter().any(|key| table.has(key)) {
        return;
    }
    let problem =
        reader.complain(&table.path, format!("`{}` states nothing that can be checked", table.path));
    problem.expected = Some(format!("at least one of {}", STATEMENTS.join(", ")));
    problem.example = Some("says = \"faster\"".into());
}

/// Notes numbers that only say something together with others that are missing.
fn check_numbers(reader: &mut TomlReader, table: &TomlTable) {
    for (given, other) in [("before", "after"), ("after", "before")] {
        if table.has(given) && !table.has(other) {
            let message = format!("`{}` needs `{other}` too", table.path_of(given));
            reader.complain(&table.path_of(given), message).example = Some(table.example_of(other));
        }
    }
    if table.has("before") && table.has("after") && !table.has("change") && !table.has("ratio") {
        let message =
            format!("`{}` and `after` are given, but not what follows from them", table.path_of("before"));
        let problem = reader.complain(&table.path_of("before"), message);
        problem.expected = Some("`change` or `ratio` as claimed".into());
        problem.example = Some(table.example_of("change"));
    }
    let tolerant = FIGURES.iter().chain(&["ratio"]).any(|key| table.has(key));
    if table.has("ratio_tolerance") && !tolerant {
        let path = table.path_of("ratio_tolerance");
        let problem = reader.complain(&path, format!("`{path}` has no figure to apply to"));
        problem.expected = Some(format!("`ratio` or one of {}", FIGURES.join(", ")));
    }
}

/// Who the claim is about: as given, or the only one that it can be; a note if a comparison could be about several.
fn candidate(
    reader: &mut TomlReader,
    table: &TomlTable,
    claim: &ClaimSpec,
    context: &ClaimScope,
) -> Option<String> {
    let arithmetic = table.has("before") && table.has("after");
    // Mispredictions may be claimed of the input itself, whoever decodes it.
    let of_input = ["miss_rate", "misses_per_unit"];
    let of_variant = FIGURES.iter().filter(|key| !of_input.contains(key));
    let measured = table.has("says")
        || of_variant.into_iter().any(|key| table.has(key))
        || (table.has("ratio") && !arithmetic);
    if table.has("candidate") || !measured {
        return claim.candidate.clone();
    }
    let baseline = claim.baseline.as_deref().unwrap_or(context.baseline);
    let mut others = context.variants.iter().map(|variant| &variant.name).filter(|name| *name != baseline);
    match (others.next(), others.next()) {
        (Some(only), None) => Some(only.clone()),
        (Some(first), Some(_)) if !first.is_empty() => {
            let path = &table.path;
            let problem = reader.complain(path, format!("`{path}` does not name its variant"));
            problem.example = Some(format!("candidate = \"{first}\""));
            None
        }
        _ => None,
    }
}
