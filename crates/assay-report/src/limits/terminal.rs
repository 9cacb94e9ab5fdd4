//! The limits as text: the answer, then the levels of the memory, what things cost, what is not known.

use super::LevelRate;
use crate::ink::Ink;
use crate::sheet::Sheet;
use crate::table::{Column, Table};
use assay_pure::limits::{
    ClockBehaviour, Cost, CurvePoint, LimitFigure, Limits, MemoryLevel, Moved, Rate, cost,
};
use assay_pure::words;

/// What is known of the file beside the figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Where they are kept.
    pub file: String,
    /// Since they were measured, seconds; none where that was just now.
    pub age_seconds: Option<f64>,
    /// What is different on the machine since.
    pub changes: Vec<String>,
}

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`; with every working set
/// if `all`.
pub fn render_limits(limits: &Limits, told: &Told, width: usize, colour: bool, all: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&answer(limits), None);
    sheet.warnings(changed(told));
    levels(limits, &mut sheet);
    costs(limits, &mut sheet);
    memorised(limits, &mut sheet);
    if let Some(clock) = &limits.clock {
        frequency(clock, &mut sheet);
    }
    if all {
        curves(limits, &mut sheet);
    }
    sheet.heading("What these figures do not show");
    for note in &limits.notes {
        sheet.labelled(Ink::Dim, "  - ", note);
    }
    closing(limits, told, all, &mut sheet);
    sheet.into_text()
}

/// "AMD EPYC, one core: 3.68 GHz, 6.0 instructions per cycle; reads 230 GB/s from L1, 21 from memory; ..."
pub(crate) fn answer(limits: &Limits) -> String {
    let mut parts = Vec::new();
    if let Some(clock) = &limits.clock {
        let width = limits.cost(cost::INSTRUCTION).map_or(String::new(), |instruction| {
            format!(", {:.1} instructions per cycle at best", clock.cycle_ns.median / instruction.ns.median)
        });
        parts.push(format!("{:.2} GHz{width}", 1.0 / clock.cycle_ns.median));
    }
    let (read, copy): (LevelRate, LevelRate) = (|level| &level.read, |level| &level.copy);
    for (verb, rate) in [("reads", read), ("copies", copy)] {
        let of = |level: &&MemoryLevel| rate(level).as_ref().map(|rate| rate.bytes_per_ns.median);
        let known: Vec<(&str, f64)> =
            limits.levels.iter().filter_map(|level| Some((level.name.as_str(), of(&level)?))).collect();
        match known.as_slice() {
            [] => {}
            [(name, only)] => parts.push(format!("{verb} {} GB/s from {name}", words::short(*only))),
            [near, .., far] => parts.push(format!(
                "{verb} {} GB/s from {}, {} from {}",
                words::short(near.1),
                near.0,
                words::short(far.1),
                far.0
            )),
        }
    }
    let waits: Vec<(&str, f64)> = limits
        .levels
        .iter()
        .filter_map(|level| Some((level.name.as_str(), level.latency_ns?.median)))
        .collect();
    if let [near, .., far] = waits.as_slice() {
        parts.push(format!(
            "a dependent load takes {} ns from {}, {} from {}",
            words::short(near.1),
            near.0,
            words::short(far.1),
            far.0
        ));
    }
    if let Some(miss) = limits.cost(cost::MISPREDICTION) {
        parts.push(format!("a misprediction costs {} ns", words::short(miss.ns.median)));
    }
    format!("{}, one core: {}.", limits.machine.cpu, parts.join("; "))
}

fn changed(told: &Told) -> Option<String> {
    (!told.changes.is_empty()).then(|| {
        format!(
            "The machine has changed since ({}): the costs of the kernel and of its clocks may differ. Measure again with \
             --again.",
            told.changes.join("; ")
        )
    })
}

fn levels(limits: &Limits, sheet: &mut Sheet) {
    if limits.levels.is_empty() {
        return;
    }
    sheet.heading("Memory, one core");
    sheet.paragraph(
        Ink::Dim,
        "  ",
        "GB/s (bytes per nanosecond) of the fastest loop; a copied byte counts once. Latency: of a load that depends on the one before.",
    );
    sheet.gap();
    let mut table = Table::new(
        vec![
            Column::left("level"),
            Column::right("size"),
            Column::right("measured end").optional(3),
            Column::right("read"),
            Column::right("write"),
            Column::right("copy"),
            Column::right("latency ns"),
            Column::right("cycles").optional(1),
            Column::right("huge pages").optional(2),
            Column::left("fastest by (read, write, copy)").optional(4),
        ],
        1,
    );
    let cycle = limits.clock.map(|clock| clock.cycle_ns.median);
    for level in &limits.levels {
        let rate = |rate: &Option<Rate>| {
            rate.as_ref().map_or("-".to_owned(), |rate| words::short(rate.bytes_per_ns.median))
        };
        let ns =
            |figure: Option<LimitFigure>| figure.map_or("-".to_owned(), |figure| words::short(figure.median));
        let by =
            [&level.read, &level.write, &level.copy].map(|rate| rate.as_ref().map_or("-", |rate| &rate.by));
        let cycles = level.latency_ns.zip(cycle).map(|(ns, cycle)| format!("{:.0}", ns.median / cycle));
        table.row(vec![
            level.name.clone().into(),
            level.bytes.map(words::bytes).unwrap_or_default().into(),
            level.ends_at_bytes.map(words::bytes).unwrap_or_default().into(),
            rate(&level.read).into(),
            rate(&level.write).into(),
            rate(&level.copy).into(),
            ns(level.latency_ns).into(),
            cycles.unwrap_or_default().into(),
            level.latency_huge_ns.map(|figure| words::short(figure.median)).unwrap_or_default().into(),
            by.join(", ").into(),
        ]);
    }
    sheet.table(&table);
}

fn costs(limits: &Limits, sheet: &mut Sheet) {
    if limits.costs.is_empty() {
        return;
    }
    sheet.heading("What things cost");
    let mut table = Table::new(
        vec![
            Column::left(""),
            Column::right("ns"),
            Column::right("95 %").optional(2),
            Column::right("cycles"),
            Column::left("measured by").wrapping().optional(1),
        ],
        1,
    );
    let cycle = limits.clock.map(|clock| clock.cycle_ns.median);
    for Cost { name, ns, how } in &limits.costs {
        let cycles = cycle.map_or("-".to_owned(), |cycle| words::short(ns.median / cycle));
        table.row(vec![
            name.clone().into(),
            words::ns(ns.median).into(),
            format!("{} to {}", words::ns(ns.lower), words::ns(ns.upper)).into(),
            cycles.into(),
            how.clone().into(),
        ]);
    }
    sheet.table(&table);
}

fn memorised(limits: &Limits, sheet: &mut Sheet) {
    let Some(memory) = limits.predictor_memory else { return };
    sheet.heading("Branch predictor");
    let sweeps = words::plural(memory.sweeps, "sweep");
    let text = match memory.known() {
        None => format!("It is not seen to memorise a repeated random sequence of any length: {sweeps}."),
        Some(known) => {
            let unknown = known.unlearned_outcomes.map_or(String::new(), |length| {
                format!(", and nothing of a sequence of {}", words::count(length))
            });
            let disagree = if known.is_agreed() { "" } else { ", which differ by more than 20 %" };
            let memorised = known.in_words();
            format!(
                "It memorises {memorised} random outcomes of a repeated sequence{unknown}: {sweeps}{disagree}."
            )
        }
    };
    sheet.paragraph(Ink::Plain, "  ", &text);
}

fn frequency(clock: &ClockBehaviour, sheet: &mut Sheet) {
    sheet.heading("Clock frequency");
    let ghz = |ns: f64| format!("{:.2}", 1.0 / ns);
    let first = clock.first_ns.map_or(String::new(), |first| {
        let change = 100.0 * (first / clock.cycle_ns.median - 1.0);
        let word = if change.abs() < 2.0 {
            "the same"
        } else if change > 0.0 {
            "slower"
        } else {
            "faster"
        };
        format!("; {} in the first millisecond after being idle ({word})", ghz(first))
    });
    let text = format!(
        "{} GHz, measured with dependent additions of one cycle each; 80 % of the windows between {} and {} GHz{first}.",
        ghz(clock.cycle_ns.median),
        ghz(clock.slowest_ns),
        ghz(clock.fastest_ns),
    );
    sheet.paragraph(Ink::Plain, "  ", &text);
}

/// Every working set: the ways side by side.
fn curves(limits: &Limits, sheet: &mut Sheet) {
    for operation in ["read", "write", "copy"] {
        let own: Vec<&Moved> = limits.bandwidth.iter().filter(|curve| curve.operation == operation).collect();
        if own.is_empty() {
            continue;
        }
        let title = match operation {
            "copy" => "Copy, GB/s by working set (source and target together)".to_owned(),
            other => format!("{}, GB/s by working set", words::capital(other)),
        };
        let columns: Vec<(&str, &[CurvePoint])> =
            own.iter().map(|curve| (curve.by.as_str(), curve.points.as_slice())).collect();
        curve_table(&title, &columns, sheet);
    }
    let columns: Vec<(&str, &[CurvePoint])> =
        limits.latency.iter().map(|curve| (curve.pages.word(), curve.points.as_slice())).collect();
    if !columns.is_empty() {
        curve_table("Latency, nanoseconds per load by working set and pages", &columns, sheet);
    }
}

fn curve_table(title: &str, columns: &[(&str, &[CurvePoint])], sheet: &mut Sheet) {
    sheet.heading(title);
    let titles = columns.iter().map(|(name, _)| Column::right(name));
    let mut table = Table::new(std::iter::once(Column::right("bytes")).chain(titles).collect(), 1);
    let mut sizes: Vec<u64> =
        columns.iter().flat_map(|(_, points)| points.iter().map(|point| point.bytes)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for bytes in sizes {
        let figure = |points: &[CurvePoint]| {
            let point = points.iter().find(|point| point.bytes == bytes);
            point.map_or("-".to_owned(), |point| words::short(point.figure.median))
        };
        let figures = columns.iter().map(|(_, points)| figure(points).into());
        table.row(std::iter::once(words::bytes(bytes).into()).chain(figures).collect());
    }
    sheet.table(&table);
}

fn closing(limits: &Limits, told: &Told, all: bool, sheet: &mut Sheet) {
    sheet.gap();
    let when = match told.age_seconds {
        None => "just now".to_owned(),
        Some(age) => format!("{} ago", ago(age)),
    };
    let quick = if limits.quick { ", --quick" } else { "" };
    let measured = format!(
        "{when}{quick}, in {}, on core {}: {}; left out: {} interrupted, {} with a busy sibling thread; by assay {}",
        words::duration(limits.took_seconds),
        limits.cpu,
        words::plural(limits.windows, "window"),
        words::count(limits.interrupted),
        words::count(limits.shared),
        limits.assay,
    );
    sheet.labelled(Ink::Dim, "measured  ", &measured);
    sheet.labelled(Ink::Dim, "kept in   ", &told.file);
    let more =
        "--again measures again, --json FILE writes the data, reports of `assay run` use these figures";
    let more = if all { more.to_owned() } else { format!("--all shows every working set, {more}") };
    sheet.labelled(Ink::Dim, "more      ", &more);
}

/// Days where there are any, without the minutes.
fn ago(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    if seconds < DAY { words::duration(seconds) } else { words::plural((seconds / DAY) as u64, "day") }
}
