//! Of whole programs: control leaves to code that has no records, and comes back.

use super::{NONE, OTHER_CALL, OTHER_SITES, Replay, WalkPosition, pass, whole};
use crate::logged::OTHER_CODE;
use assay_pure::outcomes::{
    NAMED_BYTES, SiteKind, TARGET_BYTES, TARGET_WORD, WORD_BYTES, outcome, outcome_of, site_of, word_at,
};
use assay_pure::trace::{Branch, BranchClass};

impl Replay {
    /// An indirect branch or a return to code that has no records.
    pub(super) fn depart(&mut self, place: WalkPosition) -> usize {
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        self.walk.called(stretch, 0);
        // Where it went is of no use: it is not the address that it would have been in the measured program.
        let seen = match stretch.kind {
            SiteKind::Return => OTHER_CODE + OTHER_CALL,
            _ if stretch.branch.class().is_indirect() => OTHER_CODE,
            _ => stretch.branch.target,
        };
        self.walk.batch.push(stretch.branch.again(seen, true, carry));
        self.walk.at = None;
        TARGET_BYTES
    }

    /// Control leaves to code that has no records. What is executed there is unknown.
    pub(super) fn leave(&mut self, place: WalkPosition) {
        let stretch = &self.stretches[place.stretch as usize];
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        if stretch.branch.class().is_indirect() {
            self.walk.batch.push(stretch.branch.again(OTHER_CODE, true, carry));
        }
        self.walk.at = None;
    }

    /// Control came back from other code: by a passage, or else behind a call that is not over. The walk goes on with the record
    /// that told.
    pub(super) fn come_in(&mut self, bytes: &[u8]) -> Result<(), String> {
        let at = |offset: usize| (bytes.len() >= offset + WORD_BYTES).then(|| word_at(bytes, offset));
        let first = at(0).unwrap_or(0);
        let passed = outcome_of(first) == outcome::PASSED;
        let place = self.passage_places.get(&site_of(first)).copied().filter(|_| passed);
        for depth in (0..self.walk.calls.len()).rev() {
            let behind = self.stretch(self.walk.calls[depth])?;
            let stretch = &self.stretches[behind as usize];
            let fits = match stretch.kind {
                SiteKind::Named => at(NAMED_BYTES - WORD_BYTES) == Some(stretch.word(outcome::NAMED)),
                SiteKind::Indirect | SiteKind::Return => at(TARGET_WORD) == Some(stretch.word(outcome::WENT)),
                SiteKind::Passage => first == stretch.word(outcome::PASSED),
                _ => false,
            };
            if fits {
                self.other_returns(self.walk.calls[depth]);
                self.walk.calls.truncate(depth);
                self.walk.at = Some(WalkPosition { stretch: behind, carry: 0 });
                return Ok(());
            }
            if place.is_some() {
                break;
            }
        }
        let place = place.ok_or_else(|| {
            format!(
                "its log does not fit its code: it came back from other code at site {}, which is not known",
                site_of(first)
            )
        })?;
        // A jump over several calls leaves them behind.
        if let Some(depth) = self.walk.calls.iter().rposition(|behind| *behind == place) {
            self.walk.calls.truncate(depth);
            self.other_returns(place);
        } else {
            let call = Branch::new(OTHER_CODE, place + self.base, OTHER_SITES[0], BranchClass::CALL, true, 0);
            self.walk.batch.push(call);
        }
        let stretch = self.stretch(place)?;
        self.walk.at = Some(WalkPosition { stretch, carry: 0 });
        Ok(())
    }

    /// Predictors keep track of returns: to them other code is a place that calls and returns.
    fn other_returns(&mut self, behind: u64) {
        let target = behind + self.base;
        self.walk.batch.push(Branch::new(OTHER_CODE, target, OTHER_SITES[1], BranchClass::RETURN, true, 0));
    }

    /// A place that other code may lead to, reached by our own.
    pub(super) fn passage(&mut self, place: WalkPosition, bytes: &[u8]) -> Result<usize, String> {
        let named = word_at(whole::<{ WORD_BYTES }>(bytes)?, 0);
        let stretch = &self.stretches[place.stretch as usize];
        if named != stretch.word(outcome::PASSED) {
            return Err(self.apart(place.stretch, named));
        }
        let carry = pass(&mut self.walk, &mut self.passed, stretch, place);
        let mut next = stretch.next[0];
        if next == NONE {
            next = self.stretch(stretch.ways[0])?;
            self.stretches[place.stretch as usize].next[0] = next;
        }
        self.walk.at = Some(WalkPosition { stretch: next, carry });
        Ok(WORD_BYTES)
    }
}
