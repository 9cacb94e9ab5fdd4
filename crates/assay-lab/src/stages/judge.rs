//! Verdicts of a session, from the ledger alone: every step, the way from the first stage, the distance to references.

use crate::compare::judge::{complete_rounds, judged, seen_at, units, visits_of};
use crate::compare::spec::Spec;
use crate::store::{Ledger, VisitRow};
use anyhow::Result;
use assay_pure::compare::{Side, VisitResult, contrasts};
use assay_pure::stages::Diary;
use assay_pure::stages::step::Against;
use assay_pure::verdict::{CodeIdentity, Judgement, ObservedContrast};

/// One question of a diary: an entrant against another one, in every role that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiaryQuestion {
    /// By number.
    pub candidate: usize,
    /// By number.
    pub baseline: usize,
    /// Why.
    pub against: Against,
}

/// All questions: each stage against the one before and against the first; the first and the last one against references.
pub fn questions(diary: &Diary) -> Vec<DiaryQuestion> {
    let mut all = Vec::new();
    let stages: Vec<usize> =
        (0..diary.entrants.len()).filter(|number| diary.entrants[*number].is_stage()).collect();
    for stage in &stages {
        let Some(before) = diary.entrants[*stage].after else { continue };
        all.push(DiaryQuestion { candidate: *stage, baseline: before, against: Against::Before });
        let first = diary.first_of(*stage);
        if first != before {
            all.push(DiaryQuestion { candidate: *stage, baseline: first, against: Against::First });
        }
    }
    let mut ends: Vec<usize> =
        diary.chain().first().into_iter().chain(diary.chain().last()).copied().collect();
    ends.dedup();
    for reference in (0..diary.entrants.len()).filter(|number| !diary.entrants[*number].is_stage()) {
        all.extend(ends.iter().map(|stage| DiaryQuestion {
            candidate: *stage,
            baseline: reference,
            against: Against::Reference,
        }));
    }
    all
}

/// A session's verdicts.
pub struct DiaryVerdicts {
    /// Question and role, in the order of the verdicts.
    pub asked: Vec<(DiaryQuestion, usize)>,
    /// The verdicts.
    pub judgement: Judgement,
    /// Rounds all of whose visits were made.
    pub rounds: u32,
}

/// Judges what a session has so far, as one family.
///
/// Only what both sides have visited is asked. What is the same program to the last byte is the same code.
///
/// # Errors
/// The ledger cannot be read.
pub fn session(ledger: &Ledger, session: i64, diary: &Diary, spec: &Spec) -> Result<DiaryVerdicts> {
    let visits = ledger.visits(session)?;
    let units = units(&visits);
    let entrants = ledger.diary_entrants(session)?;
    let of = |number: usize| entrants.iter().find(|row| row.name == diary.entrants[number].name);
    let (mut asked, mut observed) = (Vec::new(), Vec::<ObservedContrast>::new());
    for question in questions(diary) {
        let (Some(own), Some(other)) = (of(question.candidate), of(question.baseline)) else { continue };
        let (Some(candidate), Some(baseline)) = (own.side, other.side) else { continue };
        let same = own.artifact.is_some() && own.artifact == other.artifact;
        let seen = pair(&visits, candidate, baseline);
        let name = |entrant: usize| diary.entrants[entrant].name.as_str();
        for mut contrast in contrasts(&seen, [name(question.baseline), name(question.candidate)]) {
            if let Some(role) = diary.role(&contrast.input) {
                asked.push((question, role));
                contrast.identity = same.then_some(CodeIdentity::Copies);
                let relinked = [own, other].iter().any(|row| row.built["placed"] == true);
                contrast.visits = visits_of(&units, &contrast.input, relinked);
                if !relinked {
                    // The binaries are the same ones throughout, so there is nothing that a build alone would have said.
                    contrast.as_built = None;
                }
                observed.push(contrast);
            }
        }
    }
    let judgement = judged(&observed, spec, &visits);
    let rounds = complete_rounds(&visits, spec);
    Ok(DiaryVerdicts { asked, judgement, rounds })
}

/// The visits of two sides as those of a comparison.
fn pair(visits: &[VisitRow], candidate: u32, baseline: u32) -> Vec<VisitResult> {
    let side = |visit: &VisitRow| match visit.side {
        side if side == baseline => Some(Side::Baseline),
        side if side == candidate => Some(Side::Candidate),
        _ => None,
    };
    visits.iter().filter_map(|visit| Some(seen_at(visit, side(visit)?))).collect()
}
