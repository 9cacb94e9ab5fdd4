//! What each path shows.

use super::documents::Documents;
use super::http::Answer;
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view::{self, Judge, ListRequest, Thing, named_in_ledger};
use assay_report::html::{Served, Shown, document, listing};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Documents that are kept made: those asked for last.
const KEPT: usize = 12;

/// The pages of one ledger. Each answer opens the file anew, so that what others write is seen and nothing is held.
pub struct Pages {
    ledger: PathBuf,
    /// By what is shown and how far it was measured.
    documents: Documents,
}

/// What a page is kept by, and where a browser asks how far it has come: none where it is over.
struct PageKey {
    key: String,
    live: Option<String>,
}

impl Pages {
    /// Of this file.
    pub fn new(ledger: &Path) -> Self {
        Self { ledger: ledger.to_owned(), documents: Documents::new(KEPT) }
    }

    /// Makes the pages of what ended last, the newest first, each once: a first look at a million samples takes seconds
    /// otherwise. Waits while requests are answered and while something is measured, whose times this work would spoil. `seen` is
    /// what was made before.
    pub fn make_ahead(&self, seen: &mut Vec<(Thing, Option<f64>)>, is_idle: &dyn Fn() -> bool) -> Result<()> {
        let ledger = Ledger::open_to_read(&self.ledger)?;
        let rows = view::newest(&ledger, KEPT)?;
        let identity = |row: &KeptRow| (Thing::from(row), row.finished_at);
        let new: Vec<&KeptRow> = rows.ended.iter().filter(|row| !seen.contains(&identity(row))).collect();
        for row in &new {
            if !is_idle() || view::is_measured(&ledger, &rows.open, now())? {
                return Ok(());
            }
            // One that cannot be shown is told to who asks for it.
            let _ = self.page(&ledger, &[(*row).clone()]);
            seen.push(identity(row));
        }
        // The newest make room last.
        for row in new.iter().rev() {
            self.documents.touch(&key_of(&ledger, &[(*row).clone()])?.key);
        }
        seen.retain(|known| rows.ended.iter().any(|row| identity(row) == *known));
        Ok(())
    }

    /// What is sent for a path.
    pub fn answer(&self, path: &str) -> Answer {
        let found = self.find(path);
        found.unwrap_or_else(|error| {
            let status = if error.downcast_ref::<Misuse>().is_some() { 404 } else { 500 };
            Answer::text(status, format!("{error:#}"))
        })
    }

    fn find(&self, path: &str) -> Result<Answer> {
        let Some(parts) = path.trim_matches('/').split('/').map(decoded).collect::<Option<Vec<String>>>()
        else {
            return Ok(Answer::text(
                400,
                format!(
                    "bad percent-encoding in {path}: % needs two hexadecimal digits, and the bytes must be UTF-8"
                ),
            ));
        };
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let ledger = || Ledger::open_to_read(&self.ledger);
        match parts[..] {
            ["favicon.ico"] => Ok(Answer { status: 204, media: "image/x-icon", body: Vec::new() }),
            [""] => {
                // Nothing is judged here: a browser would wait for it.
                let list =
                    view::list(&ledger()?, &ListRequest::default(), Judge::Nothing, now(), &mut |_| {})?;
                Ok(html(listing(&list, Served::default()).into_bytes()))
            }
            ["state", kind, name] => {
                let ledger = ledger()?;
                let state = view::state(&ledger, &of_kind(&ledger, kind, name)?, now())?;
                let body = serde_json::to_vec(&state)?;
                Ok(Answer { status: 200, media: "application/json", body })
            }
            ["beside", kind, name, other_kind, other_name] => {
                let ledger = ledger()?;
                let one = of_kind(&ledger, kind, name)?;
                self.page(&ledger, &[one, of_kind(&ledger, other_kind, other_name)?])
            }
            [kind, name] => {
                let ledger = ledger()?;
                self.page(&ledger, &[of_kind(&ledger, kind, name)?])
            }
            [name] => {
                let ledger = ledger()?;
                self.page(&ledger, &[named_in_ledger(&ledger, name, &Kept::ALL)?])
            }
            _ => Ok(Answer::text(404, format!("there is nothing at {path}; / lists what the ledger has"))),
        }
    }

    /// The page of one thing, or of two; made anew only where something was measured since.
    fn page(&self, ledger: &Ledger, rows: &[KeptRow]) -> Result<Answer> {
        let PageKey { key, live } = key_of(ledger, rows)?;
        let made = self.documents.get(&key, || {
            let shown: Vec<Shown> =
                rows.iter().map(|row| shown_or_why(ledger, row)).collect::<Result<_>>()?;
            Ok(document(&shown, Served { home: Some("/"), live: live.as_deref() }).into_bytes())
        })?;
        Ok(html(made.to_vec()))
    }
}

fn key_of(ledger: &Ledger, rows: &[KeptRow]) -> Result<PageKey> {
    let mut key = String::new();
    let mut live = None;
    for row in rows {
        let thing = Thing::from(row);
        // How far it came would be counted sample by sample.
        if row.stopped.is_some() {
            key.push_str(&format!("{thing} ended {:?};", row.finished_at));
            continue;
        }
        let state = view::state(ledger, row, now())?;
        key.push_str(&format!("{thing} {};", state.changed));
        live = live.or_else(|| Some(format!("/state/{thing}")));
    }
    Ok(PageKey { key, live })
}

/// A part of a path as it is meant (RFC 3986, 2.1); none where `%` stands without two digits, or it is not UTF-8.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = more;
            continue;
        }
        let digits = more.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &more[2..];
    }
    String::from_utf8(bytes).ok()
}

/// What a path of two parts means.
fn of_kind(ledger: &Ledger, kind: &str, name: &str) -> Result<KeptRow> {
    named_in_ledger(ledger, &format!("{kind}/{name}"), &Kept::ALL)
}

/// A thing, or, where nothing can be said of what is still measured, why not.
fn shown_or_why(ledger: &Ledger, row: &KeptRow) -> Result<Shown> {
    view::shown(ledger, row).or_else(|error| {
        let state = view::state(ledger, row, now())?;
        if state.over {
            return Err(error);
        }
        let answer = format!("There is nothing to show yet: {error:#}. {}", state.text);
        Ok(Shown::alone(serde_json::json!({ "schema": "assay.state/1", "answer": answer })))
    })
}

fn html(body: Vec<u8>) -> Answer {
    Answer { status: 200, media: "text/html; charset=utf-8", body }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_lab::store::{Led, NewCampaign};
    use assay_pure::ledger::Stopped;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn begin(ledger: &Ledger, name: &str) -> i64 {
        let spec = serde_json::json!({});
        let new = NewCampaign {
            experiment: name,
            question: "q",
            experiment_text: "",
            spec: &spec,
            machine: &spec,
            pinned_cpu: None,
            sources: None,
        };
        ledger.begin(&new).unwrap()
    }

    #[test]
    fn pages_are_made_ahead_once_and_never_beside_requests_or_measuring() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.db");
        let ledger = Ledger::open(&path).unwrap();
        let end = |id| ledger.finish(Led::Campaign, id, Some(Stopped::Decided)).unwrap();
        (0..3).for_each(|_| end(begin(&ledger, "sums")));
        let pages = Pages::new(&path);
        let mut seen = Vec::new();
        let asked = AtomicUsize::new(0);
        pages.make_ahead(&mut seen, &|| asked.fetch_add(1, Ordering::SeqCst) < 1).unwrap();
        assert_eq!(seen.len(), 1, "a request came after the first");
        assert_eq!(seen[0].0.name, "3", "the newest first");
        let under_way = begin(&ledger, "sort");
        pages.make_ahead(&mut seen, &|| true).unwrap();
        assert_eq!(seen.len(), 1, "something is measured");
        end(under_way);
        pages.make_ahead(&mut seen, &|| true).unwrap();
        let names: Vec<&str> = seen.iter().map(|(thing, _)| thing.name.as_str()).collect();
        assert_eq!(names, ["3", "4", "2", "1"]);
        pages.make_ahead(&mut seen, &|| panic!("nothing is left to do")).unwrap();
    }

    #[test]
    fn a_path_opens_no_file_and_its_escapes_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.db");
        begin(&Ledger::open(&path).unwrap(), "two words");
        let probe = folder.path().join("probe.toml");
        std::fs::write(&probe, "secret = 1").unwrap();
        let pages = Pages::new(&path);
        let said = |path: &str| {
            let answer = pages.answer(path);
            (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
        };
        let escaped = probe.to_str().unwrap().replace('/', "%2F");
        let (status, text) = said(&format!("/{escaped}"));
        assert!(status == 404 && text.contains("is called") && !text.contains("experiment:"), "{text}");
        assert_eq!(said("/two%20words").0, 200);
        assert_eq!(said("/two%2").0, 400);
    }

    #[test]
    fn a_part_of_a_path_is_read_as_it_is_meant() {
        assert_eq!(decoded("a%20b%2Fc%c3%a9").as_deref(), Some("a b/cé"));
        for wrong in ["%", "%2", "%zz", "%+1", "%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
