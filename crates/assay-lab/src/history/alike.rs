//! Machines of one kind beside each other: the newest run of each that ran the same programs on the same inputs as the newest of
//! all. Which is out of line is decided by [`out_of_line`]; what the ledger knows of it stands beside it.

use super::runs::{CampaignData, RecordedRuns, RunData};
use super::series::Series;
use assay_pure::experiment::matrix::CellId;
use assay_pure::history::{MachineReading, SharedFigure, TIME_TOLERANCE, out_of_line};
use assay_pure::stats::margin::Margin;
use assay_report::history::HistoryPage;
use assay_report::history::alike;
use assay_report::history::page::{AlikeFinding, AlikeHost, AlikeMachines, SeriesKind};
use std::collections::BTreeMap;

/// Facts of a machine that may tell why, as the ledger calls them.
const FACTS: [&str; 4] = ["governor", "microcode", "kernel", "aslr"];

/// A host with its newest run.
struct Host<'a> {
    name: &'a str,
    run: usize,
    campaign: &'a CampaignData,
}

/// All kinds of which two machines can be compared.
pub fn compare(series: &[Series], read: &RecordedRuns) -> Vec<AlikeMachines> {
    let kinds = (0..read.machines().len()).map(|machine| (machine, hosts(read, machine)));
    let kinds: Vec<(usize, Vec<Host>)> = kinds.filter(|(_, hosts)| hosts.len() > 1).collect();
    let (mut figures, mut of) = (Vec::new(), Vec::new());
    for (kind, (_, hosts)) in kinds.iter().enumerate() {
        for one in series {
            if let Some(figure) = figure(one, hosts, read.minimum_effect) {
                figures.push(figure);
                of.push((kind, &one.page));
            }
        }
    }
    let found = out_of_line(&figures);
    let named = found.outlying.iter().map(|one| (one.figure, one.machine, None, one.step, one.at_least));
    let apart =
        found.apart.iter().map(|one| (one.figure, one.larger, Some(one.smaller), one.step, one.at_least));
    let findings: Vec<(usize, AlikeFinding)> = named
        .chain(apart)
        .map(|(figure, host, from, step, at_least)| {
            let (kind, page) = of[figure];
            let (label, kind_of) = (page.label.clone(), page.kind);
            let (ratio, at_least) = (step.exp(), at_least.exp());
            (kind, AlikeFinding { label, kind: kind_of, host, from, ratio, at_least })
        })
        .collect();
    let kinds = kinds.iter().enumerate().map(|(kind, (machine, hosts))| {
        let count = |wanted| of.iter().filter(|(at, page)| *at == kind && page.kind == wanted).count();
        AlikeMachines {
            machine: *machine,
            hosts: hosts.iter().enumerate().map(|(at, host)| shown(hosts, at, host)).collect(),
            times: count(SeriesKind::Time),
            contrasts: count(SeriesKind::Contrast),
            findings: findings.iter().filter(|(at, _)| *at == kind).map(|(_, one)| one.clone()).collect(),
            sentences: Vec::new(),
        }
    });
    kinds.filter(|kind| kind.times > 0).collect()
}

/// Puts in words what was found.
pub fn tell(page: &mut HistoryPage) {
    let said: Vec<Vec<String>> = page.alike.iter().map(|kind| alike::sentences(page, kind)).collect();
    for (kind, sentences) in page.alike.iter_mut().zip(said) {
        kind.sentences = sentences;
    }
    page.alike_note = alike::note(page);
}

/// The machines of a kind, each with its newest run, that share a program with the newest run of all.
fn hosts(read: &RecordedRuns, machine: usize) -> Vec<Host<'_>> {
    let of_kind = read.runs.iter().enumerate().rev().filter(|(_, run)| run.page.machine == machine);
    let known = of_kind.filter_map(|(number, run)| {
        let RunData::Campaign(campaign) = &run.data else { return None };
        Some(Host { name: run.page.host.as_deref()?, run: number, campaign })
    });
    let mut found: Vec<Host> = Vec::new();
    for host in known {
        let shares = found.first().is_none_or(|newest| share_programs(newest.campaign, host.campaign));
        if shares && found.iter().all(|other| other.name != host.name) {
            found.push(host);
        }
    }
    found.reverse();
    found
}

fn share_programs(one: &CampaignData, other: &CampaignData) -> bool {
    let shares = |(cell, times): (&CellId, &BTreeMap<String, f64>)| {
        other.times.get(cell).is_some_and(|others| times.keys().any(|program| others.contains_key(program)))
    };
    one.times.iter().any(shares)
}

/// A series on the machines that have it; none where fewer than two do.
fn figure<'a>(series: &Series, hosts: &[Host<'a>], minimum: f64) -> Option<SharedFigure<'a>> {
    let tolerance = match series.key.kind {
        SeriesKind::Time => minimum.max(TIME_TOLERANCE),
        SeriesKind::Contrast => minimum,
        SeriesKind::ContrastAsBuilt | SeriesKind::Imported => return None,
    };
    let reading = |(machine, host): (usize, &Host<'a>)| {
        let at = series.page.points.iter().position(|point| point.run == host.run)?;
        let times = |variant: &str| {
            let build = &series.builds[at];
            host.campaign.times.get(&CellId {
                variant: variant.to_owned(),
                input: series.key.input.clone(),
                compiler: build.compiler.clone(),
                flags: build.flags.clone(),
            })
        };
        let own = times(&series.key.variant)?.iter();
        let by_placement = if series.key.kind == SeriesKind::Time {
            own.map(|(program, time)| (program.as_str(), time.ln())).collect()
        } else {
            let base = times(&series.key.baseline)?;
            own.filter_map(|(program, time)| Some((program.as_str(), (time / base.get(program)?).ln())))
                .collect()
        };
        Some(MachineReading { machine, by_placement })
    };
    let readings: Vec<MachineReading> = hosts.iter().enumerate().filter_map(reading).collect();
    (readings.len() > 1).then(|| SharedFigure { tolerance: Margin::of(tolerance).ln(), readings })
}

/// A host, and in which facts it is alone.
fn shown(hosts: &[Host], at: usize, host: &Host) -> AlikeHost {
    let fact = |host: &Host, key: &str| {
        let fact = &host.campaign.row.machine[key];
        fact.as_str().map(str::to_owned).or_else(|| Some(fact.as_u64()?.to_string()))
    };
    let apart = |key: &&str| {
        let own = fact(host, key)?;
        let others = hosts.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<String> = others.filter_map(|(_, other)| fact(other, key)).collect();
        let of = |value: &&String| others.iter().filter(|other| other == value).count();
        let most = others.iter().max_by_key(of).filter(|most| 2 * of(most) > others.len())?;
        (*most != own).then(|| format!("{key} {own}, not {most}"))
    };
    AlikeHost { name: host.name.to_owned(), run: host.run, facts: FACTS.iter().filter_map(apart).collect() }
}
