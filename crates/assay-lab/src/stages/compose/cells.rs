//! Each entrant in each role: times and counts.

use super::history::{EntrantRole, History};
use crate::store::DiaryCount;
use assay_pure::stages::{CommandFigures, Diary, Quantity};
use assay_pure::stats::quantile::median;
use assay_report::stages::page::{
    ComponentWork, EntrantCounts, EntrantMisses, PageRole, StageCell, StageMemory, StageTime,
};

/// A role with its cells; the ranking is the caller's.
pub fn role(diary: &Diary, history: &History, role: usize) -> PageRole {
    let having = (0..diary.entrants.len()).filter(|entrant| diary.entrants[*entrant].task(role).is_some());
    PageRole {
        name: diary.roles[role].name.clone(),
        note: diary.roles[role].note.clone(),
        cells: having.map(|entrant| cell(diary, history, EntrantRole { entrant, role })).collect(),
        ranking: Vec::new(),
    }
}

fn cell(diary: &Diary, history: &History, at: EntrantRole) -> StageCell {
    let task = history.task(at);
    let figures = history.figures(at);
    let count = history.count(at);
    let of_task = task.and_then(|task| task.failed.clone());
    let of_entrant = history.entrant(at.entrant).and_then(|(_, row)| row.failed.clone());
    let failed = of_task.or(of_entrant).or_else(|| count.and_then(|count| count.failed.clone()));
    StageCell {
        entrant: diary.entrants[at.entrant].name.clone(),
        command: task.map(|task| task.command.clone()),
        units: task.and_then(|task| task.units),
        time: time(history, at, figures.units),
        memory: memory(history.peaks(at)),
        counts: count.filter(|count| count.failed.is_none()).map(|count| counts(count, &figures)),
        failed,
    }
}

fn time(history: &History, at: EntrantRole, units: f64) -> Option<StageTime> {
    let level = history.level(at).filter(|_| units > 0.0)?;
    Some(StageTime {
        ns_per_unit: level.median,
        as_built: level.as_built,
        best: level.best,
        worst: level.worst,
        total_ns: level.median * units,
    })
}

fn memory(peaks: Vec<u64>) -> Option<StageMemory> {
    let (least, most) = (*peaks.iter().min()?, *peaks.iter().max()?);
    let all: Vec<f64> = peaks.iter().map(|bytes| *bytes as f64).collect();
    Some(StageMemory { peak_bytes: median(&all)?.round() as u64, least, most })
}

fn counts(count: &DiaryCount, figures: &CommandFigures) -> EntrantCounts {
    let rows = count.components.as_array().cloned().unwrap_or_default();
    EntrantCounts {
        source: count.source,
        instructions: count.instructions,
        branches: count.branches,
        conditional: count.conditional,
        misses: count
            .misses
            .iter()
            .map(|(predictor, misses)| EntrantMisses { predictor: predictor.clone(), misses: *misses })
            .collect(),
        miss_rate: figures.per_unit(Quantity::MissRate),
        instructions_per_unit: figures.per_unit(Quantity::Instructions),
        branches_per_unit: figures.per_unit(Quantity::Branches),
        misses_per_unit: figures.per_unit(Quantity::Misses),
        repeatable: count.again.map(|again| Some(again) == count.branches),
        components: rows.iter().filter_map(|row| component(row, figures.units)).collect(),
        notes: count.notes.clone(),
    }
}

fn component(row: &serde_json::Value, units: f64) -> Option<ComponentWork> {
    let number = |key: &str| row[key].as_u64().map(|count| count as f64);
    let (branches, called) = (number("branches")?, number("called")?);
    (units > 0.0).then(|| ComponentWork {
        name: row["name"].as_str().unwrap_or_default().to_owned(),
        branches_per_unit: branches / units,
        instructions_per_unit: number("instructions").unwrap_or(0.0) / units,
        misses_per_unit: number("misses").unwrap_or(0.0) / units,
        calls_per_unit: called / units,
        branches_per_call: (called > 0.0).then(|| branches / called),
    })
}
