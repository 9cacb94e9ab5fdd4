//! Leads a session of a diary through its phases.

use super::again::SessionPlan;
use super::asked::StagesRequest;
use super::build::numbers;
use super::count::CountingSetup;
use super::first::Runnable;
use super::players::{StagePlayer, StagePlayers};
use super::prepare::{DiaryWorkspace, ReadyEntrant, first_line, prepare};
use super::{again, belongs, judge, spec};
use crate::campaign::compose::machine_json;
use crate::compare::measure::{self, VerdictProgress, Where};
use crate::compare::places::{Binaries, put_back};
use crate::compare::planned;
use crate::compare::spec::{
    AskedEffort, Effort, FEWEST_ROTATIONS, Method, SHORTEST_VISIT, Spec, effort, visits_per_round,
};
use crate::lead::{self, Lead, Misuse, Question, hold, measuring_cpu};
use crate::store::{
    DiaryCount, DiaryEntrant, DiaryTask, Led, Ledger, NewComparison, NewSession, SessionRow, SideRow,
    TaskName,
};
use anyhow::{Result, bail};
use assay_pure::event::Event;
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_pure::stages::{Diary, Entrant};
use assay_pure::words;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A session that has come to its end, was interrupted, or was not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedSession {
    /// Its number in the ledger; `None`: nothing was to be measured.
    pub session: Option<i64>,
    /// Somebody asked it to stop.
    pub interrupted: bool,
}

/// Builds and measures what the diary lacks.
///
/// # Errors
/// What was asked for makes no sense, the stages before were measured elsewhere, the ledger cannot be written.
pub fn run(asked: &StagesRequest, on: &mut dyn FnMut(Event)) -> Result<EndedSession> {
    let diary = &asked.opened.diary;
    let ledger = lead::open(&asked.ledger, &asked.store)?;
    let key = digest(diary.name.as_bytes());
    let Some(_hold) = hold::take(ledger.path(), &format!("diary-{}", &key[..12]))? else {
        bail!(Misuse(format!("another assay process is measuring the diary {}", diary.name)))
    };
    let cpu = measuring_cpu(asked.cpu)?;
    let machine = machine_json(&assay_linux::machine::facts(), &[], cpu);
    let sessions = ledger.sessions(&diary.name)?;
    refuse_strangers(asked, &sessions, &machine)?;
    let known =
        if asked.again { BTreeSet::new() } else { again::measured(&ledger, diary, &sessions, asked.time)? };
    let only = numbers(diary, &asked.only)?;
    let wanted = again::wanted(diary, &known, only.as_ref());
    if wanted.entrants.is_empty() {
        return Ok(EndedSession::default());
    }
    refuse_too_many(asked, &wanted)?;
    // Ahead of the builds, which may take a placed binary for their own.
    put_back(&asked.store, on)?;
    let work = DiaryWorkspace::new(asked, cpu, on)?;
    let prepared = prepare(asked, &work, &wanted, on)?;
    let spec = spec_of(asked, &prepared, affordable(asked, &prepared, &wanted.new)?);
    let (lead, spec) = begin_or_resume(asked, &ledger, &machine, spec, &prepared, cpu, on)?;
    let session = lead.id;
    keep(&ledger, session, diary, &prepared)?;
    count(asked, &ledger, session, &prepared, on)?;
    let stopped = time(asked, &ledger, session, &spec, prepared, &work, on)?;
    lead.end(&ledger, stopped)?;
    on(Event::Finished);
    Ok(EndedSession { session: Some(session), interrupted: stopped == Stopped::Interrupted })
}

/// Stages of another machine or input do not go into the same table unasked.
fn refuse_strangers(asked: &StagesRequest, sessions: &[SessionRow], machine: &Value) -> Result<()> {
    let Some(last) = sessions.last().filter(|_| !asked.mixed) else { return Ok(()) };
    let strange = belongs::strange(last, machine, &asked.opened.inputs);
    if strange.is_empty() {
        return Ok(());
    }
    let name = &asked.opened.diary.name;
    Err(Misuse(format!(
        "this does not belong in the same table of the diary {name}: {}. Give the diary another name to begin a new one, or \
         --mixed to keep both in one table with the session in each row",
        strange.join("; ")
    ))
    .into())
}

/// Before hours of building: no command is so short that so many stages fit into the budget.
fn refuse_too_many(asked: &StagesRequest, wanted: &SessionPlan) -> Result<()> {
    let diary = &asked.opened.diary;
    let count = wanted.entrants.len() as u32;
    if !asked.time || effort(diary.budget_seconds, 0.0, asked_effort(diary), count).is_some() {
        return Ok(());
    }
    let visits = visits_per_round(diary.rotations.unwrap_or(FEWEST_ROTATIONS), count);
    Err(Misuse(format!(
        "{} need {} at least, more than the budget of {} has time for: set `budget` in [diary] to {:.0} s or more, measure fewer \
         at once, or only count (--no-time)",
        words::plural(u64::from(count), "stage"),
        words::plural(visits, "run"),
        words::duration(diary.budget_seconds),
        (visits as f64 * SHORTEST_VISIT).ceil()
    ))
    .into())
}

fn asked_effort(diary: &Diary) -> AskedEffort {
    AskedEffort { rotations: diary.rotations, rounds: diary.rounds }
}

/// How the budget is spent; no round at all where nothing new can be timed.
fn affordable(asked: &StagesRequest, prepared: &[ReadyEntrant], new: &BTreeSet<usize>) -> Result<Effort> {
    let diary = &asked.opened.diary;
    let sides: Vec<&ReadyEntrant> = prepared.iter().filter(|ready| ready.is_measured()).collect();
    let none = Effort { rotations: FEWEST_ROTATIONS, rounds: 0, looks: vec![1] };
    // Of what was measured before there is nothing new to say without the new ones.
    let is_new = sides.iter().any(|ready| new.contains(&ready.number));
    if !is_new || !asked.time {
        return Ok(none);
    }
    let count = sides.len() as u32;
    let seconds = sides.iter().map(|ready| ready.seconds()).sum::<f64>() / f64::from(count);
    let found = effort(diary.budget_seconds, seconds, asked_effort(diary), count);
    found.ok_or_else(|| {
        let rotations = diary.rotations.unwrap_or(FEWEST_ROTATIONS);
        let visits = visits_per_round(rotations, count);
        Misuse(format!(
            "the commands of a stage take {}, and {} need {} of them: \
             set `budget` in [diary] to {:.0} s or more, or let the commands do less",
            words::duration(seconds),
            words::plural(u64::from(rotations), "rotation"),
            words::plural(visits, "run"),
            (visits as f64 * seconds).ceil()
        ))
        .into()
    })
}

fn spec_of(
    asked: &StagesRequest,
    prepared: &[ReadyEntrant],
    Effort { rotations, rounds, looks }: Effort,
) -> Spec {
    let diary = &asked.opened.diary;
    let measured: Vec<&ReadyEntrant> = prepared.iter().filter(|ready| ready.is_measured()).collect();
    let placed = measured.iter().any(|ready| ready.binaries.is_some());
    let name = |ready: &ReadyEntrant| diary.entrants[ready.number].name.clone();
    let limits = measured.iter().filter_map(|ready| {
        let why = ready.unplaced.as_ref()?;
        Some(format!("how much of {}'s time comes from where it was linked: placement was not varied ({why}), only the surroundings of its processes", name(ready)))
    });
    Spec {
        build: None,
        bench: diary.roles.iter().map(|role| role.name.clone()).collect(),
        adapter: "diary".into(),
        method: if placed { Method::Placements } else { Method::Surroundings },
        minimum_effect: diary.minimum_effect,
        confidence: diary.confidence,
        seed: diary.seed,
        sides: measured.len() as u32,
        rotations,
        rounds,
        looks,
        budget_seconds: diary.budget_seconds,
        gate: None,
        limits: limits.collect(),
        warnings: warnings(diary, prepared),
    }
}

/// What the reader must know of builds and first runs; what is the same of several is said once.
fn warnings(diary: &Diary, prepared: &[ReadyEntrant]) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for ready in prepared {
        let built = ready.built.as_ref().ok().into_iter().flat_map(|built| &built.warnings);
        let tried = ready.tried.values().flat_map(|tried| &tried.notes);
        for text in built.chain(tried) {
            let name = diary.entrants[ready.number].name.as_str();
            match found.iter_mut().find(|(known, _)| known == text) {
                Some((_, names)) => names.push(name),
                None => found.push((text, vec![name])),
            }
        }
    }
    found.into_iter().map(|(text, names)| format!("{}: {text}", words::list(&names))).collect()
}

/// Begins a session, or resumes the one of the same builds and options that was interrupted.
fn begin_or_resume(
    asked: &StagesRequest,
    ledger: &Ledger,
    machine: &Value,
    spec: Spec,
    prepared: &[ReadyEntrant],
    cpu: usize,
    on: &mut dyn FnMut(Event),
) -> Result<(Lead, Spec)> {
    let diary = &asked.opened.diary;
    let sides = prepared.iter().map(|ready| {
        let artifact = ready.built.as_ref().ok().and_then(|built| built.artifact.clone());
        let name = &diary.entrants[ready.number].name;
        json!([name, spec::definition(diary, ready.number), artifact, ready.is_measured()])
    });
    // Not what was found out, as how long a run takes: that is a little different every time.
    let question = json!([
        diary.name,
        sides.collect::<Vec<Value>>(),
        spec.seed,
        spec.minimum_effect,
        spec.confidence,
        asked.opened.inputs,
        cpu,
        asked.pin,
        asked.time,
        diary.rotations,
        diary.rounds
    ]);
    let question = digest(question.to_string().as_bytes());
    let of = format!("of the diary {} with the same builds, inputs and options", diary.name);
    let question = Question { led: Led::Session, digest: &question, of: &of, resume: asked.resume };
    let lead = question.begin_or_resume(ledger, &mut |_| Ok(true), || {
        let (spec, plan) = (serde_json::to_value(diary)?, serde_json::to_value(&spec)?);
        let comparison =
            NewComparison { question: question.digest, asked: &plan, machine, pinned_cpu: Some(cpu) };
        let inputs = &asked.opened.inputs;
        ledger.begin_session(&NewSession { diary: &diary.name, comparison, spec: &spec, inputs })
    })?;
    if lead.resumed {
        let kept = planned(ledger, &lead, on)?;
        return Ok((lead, Spec { budget_seconds: diary.budget_seconds, ..kept }));
    }
    Ok((lead, spec))
}

/// What was built and tried goes to the ledger before anything is measured.
fn keep(ledger: &Ledger, session: i64, diary: &Diary, prepared: &[ReadyEntrant]) -> Result<()> {
    let mut side = 0;
    for ready in prepared {
        let entrant = &diary.entrants[ready.number];
        let number = ready.is_measured().then(|| {
            side += 1;
            side - 1
        });
        let row = row_of(diary, entrant, ready, number);
        if let Some(side) = number {
            let revision = ready.built.as_ref().ok().and_then(|built| built.revision.clone());
            let links: Vec<Value> = ready
                .binaries
                .iter()
                .flat_map(Binaries::outputs)
                .map(|output| json!({"output": output.to_string_lossy()}))
                .collect();
            ledger.put_side(
                session,
                &SideRow { side, name: entrant.name.clone(), revision, links: links.into() },
            )?;
        }
        ledger.put_diary_entrant(session, &row)?;
        for (role, tried) in &ready.tried {
            let units = tried.found.as_ref().ok().map(|runnable| runnable.units);
            let failed = tried.found.as_ref().err().cloned();
            let role = diary.roles[*role].name.clone();
            let task = DiaryTask {
                entrant: entrant.name.clone(),
                role,
                command: tried.command.clone(),
                units,
                failed,
            };
            ledger.put_diary_task(session, &task)?;
        }
    }
    Ok(())
}

fn row_of(diary: &Diary, entrant: &Entrant, ready: &ReadyEntrant, side: Option<u32>) -> DiaryEntrant {
    let built = ready.built.as_ref().ok();
    DiaryEntrant {
        name: entrant.name.clone(),
        kind: entrant.kind,
        side,
        built: json!({
            "definition": spec::definition(diary, ready.number),
            "revision": built.and_then(|built| built.revision.clone()),
            "placed": ready.binaries.is_some(),
            "unplaced": ready.unplaced,
        }),
        artifact: built.and_then(|built| built.artifact.clone()),
        text_bytes: built.and_then(|built| built.text_bytes),
        failed: ready.failure(),
    }
}

/// Counts what was not counted before: of the same program by the same method the answer is the same.
fn count(
    asked: &StagesRequest,
    ledger: &Ledger,
    session: i64,
    prepared: &[ReadyEntrant],
    on: &mut dyn FnMut(Event),
) -> Result<()> {
    let diary = &asked.opened.diary;
    on(Event::Phase { name: "count".into() });
    let hardware = super::hardware::is_granted();
    let done: Vec<DiaryCount> = ledger.diary_counts(session)?;
    let tasks: Vec<(&ReadyEntrant, &Runnable)> =
        prepared.iter().flat_map(|ready| ready.runnable().map(move |task| (ready, task))).collect();
    for ((ready, task), number) in tasks.iter().zip(1..) {
        let entrant = &diary.entrants[ready.number];
        let Some(of_role) = entrant.task(task.role).filter(|task| task.count) else { continue };
        if assay_linux::interrupt::asked() {
            return Ok(());
        }
        let built = ready.built.as_ref().expect("what runs was built");
        let own = if entrant.components.is_empty() { &diary.components } else { &entrant.components };
        let counting = CountingSetup {
            models: &asked.models,
            components: own,
            plugin: asked.plugin.clone(),
            patience: asked.trace_patience,
            hardware,
        };
        let empty = of_role.empty_command.as_ref().map(|empty| built.places.fill(empty));
        let method = counting.method(&task.bench.command, empty.as_deref());
        let artifact = built.artifact.as_deref();
        let role = TaskName { entrant: &entrant.name, role: &diary.roles[task.role].name };
        let here = done.iter().any(|row| {
            row.entrant == role.entrant
                && row.role == role.role
                && row.method == method
                && row.failed.is_none()
        });
        if !here {
            let row = match ledger.known_diary_count(&diary.name, role, artifact, &method)? {
                Some(known) => known,
                None => counting.count(task, empty.as_deref()).row(role, artifact, method, &asked.models),
            };
            if let Some(why) = &row.failed {
                let what = format!("counting {} as {}", role.entrant, role.role);
                on(Event::Failed { what, reason: first_line(why) });
            }
            ledger.put_diary_count(session, &row)?;
        }
        on(Event::Counted { done: number, total: tasks.len() as u64 });
    }
    Ok(())
}

/// Runs all commands over all placements in turns.
fn time(
    asked: &StagesRequest,
    ledger: &Ledger,
    session: i64,
    spec: &Spec,
    prepared: Vec<ReadyEntrant>,
    work: &DiaryWorkspace,
    on: &mut dyn FnMut(Event),
) -> Result<Stopped> {
    if assay_linux::interrupt::asked() {
        return Ok(Stopped::Interrupted);
    }
    let diary = &asked.opened.diary;
    let unit = format!("ns/{}", diary.unit);
    let mut players = StagePlayers { unit, sides: Vec::new(), scratch: work.way.scratch.clone() };
    for ready in prepared.into_iter().filter(ReadyEntrant::is_measured) {
        let tasks = ready.tried.into_values().filter_map(|tried| tried.found.ok());
        let tasks = tasks.map(|task| (diary.roles[task.role].name.clone(), task)).collect();
        players.sides.push(StagePlayer { tasks, binaries: ready.binaries });
    }
    if players.sides.is_empty() {
        return Ok(Stopped::Nothing);
    }
    let look = || -> Result<VerdictProgress> {
        let found = judge::session(ledger, session, diary, spec)?.judgement.contrasts;
        Ok(VerdictProgress {
            decided: found.iter().filter(|found| found.decided).count(),
            proven: found.iter().filter(|found| found.proven).count(),
            contrasts: found.len(),
        })
    };
    let at = Where { ledger, comparison: session, cpu: work.cpu };
    measure::measure(spec, &at, &mut players, &look, on)
}
