//! What a word means that names something of a ledger: one rule for every verb that reads.
//!
//! Nothing said is the newest. Of a word, in this order: a name that is written so, be it `last` or `3`, means the newest of
//! that name; `last` the newest of all; a number a campaign's; then an experiment's file its name; then the only name that
//! begins so. `sweep/2`, `run/last` and `diary/NAME` say the kind, too, and `campaign/3` is the campaign where an experiment is
//! called 3. `~1` behind a word is the one before, `~2` the one before that.

use crate::campaign::compose::rfc3339;
use crate::lead::Misuse;
use crate::store::{Kept, KeptRow, Ledger};
use anyhow::{Result, anyhow};
use assay_pure::experiment::Experiment;
use assay_pure::experiment::diagnostic::nearest;
use assay_pure::words;
use std::path::Path;

/// Names that a message lists.
const TOLD: usize = 8;

/// What the word means, among these kinds; none: the newest of them.
///
/// # Errors
/// [`Misuse`]: nothing has this name, and which is the nearest; or the ledger cannot be read.
pub fn named(ledger: &Ledger, text: Option<&str>, kinds: &[Kept]) -> Result<KeptRow> {
    let rows = newest_first(ledger, kinds)?;
    let among = Among { ledger, rows: &rows, kinds, files: true };
    Ok(text.map_or_else(|| among.newest(), |text| among.find(text))?)
}

/// [`named`] of a word that somebody else may have written: no file is opened for it.
///
/// # Errors
/// As of [`named`].
pub fn named_in_ledger(ledger: &Ledger, text: &str, kinds: &[Kept]) -> Result<KeptRow> {
    let rows = newest_first(ledger, kinds)?;
    Ok(Among { ledger, rows: &rows, kinds, files: false }.find(text)?)
}

/// The experiment's name that a word means: as [`named`], or a name of imported files. A further ledger is asked only where
/// nothing in those before it has such a name.
///
/// # Errors
/// As of [`named`] in the first ledger, or in the first one where the word could mean several.
pub fn experiment_named(ledgers: &[Ledger], text: &str) -> Result<String> {
    let mut unknown = None;
    for ledger in ledgers {
        match experiment_in(ledger, text) {
            Err(miss @ Miss::Unknown(_)) => unknown = unknown.or(Some(miss)),
            found => return Ok(found?),
        }
    }
    Err(unknown.map_or_else(|| anyhow!("there is no ledger to look in"), Into::into))
}

fn experiment_in(ledger: &Ledger, text: &str) -> Result<String, Miss> {
    let imported = ledger.imported_names()?;
    let rows = newest_first(ledger, &[Kept::Campaign])?;
    let is_own = rows.iter().any(|row| row.name == text);
    if !is_own && imported.iter().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    match (Among { ledger, rows: &rows, kinds: &[Kept::Campaign], files: true }).find(text) {
        Ok(row) => Ok(row.name),
        Err(Miss::Unknown(error)) => {
            let begins: Vec<&String> = imported.iter().filter(|name| begins(name, text)).collect();
            if let [only] = begins[..] { Ok(only.clone()) } else { Err(Miss::Unknown(error)) }
        }
        Err(refused) => Err(refused),
    }
}

/// Why a word means nothing.
#[derive(Debug)]
enum Miss {
    /// Nothing has this name.
    Unknown(Misuse),
    /// It means several, or something else is wrong.
    Refused(anyhow::Error),
}

impl From<anyhow::Error> for Miss {
    fn from(error: anyhow::Error) -> Self {
        Miss::Refused(error)
    }
}

impl From<Misuse> for Miss {
    fn from(misuse: Misuse) -> Self {
        Miss::Refused(misuse.into())
    }
}

impl From<Miss> for anyhow::Error {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Unknown(misuse) => misuse.into(),
            Miss::Refused(error) => error,
        }
    }
}

const LAST: &str = "last";

/// Everything of some kinds, the newest first.
pub(super) fn newest_first(ledger: &Ledger, kinds: &[Kept]) -> Result<Vec<KeptRow>> {
    let mut rows = Vec::new();
    for &kind in kinds {
        rows.extend(ledger.kept(kind)?);
    }
    rows.sort_by(|one, other| other.started_at.total_cmp(&one.started_at).then(other.id.cmp(&one.id)));
    Ok(rows)
}

/// What a ledger has, by whether it ended.
#[derive(Clone, Debug)]
pub struct Newest {
    /// The newest that ended.
    pub ended: Vec<KeptRow>,
    /// All that did not: they are under way, or were killed.
    pub open: Vec<KeptRow>,
}

/// The newest things that ended, at most so many, and all that did not.
///
/// # Errors
/// The ledger cannot be read.
pub fn newest(ledger: &Ledger, most: usize) -> Result<Newest> {
    let all = newest_first(ledger, &Kept::ALL)?;
    let (mut ended, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|row| row.stopped.is_some());
    ended.truncate(most);
    Ok(Newest { ended, open })
}

pub(super) fn begins(name: &str, text: &str) -> bool {
    name.to_lowercase().starts_with(&text.to_lowercase())
}

struct Among<'a> {
    ledger: &'a Ledger,
    rows: &'a [KeptRow],
    kinds: &'a [Kept],
    /// Whether a word can be an experiment's file.
    files: bool,
}

impl Among<'_> {
    fn newest(&self) -> Result<KeptRow, Miss> {
        Ok(self.rows.first().cloned().ok_or_else(|| Misuse(self.nothing_yet()))?)
    }

    fn find(&self, text: &str) -> Result<KeptRow, Miss> {
        if self.rows.is_empty() && text == LAST {
            return Err(Misuse(self.nothing_yet()).into());
        }
        if let Some(row) = self.rows.iter().find(|row| row.name == text) {
            return Ok(row.clone());
        }
        let (text, back) = back(text);
        let (kind, name) = self.address(text)?;
        let of_kind: Vec<&KeptRow> =
            self.rows.iter().filter(|row| kind.is_none_or(|kind| row.kind == kind)).collect();
        if name == LAST {
            return Ok(self.nth(&of_kind, back, text)?.clone());
        }
        if let (Ok(id), 0) = (name.parse::<i64>(), back) {
            return Ok(self.numbered(kind.unwrap_or(self.kinds[0]), id)?);
        }
        let name = if self.files { name_in_file(name)? } else { name.to_owned() };
        let exact: Vec<&KeptRow> = of_kind.iter().copied().filter(|row| row.name == name).collect();
        if !exact.is_empty() {
            return Ok(self.nth(&exact, back, &name)?.clone());
        }
        let mut names: Vec<&str> = Vec::new();
        for row in of_kind.iter().filter(|row| begins(&row.name, &name)) {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        match names[..] {
            [only] => {
                let found: Vec<&KeptRow> = of_kind.into_iter().filter(|row| row.name == only).collect();
                Ok(self.nth(&found, back, only)?.clone())
            }
            [] => Err(Miss::Unknown(Misuse(self.unknown(&name)))),
            _ => {
                let list = told(&names);
                Err(Misuse(format!(
                    "{} names begin with `{name}`: {list}; type more of the name",
                    names.len()
                ))
                .into())
            }
        }
    }

    /// The kind that is said ahead of a stroke, and the rest.
    fn address<'t>(&self, text: &'t str) -> Result<(Option<Kept>, &'t str), Misuse> {
        let Some((kind, name)) = text.split_once('/') else { return Ok((None, text)) };
        let Some(kind) = Kept::of(kind) else { return Ok((None, text)) };
        if !self.kinds.contains(&kind) {
            let here = words::list_or(&self.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>());
            return Err(Misuse(format!("{text} is a {}; this command needs a {here}", kind.name())));
        }
        Ok((Some(kind), name))
    }

    fn numbered(&self, kind: Kept, id: i64) -> Result<KeptRow> {
        if let Some(row) = self.rows.iter().find(|row| row.kind == kind && row.id == id) {
            return Ok(row.clone());
        }
        // One of a sweep, which lists leave out.
        if kind == Kept::Campaign
            && let Some(row) = self.ledger.campaign(id)?
        {
            let (name, question) =
                (row.experiment, row.spec["question"].as_str().unwrap_or_default().to_owned());
            let (started_at, finished_at, stopped) = (row.started_at, row.finished_at, row.stopped);
            return Ok(KeptRow { kind, id, name, question, started_at, finished_at, stopped });
        }
        let (path, kind_name) = (self.ledger.path().display(), kind.name());
        let known: Vec<String> =
            self.rows.iter().filter(|row| row.kind == kind).map(|row| row.id.to_string()).collect();
        Err(Misuse(if known.is_empty() {
            format!("there is no {kind_name} {id} in {path}: it has none")
        } else {
            format!("there is no {kind_name} {id} in {path}; it has: {}", told(&known))
        })
        .into())
    }

    fn nth<'r>(&self, rows: &[&'r KeptRow], back: usize, what: &str) -> Result<&'r KeptRow, Misuse> {
        rows.get(back).copied().ok_or_else(|| match rows.last() {
            Some(oldest) => Misuse(format!(
                "{what} was measured {} in {}; the oldest is {what}~{} of {}",
                if rows.len() == 1 { "once".to_owned() } else { format!("{} times", rows.len()) },
                self.ledger.path().display(),
                rows.len() - 1,
                rfc3339(oldest.started_at)
            )),
            None => Misuse(self.nothing_yet()),
        })
    }

    fn nothing_yet(&self) -> String {
        // Of several kinds the one that is begun with.
        let (path, kind) = (self.ledger.path().display(), words::plural_noun(self.kinds[0].name()));
        let verb = self.kinds[0].verb();
        format!("the ledger {path} has no {kind} yet; `assay {verb}` adds one")
    }

    fn unknown(&self, name: &str) -> String {
        let path = self.ledger.path().display();
        let near = near(self.rows, name);
        format!("nothing in {path} is called `{name}`{near}; `assay report --list --all` shows all names")
    }
}

/// "; the nearest is `sums`", where something is near: it is spelt almost so, or has the word in it.
pub(super) fn near(rows: &[KeptRow], name: &str) -> String {
    let names = || rows.iter().map(|row| row.name.as_str());
    let near = nearest(name, names()).or_else(|| names().find(|known| known.contains(name)));
    near.map_or(String::new(), |near| format!("; the nearest is `{near}`"))
}

/// "a, b, c and 4 more"
fn told<S: AsRef<str>>(names: &[S]) -> String {
    let mut shown: Vec<String> = names.iter().take(TOLD).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > TOLD {
        shown.push(format!("{} more", names.len() - TOLD));
    }
    words::list(&shown)
}

/// `sums~2` as `sums` and 2.
fn back(text: &str) -> (&str, usize) {
    let parts = text.rsplit_once('~');
    parts.and_then(|(name, back)| Some((name, back.parse().ok()?))).unwrap_or((text, 0))
}

/// The name of the experiment in a file, where one is given; a name stays as it is.
fn name_in_file(given: &str) -> Result<String> {
    let path = Path::new(given);
    if path.extension().is_none_or(|ending| ending != "toml") || !path.is_file() {
        return Ok(given.to_owned());
    }
    let text = assay_linux::given::read_text(path)?;
    let read = Experiment::from_toml(&text, given).map_err(|_| {
        Misuse(format!("{given} is not a valid experiment: `assay plan {given}` says what is wrong"))
    })?;
    Ok(read.experiment.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{NewCampaign, NewSweep};
    use serde_json::json;

    fn campaign<'a>(name: &'a str, spec: &'a serde_json::Value) -> NewCampaign<'a> {
        NewCampaign {
            experiment: name,
            question: "q",
            experiment_text: "",
            spec,
            machine: spec,
            pinned_cpu: None,
            sources: None,
        }
    }

    fn ledger(folder: &Path) -> Ledger {
        let ledger = Ledger::open(&folder.join("l.db")).unwrap();
        let spec = json!({ "question": "?" });
        for name in ["sums", "sums", "sort", "varint", "sums"] {
            ledger.begin(&campaign(name, &spec)).unwrap();
        }
        ledger.begin_sweep(&NewSweep { name: "sizes", question: "q", spec: &spec, asked: &spec }).unwrap();
        ledger
    }

    #[test]
    fn a_word_means_the_newest_of_its_name_and_a_miss_tells_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        let found = |text: &str| {
            named(&ledger, Some(text), &Kept::ALL)
                .map(|row| format!("{}/{}", row.kind.name(), row.id))
                .map_err(|error| error.to_string())
        };
        for (text, expected) in [
            ("last", "sweep/1"),
            ("last~1", "campaign/5"),
            ("2", "campaign/2"),
            ("run/2", "campaign/2"),
            ("campaign/last", "campaign/5"),
            ("sums", "campaign/5"),
            ("sums~2", "campaign/1"),
            ("run/sums~1", "campaign/2"),
            ("var", "campaign/4"),
            ("SORT", "campaign/3"),
            ("sweep/siz", "sweep/1"),
            ("sizes", "sweep/1"),
        ] {
            assert_eq!(found(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, expected) in [
            ("sumz", "is called `sumz`; the nearest is `sums`; `assay report"),
            ("izes", "the nearest is `sizes`"),
            ("s", "3 names begin with `s`: sizes, sums and sort; type more of the name"),
            ("sums~3", "sums was measured 3 times in"),
            ("99", "there is no campaign 99 in"),
            ("diary/x", "is called `x`"),
            ("sweep/7", "there is no sweep 7 in"),
        ] {
            assert!(found(text).is_err_and(|error| error.contains(expected)), "{text}: {:?}", found(text));
        }
        let only = named(&ledger, Some("sweep/1"), &[Kept::Campaign]).unwrap_err().to_string();
        assert_eq!(only, "sweep/1 is a sweep; this command needs a campaign");
        assert_eq!(named(&ledger, None, &[Kept::Campaign]).unwrap().id, 5);
    }

    #[test]
    fn an_experiment_is_found_by_its_campaign_too() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        let other = Ledger::open(&folder.path().join("other.db")).unwrap();
        other.begin(&campaign("elsewhere", &json!({}))).unwrap();
        let ledgers = [ledger, other];
        let found = |text: &str| experiment_named(&ledgers, text).map_err(|error| error.to_string());
        assert_eq!(found("3").as_deref(), Ok("sort"));
        assert_eq!(found("vari").as_deref(), Ok("varint"));
        assert!(found("vairnt").unwrap_err().contains("`varint`"));
        assert_eq!(found("else").as_deref(), Ok("elsewhere"), "only another ledger has it");
        assert!(
            found("s").unwrap_err().contains("2 names begin with `s`"),
            "which is no reason to look elsewhere"
        );
    }

    #[test]
    fn names_that_look_like_numbers_hide_only_what_can_be_said_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("l.db")).unwrap();
        for name in ["last", "2", "sums", "sort"] {
            ledger.begin(&campaign(name, &json!({}))).unwrap();
        }
        let id = |text: Option<&str>| named(&ledger, text, &Kept::ALL).unwrap().id;
        assert_eq!((id(Some("last")), id(Some("2")), id(None)), (1, 2, 4));
        ledger.begin(&campaign("2", &json!({}))).unwrap();
        assert_eq!((id(Some("2")), id(Some("campaign/2")), id(Some("run/last"))), (5, 2, 5));
    }

    #[test]
    fn a_word_of_somebody_else_opens_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        let file = folder.path().join("probe.toml");
        std::fs::write(&file, "no experiment").unwrap();
        let word = file.to_str().unwrap();
        let said = |found: Result<KeptRow>| found.unwrap_err().to_string();
        assert!(said(named(&ledger, Some(word), &Kept::ALL)).contains("is not a valid experiment"));
        assert!(said(named_in_ledger(&ledger, word, &Kept::ALL)).contains("is called"));
        assert_eq!(named_in_ledger(&ledger, "sort", &Kept::ALL).unwrap().id, 3);
    }

    #[test]
    fn an_empty_ledger_says_what_fills_it() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("l.db")).unwrap();
        let said = named(&ledger, None, &Kept::ALL).unwrap_err().to_string();
        assert!(said.ends_with("has no campaigns yet; `assay run` adds one"), "{said}");
    }
}
