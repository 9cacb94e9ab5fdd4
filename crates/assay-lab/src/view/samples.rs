//! The samples of a page, by variant and placement.

use crate::campaign::observe::{self, Observed, PlacementSamples};
use crate::store::{Ledger, VisitRow};
use anyhow::Result;
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::matrix::CellId;
use assay_pure::experiment::spec::Clock;
use assay_report::compare::ComparePage;
use assay_report::html::{AllStrips, StripsOf};
use assay_report::page::Page;
use assay_report::stages::page::DiaryPage;
use assay_report::sweep::SweepPage;
use std::collections::BTreeMap;

/// What the names of a campaign's cells are.
const OF_CELLS: [&str; 4] = ["variant", "input", "compiler", "flags"];

fn names(cell: &CellId) -> Vec<String> {
    vec![cell.variant.clone(), cell.input.clone(), cell.compiler.clone(), cell.flags.clone()]
}

/// The samples of a campaign, in the order of its cells.
pub fn of_campaign(page: &Page, observed: Observed) -> AllStrips {
    let cells: Vec<Vec<String>> = page
        .cells
        .iter()
        .map(|cell| vec![cell.variant.clone(), cell.input.clone(), cell.compiler.clone(), cell.flags.clone()])
        .collect();
    let mut strips = Vec::new();
    for (cell, placements) in observed.cells {
        let names = names(&cell);
        let Some(number) = cells.iter().position(|known| *known == names) else { continue };
        strips.extend(placements.into_iter().map(|(at, samples)| strip(number, at.rotation(), samples)));
    }
    strips.sort_by_key(|strip| strip.cell);
    AllStrips::new(&OF_CELLS, cells, "ns", Some(&page.unit), strips)
}

fn strip(cell: usize, rotation: Option<u32>, found: PlacementSamples) -> StripsOf {
    let used = found.samples.into_iter().map(|sample| (sample, false));
    let mut all: Vec<_> = used.chain(found.left_out.into_iter().map(|sample| (sample, true))).collect();
    all.sort_by_key(|(sample, _)| (sample.round, sample.index));
    let samples = all.into_iter().map(|(sample, out)| (sample.ns_per_unit, sample.round, out));
    StripsOf { cell, rotation, offset: found.offset, samples: samples.collect() }
}

/// The clock that decides in a campaign.
pub fn clock_of(ledger: &Ledger, campaign: i64) -> Result<Clock> {
    let row = ledger.campaign(campaign)?;
    Ok(row.and_then(|row| serde_json::from_value(row.spec["clock"].clone()).ok()).unwrap_or(Clock::Wall))
}

/// The samples of all campaigns of a sweep.
pub fn of_sweep(ledger: &Ledger, page: &SweepPage) -> Result<AllStrips> {
    let (mut cells, mut strips) = (Vec::new(), Vec::new());
    for &campaign in &page.measured.campaigns {
        let clock = clock_of(ledger, campaign)?;
        for (cell, placements) in observe::observe(ledger, campaign, clock)?.cells {
            let number = number_of(&mut cells, names(&cell));
            strips.extend(placements.into_iter().map(|(at, samples)| strip(number, at.rotation(), samples)));
        }
    }
    Ok(AllStrips::new(&OF_CELLS, cells, "ns", Some(&page.unit), strips))
}

/// The number of a cell, which is a new one where it is not known yet.
fn number_of(cells: &mut Vec<Vec<String>>, names: Vec<String>) -> usize {
    cells.iter().position(|known| *known == names).unwrap_or_else(|| {
        cells.push(names);
        cells.len() - 1
    })
}

/// The figures of a comparison's visits.
pub fn of_comparison(ledger: &Ledger, page: &ComparePage) -> Result<AllStrips> {
    let sides: BTreeMap<u32, String> =
        ledger.sides(page.comparison)?.into_iter().map(|side| (side.side, side.name)).collect();
    let mut found = VisitFigures::default();
    // In the order of the page.
    for benchmark in &page.benchmarks {
        for side in sides.values() {
            found.cell(vec![side.clone(), benchmark.benchmark.clone()]);
        }
    }
    found.take(&ledger.visits(page.comparison)?, |side, benchmark| {
        Some(vec![sides.get(&side)?.clone(), benchmark.to_owned()])
    });
    Ok(found.strips(&["side", "benchmark"]))
}

/// The figures of a diary's sessions.
pub fn of_diary(ledger: &Ledger, page: &DiaryPage) -> Result<AllStrips> {
    let mut found = VisitFigures::default();
    let several = page.sessions.len() > 1;
    for session in &page.sessions {
        let entrants = ledger.diary_entrants(session.session)?;
        let name = |side: u32| {
            entrants.iter().find(|entrant| entrant.side == Some(side)).map(|entrant| entrant.name.clone())
        };
        found.take(&ledger.visits(session.session)?, |side, role| {
            let session = if several { format!("session {}", session.session) } else { String::new() };
            Some(vec![name(side)?, role.to_owned(), session])
        });
    }
    Ok(found.strips(&["stage", "role", "session"]))
}

/// A cell at one placement.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StripPlace {
    cell: usize,
    placement: VisitPlacement,
}

/// Figures of visits, by cell and placement.
#[derive(Default)]
struct VisitFigures {
    cells: Vec<Vec<String>>,
    strips: BTreeMap<StripPlace, Vec<(f64, u32, bool)>>,
    units: Vec<String>,
}

impl VisitFigures {
    fn cell(&mut self, names: Vec<String>) -> usize {
        number_of(&mut self.cells, names)
    }

    fn take(&mut self, visits: &[VisitRow], names: impl Fn(u32, &str) -> Option<Vec<String>>) {
        for visit in visits {
            for figure in &visit.figures {
                let Some(names) = names(visit.side, &figure.benchmark) else { continue };
                let cell = self.cell(names);
                let placement = VisitPlacement::of(visit.rotation, visit.phase_bytes);
                let place = StripPlace { cell, placement };
                self.strips.entry(place).or_default().push((figure.value, visit.round, false));
                if !self.units.contains(&figure.unit) {
                    self.units.push(figure.unit.clone());
                }
            }
        }
    }

    fn strips(self, columns: &[&'static str]) -> AllStrips {
        let one = |(StripPlace { cell, placement }, samples)| StripsOf {
            cell,
            rotation: placement.rotation(),
            offset: u64::from(placement.phase_bytes().unwrap_or(0)),
            samples,
        };
        let unit = if let [only] = self.units.as_slice() { only.as_str() } else { "figure" };
        AllStrips::new(columns, self.cells, unit, None, self.strips.into_iter().map(one).collect())
    }
}
