//! The page of a diary, from the ledger alone: the newest figures of each stage, and verdicts from the newest session in
//! which two of them took turns.

mod cells;
mod held;
mod history;
mod told;

use super::belongs;
use crate::lead::Misuse;
use crate::store::Ledger;
use anyhow::{Result, bail};
use assay_pure::stages::Diary;
use assay_pure::words;
use assay_report::stages::answer;
use assay_report::stages::page::{DiaryPage, PageEntrant, PageRole, STAGES_SCHEMA};
use history::{EntrantRole, History};

/// Composes the page of a diary: as its file says now, or as its newest session had it.
///
/// # Errors
/// There is no such diary, or the ledger cannot be read.
pub fn page(ledger: &Ledger, diary: &Diary) -> Result<DiaryPage> {
    let history = History::read(ledger, diary)?;
    if history.sessions.is_empty() {
        let known = ledger.diaries()?;
        bail!(Misuse(format!(
            "the ledger {} has no diary {} yet{}",
            ledger.path().display(),
            diary.name,
            if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
        )));
    }
    let roles: Vec<PageRole> =
        (0..diary.roles.len()).map(|role| cells::role(diary, &history, role)).collect();
    let held = held::steps(diary, &history);
    let mut page = DiaryPage {
        schema: STAGES_SCHEMA.into(),
        diary: diary.name.clone(),
        question: diary.question.clone(),
        answer: String::new(),
        unit: diary.unit.clone(),
        minimum_effect: diary.minimum_effect.relative(),
        confidence: diary.confidence,
        predictor: history.predictor(),
        entrants: entrants(diary, &history),
        roles,
        steps: held.iter().map(|held| told::step(diary, held)).collect(),
        claims: told::claims(diary, &history, &held),
        warnings: [warnings(&history), uneven_starts(diary, &history)].concat(),
        limits: history.newest().map(|session| session.spec.limits.clone()).unwrap_or_default(),
        sessions: history.sessions.iter().map(history::Past::page).collect(),
        ledger: Some(ledger.path().display().to_string()),
    };
    for (number, role) in page.roles.iter_mut().enumerate() {
        role.ranking = told::ranking(diary, &history, &held, number);
    }
    page.answer = answer(&page);
    Ok(page)
}

/// The diary of that name as its newest session had it.
///
/// # Errors
/// There is none, or the ledger cannot be read.
pub fn kept(ledger: &Ledger, name: &str) -> Result<Diary> {
    match ledger.sessions(name)?.pop() {
        Some(session) => Ok(serde_json::from_value(session.spec)?),
        None => bail!(Misuse(format!("the ledger {} has no diary {name}", ledger.path().display()))),
    }
}

fn entrants(diary: &Diary, history: &History) -> Vec<PageEntrant> {
    let of = |(number, entrant): (usize, &assay_pure::stages::Entrant)| {
        let kept = history.entrant(number);
        let row = kept.map(|(_, row)| row);
        PageEntrant {
            name: entrant.name.clone(),
            kind: entrant.kind,
            after: entrant.after.map(|after| diary.entrants[after].name.clone()),
            note: entrant.note.clone(),
            flags: entrant.recipe.as_ref().map(|recipe| recipe.flags.clone()),
            revision: row.and_then(|row| row.built["revision"].as_str().map(str::to_owned)),
            artifact: row.and_then(|row| row.artifact.clone()),
            text_bytes: row.and_then(|row| row.text_bytes),
            placed: row.is_some_and(|row| row.built["placed"] == true),
            session: kept.filter(|(_, row)| row.side.is_some()).map(|(session, _)| session.id),
            failed: row.and_then(|row| row.failed.clone()),
        }
    };
    diary.entrants.iter().enumerate().map(of).collect()
}

/// Roles in which start-up is part of some counts and not of others.
fn uneven_starts(diary: &Diary, history: &History) -> Vec<String> {
    let mut told = Vec::new();
    for (role, of_role) in diary.roles.iter().enumerate() {
        let counted = (0..diary.entrants.len())
            .filter_map(|entrant| Some((entrant, history.count(EntrantRole { entrant, role })?)));
        let (without, with): (Vec<_>, Vec<_>) =
            counted.filter(|(_, count)| count.failed.is_none()).partition(|(_, count)| count.start.is_none());
        if !with.is_empty() && !without.is_empty() {
            let names: Vec<&str> =
                without.iter().map(|(entrant, _)| diary.entrants[*entrant].name.as_str()).collect();
            told.push(format!(
                "In {} the counts of {} include start-up, those of the others do not: give them an `empty_command` too",
                of_role.name,
                words::list(&names)
            ));
        }
    }
    told
}

fn warnings(history: &History) -> Vec<String> {
    let mut told = Vec::new();
    let Some(newest) = history.newest() else { return told };
    for earlier in &history.sessions[..history.sessions.len() - 1] {
        told.extend(
            belongs::strange(&earlier.row, &newest.row.machine, &newest.row.inputs)
                .into_iter()
                .map(|why| format!("Session {} does not belong in this table: {why}", earlier.id)),
        );
        let differing = belongs::differing(&earlier.row.machine, &newest.row.machine);
        if !differing.is_empty() {
            told.push(format!("Changed since session {}: {}", earlier.id, differing.join("; ")));
        }
    }
    told.extend(newest.spec.warnings.iter().cloned());
    told.extend(newest.judged.judgement.warnings.iter().filter(|_| !newest.judged.asked.is_empty()).cloned());
    let mut seen = std::collections::HashSet::new();
    told.retain(|warning| seen.insert(warning.clone()));
    told
}
