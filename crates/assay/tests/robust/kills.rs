//! `compare` killed at random moments in a repository with changes: what is the user's is afterwards as it was before.

use super::lab::{Running, can_run, make_private};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// In the normal lane, and in the slow one.
const FEW: u64 = 8;
const MANY: u64 = 300;

/// What is compared.
const MODES: [&[&str]; 2] = [&["HEAD~1", "HEAD"], &["HEAD"]];

const PROGRAM: &str = "#include <stdio.h>\nint main(void) { printf(\"work: %d ns\\n\", TIME); return 0; }\n";

struct Project {
    folder: tempfile::TempDir,
    repository: PathBuf,
}

impl Project {
    /// A repository with two commits, changes staged and not, an untracked file, a stash, a worktree of its own.
    fn new() -> Option<Project> {
        for tool in ["git", "make", "gcc"] {
            if !can_run(tool) {
                eprintln!("skipped: there is no {tool}");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let project = Project { repository: folder.path().join("repository"), folder };
        std::fs::create_dir(&project.repository).unwrap();
        make_private(&project.folder.path().join("turns"));
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.write("Makefile", "bench: bench.c\n\tgcc -O1 -o bench bench.c\n");
        project.write(".gitignore", "bench\n.assay/\n");
        for (time, message) in [("10", "one"), ("11", "two")] {
            project.write("bench.c", &PROGRAM.replace("TIME", time));
            project.write("staged", message);
            project.git(&["add", "."]);
            project.git(&["commit", "--quiet", "-m", message]);
        }
        project.write("staged", "stashed");
        project.git(&["stash", "--quiet"]);
        project.git(&["worktree", "add", "--quiet", "--detach", "../worktree"]);
        project.write("staged", "changed");
        project.git(&["add", "staged"]);
        project.write("bench.c", &PROGRAM.replace("TIME", "12"));
        project.write("untracked", "untracked");
        Some(project)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.repository.join(name), text).unwrap();
    }

    fn git(&self, words: &[&str]) -> String {
        let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
        let mut git = Command::new("git");
        let ran = git.current_dir(&self.repository).args(identity).args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn compare(&self, words: &[&str]) -> Running {
        let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"));
        assay
            .args(["compare", "--quiet", "--rotations", "3", "--rounds", "1", "--budget", "900"])
            .args(["--build", "make", "--bench", "./bench"])
            .args(["--adapter", r"regex:(?<name>\w+): (?<value>\d+) (?<unit>ns)"])
            .args(words)
            .current_dir(&self.repository)
            .env("XDG_RUNTIME_DIR", self.folder.path().join("turns"));
        Running::start(assay)
    }

    /// All that is the user's: contents, times, modes and links of files; of git's objects only that they are there.
    fn state(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for top in ["repository", "worktree"] {
            look(&self.folder.path().join(top), &mut found);
        }
        found
    }
}

fn look(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, facts) = (entry.path(), entry.metadata().unwrap());
        if path.ends_with(".assay") || path.ends_with(".git/objects") {
            continue;
        }
        let (what, time) = match () {
            () if facts.is_dir() => (String::new(), 0),
            () if facts.is_symlink() => (format!("{:?}", std::fs::read_link(&path)), facts.mtime_nsec()),
            () => (format!("{:?}", std::fs::read(&path).unwrap()), facts.mtime_nsec()),
        };
        // A folder's own time changes with what assay makes beside the user's files, `.assay`.
        let seconds = if facts.is_dir() { 0 } else { facts.mtime() };
        found.insert(path.clone(), format!("{:o} {seconds}.{time} {what}", facts.mode()));
        if facts.is_dir() {
            look(&path, found);
        }
    }
}

/// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn kill_often(count: u64) {
    let Some(project) = Project::new() else { return };
    let mut seed = number("ASSAY_SEED", 1);
    let before = project.state();
    let objects = project.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    let whole = MODES.map(|words| {
        let begun = Instant::now();
        let said = project.compare(words).wait();
        assert_eq!(said.code, Some(0), "{said:?}");
        begun.elapsed()
    });
    assert_eq!(project.state(), before, "an ordinary comparison");
    let mut killed = 0;
    for nth in 0..count {
        let mode = (nth % 2) as usize;
        let after = Duration::from_nanos(random(&mut seed) % whole[mode].as_nanos() as u64);
        let mut running = project.compare(MODES[mode]);
        std::thread::sleep(after);
        if running.is_running() {
            running.signal("KILL");
            killed += 1;
        }
        running.wait();
        let now = project.state();
        let changed: Vec<_> = before.iter().filter(|(path, state)| now.get(*path) != Some(state)).collect();
        let added: Vec<_> = now.keys().filter(|path| !before.contains_key(*path)).collect();
        assert!(
            changed.is_empty() && added.is_empty(),
            "kill {nth}, {after:?} into {:?}: {changed:?}, {added:?}",
            MODES[mode]
        );
    }
    println!("{killed} of {count} comparisons were killed before they ended, which took {whole:?}");
    let now = project.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    assert!(objects.lines().all(|object| now.contains(object)), "an object is gone");
    project.git(&["fsck", "--full", "--strict"]);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 2);
    for words in MODES {
        let said = project.compare(words).wait();
        assert_eq!(said.code, Some(0), "after all kills: {said:?}");
    }
    assert_eq!(project.state(), before);
    let store = project.repository.join(".assay/store");
    let names =
        std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.starts_with("comparing-")).collect();
    // What is in it tells who left it.
    let inside = || Command::new("find").args(&left).arg("-ls").current_dir(&store).output();
    assert!(
        left.is_empty(),
        "{left:?}: {:?}",
        inside().map(|found| String::from_utf8_lossy(&found.stdout).into_owned())
    );
}

#[test]
fn a_comparison_that_is_killed_leaves_the_users_repository_as_it_was() {
    kill_often(number("ASSAY_KILLS", FEW));
}

#[test]
#[ignore = "slow: minutes"]
fn a_comparison_that_is_killed_at_many_moments_leaves_the_users_repository_as_it_was() {
    kill_often(number("ASSAY_KILLS", MANY));
}
