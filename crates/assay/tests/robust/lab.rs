//! A small experiment in a folder of its own, the binary run on it, and what it left in the ledger.

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing here takes longer, however busy the machine is; what does, hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A right variant beside the faulty one: the campaign must go on for it.
const HONEST: &str = r#"
#include <assay.h>
static uint64_t honest(const uint8_t *data, size_t size)
{
    uint64_t digest = 0;
    const uint8_t *end = data + size;
    while (data < end) {
        digest = digest * 31 + *data++;
    }
    return digest;
}
ASSAY_VARIANT("honest", honest)
"#;

/// Two variants whose every call takes half a millisecond: 20 rounds of theirs are long enough to be interrupted.
pub const SLOW: &str = r#"
#include <assay.h>
static uint64_t wait_a_while(const uint8_t *data, size_t size)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 500000L);
    return size + data[0];
}
static uint64_t wait_as_long(const uint8_t *data, size_t size) { return wait_a_while(data, size); }
ASSAY_VARIANT("plain", wait_a_while)
ASSAY_VARIANT("honest", wait_as_long)
ASSAY_MAIN()
"#;

/// Rounds per rotation that the slow experiment comes to.
pub const ALL_ROUNDS: i64 = 20;

/// What `once` returns when it has stopped a slow campaign with rounds done and rounds to do. Beside much other work the
/// campaign may come to its end first: once more, then.
pub fn stopped_in_the_middle(mut once: impl FnMut() -> Option<(Lab, Said)>) -> Option<(Lab, Said)> {
    for _ in 0..5 {
        let (lab, said) = once()?;
        if lab.count("SELECT count(*) FROM round") < ALL_ROUNDS {
            return Some((lab, said));
        }
    }
    panic!("five slow campaigns ended before they could be stopped");
}

/// One experiment, its folder, and how the binary is run on it.
pub struct Lab {
    folder: TempDir,
    ledger: PathBuf,
    turns: PathBuf,
    path: Option<String>,
}

/// What a finished run said.
#[derive(Debug)]
pub struct Said {
    /// Exit code; None if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output, every run of blanks one blank: pages are wrapped.
    pub page: String,
    /// Standard error, likewise.
    pub errors: String,
}

impl Lab {
    /// An experiment of `plain`, `faulty` and `honest` with a program of `fixtures/faults`; None where gcc is missing.
    pub fn with_fault(name: &str) -> Option<Self> {
        Self::with_program(&format!("#include \"{name}.c\"\n{HONEST}"), &["plain", "faulty", "honest"])
    }

    /// An experiment of `plain` and `honest`, which are right and take their time.
    pub fn slow() -> Option<Self> {
        let lab = Self::with_program(SLOW, &["plain", "honest"])?;
        lab.edit(|text| text.replace("budget = 5", "budget = 60"));
        Some(lab)
    }

    /// An experiment with this C program and these variants, the first being the baseline.
    pub fn with_program(source: &str, variants: &[&str]) -> Option<Self> {
        if !can_run("gcc") {
            eprintln!("skipped: there is no gcc on PATH");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the experiment");
        std::fs::write(folder.path().join("program.c"), source).expect("the program is written");
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
        let mut text = format!(
            r#"question = "Is it faster?"
unit = "byte"
baseline = "{}"
compilers = ["gcc"]
flags = ["-Og"]
minimum_effect = 0.5
budget = 5

[program]
sources = ["program.c"]
include_dirs = ["{root}/harness", "{root}/fixtures/faults"]

[placement]
rotations = 4
max_rotations = 4
phases = [0]

[inputs.bytes]
generator = "log_uniform"
min_bits = 0
max_bits = 7
units = 10_000
"#,
            variants[0],
            root = root.display()
        );
        for variant in variants {
            text.push_str(&format!("\n[[variants]]\nname = \"{variant}\"\n"));
        }
        std::fs::write(folder.path().join("experiment.toml"), text).expect("the experiment is written");
        let ledger = folder.path().join("ledger.db");
        Some(Self { ledger, turns: turns(), folder, path: None })
    }

    /// Changes the experiment file.
    pub fn edit(&self, change: impl FnOnce(String) -> String) {
        let text = std::fs::read_to_string(self.file("experiment.toml")).expect("the experiment is there");
        std::fs::write(self.file("experiment.toml"), change(text)).expect("the experiment is written");
    }

    /// A path in the experiment's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the ledger lies.
    pub fn ledger_path(&self) -> &Path {
        &self.ledger
    }

    /// Keeps the ledger elsewhere.
    pub fn keep_ledger_in(&mut self, path: PathBuf) {
        self.ledger = path;
    }

    /// Does not wait for other tests' rounds, nor let them wait for a program that hangs.
    pub fn measure_out_of_turn(&mut self) {
        self.turns = self.file("turns");
        make_private(&self.turns);
    }

    /// Puts a shell script in front of the compiler. It finds the real one as `$REAL`, its own folder as `$HERE`.
    pub fn wrap_gcc(&mut self, script: &str) {
        let real = which("gcc").expect("checked when the lab was made");
        let folder = self.file("bin");
        std::fs::create_dir_all(&folder).expect("a folder for the wrapper");
        let here = self.folder.path().display();
        // Only the wrapper is seen by the lab; what the compiler itself starts is found where it always is.
        let text = format!(
            "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin; REAL={}; HERE={here}\n{script}\nexec \"$REAL\" \"$@\"\n",
            real.display()
        );
        write_script(&folder.join("gcc"), &text);
        self.path = Some(folder.display().to_string());
    }

    /// The command `assay VERB`, in the experiment's folder.
    pub fn command(&self, verb: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg(verb).args(arguments).arg("--ledger").arg(&self.ledger);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("COLUMNS", "180").env("NO_COLOR", "1").env("XDG_RUNTIME_DIR", &self.turns);
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        command
    }

    /// `assay run experiment.toml` with further arguments.
    pub fn run(&self, arguments: &[&str]) -> Said {
        self.start(arguments).wait()
    }

    /// The same, still running.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut all = vec!["experiment.toml"];
        all.extend(arguments);
        Running::start(self.command("run", &all))
    }

    /// The page of the newest campaign as JSON.
    pub fn page(&self) -> Value {
        let said = Running::start(self.command("report", &["--json", "-"])).wait();
        serde_json::from_str(&said.page).unwrap_or_else(|error| panic!("{error}: {said:?}"))
    }

    /// The ledger, to be looked at.
    pub fn ledger(&self) -> Connection {
        Connection::open_with_flags(&self.ledger, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .expect("the ledger is there")
    }

    /// A number from the ledger.
    pub fn count(&self, sql: &str) -> i64 {
        self.ledger().query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// A column of text from the ledger.
    pub fn column(&self, sql: &str) -> Vec<String> {
        let ledger = self.ledger();
        let mut query = ledger.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let rows = query.query_map([], |row| row.get(0)).expect("a query without parameters");
        rows.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Waits until the ledger holds what `sql` counts, at least once, while `running` goes on.
    pub fn wait_until(&self, running: &mut Running, sql: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let count = Connection::open_with_flags(&self.ledger, OpenFlags::SQLITE_OPEN_READ_WRITE)
                .and_then(|ledger| ledger.query_row(sql, [], |row| row.get::<_, i64>(0)));
            if count.is_ok_and(|count| count > 0) {
                return;
            }
            assert!(running.is_running(), "it ended before `{sql}` counted anything");
            assert!(Instant::now() < deadline, "`{sql}` counted nothing in {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Nothing in the ledger contradicts anything else in it.
    pub fn assert_ledger_is_whole(&self) {
        assert_eq!(self.column("PRAGMA integrity_check"), ["ok"]);
        assert_eq!(self.count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
        let stray = "SELECT count(*) FROM sample s LEFT JOIN round r ON r.campaign = s.campaign AND r.round = s.round \
                     WHERE r.round IS NULL";
        assert_eq!(self.count(stray), 0, "samples without a round");
        let mixed =
            "SELECT count(*) FROM sample s JOIN process p ON p.id = s.process WHERE p.campaign <> s.campaign";
        assert_eq!(self.count(mixed), 0, "samples of another campaign's process");
        let gaps = "SELECT count(*) FROM (SELECT count(*) AS have, max(round) + 1 AS want FROM round GROUP BY campaign) \
                    WHERE have <> want";
        assert_eq!(self.count(gaps), 0, "rounds are numbered without gaps");
    }
}

/// The binary while it runs; killed when dropped.
pub struct Running {
    child: Child,
    folder: TempDir,
}

impl Running {
    /// Starts a command, its output kept in files, so that no pipe can hold it up.
    pub fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the output");
        let file = |name| std::fs::File::create(folder.path().join(name)).expect("a file for the output");
        let child = command.stdout(file("out")).stderr(file("err")).spawn().expect("the binary starts");
        Self { child, folder }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Has it not ended yet?
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none()
    }

    /// Sends it a signal ("INT", "KILL", ...).
    pub fn signal(&self, name: &str) {
        signal(name, &self.child.id().to_string());
    }

    /// Waits for its end.
    pub fn wait(self) -> Said {
        self.wait_at_most(PATIENCE)
    }

    /// The same for what may take longer.
    pub fn wait_at_most(mut self, patience: Duration) -> Said {
        let deadline = Instant::now() + patience;
        while self.is_running() {
            assert!(Instant::now() < deadline, "it runs for more than {patience:?}: {:?}", self.said());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.said()
    }

    fn said(&mut self) -> Said {
        let status = self.child.try_wait().expect("it is our child");
        let text = |name| {
            let bytes = std::fs::read(self.folder.path().join(name)).unwrap_or_default();
            one_line(&String::from_utf8_lossy(&bytes))
        };
        Said {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            page: text("out"),
            errors: text("err"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Said {
    /// Ended with this exit code.
    #[track_caller]
    pub fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:#?}");
    }

    /// Said all of these on standard error.
    #[track_caller]
    pub fn assert_errors(&self, words: &[&str]) {
        for word in words {
            assert!(self.errors.contains(word), "no `{word}` in {self:#?}");
        }
    }

    /// Showed all of these on the page.
    #[track_caller]
    pub fn assert_page(&self, words: &[&str]) {
        for word in words {
            assert!(self.page.contains(word), "no `{word}` in {self:#?}");
        }
    }
}

/// Sends a signal to a process, or with a leading minus to a group.
pub fn signal(name: &str, target: &str) {
    // The shell's own: /bin/kill is a package of its own on a small Debian.
    let kill = ["-c", "kill -s \"$1\" -- \"$2\"", "sh", name, target];
    let sent = Command::new("sh").args(kill).status().expect("sh is everywhere");
    assert!(sent.success(), "SIG{name} to {target}");
}

/// Where this suite's campaigns take turns: apart from other campaigns on the machine, together with each other.
fn turns() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("turns");
    make_private(&folder);
    folder
}

/// A folder that assay takes for this user's runtime folder.
pub fn make_private(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(folder).expect("a folder beside the test's binary");
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("it is ours");
}

/// Can this program be run here?
pub fn can_run(program: &str) -> bool {
    which(program).is_some()
}

fn which(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

pub fn write_script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).expect("the script is written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("the script is ours");
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Processes whose executable lies in a folder.
pub fn processes_from(folder: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|program| program.starts_with(folder))
    })
    .collect()
}
