//! What each path shows.

use super::documents::Documents;
use super::http::HttpResponse;
use crate::cli::run::StoragePaths;
use anyhow::Result;
use assay_lab::history::{self, HistoryRequest};
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view::{self, Judge, ListRequest, Thing, named_in_ledger};
use assay_report::html::{Listed, Prepared, Served, Shown, document, listing};
use assay_report::list::ListPage;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Documents that are kept made: those asked for last.
const KEPT: usize = 12;

/// The pages of one ledger. Each answer opens the file anew, so that what others write is seen and nothing is held.
///
/// What takes long is not waited for: a document then has the question and what is known of the answer, and asks for the rest.
pub struct LedgerPages {
    ledger: PathBuf,
    /// Where binaries may still lie, which histories compare.
    store: PathBuf,
    /// By what is shown and how far it was measured.
    documents: Documents<Prepared>,
}

/// What a page is kept by, and where a browser asks how far it has come: none where it is over.
struct PageKey {
    key: String,
    live: Option<String>,
}

impl LedgerPages {
    /// Of these places.
    pub fn new(places: &StoragePaths) -> Self {
        Self { ledger: places.ledger.clone(), store: places.store(), documents: Documents::new(KEPT) }
    }

    /// Makes the pages of what ended last, the newest first, each once: a first look at a million samples takes a second
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
            let _ = self.prepared(&ledger, &[(*row).clone()]);
            seen.push(identity(row));
        }
        // The newest make room last.
        for row in new.iter().rev() {
            self.documents.find(&key_of(&ledger, &[(*row).clone()])?.key);
        }
        seen.retain(|known| rows.ended.iter().any(|row| identity(row) == *known));
        Ok(())
    }

    /// What is sent for a path.
    pub fn answer(&self, path: &str) -> HttpResponse {
        let found = self.find(path);
        found.unwrap_or_else(|error| {
            let status = if error.downcast_ref::<Misuse>().is_some() { 404 } else { 500 };
            HttpResponse::text(status, format!("{error:#}"))
        })
    }

    fn find(&self, path: &str) -> Result<HttpResponse> {
        let Some(parts) = path.trim_matches('/').split('/').map(decoded).collect::<Option<Vec<String>>>()
        else {
            return Ok(HttpResponse::text(
                400,
                format!(
                    "bad percent-encoding in {path}: % needs two hexadecimal digits, and the bytes must be UTF-8"
                ),
            ));
        };
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let ledger = || Ledger::open_to_read(&self.ledger);
        let of_kinds = |ledger: &Ledger, names: &[(&str, &str)]| {
            names.iter().map(|(kind, name)| of_kind(ledger, kind, name)).collect::<Result<Vec<_>>>()
        };
        match parts[..] {
            ["favicon.ico"] => Ok(HttpResponse { status: 204, media: "image/x-icon", body: Vec::new() }),
            [""] => {
                let ledger = ledger()?;
                let page = self.list(&ledger, None)?;
                let now = doing(&ledger, &page)?;
                Ok(html(listing(Listed { page: &page, experiment: None, now: &now }, Served::default())))
            }
            ["experiment", name] => self.experiment(&ledger()?, name),
            ["data", "experiment", name] => {
                let ledger = ledger()?;
                Ok(json(self.history(&ledger, name, &self.list(&ledger, Some(name))?)?.data()))
            }
            ["state", kind, name] => {
                let ledger = ledger()?;
                let state = view::state(&ledger, &of_kind(&ledger, kind, name)?, now())?;
                Ok(json(serde_json::to_string(&state)?))
            }
            ["beside", kind, name, other_kind, other_name] => {
                let ledger = ledger()?;
                self.page(&ledger, &of_kinds(&ledger, &[(kind, name), (other_kind, other_name)])?)
            }
            ["data", kind, name] => {
                let ledger = ledger()?;
                Ok(json(self.prepared(&ledger, &of_kinds(&ledger, &[(kind, name)])?)?.data()))
            }
            ["data", "beside", kind, name, other_kind, other_name] => {
                let ledger = ledger()?;
                let both = of_kinds(&ledger, &[(kind, name), (other_kind, other_name)])?;
                Ok(json(self.prepared(&ledger, &both)?.data()))
            }
            [kind, name] => {
                let ledger = ledger()?;
                self.page(&ledger, &[of_kind(&ledger, kind, name)?])
            }
            [name] => {
                let ledger = ledger()?;
                self.page(&ledger, &[named_in_ledger(&ledger, name, &Kept::ALL)?])
            }
            _ => Ok(HttpResponse::text(
                404,
                format!("there is nothing at {path}; / lists what the ledger has"),
            )),
        }
    }

    /// The document of one thing, or of two: with all that it shows if that is there or made at once, else with a head that asks
    /// for the rest.
    fn page(&self, ledger: &Ledger, rows: &[KeptRow]) -> Result<HttpResponse> {
        let PageKey { key, live } = key_of(ledger, rows)?;
        let served = Served { home: Some("/"), live: live.as_deref(), data: None };
        if let Some(made) = self.documents.find(&key) {
            return Ok(html(made.document(served)));
        }
        let mut shown = Vec::new();
        for row in rows {
            match view::shown_at_once(ledger, row) {
                Ok(found) => shown.extend(found),
                // Tells why one cannot be shown.
                Err(_) => return Ok(html(self.prepared(ledger, rows)?.document(served))),
            }
        }
        if shown.len() == rows.len() {
            let made = self.documents.get(&key, || Ok(Prepared::of(&shown)))?;
            return Ok(html(made.document(served)));
        }
        let things: Vec<String> = rows.iter().map(|row| Thing::from(row).to_string()).collect();
        let data = match &things[..] {
            [only] => format!("/data/{only}"),
            several => format!("/data/beside/{}", several.join("/")),
        };
        let heads: Vec<Shown> = rows.iter().map(|row| head_of(ledger, row)).collect::<Result<_>>()?;
        Ok(html(document(&heads, Served { data: Some(&data), ..served })))
    }

    /// All that is shown of one thing, or of two; made anew only where something was measured since.
    fn prepared(&self, ledger: &Ledger, rows: &[KeptRow]) -> Result<Arc<Prepared>> {
        self.documents.get(&key_of(ledger, rows)?.key, || {
            let shown: Vec<Shown> =
                rows.iter().map(|row| shown_or_why(ledger, row)).collect::<Result<_>>()?;
            Ok(Prepared::of(&shown))
        })
    }

    /// Everything that was asked, or everything of this name. Nothing is judged here: a browser would wait for it.
    fn list(&self, ledger: &Ledger, name: Option<&str>) -> Result<ListPage> {
        let asked = ListRequest { name: name.map(str::to_owned), ..ListRequest::default() };
        view::list(ledger, &asked, Judge::Nothing, now(), &mut |_| {})
    }

    /// Everything that was asked of an experiment: the list at once, its history as soon as it is judged.
    fn experiment(&self, ledger: &Ledger, name: &str) -> Result<HttpResponse> {
        let list = self.list(ledger, Some(name))?;
        let has_history = list.rows.iter().any(|row| row.kind == Kept::Campaign)
            || ledger.imported_names()?.iter().any(|known| known == name);
        if list.rows.is_empty() && !has_history {
            // Says what is near.
            named_in_ledger(ledger, name, &Kept::ALL)?;
            return Err(Misuse(format!("nothing in {} is called `{name}`", self.ledger.display())).into());
        }
        let data = format!("/data/experiment/{}", encoded(name));
        let data = has_history.then_some(data.as_str());
        let now = doing(ledger, &list)?;
        let listed = Listed { page: &list, experiment: Some(name), now: &now };
        Ok(html(listing(listed, Served { home: Some("/"), live: None, data })))
    }

    /// The history of an experiment; made anew only where one of its measurements ended since.
    fn history(&self, ledger: &Ledger, name: &str, list: &ListPage) -> Result<Arc<Prepared>> {
        let ended = list.rows.iter().filter(|row| row.seconds.is_some());
        let ended: Vec<String> = ended.map(|row| format!("{} {:?}", row.path, row.seconds)).collect();
        let imported = ledger.imports_of(name)?.len();
        self.documents.get(&format!("history of {name}: {imported} {}", ended.join(",")), || {
            let asked = HistoryRequest {
                name: Some(name.to_owned()),
                ledgers: vec![self.ledger.clone()],
                store: self.store.clone(),
                since: None,
                leave_out: Vec::new(),
                gate: None,
            };
            Ok(Prepared::of(&[view::of_history(ledger, &history::page(&asked)?)?]))
        })
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

/// A name as a part of a path (RFC 3986, 2.1 and 2.3).
fn encoded(name: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(one).collect()
}

/// What a path of two parts means.
fn of_kind(ledger: &Ledger, kind: &str, name: &str) -> Result<KeptRow> {
    named_in_ledger(ledger, &format!("{kind}/{name}"), &Kept::ALL)
}

/// What is done now to what is under way, by its path.
fn doing(ledger: &Ledger, page: &ListPage) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    // Those that were interrupted have an end, too.
    for row in page.rows.iter().filter(|row| row.seconds.is_none()) {
        let state = view::state(ledger, &named_in_ledger(ledger, &row.path, &Kept::ALL)?, now())?;
        found.extend(state.now.map(|now| (row.path.clone(), now)));
    }
    Ok(found)
}

/// What is known of a thing without judging it.
fn head_of(ledger: &Ledger, row: &KeptRow) -> Result<Shown> {
    let title = format!("{} {}, {}", row.kind.name(), row.id, row.name);
    Ok(Shown {
        question: Some(row.question.clone()),
        answer: view::known_answer(ledger, row, now())?,
        ..Shown::alone(
            serde_json::json!({ "schema": "assay.state/1", "title": title, "experiment": row.name }),
        )
    })
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

fn html(document: String) -> HttpResponse {
    HttpResponse { status: 200, media: "text/html; charset=utf-8", body: document.into_bytes() }
}

fn json(text: String) -> HttpResponse {
    HttpResponse { status: 200, media: "application/json", body: text.into_bytes() }
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
        let pages = LedgerPages::new(&StoragePaths { ledger: path.clone(), store: None });
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
        let pages = LedgerPages::new(&StoragePaths { ledger: path.clone(), store: None });
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
        for name in ["a b/cé", "%41", "sums"] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
        assert_eq!(encoded("a b/cé"), "a%20b%2Fc%C3%A9");
    }
}
