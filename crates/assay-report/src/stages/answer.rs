//! The answer in a few sentences: what saved most, what saved nothing, how far the reference is, what is undecided.

use super::page::{Against, Brought, DiaryPage, EntrantKind, Part, StageStep};
use super::words::{count, count_change, part};
use assay_pure::words;

/// The answer to a diary's question.
pub fn answer(page: &DiaryPage) -> String {
    let mut sentences = most(page);
    sentences.extend(slower(page));
    sentences.extend(nothing(page));
    sentences.extend(distance(page));
    sentences.extend(open(page));
    sentences.extend(failed(page));
    sentences.extend(waiting(page));
    if sentences.is_empty() {
        let stages = page.entrants.iter().filter(|entrant| entrant.kind == EntrantKind::Stage).count();
        return match stages {
            1 => "Only one stage is measured: there is no step to judge yet.".into(),
            _ => "No step can be judged yet.".into(),
        };
    }
    sentences.join(" ")
}

/// What to do about it; none where every step is measured and decided.
pub fn next(page: &DiaryPage) -> Option<String> {
    let mut told = Vec::new();
    if before(page).any(is_open) {
        told.push("measure again with a larger --budget (--again) to decide the undecided steps");
    }
    if page.entrants.iter().any(|entrant| entrant.failed.is_some()) {
        told.push("fix what failed (see Not measured) and run the diary again");
    }
    if page.entrants.iter().filter(|entrant| entrant.kind == EntrantKind::Stage).count() == 1 {
        told.push("add the next stage to see what it changes");
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// "release saved most: in push, time -82.1 % ± 0.3 (96 % of what all steps saved); in pop, time -60.0 % ± 0.2 (89 %)."
fn most(page: &DiaryPage) -> Vec<String> {
    let mut best: Vec<(&str, Vec<String>)> = Vec::new();
    for role in &page.roles {
        let Some(top) = role.ranking.first() else { continue };
        let is_first = best.iter().all(|(stage, _)| *stage != top.stage);
        let Some(told) = told_of_best(page, &role.name, top, is_first) else { continue };
        match best.iter_mut().find(|(stage, _)| *stage == top.stage) {
            Some((_, roles)) => roles.push(told),
            None => best.push((&top.stage, vec![told])),
        }
    }
    best.into_iter().map(|(stage, roles)| format!("{stage} saved most: {}.", roles.join("; "))).collect()
}

/// What the step changed itself, then its share of what all steps saved: a share alone reads as if that much of the time were gone.
/// The sentence's first share says what it is a share of.
fn told_of_best(page: &DiaryPage, role: &str, top: &Part, is_first: bool) -> Option<String> {
    let step = page.steps_of(role, Against::Before).find(|step| step.stage == top.stage)?;
    let share = |of: f64, says_of_what: bool| {
        let of_what = if says_of_what { " of what all steps saved" } else { "" };
        format!("({}{of_what})", part(Some(of)))
    };
    let branches = |says_of_what: bool| {
        let of = top.branches.filter(|part| *part > 0.0)?;
        Some(format!("branches {} {}", count_change(Some(step), "branches"), share(of, says_of_what)))
    };
    match top.time.filter(|part| *part > 0.0 && step.brought == Brought::Faster) {
        Some(time) => {
            let size = step.time.as_ref()?.code.map(|code| code.change())?;
            let time = format!("time {size} {}", share(time, is_first));
            let both: Vec<String> = [time].into_iter().chain(branches(false)).collect();
            Some(format!("in {role}, {}", words::list(&both)))
        }
        None if top.time.is_none() => branches(is_first).map(|told| format!("in {role}, {told}")),
        None => None,
    }
}

fn slower(page: &DiaryPage) -> Option<String> {
    let found: Vec<String> = before(page)
        .filter(|step| step.brought == Brought::Slower)
        .map(|step| {
            let size = step.time.as_ref().and_then(|time| time.code).map(|code| code.change());
            format!("{} in {} ({})", step.stage, step.role, size.unwrap_or_default())
        })
        .collect();
    (!found.is_empty()).then(|| format!("Slower than before: {}.", words::list(&found)))
}

fn before(page: &DiaryPage) -> impl Iterator<Item = &StageStep> {
    page.steps.iter().filter(|step| step.against == Against::Before)
}

/// Stages that saved no time in any role, by why they seemed to.
fn nothing(page: &DiaryPage) -> Vec<String> {
    let (mut ghosts, mut idle, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for stage in &page.entrants {
        let steps: Vec<&StageStep> = before(page).filter(|step| step.stage == stage.name).collect();
        let is_nothing = |step: &&StageStep| {
            matches!(step.brought, Brought::Ghost | Brought::Nothing | Brought::OnlyCounts)
        };
        if steps.is_empty() || !steps.iter().all(is_nothing) {
            continue;
        }
        let ghost = |step: &&&StageStep| step.brought == Brought::Ghost;
        if steps.iter().any(|step| ghost(&step)) {
            let told = steps.iter().filter(ghost).map(|step| {
                let as_built = step
                    .time
                    .as_ref()
                    .and_then(|time| time.as_built)
                    .map(|effect| words::change(effect.ratio));
                format!("{} in {}", as_built.unwrap_or_default(), step.role)
            });
            ghosts.push(format!("{} (as built {})", stage.name, words::list(&told.collect::<Vec<_>>())));
        } else if steps.iter().any(|step| step.brought == Brought::OnlyCounts) {
            counts.push(stage.name.clone());
        } else {
            idle.push(stage.name.clone());
        }
    }
    let mut told = Vec::new();
    if !ghosts.is_empty() {
        let ghost = if ghosts.len() == 1 { "is a ghost" } else { "are ghosts" };
        told.push(format!(
            "{} {ghost}: the difference comes from where the linker put the code, not from the code.",
            words::list(&ghosts)
        ));
    }
    if !idle.is_empty() {
        told.push(format!("{} changed neither time nor counts.", words::list(&idle)));
    }
    if !counts.is_empty() {
        told.push(format!("{} changed counts but not the time.", words::list(&counts)));
    }
    told
}

/// "The last stage, final, takes 31 % more time and executes 20 % more branches than glibc in alloc."
fn distance(page: &DiaryPage) -> Vec<String> {
    let Some(last) = page.last_stage() else { return Vec::new() };
    let held = page.steps.iter().filter(|step| step.against == Against::Reference && step.stage == last.name);
    let mut told: Vec<String> = Vec::new();
    for step in held {
        let time = step.time.as_ref().and_then(|time| time.code).map(|code| code.ratio);
        let branches = count(Some(step), "branches").and_then(|count| count.ratio);
        let time = time.map(|ratio| compared(ratio, "takes", ["less", "as much", "more"], "time"));
        let branches =
            branches.map(|ratio| compared(ratio, "executes", ["fewer", "as many", "more"], "branches"));
        let both: Vec<(String, &str)> = time.into_iter().chain(branches).collect();
        let clause = match both.as_slice() {
            [] => continue,
            [(first, than), (second, same)] if than == same => {
                format!("{first} and {second} {than} {}", step.baseline)
            }
            [(first, than), (second, as_it)] => {
                format!("{first} {than} {} and {second} {as_it} it", step.baseline)
            }
            [(only, than), ..] => format!("{only} {than} {}", step.baseline),
        };
        told.push(format!("{clause} in {}", step.role));
    }
    match told.as_slice() {
        [] => Vec::new(),
        told => vec![format!("The last stage, {}, {}.", last.name, told.join("; it "))],
    }
}

/// "takes 3 % more time" and "than", or "executes as many branches" and "as".
fn compared(ratio: f64, verb: &str, [less, same, more]: [&str; 3], what: &str) -> (String, &'static str) {
    if ratio == 1.0 {
        return (format!("{verb} {same} {what}"), "as");
    }
    let which = if ratio < 1.0 { less } else { more };
    (format!("{verb} {} {which} {what}", words::fraction(ratio - 1.0)), "than")
}

fn open(page: &DiaryPage) -> Option<String> {
    let open: Vec<String> = before(page)
        .filter(|step| is_open(step))
        .map(|step| {
            let finest = step.time.as_ref().and_then(|time| time.minimum_detectable_effect);
            let finest = finest.map_or_else(String::new, |effect| {
                format!(" (an effect of {} would have been found)", words::fraction(effect))
            });
            format!("{} in {}{finest}", step.stage, step.role)
        })
        .collect();
    (!open.is_empty()).then(|| format!("Undecided: {}.", words::list(&open)))
}

fn is_open(step: &StageStep) -> bool {
    step.brought == Brought::Open && step.time.is_some()
}

/// What was never asked to be measured so far.
fn waiting(page: &DiaryPage) -> Option<String> {
    let never = page.entrants.iter().filter(|entrant| entrant.session.is_none() && entrant.failed.is_none());
    let names: Vec<&str> = never.map(|entrant| entrant.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("Not measured yet: {}.", words::list(&names)))
}

fn failed(page: &DiaryPage) -> Option<String> {
    let failed: Vec<&str> = page
        .entrants
        .iter()
        .filter(|entrant| entrant.failed.is_some())
        .map(|entrant| entrant.name.as_str())
        .collect();
    (!failed.is_empty()).then(|| format!("Not measured: {}.", words::list(&failed)))
}
