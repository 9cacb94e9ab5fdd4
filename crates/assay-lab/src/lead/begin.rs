//! Beginning and resuming, by one rule: with `--resume` the newest unfinished one of the same question goes on that this kind
//! of processor began and no other lab works on; without it a new one begins. Of several that are asked for together, those
//! at their end stay as they are, and those that were not reached begin.

use super::Misuse;
use super::command;
use super::hold::{self, Hold};
use super::processor;
use crate::store::{Led, Ledger};
use anyhow::{Result, bail};
use assay_pure::event::Event;
use assay_pure::ledger::Stopped;
use assay_pure::words::{list, plural_noun};

/// What is to be led.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Its kind.
    pub led: Led,
    /// SHA-256 of what was asked: what must be equal for it to be resumed.
    pub digest: &'a str,
    /// What that is, as the end of a sentence.
    pub of: &'a str,
    /// Go on with an unfinished one.
    pub resume: bool,
}

/// What becomes of campaigns that were begun before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// Nothing: a new one begins.
    #[default]
    No,
    /// The newest unfinished one goes on; there has to be one.
    Unfinished,
    /// It is one of several that are asked for together: one at its end is kept, and one that was not reached begins.
    OneOfSeveral,
}

impl Resume {
    /// By a flag of somebody who asks for one.
    #[must_use]
    pub fn one(asked: bool) -> Resume {
        if asked { Resume::Unfinished } else { Resume::No }
    }

    /// By a flag of somebody who asks for several.
    #[must_use]
    pub fn several(asked: bool) -> Resume {
        if asked { Resume::OneOfSeveral } else { Resume::No }
    }
}

/// What is asked for is either under way or was measured before.
#[derive(Debug)]
pub enum Begun {
    /// It began or goes on.
    UnderWay(Lead),
    /// It came to its end before, with this number.
    Over(i64),
}

/// Something under way: nobody else works on it until this is dropped.
#[derive(Debug)]
pub struct Lead {
    /// Its number in the ledger.
    pub id: i64,
    /// It was begun before.
    pub resumed: bool,
    led: Led,
    _hold: Hold,
}

impl Question<'_> {
    /// Begins it as a new row, whose number `row` returns, or resumes it.
    ///
    /// # Errors
    /// [`Misuse`]: there is nothing to resume. The ledger cannot be read or written.
    pub fn begin_or_resume(&self, ledger: &Ledger, row: impl FnOnce() -> Result<i64>) -> Result<Lead> {
        if self.resume {
            return self.resume(ledger);
        }
        let id = row()?;
        ledger.put_command(self.led, id, &command::line(std::env::args_os().skip(1)))?;
        match self.hold(ledger, id)? {
            Some(hold) => Ok(Lead { id, resumed: false, led: self.led, _hold: hold }),
            None => bail!("{} {id} is being continued by another assay process", self.led.word()),
        }
    }

    /// The same for one of several that are asked for together. `is_current` is asked whether one that ended is still what
    /// would be measured now.
    ///
    /// # Errors
    /// As of [`Self::begin_or_resume`]; whatever `is_current` returns.
    pub fn begin_or_resume_of_several(
        &self,
        ledger: &Ledger,
        is_current: impl FnOnce(i64) -> Result<bool>,
        row: impl FnOnce() -> Result<i64>,
    ) -> Result<Begun> {
        if !self.resume {
            return self.begin_or_resume(ledger, row).map(Begun::UnderWay);
        }
        let unfinished = ledger.unfinished(self.led, self.digest)?.first().copied();
        // One that ended after another was cut short is the newer answer.
        let finished = self.finished_here(ledger)?;
        let resume = match finished {
            Some(finished) if unfinished.is_none_or(|unfinished| unfinished < finished) => {
                if is_current(finished)? {
                    return Ok(Begun::Over(finished));
                }
                false
            }
            _ => unfinished.is_some(),
        };
        Question { resume, ..*self }.begin_or_resume(ledger, row).map(Begun::UnderWay)
    }

    /// The newest that came to its end on this kind of processor.
    fn finished_here(&self, ledger: &Ledger) -> Result<Option<i64>> {
        let Some(id) = ledger.finished(self.led, self.digest)? else { return Ok(None) };
        let machine = ledger.machine_of(self.led, id)?;
        let another = machine.and_then(|machine| processor::another(&machine, &processor::here()));
        Ok(another.is_none().then_some(id))
    }

    fn resume(&self, ledger: &Ledger) -> Result<Lead> {
        let here = processor::here();
        let (mut running, mut elsewhere) = (Vec::new(), None);
        for id in ledger.unfinished(self.led, self.digest)? {
            let machine = ledger.machine_of(self.led, id)?;
            if let Some((there, here)) = machine.and_then(|machine| processor::another(&machine, &here)) {
                elsewhere.get_or_insert_with(|| self.of_another_machine(id, &there, &here));
                continue;
            }
            if let Some(hold) = self.hold(ledger, id)? {
                ledger.finish(self.led, id, None)?;
                return Ok(Lead { id, resumed: true, led: self.led, _hold: hold });
            }
            running.push(id);
        }
        Err(elsewhere.filter(|_| running.is_empty()).unwrap_or_else(|| self.nothing(ledger, &running)).into())
    }

    /// Samples of two machines never go into one interval.
    fn of_another_machine(&self, id: i64, there: &str, here: &str) -> Misuse {
        let word = self.led.word();
        Misuse(format!(
            "nothing to resume on this machine: {word} {id} was begun on another processor ({there}; this is {here}). Continue it \
             there, or run without --resume to begin one here"
        ))
    }

    fn hold(&self, ledger: &Ledger, id: i64) -> Result<Option<Hold>> {
        hold::take(ledger.path(), &format!("{}-{id}", self.led.word()))
    }

    /// That there is nothing to resume, as all that is unfinished is being worked on.
    pub fn nothing(&self, ledger: &Ledger, running: &[i64]) -> Misuse {
        let (word, ledger) = (self.led.word(), ledger.path().display());
        Misuse(if running.is_empty() {
            let of = self.of;
            format!(
                "nothing to resume: the ledger {ledger} has no unfinished {word} {of}; run without --resume"
            )
        } else {
            let word = if running.len() == 1 { word.to_owned() } else { plural_noun(word) };
            let running: Vec<String> = running.iter().map(ToString::to_string).collect();
            let running = list(&running);
            format!(
                "nothing to resume: another assay process is still measuring {word} {running} of the ledger {ledger}"
            )
        })
    }
}

impl Lead {
    /// Says that it goes on, and after what.
    pub fn tell(&self, after: &str, on: &mut dyn FnMut(Event)) {
        on(Event::Warning(format!("continuing {} {} after {after}", self.led.word(), self.id)));
    }

    /// Ends it.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn end(self, ledger: &Ledger, because: Stopped) -> Result<()> {
        ledger.finish(self.led, self.id, Some(because))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NewSweep;
    use serde_json::json;

    fn question(digest: &str, resume: bool) -> Question<'_> {
        Question { led: Led::Sweep, digest, of: "of that kind", resume }
    }

    fn said(result: Result<Lead>) -> String {
        result.expect_err("nothing to resume").to_string()
    }

    #[test]
    fn the_newest_unfinished_one_that_nobody_holds_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let nothing = json!({});
        let lead = |digest: &str, resume| {
            let new = NewSweep { name: "s", question: digest, spec: &nothing, asked: &nothing };
            question(digest, resume).begin_or_resume(&ledger, || ledger.begin_sweep(&new))
        };
        let none = said(lead("q", true));
        assert!(none.ends_with("no unfinished sweep of that kind; run without --resume"), "{none}");
        let (first, second) = (lead("q", false).unwrap(), lead("q", false).unwrap());
        lead("other", false).unwrap();
        assert!(
            said(lead("q", true))
                .contains("another assay process is still measuring sweeps 2 and 1 of the ledger")
        );
        drop(first);
        let again = lead("q", true).unwrap();
        assert_eq!((again.id, again.resumed), (1, true), "2 is held");
        again.end(&ledger, Stopped::Interrupted).unwrap();
        second.end(&ledger, Stopped::Refined).unwrap();
        assert_eq!(ledger.finished(Led::Sweep, "q").unwrap(), Some(2));
        assert_eq!(lead("q", true).unwrap().id, 1, "what was interrupted goes on, what is over does not");
    }

    #[test]
    fn of_several_one_at_its_end_is_kept_one_unfinished_goes_on_and_one_not_reached_begins() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let nothing = json!({});
        let changed = std::cell::Cell::new(0);
        let begin = |digest: &str, resume| {
            let new = NewSweep { name: "s", question: digest, spec: &nothing, asked: &nothing };
            let current = |id: i64| Ok(id != changed.get());
            let question = question(digest, resume);
            question.begin_or_resume_of_several(&ledger, current, || ledger.begin_sweep(&new)).unwrap()
        };
        let under_way = |begun| match begun {
            Begun::UnderWay(lead) => lead,
            Begun::Over(id) => panic!("{id} is over"),
        };
        under_way(begin("ended", false)).end(&ledger, Stopped::Refined).unwrap();
        under_way(begin("cut", false)).end(&ledger, Stopped::Interrupted).unwrap();
        assert!(matches!(begin("ended", true), Begun::Over(1)));
        let cut = under_way(begin("cut", true));
        assert_eq!((cut.id, cut.resumed), (2, true));
        let new = under_way(begin("not reached", true));
        assert_eq!((new.id, new.resumed), (3, false));
        assert_eq!(under_way(begin("ended", false)).id, 4, "without --resume it is measured again");
        // The fourth was cut short; now the fifth ends, so that it is the newer answer.
        under_way(begin("ended", false)).end(&ledger, Stopped::Refined).unwrap();
        assert!(matches!(begin("ended", true), Begun::Over(5)));
        changed.set(5);
        let anew = under_way(begin("ended", true));
        assert_eq!((anew.id, anew.resumed), (6, false), "its code has changed");
        anew.end(&ledger, Stopped::Nothing).unwrap();
        changed.set(0);
        assert!(matches!(begin("ended", true), Begun::Over(5)), "one that measured nothing is no answer");
    }
}
