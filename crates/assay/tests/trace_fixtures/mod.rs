//! The programs of `fixtures/branches`, built, and traced both ways.

use assay_pure::trace::{Branch, BranchKind, BranchSite};
use assay_trace::{Observer, Trace, TraceDetail, TraceMark, TraceOptions, TraceRefusal, command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

/// A compiler for the programs of one architecture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    fn suffix(self) -> &'static str {
        match self {
            Target::X86_64 => "x86_64",
            Target::Aarch64 => "aarch64",
        }
    }

    /// A compiler that makes programs for it here, if there is one.
    fn compiler(self) -> Option<String> {
        let cross = format!("{}-linux-gnu-gcc", self.suffix());
        let native = std::env::consts::ARCH == self.suffix();
        let candidates = if native { vec!["cc".to_owned(), cross] } else { vec![cross] };
        candidates.into_iter().find(|name| answers(name))
    }
}

fn answers(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The plugin of this build, beside the binary that looks for it there. `cargo test --workspace` has built it; after a
/// change, or for a test of this crate alone, it is built here.
pub fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let own = std::env::current_exe().expect("a test has a file");
        let profile = own.ancestors().nth(2).expect("target/PROFILE/deps/test").to_owned();
        let plugin = profile.join("libassay_qemu.so");
        let of_tests = profile.join("deps/libassay_qemu.so");
        if is_fresh(&plugin) {
            return plugin;
        }
        if is_fresh(&of_tests) {
            let draft = profile.join(format!("libassay_qemu.{}", std::process::id()));
            std::fs::hard_link(&of_tests, &draft).expect("a second name");
            std::fs::rename(&draft, &plugin).expect("beside the binary");
            return plugin;
        }
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--locked", "-p", "assay-qemu"]).current_dir(root());
        if profile.ends_with("release") {
            build.arg("--release");
        }
        build.arg("--target-dir").arg(profile.parent().expect("target"));
        assert!(build.status().expect("cargo").success(), "the plugin was not built");
        plugin
    })
}

/// Is it there, and newer than all that it is made of?
fn is_fresh(plugin: &Path) -> bool {
    let sources =
        ["Cargo.lock", "crates/assay-qemu/src", "crates/assay-predict/src"].map(|name| root().join(name));
    modified(plugin).is_some_and(|built| sources.iter().all(|source| newest(source) <= built))
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// When the newest file was written, of this one or of those below this folder.
fn newest(path: &Path) -> SystemTime {
    let own = modified(path).expect("a source has a time");
    let below =
        std::fs::read_dir(path).into_iter().flatten().map(|entry| newest(&entry.expect("an entry").path()));
    below.fold(own, SystemTime::max)
}

/// Builds a fixture with these further flags; `None`, with a printed reason, where the machine lacks what it takes.
pub fn build(name: &str, target: Target, flags: &[&str]) -> Option<(tempfile::TempDir, PathBuf)> {
    let emulator = format!("qemu-{}", target.suffix());
    if !answers(&emulator) {
        println!("skipped: {emulator} is not installed");
        return None;
    }
    let Some(compiler) = target.compiler() else {
        println!("skipped: there is no compiler for {}", target.suffix());
        return None;
    };
    let folder = root().join("fixtures/branches");
    let assembly = folder.join(format!("{name}.{}.S", target.suffix()));
    let built = tempfile::tempdir().expect("a folder");
    let program = built.path().join(name);
    let mut command = Command::new(compiler);
    if assembly.exists() {
        command.args(["-nostdlib", "-static", "-no-pie"]).arg(assembly);
    } else {
        command.arg("-O1").arg(folder.join(format!("{name}.c")));
    }
    let status = command.args(flags).arg("-o").arg(&program).status().expect("the compiler starts");
    assert!(status.success(), "{name} was not built");
    Some((built, program))
}

/// What an observer can add up for itself, to hold against the counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub branches: u64,
    pub taken: u64,
    pub instructions: u64,
    pub marks: Vec<TraceMark>,
    depth: i64,
    pub deepest: i64,
}

impl Observer for Seen {
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        for branch in branches {
            let site = &sites[branch.site as usize];
            assert_eq!((site.pc, site.class), (branch.pc, branch.class()));
            assert!(site.target.is_none_or(|target| target == branch.target), "{branch:?}");
            assert!(branch.taken() || branch.class().is_conditional(), "{branch:?}");
            self.branches += 1;
            self.taken += u64::from(branch.taken() && branch.class().is_conditional());
            self.instructions += u64::from(branch.instructions());
            self.depth += match branch.class().kind() {
                BranchKind::Call => 1,
                BranchKind::Return => -1,
                BranchKind::Jump => 0,
            };
            self.deepest = self.deepest.max(self.depth);
        }
    }

    fn mark(&mut self, mark: TraceMark) {
        self.marks.push(mark);
    }
}

/// Traces a program with arguments.
pub fn trace_with(
    program: &Path,
    arguments: &[&str],
    options: TraceOptions,
) -> Result<Trace<Seen>, TraceRefusal> {
    let options = TraceOptions { plugin: Some(plugin().to_owned()), ..options };
    let mut line = vec![program.as_os_str().to_owned()];
    line.extend(arguments.iter().map(OsString::from));
    command(&line, &options, Seen::default)
}

/// Traces it at a level of detail.
pub fn trace(program: &Path, arguments: &[&str], detail: TraceDetail) -> Trace<Seen> {
    let options = TraceOptions { detail, ..TraceOptions::default() };
    trace_with(program, arguments, options).unwrap_or_else(|refusal| panic!("{refusal}"))
}
