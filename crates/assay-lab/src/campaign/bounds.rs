//! Which limit of the machine each cell's time is near.
//!
//! The limits that are kept for the machine when a campaign begins go to the ledger with its facts, so that its page says the same
//! on any machine. A campaign from before is compared with what is kept for its machine now, if it is the same one.

use super::known_input::KnownInput;
use super::moment::rfc3339;
use crate::limits::{kept, machine_of, machine_of_campaign};
use crate::store::CampaignRow;
use assay_linux::machine::Machine as Facts;
use assay_pure::experiment::spec::InputSource;
use assay_pure::inputs::{Description, Format};
use assay_pure::limits::{Bound, LimitStanding, Limits, MeasuredRow, Misses, binding};
use assay_pure::verdict::counts::{CellCounts, CountSource};
use assay_report::page::{CellLimit, LimitsUsed, PageCell};
use serde_json::{Value, json};

/// Where they are among the facts of the machine.
const KEY: &str = "limits";

/// Adds what is kept for the machine to the facts that go to the ledger.
pub fn keep(machine: &mut Value, facts: &Facts) {
    if let Some(limits) = kept::of(&machine_of(facts)) {
        machine[KEY] = json!(limits.compact());
    }
}

/// What was kept for the machine when the campaign began.
pub fn kept_with(row: &CampaignRow) -> Option<Limits> {
    Limits::from_json(&row.machine[KEY].to_string()).ok()
}

/// The limits that a campaign's times are compared with.
pub fn of(row: &CampaignRow) -> Option<(Limits, LimitsUsed)> {
    let used = |limits: Limits, with_campaign| {
        let measured = rfc3339(limits.measured_at);
        (limits, LimitsUsed { measured, with_campaign })
    };
    if let Some(limits) = kept_with(row) {
        return Some(used(limits, true));
    }
    let limits = kept::of(&machine_of_campaign(&row.machine)?)?;
    Some(used(limits, false))
}

/// Adds to each cell what the limits say of its time.
pub fn add(cells: &mut [PageCell], inputs: &[KnownInput], counts: &[CellCounts], limits: &Limits) {
    for cell in cells {
        let Some(spread) = cell.ns_per_unit.filter(|spread| spread.median > 0.0) else { continue };
        let input = inputs.iter().find(|input| input.spec.name == cell.input);
        // The limits are of calls that are hot and overlap.
        if input.is_some_and(|input| !input.spec.usage.is_plain()) {
            continue;
        }
        let counts = counts.iter().find(|counts| counts.cell.name() == cell.name());
        let row = row(spread.median, input, counts);
        cell.limits = binding(&row, limits).iter().map(shown).collect();
    }
}

/// What is known of the work of a cell.
fn row(ns: f64, input: Option<&KnownInput>, counts: Option<&CellCounts>) -> MeasuredRow {
    let described = input.and_then(|input| Some((&input.spec, input.description.as_ref()?)));
    // A program that makes its own work from its input reads other bytes than those.
    let bytes = described.filter(|(_, of)| of.format != Format::Whole && of.bytes > 0).map(|(_, of)| of);
    let independent = described.filter(|(spec, of)| {
        let drawn =
            matches!(&spec.source, InputSource::Generated { generator, .. } if generator.independent());
        drawn && !repeats(of)
    });
    MeasuredRow {
        ns,
        bytes_read: bytes.map(|of| of.bytes_per_unit),
        working_set_bytes: bytes.map(|of| of.bytes as f64),
        instructions: counts.map(|counts| counts.instructions),
        branches: counts.map(|counts| counts.branches),
        misses: counts.and_then(|counts| {
            Some(Misses {
                per_unit: counts.modern()?.per_unit,
                fewest: counts.miss_range()?.0,
                counted: counts.source == CountSource::Counted,
            })
        }),
        floor_misses: independent.and_then(|(_, of)| of.floor_misses_per_unit),
        ..MeasuredRow::default()
    }
}

/// An input that a predictor may memorise has no floor.
fn repeats(description: &Description) -> bool {
    description.length_warning().is_some() || description.period_warning().is_some()
}

fn shown(bound: &Bound) -> CellLimit {
    CellLimit {
        limit: bound.limit,
        source: bound.source,
        ns: bound.ns,
        share: bound.share,
        standing: bound.standing,
        made_of: bound.made_of.clone(),
        exceeded_because: (bound.standing == LimitStanding::Exceeded)
            .then(|| bound.why_exceeded().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::experiment::matrix::CellId;
    use assay_pure::experiment::spec::InputSpec;
    use assay_pure::experiment::{CacheState, Measure, Usage};
    use assay_pure::inputs::{Generator, describe};
    use assay_pure::verdict::counts::MissCount;
    use assay_report::limits::sample;
    use assay_report::page;

    fn campaign(machine: Value) -> CampaignRow {
        CampaignRow {
            id: 1,
            experiment: "e".to_owned(),
            question: String::new(),
            experiment_text: String::new(),
            spec: Value::Null,
            machine,
            pinned_cpu: None,
            started_at: 0.0,
            finished_at: None,
            stopped: None,
            assay_version: String::new(),
            sources: None,
        }
    }

    /// Values of one or two bytes, half each, in no order.
    fn input(units: u64) -> KnownInput {
        let generator = Generator::Lengths { weights: vec![50.0, 50.0] };
        let bytes: Vec<u8> = (0..units)
            .flat_map(
                |at| if at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0 { vec![1] } else { vec![0x81, 1] },
            )
            .collect();
        let description = describe(&bytes, Format::Varint).unwrap();
        let spec = InputSpec {
            name: "mixed".to_owned(),
            description: None,
            source: InputSource::Generated { generator, units, seed: 1, distinct_units: None },
            with: Vec::new(),
            format: Format::Varint,
            window_units: 0,
            production_units: None,
            usage: Usage::default(),
            of: None,
        };
        let shown = page::PageInput {
            name: "mixed".to_owned(),
            digest: String::new(),
            bytes: description.bytes,
            units,
            summary: None,
            recipe: None,
            description: Value::Null,
            state: CacheState::Hot,
            measure: Measure::Throughput,
            copies: None,
            of: None,
        };
        KnownInput { spec, shown, description: Some(description) }
    }

    fn counts() -> CellCounts {
        CellCounts {
            cell: CellId {
                variant: "loop".to_owned(),
                input: "mixed".to_owned(),
                compiler: "gcc".to_owned(),
                flags: "O2".to_owned(),
            },
            source: CountSource::Traced,
            instructions: 10.0,
            branches: 3.0,
            conditional: None,
            cycles: None,
            front_end: std::collections::BTreeMap::new(),
            misses: vec![MissCount { predictor: "tage".to_owned(), per_unit: 0.52 }],
            units: 200_000,
            fresh_misses: None,
        }
    }

    #[test]
    fn what_was_kept_with_a_campaign_is_used_whatever_is_kept_now() {
        let limits = sample::limits();
        let mut machine = json!({"cpu": "another"});
        machine[KEY] = json!(limits.compact());
        let (found, used) = of(&campaign(machine)).unwrap();
        assert_eq!(found, limits.compact());
        assert_eq!(used, LimitsUsed { measured: "2026-11-21T07:34:05Z".to_owned(), with_campaign: true });
        // Nothing is kept of a machine that nobody has, nor of one whose facts have another form.
        let nobody = json!({"cpu": "none such", "cpu_id": "0", "microcode": null, "virtual_machine": false,
                            "caches": [], "kernel": "0", "governor": null});
        assert_eq!(of(&campaign(nobody)), None);
        assert_eq!(of(&campaign(json!({"cpu": 3}))), None);
    }

    #[test]
    fn bytes_counts_and_entropy_of_a_cell_come_together() {
        let known = input(200_000);
        let found = row(2.0, Some(&known), Some(&counts()));
        assert!(
            (found.bytes_read.unwrap() - 1.5).abs() < 0.01 && found.working_set_bytes.unwrap() > 250_000.0
        );
        assert_eq!((found.instructions, found.branches), (Some(10.0), Some(3.0)));
        assert_eq!(found.misses, Some(Misses { per_unit: 0.52, fewest: 0.52, counted: false }));
        // One of two alike: missed half the time.
        assert!((found.floor_misses.unwrap() - 0.5).abs() < 0.01);
    }

    #[test]
    fn an_input_short_enough_to_be_learned_has_no_floor() {
        assert_eq!(row(2.0, Some(&input(1000)), None).floor_misses, None);
        let mut bursts = input(200_000);
        bursts.spec.source = InputSource::Recorded { path: "x".to_owned() };
        assert_eq!(row(2.0, Some(&bursts), None).floor_misses, None);
        let mut whole = input(200_000);
        whole.description.as_mut().unwrap().format = Format::Whole;
        assert_eq!(row(2.0, Some(&whole), None).bytes_read, None);
        assert_eq!(row(2.0, None, None), MeasuredRow { ns: 2.0, ..MeasuredRow::default() });
    }
}
