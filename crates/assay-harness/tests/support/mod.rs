//! Building measured programs and talking to them, for the tests of this crate.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A scratch path of this test run.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The compilers on PATH among those asked for; the others are named on stderr.
pub fn compilers(wanted: &[&'static str]) -> Vec<&'static str> {
    let present = |compiler: &&str| {
        let found =
            Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            eprintln!("skipped: {compiler} is not on PATH");
        }
        found
    };
    wanted.iter().copied().filter(present).collect()
}

/// What `work` makes with each compiler found, in the order of `wanted`. They run side by side: one compiler keeps one
/// core busy.
pub fn by_each<T: Send>(wanted: &[&'static str], work: impl Fn(&'static str) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> =
            compilers(wanted).into_iter().map(|compiler| scope.spawn(move || work(compiler))).collect();
        running
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Compiles and links with all warnings as errors. Panics with the compiler's words where that fails.
pub fn build(compiler: &str, flags: &[&str], sources: &[PathBuf], output: &str) -> PathBuf {
    // Tests run side by side: a program that another one has started must not be overwritten, only replaced.
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let path = scratch(output);
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    let unfinished = scratch(&format!("{output}.{}.{number}", std::process::id()));
    let mut command = Command::new(compiler);
    command
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(repository().join("harness"))
        .args(flags);
    // A C++ compiler is given .c files too, to be read as C++.
    for source in sources {
        let is_cpp = compiler.contains("++") || source.extension().is_some_and(|ending| ending == "cpp");
        let language = if is_cpp { "c++" } else { "c" };
        command.args(["-x", language]).arg(source);
    }
    let result = command.arg("-o").arg(&unfinished).output().expect("the compiler starts");
    let words = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{compiler} {flags:?} {sources:?}:\n{words}");
    std::fs::rename(&unfinished, &path).expect("the scratch directory is writable");
    path
}

/// The input of harness/vectors.txt.
pub fn input() -> PathBuf {
    static WRITTEN: Once = Once::new();
    let path = scratch("vectors.bin");
    WRITTEN.call_once(|| {
        let bytes: Vec<u8> = (0..4096).map(|i| (i % 256) as u8).collect();
        std::fs::write(&path, bytes).expect("the scratch directory is writable");
    });
    path
}

/// The lines of one section of harness/vectors.txt, comments left out, INPUT replaced.
pub fn vectors(section: &str) -> Vec<String> {
    let text =
        std::fs::read_to_string(repository().join("harness/vectors.txt")).expect("the vectors are readable");
    let header = format!("[{section}]");
    let path = input().to_str().expect("a UTF-8 path").to_owned();
    let lines: Vec<String> = text
        .lines()
        .skip_while(|line| **line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.replace("INPUT", &path))
        .collect();
    assert!(!lines.is_empty(), "section {header} is empty");
    lines
}

/// What a program said and how it ended.
pub struct Conversation {
    pub replies: Vec<u8>,
    /// As `timeout` tells it: 128 and the signal's number where the program died of one, 124 where it hung.
    pub code: i32,
    pub stderr: String,
}

impl Conversation {
    /// The replies as lines.
    pub fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.replies).lines().map(str::to_owned).collect()
    }
}

/// Runs `program` as the lab does, with its standard input and output as the channel, sends all of `requests` in
/// pieces of `piece` bytes, then closes the channel. A program that hangs is killed after `limit` seconds.
pub fn talk(program: &Path, requests: &[u8], piece: usize, limit: &str) -> Conversation {
    let mut child = Command::new("timeout")
        .arg(limit)
        .arg(program)
        .env("ASSAY_CHANNEL", "0,1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("timeout (coreutils) starts");
    let mut stdin = child.stdin.take().expect("piped");
    let requests = requests.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends early closes its side: what is left unsent is not this function's business.
        requests.chunks(piece).all(|piece| stdin.write_all(piece).is_ok())
    });
    let mut stderr = child.stderr.take().expect("piped");
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).expect("a pipe is readable");
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut replies = Vec::new();
    child.stdout.take().expect("piped").read_to_end(&mut replies).expect("a pipe is readable");
    writer.join().expect("the writer does not panic");
    let status = child.wait().expect("the child can be waited for");
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Conversation { replies, code, stderr: errors.join().expect("the reader does not panic") }
}

/// Whether `line` is what was expected, where `*` is any text without a space, or the rest at the end.
pub fn is_as_expected(expected: &str, line: &str) -> bool {
    let Some((before, after)) = expected.split_once('*') else { return expected == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    if after.is_empty() {
        return !rest.is_empty();
    }
    let value = rest.find(' ').unwrap_or(rest.len());
    value > 0 && is_as_expected(after, &rest[value..])
}

/// The example `vectors` of this crate, built with the tests or, where only one test file was, now.
pub fn rust_program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test knows its own path");
    let path = tests.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples/vectors");
    if !path.exists() {
        let release = tests.components().any(|part| part.as_os_str() == "release");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "assay-harness", "--example", "vectors"]);
        let built = cargo.args(release.then_some("--release")).status().expect("cargo starts");
        assert!(built.success(), "the example does not build");
    }
    path
}
