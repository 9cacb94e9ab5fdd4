//! Each question of the diary with all that is known of both sides.

use super::history::{EntrantRole, History, Past};
use crate::stages::judge::{DiaryQuestion, questions};
use assay_pure::stages::step::{Against, Brought, TimeFound, brought};
use assay_pure::stages::traps::{self, Trap};
use assay_pure::stages::{CommandFigures, Diary};
use assay_pure::verdict::ContrastVerdict;

/// A question in a role.
pub struct Held<'a> {
    /// The question.
    pub question: DiaryQuestion,
    /// The role.
    pub role: usize,
    /// Of the stage.
    pub own: CommandFigures,
    /// Of what it is compared with.
    pub other: CommandFigures,
    /// The verdict on their times, with its session.
    pub verdict: Option<(&'a Past, &'a ContrastVerdict)>,
    /// The same, for the rules of steps.
    pub time: Option<TimeFound>,
    /// What it brought.
    pub brought: Brought,
    /// How it may mislead.
    pub traps: Vec<Trap>,
}

/// All questions, in the order of the diary, role by role.
pub fn steps<'a>(diary: &Diary, history: &'a History) -> Vec<Held<'a>> {
    let mut all = Vec::new();
    for role in 0..diary.roles.len() {
        for question in questions(diary) {
            let has = |entrant: usize| {
                diary.entrants[entrant].task(role).is_some() && history.entrant(entrant).is_some()
            };
            if has(question.candidate) && has(question.baseline) {
                all.push(held(diary, history, question, role));
            }
        }
    }
    all
}

fn held<'a>(diary: &Diary, history: &'a History, question: DiaryQuestion, role: usize) -> Held<'a> {
    let at = EntrantRole { entrant: question.candidate, role };
    let (own, other) =
        (history.figures(at), history.figures(EntrantRole { entrant: question.baseline, role }));
    let verdict = history.verdict(question, role);
    let time = verdict.and_then(|(_, found)| time_of(found));
    let mut found = traps::between(&other, &own);
    found.extend(traps::quantised(&history.times(at), diary.minimum_effect));
    let counts = history.count(at).filter(|count| count.failed.is_none());
    let executions: Vec<u64> =
        counts.into_iter().flat_map(|count| count.branches.into_iter().chain(count.again)).collect();
    found.extend(traps::unsteady(&executions));
    if question.against == Against::Reference {
        found.clear();
    } else if question.against == Against::First {
        // The others are told once, at the step itself.
        found.retain(|trap| {
            matches!(
                trap,
                Trap::RateRoseMissesFell { .. } | Trap::RateFellMissesRose { .. } | Trap::OtherUnits { .. }
            )
        });
    }
    Held {
        brought: brought(&other, &own, time.as_ref(), diary.minimum_effect),
        question,
        role,
        own,
        other,
        verdict,
        time,
        traps: found,
    }
}

fn time_of(found: &ContrastVerdict) -> Option<TimeFound> {
    let code = found.code?;
    Some(TimeFound {
        ratio: code.ratio,
        lower: code.lower,
        upper: code.upper,
        verdict: found.verdict,
        as_built: found.as_built.map(|as_built| as_built.ratio),
        as_built_says: found.as_built_says,
    })
}
