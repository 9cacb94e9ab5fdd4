//! The cells of a campaign: how long each took, over which placements, and why one has no figure.

use crate::campaign::companions::Companions;
use crate::campaign::counted::CampaignCounts;
use crate::campaign::judge::CampaignVerdicts;
use crate::campaign::observe;
use crate::store::FailureRow;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::matrix::CellId;
use assay_pure::placement::layout;
use assay_pure::verdict::{self, VariantPlacement};
use assay_report::page;

pub(super) fn cells(
    experiment: &Experiment,
    compilers: &[String],
    judged: &CampaignVerdicts,
    counted: &CampaignCounts,
    failures: &[FailureRow],
) -> Vec<page::PageCell> {
    let rows = verdict::placement_table(&judged.contrasts);
    let mut cells = Vec::new();
    for cell in assay_pure::experiment::matrix::cells(experiment, compilers.len()) {
        let name = cell.id(experiment, &compilers[cell.compiler]);
        let row = rows.iter().find(|row| row.cell == name);
        let row = row.cloned().or_else(|| alone(&name, experiment, judged, failures));
        cells.push(page_cell(&name, row.as_ref(), experiment, judged, counted, failures));
    }
    cells
}

/// The figures of a cell that no contrast is left of, because the other side failed: it was measured all the same.
fn alone(
    name: &CellId,
    experiment: &Experiment,
    judged: &CampaignVerdicts,
    failures: &[FailureRow],
) -> Option<VariantPlacement> {
    if observe::failed(failures, name).is_some() {
        return None;
    }
    let with_itself = judged.observed.contrast(name, name, &experiment.placement.phases)?;
    verdict::placement_table(&[with_itself]).pop()
}

fn page_cell(
    name: &CellId,
    row: Option<&VariantPlacement>,
    experiment: &Experiment,
    judged: &CampaignVerdicts,
    counted: &CampaignCounts,
    failures: &[FailureRow],
) -> page::PageCell {
    let (uncounted, count_note) = counted.note(name);
    let failed =
        observe::failed(failures, name).map(|failure| page::Failed { reason: failure.reason.clone() });
    let failed = failed.or_else(|| row.is_none().then(|| page::Failed { reason: no_figure(name, judged) }));
    page::PageCell {
        variant: name.variant.clone(),
        input: name.input.clone(),
        compiler: name.compiler.clone(),
        flags: name.flags.clone(),
        ns_per_unit: row.map(|row| page::MedianInterval {
            median: row.ns_per_unit.median,
            lower: row.ns_per_unit.lower,
            upper: row.ns_per_unit.upper,
        }),
        throughput: None,
        by_offset: row.map_or_else(Vec::new, |row| {
            let offsets = row.by_offset.iter();
            offsets.map(|at| page::AtOffset { offset: at.offset, ns_per_unit: at.ns_per_unit }).collect()
        }),
        reached: reached(name, experiment, judged),
        as_built_ns: row.and_then(|row| row.as_built.as_ref()).map(|at| at.ns_per_unit),
        range: judged.observed.cells.get(name).and_then(range),
        offset_share: offset_share(name, experiment, judged),
        companion: None,
        per_unit: counted.per_unit(name),
        limits: Vec::new(),
        uncounted: uncounted.map(|reason| page::Failed { reason }),
        count_note,
        failed,
    }
}

pub(super) fn add_companions(
    cells: &mut [page::PageCell],
    companions: &Companions,
    judged: &CampaignVerdicts,
) {
    for cell in cells {
        cell.companion = companions.get(&cell.name().into(), &judged.observed);
    }
}

/// What a cell's time over placements goes with.
fn offset_share(
    name: &CellId,
    experiment: &Experiment,
    judged: &CampaignVerdicts,
) -> Option<page::PageOffsetShare> {
    let with_itself = judged.observed.contrast(name, name, &experiment.placement.phases)?;
    let share = verdict::offset_share(&with_itself, verdict::build::Side::Candidate)?;
    Some(page::PageOffsetShare {
        offset: share.offset,
        shuffle: share.shuffle,
        rest: share.rest,
        placements: share.placements as u64,
    })
}

/// The fastest and the slowest of single placements.
fn range(placements: &observe::CellPlacements) -> Option<page::Range> {
    /// Slower than the fastest by this much is called slow.
    const SLOW: f64 = 1.1;
    let times: Vec<f64> = placements
        .iter()
        .filter(|(at, _)| !at.is_as_built())
        .filter_map(|(_, placed)| placed.median())
        .collect();
    let fastest_ns = times.iter().copied().reduce(f64::min)?;
    Some(page::Range {
        fastest_ns,
        slowest_ns: times.iter().copied().fold(fastest_ns, f64::max),
        placements: times.len() as u64,
        slow_placements: times.iter().filter(|ns| **ns >= SLOW * fastest_ns).count() as u64,
    })
}

/// Why a cell that did not fail has no figure.
fn no_figure(name: &CellId, judged: &CampaignVerdicts) -> String {
    match judged.observed.cells.get(name) {
        None => "not measured".into(),
        Some(placements) if placements.values().all(|placed| placed.samples.is_empty()) => {
            "no usable sample: every one took no measurable time or was interrupted (is the function empty?)"
                .into()
        }
        Some(_) => "no rotation is complete".into(),
    }
}

/// The offsets that a variant's entry really visited, from the linked files.
fn reached(name: &CellId, experiment: &Experiment, judged: &CampaignVerdicts) -> page::OffsetsReached {
    let Some(placements) = judged.observed.cells.get(name) else { return page::OffsetsReached::default() };
    let phases = experiment.placement.phases.len();
    let offsets: Vec<u64> = placements
        .iter()
        .filter(|(at, _)| at.rotation() == Some(0))
        .map(|(_, placed)| placed.offset)
        .collect();
    let first = layout::reached(&offsets, phases);
    let mut all: Vec<u64> =
        placements.iter().filter(|(at, _)| !at.is_as_built()).map(|(_, placed)| placed.offset).collect();
    all.sort_unstable();
    all.dedup();
    page::OffsetsReached { offsets: all, note: first.note }
}
