//! What each path shows.

use super::http::Answer;
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view::{self, Judge, ListRequest, Thing, named};
use assay_report::html::{Served, Shown, document, listing};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Documents that are kept made: those made last.
const KEPT: usize = 12;

/// The pages of one ledger. Each answer opens the file anew, so that what others write is seen and nothing is held.
pub struct Pages {
    ledger: PathBuf,
    /// By what is shown and how far it was measured, the newest last.
    made: Mutex<Vec<(String, Arc<Vec<u8>>)>>,
}

impl Pages {
    /// Of this file.
    pub fn new(ledger: &Path) -> Self {
        Self { ledger: ledger.to_owned(), made: Mutex::new(Vec::new()) }
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
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
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
                self.page(&ledger, &[named(&ledger, Some(name), &Kept::ALL)?])
            }
            _ => Ok(Answer::text(404, format!("there is nothing at {path}; / lists what the ledger has"))),
        }
    }

    /// The page of one thing, or of two; made anew only where something was measured since.
    fn page(&self, ledger: &Ledger, rows: &[KeptRow]) -> Result<Answer> {
        let mut key = String::new();
        let mut live = None;
        for row in rows {
            let thing = Thing::from(row);
            let state = view::state(ledger, row, now())?;
            key.push_str(&format!("{thing} {} {};", state.over, state.changed));
            if !state.over && live.is_none() {
                live = Some(format!("/state/{thing}"));
            }
        }
        if let Some(made) = self.made(&key) {
            return Ok(html(made.to_vec()));
        }
        let shown: Vec<Shown> = rows.iter().map(|row| shown_or_why(ledger, row)).collect::<Result<_>>()?;
        let made = Arc::new(document(&shown, Served { home: Some("/"), live: live.as_deref() }).into_bytes());
        self.keep(key, &made);
        Ok(html(made.to_vec()))
    }

    fn made(&self, key: &str) -> Option<Arc<Vec<u8>>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().find(|(known, _)| known == key).map(|(_, made)| Arc::clone(made))
    }

    fn keep(&self, key: String, document: &Arc<Vec<u8>>) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(known, _)| *known != key);
        if made.len() >= KEPT {
            made.remove(0);
        }
        made.push((key, Arc::clone(document)));
    }
}

/// What a path of two parts means.
fn of_kind(ledger: &Ledger, kind: &str, name: &str) -> Result<KeptRow> {
    named(ledger, Some(&format!("{kind}/{name}")), &Kept::ALL)
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
