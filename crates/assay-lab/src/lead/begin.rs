//! Beginning and resuming, by one rule: with `--resume` the newest unfinished one of the same question goes on that this kind
//! of processor began and no other lab works on; without it a new one begins. Of several that are asked for together, those
//! at their end are kept, and those that were not reached begin. What goes on or is kept must be what would be measured now.

use super::command;
use super::hold::{self, Hold};
use super::processor;
use super::{Misuse, Unable};
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

/// What came of resuming.
enum Resumed {
    Lead(Lead),
    /// The newest one measured something else than what would be measured now.
    Changed(i64),
    /// [`Misuse`], or [`Unable`] as long as another lab works on it.
    Nothing(anyhow::Error),
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
    /// Begins it as a new row, whose number `row` returns, or resumes it if `is_current`: what was begun is still what would be
    /// measured now.
    ///
    /// # Errors
    /// [`Misuse`]: there is nothing to resume. [`Unable`]: another lab works on it. The ledger cannot be read or written; whatever `is_current` returns.
    pub fn begin_or_resume(
        &self,
        ledger: &Ledger,
        is_current: &mut dyn FnMut(i64) -> Result<bool>,
        row: impl FnOnce() -> Result<i64>,
    ) -> Result<Lead> {
        if !self.resume {
            return self.begin(ledger, row);
        }
        match self.resume(ledger, is_current)? {
            Resumed::Lead(lead) => Ok(lead),
            Resumed::Changed(id) => Err(self.of_other_code(id).into()),
            Resumed::Nothing(why) => Err(why),
        }
    }

    /// The same for one of several that are asked for together: one that ended and is current is kept.
    ///
    /// # Errors
    /// As of [`Self::begin_or_resume`], but one that was not reached begins.
    pub fn begin_or_resume_of_several(
        &self,
        ledger: &Ledger,
        is_current: &mut dyn FnMut(i64) -> Result<bool>,
        row: impl FnOnce() -> Result<i64>,
    ) -> Result<Begun> {
        if !self.resume {
            return self.begin(ledger, row).map(Begun::UnderWay);
        }
        let unfinished = self.newest_here(ledger, &ledger.unfinished(self.led, self.digest)?)?;
        let finished = ledger.finished(self.led, self.digest)?;
        let finished = self.newest_here(ledger, finished.as_slice())?;
        // One that ended after another was cut short is the newer answer.
        match (finished, unfinished) {
            (Some(finished), unfinished) if unfinished.is_none_or(|unfinished| unfinished < finished) => {
                if is_current(finished)? {
                    return Ok(Begun::Over(finished));
                }
            }
            (_, Some(_)) => match self.resume(ledger, is_current)? {
                Resumed::Lead(lead) => return Ok(Begun::UnderWay(lead)),
                Resumed::Changed(_) => {}
                Resumed::Nothing(why) => return Err(why),
            },
            (_, None) => {}
        }
        self.begin(ledger, row).map(Begun::UnderWay)
    }

    fn begin(&self, ledger: &Ledger, row: impl FnOnce() -> Result<i64>) -> Result<Lead> {
        let id = row()?;
        ledger.put_command(self.led, id, &command::line(std::env::args_os().skip(1)))?;
        match self.hold(ledger, id)? {
            Some(hold) => Ok(Lead { id, resumed: false, led: self.led, _hold: hold }),
            None => bail!("{} {id} is being continued by another assay process", self.led.word()),
        }
    }

    /// The first that was begun on this kind of processor.
    fn newest_here(&self, ledger: &Ledger, ids: &[i64]) -> Result<Option<i64>> {
        let here = processor::here();
        for &id in ids {
            let machine = ledger.machine_of(self.led, id)?;
            if machine.and_then(|machine| processor::another(&machine, &here)).is_none() {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn resume(&self, ledger: &Ledger, is_current: &mut dyn FnMut(i64) -> Result<bool>) -> Result<Resumed> {
        let here = processor::here();
        let (mut running, mut elsewhere) = (Vec::new(), None);
        for id in ledger.unfinished(self.led, self.digest)? {
            let machine = ledger.machine_of(self.led, id)?;
            if let Some((there, here)) = machine.and_then(|machine| processor::another(&machine, &here)) {
                elsewhere.get_or_insert_with(|| self.of_another_machine(id, &there, &here));
                continue;
            }
            if let Some(hold) = self.hold(ledger, id)? {
                if !is_current(id)? {
                    return Ok(Resumed::Changed(id));
                }
                ledger.finish(self.led, id, None)?;
                return Ok(Resumed::Lead(Lead { id, resumed: true, led: self.led, _hold: hold }));
            }
            running.push(id);
        }
        Ok(Resumed::Nothing(match elsewhere {
            _ if !running.is_empty() => self.busy(ledger, &running).into(),
            Some(elsewhere) => elsewhere.into(),
            None => self.nothing(ledger).into(),
        }))
    }

    /// Samples of two programs never go into one interval.
    fn of_other_code(&self, id: i64) -> Misuse {
        let word = self.led.word();
        Misuse(format!(
            "nothing to resume: {word} {id} measured other machine code than what is built now, so its sources have changed; run \
             without --resume"
        ))
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

    /// That nothing is unfinished.
    pub fn nothing(&self, ledger: &Ledger) -> Misuse {
        let (word, of, ledger) = (self.led.word(), self.of, ledger.path().display());
        Misuse(format!(
            "nothing to resume: the ledger {ledger} has no unfinished {word} {of}; run without --resume"
        ))
    }

    /// That all which is unfinished is being worked on: it may be resumed later.
    fn busy(&self, ledger: &Ledger, running: &[i64]) -> Unable {
        let word = self.led.word();
        let word = if running.len() == 1 { word.to_owned() } else { plural_noun(word) };
        let running: Vec<String> = running.iter().map(ToString::to_string).collect();
        let (running, ledger) = (list(&running), ledger.path().display());
        Unable(format!(
            "nothing to resume: another assay process is still measuring {word} {running} of the ledger {ledger}"
        ))
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
            question(digest, resume).begin_or_resume(&ledger, &mut |_| Ok(true), || ledger.begin_sweep(&new))
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
        let refused = question("q", true)
            .begin_or_resume(&ledger, &mut |_| Ok(false), || unreachable!("it is resumed"));
        assert!(said(refused).contains("sweep 1 measured other machine code than what is built now"));
    }

    #[test]
    fn of_several_one_at_its_end_is_kept_one_unfinished_goes_on_and_one_not_reached_begins() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let nothing = json!({});
        let changed = std::cell::Cell::new(0);
        let begin = |digest: &str, resume| {
            let new = NewSweep { name: "s", question: digest, spec: &nothing, asked: &nothing };
            let mut current = |id: i64| Ok(id != changed.get());
            let question = question(digest, resume);
            question.begin_or_resume_of_several(&ledger, &mut current, || ledger.begin_sweep(&new)).unwrap()
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
        under_way(begin("ended", false)).end(&ledger, Stopped::Interrupted).unwrap();
        changed.set(7);
        let anew = under_way(begin("ended", true));
        assert_eq!((anew.id, anew.resumed), (8, false), "what was cut short goes on only with the same code");
    }
}
