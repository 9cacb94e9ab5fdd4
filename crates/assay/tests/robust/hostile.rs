//! Every case of `fixtures/hostile`, whose README says how one is added.

use super::lab::{Running, make_private};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// For a whole case, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(600);
/// Nothing of a case may be alive this long after it.
const GONE: Duration = Duration::from_secs(5);
/// What a case ends with that the machine refuses.
const SKIPPED: i32 = 77;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hostile").canonicalize().unwrap();
    let only = std::env::var("ASSAY_HOSTILE").unwrap_or_default();
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = all
        .filter(|path| path.extension().is_some_and(|end| end == "sh") && name(path).contains(&only))
        .collect();
    cases.sort();
    cases
}

fn name(case: &Path) -> String {
    case.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is wrong with a case, where something is.
fn wrong(case: &Path) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = place.path().join(name);
        make_private(&folder);
        folder
    };
    let here = folder("here");
    let mark = Mark(format!("ASSAY_HOSTILE_CASE={}", place.path().display()));
    let program = Path::new(env!("CARGO_BIN_EXE_assay"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-euc", ". \"$HOSTILE/prelude\"; . \"$0\""]).arg(case).current_dir(&here);
    command
        .env("ASSAY_HOSTILE_CASE", place.path())
        .env("HOSTILE", case.parent().unwrap())
        .env("SCRATCH", folder("scratch"))
        .env("HOME", folder("home"))
        .env("TMPDIR", folder("tmp"))
        .env("XDG_RUNTIME_DIR", folder("runtime"))
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("ASSAY_QEMU_PLUGIN", crate::trace_fixtures::plugin())
        .env("COLUMNS", "180")
        .env("NO_COLOR", "1");
    let said = Running::start(command).wait_at_most(PATIENCE);
    let left = mark.left_alive();
    if said.code == Some(SKIPPED) {
        eprintln!("{}: {}", name(case), said.page);
        return None;
    }
    if said.code != Some(0) {
        let (page, errors) = (said.page, said.errors);
        return Some(format!("{}: {:?} {:?} {errors} {page}", name(case), said.code, said.signal));
    }
    (!left.is_empty()).then(|| format!("{} leaves processes: {left:?}", name(case)))
}

/// What every process of a case has in its environment. None outlives this, whatever becomes of the test.
struct Mark(String);

impl Mark {
    /// Processes that are still there.
    fn left_alive(&self) -> Vec<String> {
        let deadline = Instant::now() + GONE;
        loop {
            let left = of_case(&self.0);
            if left.is_empty() || Instant::now() > deadline {
                return left.into_iter().map(|(_, words)| words).collect();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        of_case(&self.0).into_iter().for_each(|(id, _)| kill(id));
    }
}

/// A process that may have ended meanwhile.
fn kill(id: u32) {
    let sent = Command::new("sh").args(["-c", "kill -s KILL -- \"$1\"", "sh", &id.to_string()]).output();
    sent.expect("sh is everywhere");
}

/// Number and command line of each process with the case's mark in its environment.
fn of_case(mark: &str) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = ids.filter(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    });
    let words = |id: u32| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).replace('\0', " ")
    };
    marked.map(|id| (id, words(id))).collect()
}

#[test]
fn hostile_cases_do_no_harm() {
    let all = cases();
    assert!(!all.is_empty(), "no case of this name");
    let (waiting, found) = (Mutex::new(all), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = { waiting.lock().unwrap().pop() } {
                    let begun = Instant::now();
                    found.lock().unwrap().extend(wrong(&case));
                    eprintln!("{:5.1} s  {}", begun.elapsed().as_secs_f64(), name(&case));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
