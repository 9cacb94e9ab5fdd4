//! Beginning and resuming, by one rule: with `--resume` the newest unfinished one of the same question goes on that this kind
//! of processor began and no other lab works on; without it a new one begins.

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
}
