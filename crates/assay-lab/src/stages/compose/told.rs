//! Steps, parts and claims in the words of the page.

use super::held::Held;
use super::history::{EntrantRole, History};
use crate::campaign::compose::contrast;
use crate::stages::judge::DiaryQuestion;
use assay_pure::stages::claims::{self, ComparedWith as Of, DiaryClaim, RoleFindings};
use assay_pure::stages::step::{Against, parts};
use assay_pure::stages::traps::Trap;
use assay_pure::stages::{CommandFigures, Diary, Quantity};
use assay_pure::words;
use assay_report::page::Claim;
use assay_report::stages::page::{CountStep, Part, StageStep, TimeStep};

/// Counts that a step tells of.
const TOLD: [Quantity; 5] =
    [Quantity::Branches, Quantity::Misses, Quantity::MissRate, Quantity::Instructions, Quantity::Size];

/// A step for the page.
pub fn step(diary: &Diary, held: &Held<'_>) -> StageStep {
    let name = |entrant: usize| diary.entrants[entrant].name.clone();
    let time = held.verdict.map(|(session, found)| {
        let shown = contrast(found);
        TimeStep {
            as_built: shown.as_built,
            code: shown.code,
            verdict: shown.verdict,
            as_built_says: shown.as_built_says,
            causes: shown.causes,
            modes: shown.modes,
            reasons: shown.reasons,
            rotations: shown.rotations,
            minimum_detectable_effect: shown.minimum_detectable_effect,
            session: session.id,
        }
    });
    StageStep {
        stage: name(held.question.candidate),
        baseline: name(held.question.baseline),
        against: held.question.against,
        role: diary.roles[held.role].name.clone(),
        brought: held.brought,
        time,
        counts: TOLD.iter().filter_map(|quantity| count(held, *quantity)).collect(),
        traps: held.traps.iter().map(|trap| trap_told(trap, &diary.unit)).collect(),
    }
}

fn count(held: &Held<'_>, quantity: Quantity) -> Option<CountStep> {
    let (before, after) = (held.other.per_unit(quantity)?, held.own.per_unit(quantity)?);
    let ratio = (before != 0.0).then(|| after / before);
    Some(CountStep { quantity: quantity.word().into(), before, after, ratio })
}

/// A trap as a sentence.
fn trap_told(trap: &Trap, unit: &str) -> String {
    let rates = |rates: &[f64; 2]| format!("from {} to {}", words::rate(rates[0]), words::rate(rates[1]));
    let misses =
        |misses: &[f64; 2]| format!("{} to {} per {unit}", words::short(misses[0]), words::short(misses[1]));
    match trap {
        Trap::RateRoseMissesFell { rates: of, misses: count } => format!(
            "The miss rate rises, {}, though mispredictions fall, from {}: the branches that went away were the well-predicted ones.",
            rates(of),
            misses(count)
        ),
        Trap::RateFellMissesRose { rates: of, misses: count } => format!(
            "The miss rate falls, {}, though mispredictions rise, from {}: it is a share of more branches.",
            rates(of),
            misses(count)
        ),
        Trap::OtherUnits { units } => format!(
            "It does {} {}, the other {}: only figures per {unit} can be compared, not totals.",
            units[1],
            words::plural_noun(unit),
            units[0]
        ),
        Trap::Quantised { step_ns, fraction } => format!(
            "Its times come in steps of {} ns per {unit}, {} of the time: a smaller change cannot be seen. Let the command take \
             longer, or read a finer clock.",
            words::ns(*step_ns),
            words::fraction(*fraction)
        ),
        Trap::Unsteady { branches } => format!(
            "Two executions of the same program had {} and {} branches: a count is exact for one execution only.",
            words::count(branches[0]),
            words::count(branches[1])
        ),
    }
}

/// What each step on the way from the first to the last stage brought of all that was saved, most first.
pub fn ranking(diary: &Diary, history: &History, held: &[Held<'_>], role: usize) -> Vec<Part> {
    let chain = diary.chain();
    let steps: Vec<(usize, usize)> = chain.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let of_counts = |quantity: Quantity| -> Option<Vec<f64>> {
        let figures =
            |stage: usize| -> CommandFigures { history.figures(EntrantRole { entrant: stage, role }) };
        let ratios: Option<Vec<f64>> =
            steps.iter().map(|(before, after)| figures(*after).ratio(&figures(*before), quantity)).collect();
        parts(&ratios?, diary.minimum_effect)
    };
    let of_time = || -> Option<Vec<f64>> {
        // Parts of a difference that may be none would be told otherwise.
        let (first, last) = (*chain.first()?, *chain.last()?);
        let whole = held.iter().find(|held| {
            held.role == role && held.question.candidate == last && held.question.baseline == first
        })?;
        whole.time.filter(|time| time.verdict.is_difference())?;
        let ratio = |(before, after): &(usize, usize)| {
            let question = DiaryQuestion { candidate: *after, baseline: *before, against: Against::Before };
            let found = held.iter().find(|held| held.question == question && held.role == role)?;
            found.time.map(|time| time.ratio)
        };
        parts(&steps.iter().map(ratio).collect::<Option<Vec<f64>>>()?, diary.minimum_effect)
    };
    let (time, branches, misses) = (of_time(), of_counts(Quantity::Branches), of_counts(Quantity::Misses));
    let at = |parts: &Option<Vec<f64>>, step: usize| parts.as_ref().map(|parts| parts[step]);
    let mut ranking: Vec<Part> = steps
        .iter()
        .enumerate()
        .map(|(step, (_, after))| Part {
            stage: diary.entrants[*after].name.clone(),
            time: at(&time, step),
            branches: at(&branches, step),
            misses: at(&misses, step),
        })
        .collect();
    ranking.retain(|part| part.time.is_some() || part.branches.is_some());
    let size = |part: &Part| part.time.or(part.branches).unwrap_or(0.0);
    ranking.sort_by(|one, other| size(other).total_cmp(&size(one)));
    ranking
}

/// Every claim of the file, compared with what was found.
pub fn claims(diary: &Diary, history: &History, held: &[Held<'_>]) -> Vec<Claim> {
    let check = |claim: &DiaryClaim| {
        let seen = seen(diary, history, held, claim);
        let result = claims::check(claim, &seen, diary.minimum_effect);
        Claim { text: result.text, status: result.status, found: result.found, source: claim.source.clone() }
    };
    diary.claims.iter().map(check).collect()
}

/// What a claim speaks of, role by role.
fn seen(diary: &Diary, history: &History, held: &[Held<'_>], claim: &DiaryClaim) -> Vec<RoleFindings> {
    let Some(stage) = claim.stage else { return Vec::new() };
    let other = match claim.against {
        Of::Before => diary.entrants[stage].after,
        Of::First => Some(diary.first_of(stage)).filter(|first| *first != stage),
        Of::Entrant(number) => Some(number),
    };
    let roles = (0..diary.roles.len()).filter(|role| claim.role.is_none_or(|wanted| wanted == *role));
    let known = |entrant: usize, role: usize| {
        let figures = history.figures(EntrantRole { entrant, role });
        let any = Quantity::ALL.iter().any(|quantity| figures.per_unit(*quantity).is_some());
        (any && diary.entrants[entrant].task(role).is_some()).then_some(figures)
    };
    let of_role = |role: usize| {
        let own = known(stage, role)?;
        let of_pair = |held: &&Held<'_>| {
            held.role == role && held.question.candidate == stage && Some(held.question.baseline) == other
        };
        let name = |entrant: usize| diary.entrants[entrant].name.as_str();
        let against = other.map_or_else(String::new, |other| format!(" against {}", name(other)));
        Some(RoleFindings {
            place: format!("{}{against}, {}", name(stage), diary.roles[role].name),
            own,
            other: other.and_then(|other| known(other, role)),
            time: held.iter().find(of_pair).and_then(|held| held.time),
        })
    };
    roles.filter_map(of_role).collect()
}
