//! Answers in a few words, kept beside the ledger so that a list need not judge every campaign anew: `LEDGER.answers`, JSON.
//!
//! Only a copy: what is in it can be made again from the ledger at any time, and is wherever the file is missing, of another build
//! of assay (its rules may be others; until then its answer is shown, and said to be an earlier one's), or older than the measurement's end. So it may be removed, and a folder that cannot be
//! written costs time only.

use super::Thing;
use crate::store::{KeptRow, Ledger};
use assay_linux::{given, output};
use assay_report::list::Brief;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What was told of a ledger's things.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct KeptAnswers {
    /// The build of assay that told what does not say by which it was told.
    by: String,
    /// By what is meant.
    told: BTreeMap<String, KeptAnswer>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptAnswer {
    /// The build of assay that told it.
    #[serde(default)]
    by: String,
    /// When the measurement ended, Unix seconds: one that went on is told anew.
    ended: f64,
    answer: Brief,
}

impl KeptAnswers {
    /// Those of a ledger.
    pub fn of(ledger: &Path) -> Self {
        let mut found = read(&file_of(ledger)).unwrap_or_default();
        for kept in found.told.values_mut().filter(|kept| kept.by.is_empty()) {
            kept.by.clone_from(&found.by);
        }
        Self { by: this_build(), ..found }
    }

    /// What this build told of a thing that ended; none where it went on since.
    pub fn get(&self, row: &KeptRow) -> Option<&Brief> {
        self.kept(row).filter(|kept| kept.by == self.by).map(|kept| &kept.answer)
    }

    /// The same of another build, whose rules may have been others.
    pub fn of_another_build(&self, row: &KeptRow) -> Option<&Brief> {
        self.kept(row).filter(|kept| kept.by != self.by).map(|kept| &kept.answer)
    }

    fn kept(&self, row: &KeptRow) -> Option<&KeptAnswer> {
        self.told.get(&Thing::from(row).to_string()).filter(|kept| Some(kept.ended) == row.finished_at)
    }

    /// Adds what was told; of what has not ended nothing is kept.
    pub fn put(&mut self, row: &KeptRow, answer: Brief) {
        if let Some(ended) = row.finished_at {
            let by = self.by.clone();
            self.told.insert(Thing::from(row).to_string(), KeptAnswer { by, ended, answer });
        }
    }

    /// Writes them, as far as that can be done: where nothing lies yet, or such answers. A ledger that somebody else sent may come
    /// with a link of that name, and listing it must not write over what the link leads to.
    pub fn keep(&self, ledger: &Path) {
        let file = file_of(ledger);
        if (is_free(&file) || read(&file).is_some())
            && let Ok(text) = serde_json::to_vec(self)
        {
            let _ = output::write(&file, &text);
        }
    }
}

/// Keeps the answer to what has just been measured.
pub fn keep(ledger: &Ledger, row: &KeptRow, answer: Brief) {
    let mut answers = KeptAnswers::of(ledger.path());
    answers.put(row, answer);
    answers.keep(ledger.path());
}

fn file_of(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".answers");
    PathBuf::from(name)
}

pub(super) fn is_free(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// The answers in a file of our own: no link, no pipe.
fn read(file: &Path) -> Option<KeptAnswers> {
    let own = std::fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
    let bytes = own.then(|| given::read(file, given::DATA).ok()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// What tells this build from others: its version does not, while it is being worked on.
pub(super) fn this_build() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let since = file.as_ref().ok().and_then(|file| file.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let (bytes, made) = (file.map_or(0, |file| file.len()), since.map_or(0, |since| since.as_nanos()));
    format!("{} {bytes} {made}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Kept;
    use assay_report::list::Tone;

    #[test]
    fn an_answer_is_kept_until_its_measurement_goes_on_and_a_broken_file_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("l.db");
        let row = |finished_at| KeptRow {
            kind: Kept::Campaign,
            id: 3,
            name: "a".into(),
            question: String::new(),
            started_at: 1.0,
            finished_at,
            stopped: None,
        };
        let answer = Brief { text: "b faster".into(), tone: Tone::Faster, whole: "b.".into() };
        let mut answers = KeptAnswers::of(&ledger);
        answers.put(&row(Some(2.0)), answer.clone());
        answers.put(&KeptRow { id: 4, ..row(None) }, answer.clone());
        answers.keep(&ledger);
        let kept = KeptAnswers::of(&ledger);
        assert_eq!(kept.get(&row(Some(2.0))), Some(&answer));
        assert_eq!(kept.get(&row(Some(5.0))), None, "it went on");
        assert_eq!(kept.get(&KeptRow { id: 4, ..row(None) }), None, "it has not ended");
        let file = folder.path().join("l.db.answers");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace(&this_build(), "another")).unwrap();
        let old = KeptAnswers::of(&ledger);
        assert_eq!(old.get(&row(Some(2.0))), None, "another build's rules may be others");
        assert_eq!(old.of_another_build(&row(Some(2.0))), Some(&answer));
        assert_eq!(old.of_another_build(&row(Some(5.0))), None, "it went on");
        assert_eq!(kept.of_another_build(&row(Some(2.0))), None);
        // As files were written that had one build for all.
        let own = format!("\"by\":\"{}\",\"ended\"", this_build());
        std::fs::write(&file, text.replace(&own, "\"ended\"")).unwrap();
        assert_eq!(KeptAnswers::of(&ledger).get(&row(Some(2.0))), Some(&answer));
        std::fs::write(folder.path().join("l.db.answers"), "rubbish").unwrap();
        assert_eq!(KeptAnswers::of(&ledger).get(&row(Some(2.0))), None);
    }

    #[test]
    fn only_answers_are_written_over_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, file) = (folder.path().join("l.db"), folder.path().join("l.db.answers"));
        let notes = folder.path().join("notes.txt");
        let answers = KeptAnswers::of(&ledger);
        std::fs::write(&file, "mine").unwrap();
        answers.keep(&ledger);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        std::fs::remove_file(&file).unwrap();
        for text in ["precious", "{\"by\":\"another\",\"told\":{}}"] {
            std::fs::write(&notes, text).unwrap();
            std::os::unix::fs::symlink(&notes, &file).unwrap();
            answers.keep(&ledger);
            assert_eq!(std::fs::read_to_string(&notes).unwrap(), text);
            std::fs::remove_file(&file).unwrap();
        }
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &file).unwrap();
        answers.keep(&ledger);
        assert!(!folder.path().join("nowhere").exists());
        std::fs::remove_file(&file).unwrap();
        answers.keep(&ledger);
        assert!(file.is_file(), "where nothing lies they are kept");
    }
}
