//! Compiles C for a test, with whatever compilers this machine has.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own that is removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A new, empty folder.
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("assay-identity-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The compilers of this machine among those that the tests know; says which are not there.
pub fn compilers() -> Vec<&'static str> {
    let (found, absent): (Vec<_>, Vec<_>) = ["gcc", "clang"].into_iter().partition(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    for name in absent {
        eprintln!("skipped: `{name}` is not on PATH");
    }
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: only x86-64 code can be compared");
        return Vec::new();
    }
    found
}

/// What clang needs to link for AArch64 is gcc's linker and libraries for it.
const CROSS_GCC: &str = "aarch64-linux-gnu-gcc";

/// Compilers for AArch64, as commands; none, with the reason, where they are not there.
pub fn compilers_for_aarch64() -> Vec<&'static str> {
    let is_there =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there(CROSS_GCC) {
        eprintln!("skipped: `{CROSS_GCC}` is not on PATH");
        return Vec::new();
    }
    let clang = is_there("clang").then_some("clang --target=aarch64-linux-gnu");
    [Some(CROSS_GCC), clang].into_iter().flatten().collect()
}

/// Runs a compiler; panics with what it said if it fails.
pub fn run(compiler: &str, arguments: &[&str]) {
    let mut words = compiler.split(' ').chain(arguments.iter().copied());
    let mut command = Command::new(words.next().expect("a name"));
    let output = command.args(words).output().expect("the compiler was found before");
    assert!(
        output.status.success(),
        "{compiler} {}:\n{}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The linked file of a C source that has no main.
pub fn link(compiler: &str, flags: &[&str], source: &str) -> Vec<u8> {
    let scratch = Scratch::new();
    let (file, program) = (scratch.0.join("pair.c"), scratch.0.join("pair"));
    std::fs::write(&file, format!("{source}\nint main(void) {{ return 0; }}\n")).expect("the folder is ours");
    let paths = [file.to_str().expect("UTF-8"), "-o", program.to_str().expect("UTF-8")];
    run(compiler, &[flags, &paths].concat());
    std::fs::read(&program).expect("the compiler wrote it")
}
