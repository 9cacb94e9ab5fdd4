//! Which stages are to be measured: those that are new, and what they have to be compared with.
//!
//! Times are only compared within a session, where builds take turns. So a new stage takes along the stage before it, the
//! first one, the one that now follows it, and all references.

use super::spec;
use crate::store::{Ledger, SessionRow};
use anyhow::Result;
use assay_pure::ledger::Stopped;
use assay_pure::stages::Diary;
use std::collections::BTreeSet;

/// What a session measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlan {
    /// Entrants by number: new ones and those that they are compared with.
    pub entrants: BTreeSet<usize>,
    /// Those of them that are new.
    pub new: BTreeSet<usize>,
}

/// Entrants that a finished session of the diary has measured, as they are defined now; by number. With `timed` a
/// session that only counted is none.
///
/// # Errors
/// The ledger cannot be read.
pub fn measured(
    ledger: &Ledger,
    diary: &Diary,
    sessions: &[SessionRow],
    timed: bool,
) -> Result<BTreeSet<usize>> {
    let mut known = BTreeSet::new();
    let finished = |session: &&SessionRow| {
        session.stopped.is_some_and(|stopped| ![Stopped::Interrupted, Stopped::Nothing].contains(&stopped))
            && (!timed || session.asked["rounds"].as_u64().is_some_and(|rounds| rounds > 0))
    };
    for session in sessions.iter().filter(finished) {
        for kept in ledger.diary_entrants(session.comparison)? {
            let Some(number) = diary.number(&kept.name).filter(|_| kept.side.is_some()) else { continue };
            if kept.built["definition"] == spec::definition(diary, number) {
                known.insert(number);
            }
        }
    }
    Ok(known)
}

/// What is to be measured, given what is known; `only` restricts the new ones to these.
pub fn wanted(diary: &Diary, known: &BTreeSet<usize>, only: Option<&BTreeSet<usize>>) -> SessionPlan {
    let all: BTreeSet<usize> = (0..diary.entrants.len()).collect();
    let is_asked = |number: &usize| only.is_none_or(|only| only.contains(number));
    let new: BTreeSet<usize> = all.difference(known).copied().filter(is_asked).collect();
    if new.is_empty() {
        return SessionPlan::default();
    }
    let mut entrants = new.clone();
    for number in &new {
        if diary.entrants[*number].is_stage() {
            entrants.extend(diary.entrants[*number].after);
            entrants.insert(diary.first_of(*number));
            entrants.extend(all.iter().filter(|other| diary.entrants[**other].after == Some(*number)));
        } else {
            // A reference is compared with where the work began and where it is now.
            entrants.extend(diary.chain().first());
            entrants.extend(diary.chain().last());
        }
    }
    let unasked = |number: &usize| known.contains(number) || is_asked(number);
    entrants.retain(unasked);
    entrants.extend(all.iter().filter(|number| !diary.entrants[**number].is_stage() && unasked(number)));
    SessionPlan { entrants, new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::stages::Diary;

    /// Stages a, b, c, then d after b; a reference r.
    fn diary() -> Diary {
        let stage = |name: &str, after: &str| format!("[[stages]]\nname = \"{name}\"\n{after}\n");
        let text = [
            "[diary]\nname = \"d\"\n[build]\ncommand = \"make OUT={out}\"\nprogram = \"{out}/b\"\n"
                .to_owned(),
            "[[roles]]\nname = \"x\"\ncommand = \"{program}\"\n".to_owned(),
            stage("a", "") + &stage("b", "") + &stage("c", "") + &stage("d", "after = \"b\""),
            "[[references]]\nname = \"r\"\ncommand = \"true\"\n".to_owned(),
        ];
        Diary::from_toml(&text.concat(), "f").unwrap().diary
    }

    fn numbers(found: &BTreeSet<usize>) -> Vec<usize> {
        found.iter().copied().collect()
    }

    #[test]
    fn the_first_time_all_is_measured() {
        let found = wanted(&diary(), &BTreeSet::new(), None);
        assert_eq!(numbers(&found.entrants), [0, 1, 2, 3, 4]);
        assert_eq!(found.new, found.entrants);
    }

    #[test]
    fn a_new_stage_takes_its_neighbours_and_references_along() {
        let found = wanted(&diary(), &BTreeSet::from([0, 1, 2, 4]), None);
        assert_eq!((numbers(&found.entrants), numbers(&found.new)), (vec![0, 1, 3, 4], vec![3]));
        // One in the middle also takes those that now follow it.
        let found = wanted(&diary(), &BTreeSet::from([0, 2, 3, 4]), None);
        assert_eq!((numbers(&found.entrants), numbers(&found.new)), (vec![0, 1, 2, 3, 4], vec![1]));
        // A new reference is compared with the first and the last stage.
        let found = wanted(&diary(), &BTreeSet::from([0, 1, 2, 3]), None);
        assert_eq!((numbers(&found.entrants), numbers(&found.new)), (vec![0, 3, 4], vec![4]));
    }

    #[test]
    fn nothing_new_is_nothing_to_measure() {
        assert_eq!(wanted(&diary(), &BTreeSet::from([0, 1, 2, 3, 4]), None), SessionPlan::default());
    }

    #[test]
    fn only_what_was_asked_for_is_new() {
        let only = BTreeSet::from([1]);
        let found = wanted(&diary(), &BTreeSet::from([0, 4]), Some(&only));
        assert_eq!((numbers(&found.entrants), numbers(&found.new)), (vec![0, 1, 4], vec![1]), "c and d wait");
    }
}
