//! What the ledger's counts say of a campaign: events per unit of its cells, causes, learned inputs, what explains the times.

use super::count::answers;
use super::count::branch_cost::machine_key;
use crate::store::{BranchTimingRow, CampaignInput, CampaignRow, CountRow, FailureRow, Ledger, ProcessRow};
use anyhow::Result;
use assay_pure::experiment::matrix::CellId;
use assay_pure::experiment::{CountedEvent, Experiment};
use assay_pure::ledger::{CountWalk, Stage};
use assay_pure::stats::interval::Interval;
use assay_pure::stats::margin::Margin;
use assay_pure::stats::penalty::Penalty;
use assay_pure::stats::predictor_memory::PredictorMemory;
use assay_pure::verdict::VariantPlacement;
use assay_pure::verdict::allocations::CellAllocations;
use assay_pure::verdict::build::Side;
use assay_pure::verdict::cause::Cause;
use assay_pure::verdict::counts::{CellCounts, CountSource, MissCount, Sides, THIS_CPU, explain};
use assay_pure::verdict::explained::{TimedCell, explain_times};
use assay_pure::verdict::learned::{Learned, flips, learned};
use assay_pure::verdict::{ContrastVerdict, Judgement};
use assay_pure::words::{self, sentence};
use assay_report::page;
use std::collections::{BTreeMap, HashMap};

/// All that was counted for a campaign.
#[derive(Debug, Default)]
pub struct CampaignCounts {
    /// Cells with counts.
    pub cells: Vec<CellCounts>,
    /// What the reader must know of a cell's counts.
    notes: HashMap<CellId, String>,
    /// Why a cell has none.
    uncounted: HashMap<CellId, String>,
    /// What cells allocate.
    pub allocated: Vec<CellAllocations>,
    cost: Option<BranchTimingRow>,
    asked: Vec<CountedEvent>,
}

impl CampaignCounts {
    /// Reads what belongs to a campaign; nothing where its experiment asks for nothing.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn of(
        ledger: &Ledger,
        row: &CampaignRow,
        experiment: &Experiment,
        failures: &[FailureRow],
    ) -> Result<CampaignCounts> {
        let mut counted = CampaignCounts { asked: experiment.events.clone(), ..CampaignCounts::default() };
        if counted.asked.is_empty() {
            return Ok(counted);
        }
        if counted.asked.contains(&CountedEvent::BranchMisses) {
            counted.cost = ledger.branch_timing(&machine_key(&row.machine))?;
        }
        let inputs = ledger.campaign_inputs(row.id)?;
        (counted.allocated, counted.notes) = allocated(ledger, row, experiment, &inputs)?;
        let as_built = ledger.processes(row.id)?.into_iter().filter(|process| process.rotation.is_none());
        let as_built: Vec<(ProcessRow, Vec<CountRow>)> = as_built
            .map(|process| {
                let mut rows = ledger.counts(&process.artifact)?;
                rows.retain(|row| answers(row, experiment));
                Ok((process, rows))
            })
            .collect::<Result<_>>()?;
        // All cells by one method: counts of different predictors are not comparable.
        let newest = as_built.iter().flat_map(|(_, rows)| rows).max_by_key(|row| row.id);
        let method = newest.map(|row| row.method.clone()).unwrap_or_default();
        for (process, rows) in as_built {
            let rows: Vec<CountRow> = rows.into_iter().filter(|row| row.method == method).collect();
            for input in &inputs {
                let name = process.cell(&input.name);
                if counted.cells.iter().any(|cell| cell.cell == name) {
                    continue;
                }
                if let Some(of) = uncounted_use(experiment, &input.name) {
                    counted
                        .uncounted
                        .insert(name, format!("events are counted only for hot throughput, here for `{of}`"));
                    continue;
                }
                if let Some((cell, note)) = cell(&rows, &name, input) {
                    counted.cells.push(cell);
                    if let Some(note) = note {
                        let known = counted.notes.entry(name).or_default();
                        *known = if known.is_empty() { note } else { format!("{known}; {note}") };
                    }
                }
            }
        }
        for failure in failures.iter().filter(|failure| failure.stage == Stage::Count) {
            let part = |name: &Option<String>| name.clone().unwrap_or_default();
            let name = CellId {
                variant: part(&failure.variant),
                input: part(&failure.input),
                compiler: part(&failure.compiler),
                flags: part(&failure.flags),
            };
            if !counted.cells.iter().any(|cell| cell.cell == name) {
                counted.uncounted.insert(name, failure.reason.clone());
            } else if counted.allocated_of(&name).is_none() {
                counted.notes.entry(name).or_insert_with(|| failure.reason.clone());
            }
        }
        Ok(counted)
    }

    /// What a misprediction costs on the machine of the campaign.
    pub fn penalty(&self) -> Option<Penalty> {
        self.cost.as_ref().map(|cost| Penalty {
            ns: cost.penalty_ns,
            interval: Interval { lower: cost.lower_ns, upper: cost.upper_ns },
            fresh_ns: cost.fresh_ns,
            learned_ns: cost.learned_ns,
            series: cost.series as usize,
        })
    }

    /// What the predictor of the campaign's machine remembers.
    pub fn memory(&self) -> Option<PredictorMemory> {
        self.cost.as_ref()?.memory()
    }

    fn cell(&self, side: Side, contrast: &ContrastVerdict) -> Option<&CellCounts> {
        self.cells.iter().find(|cell| cell.is_of(side, contrast))
    }

    /// The inputs that a predictor memorises while they are measured.
    pub fn learned(&self) -> Vec<Learned> {
        learned(&self.cells, self.memory())
    }

    /// Adds what counts say to causes and reasons of the verdicts.
    pub fn explain(&self, judgement: &mut Judgement, times: &[VariantPlacement], unit: &str, margin: Margin) {
        let memorised: Vec<String> = self.learned().into_iter().map(|found| found.input).collect();
        for found in &mut judgement.contrasts {
            let (Some(candidate), Some(baseline)) =
                (self.cell(Side::Candidate, found), self.cell(Side::Baseline, found))
            else {
                continue;
            };
            let own = |row: &&VariantPlacement| row.cell.name() == found.between().cell(Side::Baseline);
            let Some(baseline_ns) = times.iter().find(own).map(|row| row.ns_per_unit.median) else {
                continue;
            };
            let sides = Sides { candidate, baseline, baseline_ns, penalty: self.penalty(), unit };
            let explanation = explain(found, &sides);
            found.reasons.extend(explanation.causes.iter().map(|cause| sentence(&cause.evidence)));
            found.reasons.extend(explanation.reasons);
            found.causes.extend(explanation.causes);
            let turned = self
                .penalty()
                .filter(|_| memorised.contains(&found.input))
                .and_then(|penalty| flips(found, (candidate, baseline), baseline_ns, penalty, margin));
            if let Some(cause) = turned {
                found.reasons.push(sentence(&cause.evidence));
                // What would happen to this very verdict is more than that another input answers differently.
                found.causes.retain(|other| other.cause != Cause::Input);
                found.causes.push(cause);
            }
        }
    }

    /// Events per unit of a cell, by the names that were asked for.
    pub fn per_unit(&self, name: &CellId) -> BTreeMap<String, page::Count> {
        let mut counts = BTreeMap::new();
        for event in self.asked.iter().filter(|event| event.is_of_memory()) {
            if let Some(value) = self.allocated_of(name).and_then(|cell| cell.of(*event)) {
                counts.insert(event.to_string(), page::Count::exact(value, CountSource::Counted));
            }
        }
        let Some(cell) = self.cells.iter().find(|counts| counts.cell == *name) else { return counts };
        let source = cell.source;
        let plain = |value| page::Count::exact(value, source);
        for event in &self.asked {
            let count = match event {
                CountedEvent::Instructions => plain(cell.instructions),
                CountedEvent::Branches => plain(cell.branches),
                CountedEvent::Allocations | CountedEvent::AllocatedBytes | CountedEvent::PeakBytes => {
                    continue;
                }
                CountedEvent::Cycles => match cell.cycles {
                    Some(cycles) => plain(cycles),
                    None => continue,
                },
                CountedEvent::OpCacheOps
                | CountedEvent::DecodedOps
                | CountedEvent::L1iMisses
                | CountedEvent::ItlbMisses => match cell.front_end.get(event) {
                    Some(value) => plain(*value),
                    None => continue,
                },
                CountedEvent::BranchMisses => {
                    let (Some(modern), Some((lower, upper))) = (cell.modern(), cell.miss_range()) else {
                        continue;
                    };
                    let simulated = cell.source != CountSource::Counted;
                    page::Count {
                        lower: simulated.then_some(lower),
                        upper: simulated.then_some(upper),
                        predictor: simulated.then(|| modern.predictor.clone()),
                        by_predictor: cell
                            .misses
                            .iter()
                            .filter(|_| simulated)
                            .map(|miss| (miss.predictor.clone(), miss.per_unit))
                            .collect(),
                        ..plain(modern.per_unit)
                    }
                }
            };
            counts.insert(event.to_string(), count);
        }
        counts
    }

    fn allocated_of(&self, name: &CellId) -> Option<&CellAllocations> {
        self.allocated.iter().find(|allocated| allocated.cell == *name)
    }

    /// Why a cell has no counts, or what the reader must know of them.
    pub fn note(&self, name: &CellId) -> (Option<String>, Option<String>) {
        (self.uncounted.get(name).cloned(), self.notes.get(name).cloned())
    }

    /// The machine's price of a misprediction as shown.
    pub fn branch_cost(&self) -> Option<page::BranchCost> {
        self.cost.as_ref().map(|cost| {
            let memory = cost.memory();
            let range = memory.filter(|memory| !memory.is_agreed());
            page::BranchCost {
                penalty_ns: cost.penalty_ns,
                lower: cost.lower_ns,
                upper: cost.upper_ns,
                learned_outcomes: memory.map(|memory| memory.learned_outcomes),
                learned_range: range.map(|memory| [memory.lower, memory.upper]),
                unlearned_outcomes: memory.and_then(|memory| memory.unlearned_outcomes),
            }
        })
    }

    /// What instructions and mispredictions explain of all times; nothing unless both were asked for.
    pub fn explained(&self, times: &[VariantPlacement]) -> Option<page::ExplainedTimes> {
        if !(self.asked.contains(&CountedEvent::Instructions)
            && self.asked.contains(&CountedEvent::BranchMisses))
        {
            return None;
        }
        let timed = |row: &VariantPlacement| {
            let name = row.cell.clone();
            let cell = self.cells.iter().find(|counts| counts.cell == name)?;
            Some(TimedCell {
                name: [name.variant, name.input, name.compiler, name.flags],
                ns: row.ns_per_unit.median,
                instructions: cell.instructions,
                mispredictions: cell.modern()?.per_unit,
            })
        };
        let cells: Vec<TimedCell> = times.iter().filter_map(timed).collect();
        let simulated = self.cells.iter().filter(|cell| cell.source != CountSource::Counted);
        let predictor = simulated.filter_map(CellCounts::modern).map(|miss| miss.predictor.clone()).next();
        let price = |price: assay_pure::verdict::explained::Price| page::MedianInterval {
            median: price.ns,
            lower: price.interval.lower,
            upper: price.interval.upper,
        };
        let empty =
            page::ExplainedTimes { cells: cells.len() as u64, predictor, ..page::ExplainedTimes::default() };
        Some(match explain_times(&cells) {
            Err(reason) => page::ExplainedTimes { note: Some(reason.to_string()), ..empty },
            Ok(found) => page::ExplainedTimes {
                r_squared: Some(found.r_squared),
                holds: found.holds(),
                r_squared_one_constant: found.r_squared_one_constant,
                constants_ns: found.constants.into_iter().collect(),
                ns_per_instruction: Some(price(found.instruction)),
                ns_per_misprediction: Some(price(found.misprediction)),
                typical_residual_ns: Some(found.typical_residual_ns),
                worst: found
                    .worst
                    .into_iter()
                    .map(|residual| {
                        let [variant, input, compiler, flags] = residual.name;
                        let (ns, fitted_ns) = (residual.ns, residual.fitted_ns);
                        page::CellResidual { variant, input, compiler, flags, ns, fitted_ns }
                    })
                    .collect(),
                ..empty
            },
        })
    }
}

/// A learned input as shown, with its sentence.
pub fn learned_input(found: &Learned, unit: &str) -> page::LearnedInput {
    let units = |count: u64| words::plural(count, unit);
    let how = if found.in_part { "memorised in part" } else { "memorised" };
    let memory = found
        .remembered
        .map_or(String::new(), |remembered| format!(", and this CPU memorises {}", words::count(remembered)));
    let source = match found.predictor.as_str() {
        THIS_CPU => "counted".to_owned(),
        predictor => format!("simulated by {predictor}"),
    };
    let note = format!(
        "the input {} is {how} by the predictor: its {} are equivalent to {} random outcomes{memory} ({} mispredictions per {unit} on \
         the first walk, {} on later ones, {source}); use at least {}",
        found.input,
        units(found.units),
        words::count(found.tosses),
        words::short(found.fresh),
        words::short(found.repeated),
        units(found.enough_units),
    );
    page::LearnedInput {
        input: found.input.clone(),
        units: found.units,
        tosses: found.tosses,
        remembered_tosses: found.remembered,
        in_part: found.in_part,
        fresh_misses_per_unit: found.fresh,
        repeated_misses_per_unit: found.repeated,
        predictor: found.predictor.clone(),
        enough_units: found.enough_units,
        note,
    }
}

/// What the as-built links of a campaign allocate, per unit.
fn allocated(
    ledger: &Ledger,
    row: &CampaignRow,
    experiment: &Experiment,
    inputs: &[CampaignInput],
) -> Result<(Vec<CellAllocations>, HashMap<CellId, String>)> {
    let mut notes = HashMap::new();
    if !experiment.events.iter().any(|event| event.is_of_memory()) {
        return Ok((Vec::new(), notes));
    }
    let mut found: Vec<CellAllocations> = Vec::new();
    let as_built = ledger.processes(row.id)?.into_iter().filter(|process| process.rotation.is_none());
    for process in as_built {
        let rows = ledger.allocations(&process.artifact)?;
        for input in inputs.iter().filter(|input| uncounted_use(experiment, &input.name).is_none()) {
            let name = process.cell(&input.name);
            // The newest: by the newest method.
            let own = rows.iter().rev().find(|row| {
                (&row.variant, &row.input, row.windows) == (&name.variant, &input.digest, input.windows)
            });
            let Some(own) = own.filter(|own| own.units > 0) else { continue };
            let per_unit = |count: u64| count as f64 / own.units as f64;
            let cell = CellAllocations {
                cell: name,
                allocations: per_unit(own.allocations),
                bytes: per_unit(own.bytes),
                peak_bytes: per_unit(own.peak_bytes),
            };
            if own.calls > 1 && own.calls < own.windows {
                let (calls, windows) = (words::count(own.calls), words::count(own.windows));
                notes.insert(
                    process.cell(&input.name),
                    format!("allocations counted in {calls} of {windows} calls, spread evenly"),
                );
            }
            if !found.contains(&cell) {
                found.push(cell);
            }
        }
    }
    Ok((found, notes))
}

/// The input that stands for what is counted, where this one is another use of it.
fn uncounted_use(experiment: &Experiment, input: &str) -> Option<String> {
    let spec = experiment.inputs.iter().find(|spec| spec.name == input)?;
    (!spec.usage.is_plain()).then(|| spec.file_name().to_owned())
}

/// The newest counts of a cell: those of repeated walks where there are any, as these are what was timed.
fn cell(rows: &[CountRow], name: &CellId, input: &CampaignInput) -> Option<(CellCounts, Option<String>)> {
    let own: Vec<&CountRow> = rows
        .iter()
        .filter(|row| {
            (&row.variant, &row.input, row.windows) == (&name.variant, &input.digest, input.windows)
        })
        .collect();
    let walked = |walk| own.iter().rev().find(|row| row.walk == walk).copied();
    let (first, repeated) = (walked(CountWalk::First), walked(CountWalk::Repeated));
    let row = repeated.or(first)?;
    let per_unit = |count: u64, row: &CountRow| count as f64 / row.units as f64;
    let cell = CellCounts {
        cell: name.clone(),
        source: row.source,
        instructions: per_unit(row.instructions, row),
        branches: per_unit(row.branches, row),
        conditional: row.conditional.map(|conditional| per_unit(conditional, row)),
        cycles: row.cycles.map(|cycles| per_unit(cycles, row)),
        front_end: row.front_end.iter().map(|(event, count)| (*event, per_unit(*count, row))).collect(),
        misses: row
            .misses
            .iter()
            .map(|(predictor, count)| MissCount {
                predictor: predictor.clone(),
                per_unit: per_unit(*count, row),
            })
            .collect(),
        units: first.map_or(row.units, |first| first.units),
        fresh_misses: first
            .filter(|_| repeated.is_some())
            .and_then(|first| first.misses.first().map(|(_, count)| per_unit(*count, first))),
    };
    Some((cell, row.note.clone()))
}
