//! `assay export`: a campaign's figures and samples, for other tools.

use crate::campaign::compose;
use crate::campaign::observe::{CellPlacements, observe};
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::experiment::Axis;
use assay_pure::experiment::matrix::CellId;
use assay_pure::experiment::spec::Clock;
use assay_pure::ledger::Flag;
use assay_report::export::{Export, ExportCell, ExportContrast, SampleLine};
use assay_report::page::{Page, PageCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A campaign's figures.
///
/// # Errors
/// There is no such campaign, or the ledger cannot be read.
pub fn figures(ledger: &Ledger, campaign: i64) -> Result<Export> {
    let page = compose::page(ledger, campaign)?;
    let wall = observe(ledger, campaign, Clock::Wall)?;
    let cpu = observe(ledger, campaign, Clock::ThreadCpu)?;
    let names = AxisNames::of(&page);
    let cell = |cell: &PageCell| {
        let time = cell.ns_per_unit?;
        let id = CellId::from(cell.name());
        let (wall, cpu) = (wall.cells.get(&id)?, cpu.cells.get(&id)?);
        let axes = names.of_cell(cell);
        Some(ExportCell {
            axes,
            wall: per_placement(wall),
            cpu: per_placement(cpu),
            median: [time.median, time.lower, time.upper],
        })
    };
    Ok(Export {
        experiment: page.experiment.clone(),
        started: page.campaign.started.clone(),
        host: page.machine.cpu.clone(),
        cpu: page.machine.cpu.clone(),
        cpus: page.machine.cores,
        unit: page.unit.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        cells: page.cells.iter().filter_map(cell).filter(|cell| !cell.wall.is_empty()).collect(),
        contrasts: contrasts(&page, &names),
    })
}

/// The median of each placement, in their order; the plain link is one placement more, and no better than the others.
fn per_placement(placements: &CellPlacements) -> Vec<f64> {
    let placed = placements.iter().filter(|(place, _)| !place.is_as_built());
    let medians: Vec<f64> = placed.filter_map(|(_, samples)| samples.median()).collect();
    if medians.is_empty() {
        return placements.values().filter_map(|samples| samples.median()).collect();
    }
    medians
}

/// Which axes have more than one value.
struct AxisNames {
    input: bool,
    compiler: bool,
    flags: bool,
}

impl AxisNames {
    fn of(page: &Page) -> AxisNames {
        let several =
            |of: fn(&PageCell) -> &str| page.cells.iter().map(of).collect::<BTreeSet<_>>().len() > 1;
        AxisNames {
            input: several(|cell| &cell.input),
            compiler: several(|cell| &cell.compiler),
            flags: several(|cell| &cell.flags),
        }
    }

    fn of_cell(&self, cell: &PageCell) -> Vec<(&'static str, String)> {
        let mut axes = vec![("variant", cell.variant.clone()), ("input", cell.input.clone())];
        // One input is told all the same: its name says what was measured.
        axes.extend(self.compiler.then(|| ("compiler", cell.compiler.clone())));
        axes.extend(self.flags.then(|| ("flags", cell.flags.clone())));
        axes
    }
}

fn contrasts(page: &Page, names: &AxisNames) -> Vec<ExportContrast> {
    let mut all = Vec::new();
    for contrast in page.contrasts.iter().filter(|contrast| contrast.axis == Axis::Variant) {
        let Some(code) = contrast.code else { continue };
        let mut name = format!("{} / {}", contrast.candidate, contrast.baseline);
        for (wanted, part) in [
            (names.input, &contrast.input),
            (names.compiler, &contrast.compiler),
            (names.flags, &contrast.flags),
        ] {
            if wanted {
                name += &format!(", {part}");
            }
        }
        all.push(ExportContrast {
            name,
            ratio: [code.ratio, code.lower, code.upper],
            verdict: contrast.verdict.word().into(),
        });
    }
    all
}

/// Names, each kept once.
#[derive(Default)]
struct NamePool(BTreeSet<Arc<str>>);

impl NamePool {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Every sample of a campaign, those left out and the warm-up too.
///
/// # Errors
/// The ledger cannot be read.
pub fn samples(ledger: &Ledger, campaign: i64) -> Result<Vec<SampleLine>> {
    let processes: HashMap<i64, _> =
        ledger.processes(campaign)?.into_iter().map(|process| (process.id, process)).collect();
    let mut names = NamePool::default();
    let samples = ledger.samples(campaign)?;
    let mut lines = Vec::with_capacity(samples.len());
    for sample in samples {
        let Some(process) = processes.get(&sample.process) else { continue };
        lines.push(SampleLine {
            campaign,
            round: sample.round,
            process: process.id,
            variant: names.shared(&process.variant),
            input: names.shared(&sample.input),
            compiler: names.shared(&process.compiler),
            flags: names.shared(&process.flags),
            rotation: process.rotation,
            phase_bytes: process.phase_bytes,
            offset: process.entry_address % 64,
            position: sample.position,
            warmup: sample.warmup,
            wall_ns: sample.wall_ns as f64 - process.region_wall_ns,
            cpu_ns: sample.cpu_ns as f64 - process.region_cpu_ns,
            units: sample.units,
            flagged: sample.flagged.map(Flag::word),
        });
    }
    Ok(lines)
}
