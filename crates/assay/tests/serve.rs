//! `assay serve` over a real socket: the list, a page, the state of what is under way; what is refused; Ctrl-C ends it at once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = r#"
#include <assay.h>
static uint64_t sum(const uint8_t *data, size_t size) { uint64_t s = 0; while (size) s += data[--size]; return s; }
static uint64_t add(const uint8_t *data, size_t size) { uint64_t s = 0; for (size_t i = 0; i < size; i++) s += data[i]; return s; }
ASSAY_VARIANT("sum", sum)
ASSAY_VARIANT("add", add)
ASSAY_MAIN()
"#;

const EXPERIMENT: &str = r#"
question = "Is </script> any faster?"
unit = "byte"
baseline = "sum"
variants = ["sum", "add"]
compilers = ["gcc"]
flags = ["-O1"]
budget = 1

[program]
sources = ["work.c"]

[placement]
rotations = 3
max_rotations = 3
phases = [0, 32]

[inputs.bytes]
generator = "constant"
format = "bytes"
length = 1
units = 4096
"#;

/// A folder with a ledger that has one campaign.
fn measured() -> Option<(tempfile::TempDir, PathBuf)> {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gcc");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../harness/assay.h");
    std::fs::copy(harness, folder.path().join("assay.h")).unwrap();
    std::fs::write(folder.path().join("work.c"), PROGRAM).unwrap();
    std::fs::write(folder.path().join("experiment.toml"), EXPERIMENT).unwrap();
    let ran = assay(folder.path(), &["run", "experiment.toml", "--quiet"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ledger = folder.path().join(".assay/ledger.db");
    Some((folder, ledger))
}

fn assay(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(folder).args(words);
    command
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let mut child = assay(folder, &["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Server { address: address.to_owned(), child }
    }

    /// Status, head and body of what is answered to these lines.
    fn say(&self, lines: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(format!("{lines}\r\n\r\n").as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.say(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_ledger_is_shown_to_this_address_only_and_never_written() {
    let Some((folder, ledger)) = measured() else { return };
    let before = std::fs::read(&ledger).unwrap();
    let mut server = Server::start(folder.path());
    let port = server.address.rsplit(':').next().unwrap();
    let second = assay(folder.path(), &["serve", "--port", port]).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("is in use; choose another with --port N"));

    let (status, head, list) = server.get("/");
    assert_eq!(status, 200, "{list}");
    assert!(head.contains("nosniff") && head.contains("frame-ancestors 'none'"), "{head}");
    assert!(list.contains("\"path\":\"campaign/1\""), "{}", &list[..2000]);
    let (status, _, page) = server.get("/campaign/1");
    assert_eq!(status, 200);
    assert!(page.contains("assay.campaign/1") && page.contains("connect-src 'none'"));
    assert!(page.contains("Is \\u003c/script\\u003e any faster?"), "foreign text is escaped");
    assert_eq!(server.get("/beside/campaign/1/campaign/1").0, 200);
    let json = |path: &str| {
        let (status, head, body) = server.get(path);
        assert!(status == 200 && head.contains("application/json"), "{path}: {head}");
        serde_json::from_str::<serde_json::Value>(&body).unwrap()
    };
    assert_eq!(json("/data/campaign/1")["shown"][0]["page"]["schema"], "assay.campaign/1");
    assert_eq!(json("/data/beside/campaign/1/campaign/1")["shown"].as_array().unwrap().len(), 2);
    let name = list.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (status, _, page) = server.get(&format!("/experiment/{name}"));
    assert!(status == 200 && page.contains("\"path\":\"campaign/1\""), "{name}");
    assert!(
        page.contains(&format!("\"data\":\"/data/experiment/{name}\""))
            && page.contains("connect-src 'self'")
    );
    let history = json(&format!("/data/experiment/{name}"));
    assert!(
        history["shown"][0]["page"]["schema"].as_str().unwrap().starts_with("assay.history/"),
        "{history}"
    );
    let (status, _, state) = server.get("/state/campaign/1");
    assert_eq!(status, 200);
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["over"], true, "{state}");

    for (path, expected) in [
        ("/campaign/9", 404),
        ("/sweep/1", 404),
        ("/nothing", 404),
        ("/experiment/nothing", 404),
        ("/data/campaign/9", 404),
        ("/../etc/passwd", 404),
        ("/campaign/x", 404),
    ] {
        assert_eq!(server.get(path).0, expected, "{path}");
    }
    // A name of somebody else's that leads here.
    for host in ["evil.example", "evil.example:80", "127.0.0.1:1"] {
        let (status, _, body) = server.say(&format!("GET /campaign/1 HTTP/1.1\r\nHost: {host}"));
        assert_eq!(status, 403, "{host}");
        assert!(!body.contains("assay.campaign"), "{body}");
    }
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
        let (status, head, _) =
            server.say(&format!("{method} /campaign/1 HTTP/1.1\r\nHost: {}", server.address));
        assert_eq!(status, 405, "{method}");
        assert!(head.contains("Allow: GET"), "{head}");
    }
    assert_eq!(std::fs::read(&ledger).unwrap(), before, "the ledger was written");

    let asked = Instant::now();
    let killed = Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = server.child.wait().unwrap();
    // Two seconds are promised; what else runs beside the tests may take its share.
    assert!(asked.elapsed() < Duration::from_secs(6), "{:?}", asked.elapsed());
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn the_markdown_of_a_run_refers_to_its_picture() {
    let Some((folder, _)) = measured() else { return };
    let asked = ["run", "experiment.toml", "--quiet", "--picture", "a.svg", "--markdown", "b.md"];
    let ran = assay(folder.path(), &asked).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("a.svg").starts_with("<svg") && read("b.md").contains("](a.svg)"), "{}", read("b.md"));
}

#[test]
fn a_page_that_was_kept_needs_no_sample_and_clean_removes_it() {
    let Some((folder, ledger)) = measured() else { return };
    let server = Server::start(folder.path());
    let rename = |from: &str, to: &str| {
        let ledger = rusqlite::Connection::open(&ledger).unwrap();
        ledger.execute_batch(&format!("ALTER TABLE {from} RENAME TO {to}")).unwrap();
    };
    rename("sample", "away");
    let (status, _, page) = server.get("/campaign/1");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("\"strips\":[[") && page.contains("connect-src 'none'"));
    let written = assay(folder.path(), &["report", "-o", "page.html"]).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    rename("away", "sample");
    let kept = folder.path().join(".assay/ledger.db.pages");
    assert!(kept.join("campaign-1.json").is_file());
    let cleaned = assay(folder.path(), &["clean"]).output().unwrap();
    assert!(cleaned.status.success() && !kept.exists(), "{}", String::from_utf8_lossy(&cleaned.stderr));
    let again = assay(folder.path(), &["report", "-o", "again.html"]).output().unwrap();
    assert!(again.status.success());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("page.html") == read("again.html"), "made anew it is the same");
}

#[test]
fn what_is_under_way_says_how_far_it_has_come() {
    let Some((folder, ledger)) = measured() else { return };
    let server = Server::start(folder.path());
    // As it stands while it is measured.
    let open = || rusqlite::Connection::open(&ledger).unwrap();
    open().execute("UPDATE campaign SET finished_at = NULL, stopped_because = NULL", []).unwrap();
    let (status, _, page) = server.get("/campaign/1");
    assert_eq!(status, 200);
    assert!(page.contains("\"live\":\"/state/campaign/1\"") && page.contains("connect-src 'self'"));
    let state = || serde_json::from_str::<serde_json::Value>(&server.get("/state/campaign/1").2).unwrap();
    let first = state();
    assert_eq!(first["over"], false, "{first}");
    assert!(first["text"].as_str().unwrap().starts_with("Under way, or killed: "), "{first}");
    open().execute("DELETE FROM sample WHERE id = (SELECT max(id) FROM sample)", []).unwrap();
    assert_ne!(state()["changed"], first["changed"], "more is to be seen");
    // Many samples are not waited for: first what is known, then all of it.
    let ledger_of_many = open();
    ledger_of_many
        .execute_batch("CREATE TEMP TABLE few AS SELECT * FROM sample; UPDATE few SET id = NULL")
        .unwrap();
    let count =
        || -> i64 { ledger_of_many.query_row("SELECT count(*) FROM sample", [], |row| row.get(0)).unwrap() };
    while count() <= 20_000 {
        ledger_of_many.execute("INSERT INTO sample SELECT * FROM few", []).unwrap();
    }
    let (status, _, page) = server.get("/campaign/1");
    assert_eq!(status, 200);
    assert!(page.contains("\"data\":\"/data/campaign/1\"") && page.contains("Under way, or killed: "));
    assert!(
        page.contains("any faster?") && !page.contains("\"strips\":[["),
        "it has the question and no samples"
    );
    let (status, _, data) = server.get("/data/campaign/1");
    assert!(status == 200 && data.contains("\"strips\":[["));
    open().execute("UPDATE campaign SET stopped_because = 'decided'", []).unwrap();
    assert_eq!(state()["over"], true);
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| {
        let ran = assay(folder.path(), words).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, text) = said(&["serve"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("there is no ledger at .assay/ledger.db"), "{text}");
    std::fs::write(folder.path().join("not.db"), "something else").unwrap();
    let (code, text) = said(&["serve", "--ledger", "not.db"]);
    assert_eq!(code, Some(2), "{text}");
}
