//! What a ledger has, as a list: which rows were asked for, what was asked and answered in each.
//!
//! Answers are those that were kept when the measurements ended ([`KeptAnswers`]); what is missing is judged once and kept. Why
//! something cannot be judged is never kept: it may pass. Only rows that are shown are judged.

use super::answers::KeptAnswers;
use super::lookup::newest_first;
use super::pages::AnyPage;
use super::state::state;
use super::{Thing, lookup};
use crate::campaign::compose::rfc3339;
use crate::lead::Misuse;
use crate::stages;
use crate::store::{Kept, KeptRow, Ledger};
use anyhow::Result;
use assay_pure::event::Event;
use assay_pure::stages::Diary;
use assay_pure::words;
use assay_report::list::{Brief, LIST_SCHEMA, ListPage, ListRow, ListState};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use wildmatch::WildMatch;

/// Which rows.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Only names that match this pattern, or begin so; none: all.
    pub names: Vec<String>,
    /// Only this very name; none: all.
    pub name: Option<String>,
    /// Only these kinds; none: all.
    pub kinds: Vec<Kept>,
    /// Only what began then or later, Unix seconds.
    pub since: Option<f64>,
    /// At most so many, the newest; none: all.
    pub newest: Option<usize>,
}

/// Whether answers that were not kept are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// Yes, and kept.
    Missing,
    /// No: what was not kept is not shown, and what another build of assay told is shown as such.
    Nothing,
}

/// The list at a moment, Unix seconds.
///
/// # Errors
/// [`Misuse`]: no name matches; or the ledger cannot be read.
pub fn list(
    ledger: &Ledger,
    asked: &ListRequest,
    judge: Judge,
    now: f64,
    on: &mut dyn FnMut(Event),
) -> Result<ListPage> {
    let kinds: &[Kept] = if asked.kinds.is_empty() { &Kept::ALL } else { &asked.kinds };
    let mut rows = newest_first(ledger, kinds)?;
    if !asked.names.is_empty() {
        for name in &asked.names {
            is_known(ledger, &rows, name)?;
        }
        rows.retain(|row| asked.names.iter().any(|name| matches(&row.name, name)));
    }
    rows.retain(|row| asked.name.as_ref().is_none_or(|name| row.name == *name));
    rows.retain(|row| asked.since.is_none_or(|since| row.started_at >= since));
    let total = rows.len() as u64;
    rows.truncate(asked.newest.unwrap_or(usize::MAX));
    let answers = answers(ledger, &rows, judge, on);
    let listed: Result<Vec<ListRow>> =
        rows.iter().zip(answers).map(|(row, answer)| listed(ledger, row, answer, now)).collect();
    Ok(ListPage {
        schema: LIST_SCHEMA.into(),
        ledger: ledger.path().display().to_string(),
        made: rfc3339(now),
        total,
        rows: listed?,
    })
}

/// A pattern of shells, or what a name begins with.
fn matches(name: &str, pattern: &str) -> bool {
    WildMatch::new(pattern).matches(name) || lookup::begins(name, pattern)
}

fn is_known(ledger: &Ledger, rows: &[KeptRow], name: &str) -> Result<(), Misuse> {
    if rows.iter().any(|row| matches(&row.name, name)) {
        return Ok(());
    }
    let near = lookup::near(rows, name);
    Err(Misuse(format!("no name in {} matches `{name}`{near}", ledger.path().display())))
}

fn listed(ledger: &Ledger, row: &KeptRow, answer: Option<Brief>, now: f64) -> Result<ListRow> {
    Ok(ListRow {
        path: Thing::from(row).to_string(),
        kind: row.kind,
        name: row.name.clone(),
        question: row.question.clone(),
        asked: asked_of(ledger, row)?,
        began: rfc3339(row.started_at),
        age_seconds: (now - row.started_at).max(0.0),
        seconds: row.finished_at.filter(|_| row.stopped.is_some()).map(|end| end - row.started_at),
        state: row.stopped.map_or(ListState::UnderWayOrKilled, ListState::Ended),
        answer,
    })
}

/// What was asked, in a few words.
fn asked_of(ledger: &Ledger, row: &KeptRow) -> Result<String> {
    Ok(match row.kind {
        Kept::Campaign => ledger.campaign(row.id)?.map(|row| of_campaign(&row.spec, &row.machine)),
        Kept::Comparison => ledger.comparison(Some(row.id))?.map(|row| of_comparison(&row.asked)),
        Kept::Sweep => ledger.sweep(Some(row.id))?.map(|row| of_sweep(&row.spec)),
        Kept::Diary => stages::compose::kept(ledger, &row.name).ok().map(|diary| of_diary(&diary)),
    }
    .unwrap_or_default())
}

/// "table and bmi2 against branch; 3 inputs, 2 compilers"
fn of_campaign(spec: &Value, machine: &Value) -> String {
    /// More are counted.
    const NAMED: usize = 2;
    let baseline = spec["baseline"].as_str().unwrap_or_default();
    let variants = spec["variants"].as_array().into_iter().flatten();
    let others: Vec<&str> =
        variants.filter_map(|variant| variant["name"].as_str()).filter(|name| *name != baseline).collect();
    let sides = match others.len() {
        0 => baseline.to_owned(),
        1..=NAMED => format!("{} against {baseline}", words::list(&others)),
        more => format!("{} against {baseline}", words::plural(more as u64, "variant")),
    };
    let count = |value: &Value| value.as_array().map_or(0, Vec::len) as u64;
    let compilers = count(&machine["compilers"]).max(count(&spec["compilers"]));
    let axes =
        [(count(&spec["inputs"]), "input"), (compilers, "compiler"), (count(&spec["flags"]), "flag set")];
    let told: Vec<String> = axes
        .iter()
        .filter(|(count, _)| *count > 1)
        .map(|(count, noun)| words::plural(*count, noun))
        .collect();
    if told.is_empty() { sides } else { format!("{sides}; {}", told.join(", ")) }
}

fn of_comparison(asked: &Value) -> String {
    let bench = asked["bench"][0].as_str().unwrap_or_default();
    match asked["build"].as_str() {
        Some(build) => format!("{bench}, built by {build}"),
        None => "two commands".into(),
    }
}

fn of_sweep(spec: &Value) -> String {
    let key = spec["key"].as_str().unwrap_or_default();
    let percent = spec["percent"].as_bool() == Some(true);
    let value = |name: &str| match spec[name].as_f64() {
        Some(value) if percent => words::fraction(value),
        Some(value) if value.fract() == 0.0 && value >= 0.0 => words::count(value as u64),
        Some(value) => words::short(value),
        None => String::new(),
    };
    format!("{} from {} to {}", key.rsplit('.').next().unwrap_or(key), value("from"), value("to"))
}

fn of_diary(diary: &Diary) -> String {
    let (stages, references): (Vec<_>, Vec<_>) =
        diary.entrants.iter().partition(|entrant| entrant.is_stage());
    let stages = words::plural(stages.len() as u64, "stage");
    match references.len() as u64 {
        0 => stages,
        references => format!("{stages}, {}", words::plural(references, "reference")),
    }
}

/// An answer for each row that has ended.
fn answers(ledger: &Ledger, rows: &[KeptRow], judge: Judge, on: &mut dyn FnMut(Event)) -> Vec<Option<Brief>> {
    let mut kept = KeptAnswers::of(ledger.path());
    let over = |row: &&KeptRow| row.finished_at.is_some() && row.stopped.is_some();
    let missing: Vec<&KeptRow> = rows.iter().filter(over).filter(|row| kept.get(row).is_none()).collect();
    let mut unreadable = Vec::new();
    if judge == Judge::Missing && !missing.is_empty() {
        for (row, answer) in judged(ledger.path(), &missing, on) {
            match answer {
                Ok(answer) => kept.put(row, answer),
                Err(why) => unreadable.push((Thing::from(row), Brief::unreadable(&why))),
            }
        }
        kept.keep(ledger.path());
    }
    let why =
        |row: &KeptRow| unreadable.iter().find(|(thing, _)| *thing == Thing::from(row)).map(|(_, why)| why);
    let told = |row: &KeptRow| {
        let own = kept.get(row).or_else(|| why(row)).cloned();
        own.or_else(|| kept.of_another_build(row).filter(|_| judge == Judge::Nothing).map(earlier))
    };
    rows.iter().map(|row| told(row).filter(|_| over(&row))).collect()
}

/// An answer by rules that may have been others.
fn earlier(answer: &Brief) -> Brief {
    let text = format!("{} (as another version of assay judged it)", answer.text);
    Brief {
        text,
        whole: format!("As another version of assay judged it: {}", answer.whole),
        ..answer.clone()
    }
}

/// What is known of a thing without judging it: the answer that was kept, or how far it has come.
///
/// # Errors
/// The ledger cannot be read.
pub fn known_answer(ledger: &Ledger, row: &KeptRow, now: f64) -> Result<Option<String>> {
    if row.stopped.is_none() {
        return Ok(Some(state(ledger, row, now)?.text));
    }
    let kept = KeptAnswers::of(ledger.path());
    let own = kept.get(row).cloned().or_else(|| kept.of_another_build(row).map(earlier));
    Ok(own.map(|answer| answer.whole))
}

/// Judges them, on all processors: nothing is measured meanwhile by this process. For each its answer, or why there is none.
fn judged<'a>(
    path: &Path,
    rows: &[&'a KeptRow],
    on: &mut dyn FnMut(Event),
) -> Vec<(&'a KeptRow, Result<Brief, String>)> {
    on(Event::Phase { name: "verdicts".into() });
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(rows.len());
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let (told, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (told, next, found) = (told.clone(), &next, &found);
            scope.spawn(move || {
                let ledger = Ledger::open_to_read(path);
                while let Some(&row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let page = ledger.as_ref().map_err(|error| format!("{error:#}"));
                    let page = page
                        .and_then(|ledger| AnyPage::of(ledger, row).map_err(|error| format!("{error:#}")));
                    let answer = page.map(|page| page.brief());
                    if let Ok(mut found) = found.lock() {
                        found.push((row, answer));
                    }
                    let _ = told.send(());
                }
            });
        }
        drop(told);
        for (done, ()) in heard.iter().enumerate() {
            on(Event::Judged { done: done as u64 + 1, total: rows.len() as u64 });
        }
    });
    on(Event::Finished);
    found.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Led, NewCampaign};
    use assay_pure::ledger::Stopped;
    use serde_json::json;

    #[test]
    fn what_was_asked_names_the_sides_and_counts_the_rest() {
        let spec = json!({"baseline": "a", "variants": [{"name": "a"}, {"name": "b"}], "inputs": [1, 2], "compilers": ["gcc-*"],
            "flags": [1]});
        let machine = json!({"compilers": [1, 2, 3]});
        assert_eq!(of_campaign(&spec, &machine), "b against a; 2 inputs, 3 compilers");
        let alone = json!({"baseline": "a", "variants": [{"name": "a"}], "inputs": [1]});
        assert_eq!(of_campaign(&alone, &json!({})), "a");
        let sweep = json!({"key": "inputs.mixed.multi_byte", "percent": true, "from": 0.0, "to": 1.0});
        assert_eq!(of_sweep(&sweep), "multi_byte from 0 % to 100 %");
        assert_eq!(of_comparison(&json!({"bench": ["./b"], "build": "make"})), "./b, built by make");
        let diary = Diary::from_toml(
            "[diary]\nname = \"d\"\n[build]\ncommand = \"make OUT={out}\"\nprogram = \"{out}/b\"\n[[roles]]\nname = \"x\"\n\
             command = \"{program}\"\n[[stages]]\nname = \"a\"\n[[stages]]\nname = \"b\"\n[[references]]\nname = \"r\"\n\
             command = \"true\"\n",
            "f",
        );
        assert_eq!(of_diary(&diary.unwrap().diary), "2 stages, 1 reference");
    }

    #[test]
    fn why_something_cannot_be_judged_is_shown_and_never_kept() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("l.db")).unwrap();
        let spec = json!({ "question": "of an incompatible version" });
        let new = NewCampaign {
            experiment: "sums",
            question: "q",
            experiment_text: "",
            spec: &spec,
            machine: &spec,
            pinned_cpu: None,
            sources: None,
        };
        let id = ledger.begin(&new).unwrap();
        ledger.finish(Led::Campaign, id, Some(Stopped::Decided)).unwrap();
        let page = list(&ledger, &ListRequest::default(), Judge::Missing, 0.0, &mut |_| {}).unwrap();
        let said = &page.rows[0].answer.as_ref().unwrap().text;
        assert!(said.starts_with("cannot be shown: "), "{said}");
        let row = &ledger.kept(Kept::Campaign).unwrap()[0];
        assert_eq!(KeptAnswers::of(ledger.path()).get(row), None);
    }

    #[test]
    fn names_match_by_pattern_or_by_beginning() {
        assert!(matches("real_sieve", "real_*") && matches("real_sieve", "real") && matches("A", "a"));
        assert!(!matches("real_sieve", "sieve"));
    }
}
