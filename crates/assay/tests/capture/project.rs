//! A copy of a fixture project, built under capture, and what every captured link must hold.

use assay_link::adopt::capture::{
    BuildAsked, BuildError, CapturedBuild, CapturedLink, Repeated, Replayed, TextsAsked, build,
};
use assay_link::build::Link;
use assay_pure::placement::layout;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PHASES: [u32; 4] = [0, 16, 32, 48];

/// A project in a folder of its own.
pub struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// A copy of `fixtures/capture/NAME`.
    pub fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/capture").join(name);
        copy(&fixture, &folder.path().join("project"));
        Self { folder }
    }

    /// Where it lies.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Where replays go.
    pub fn replays(&self) -> PathBuf {
        self.folder.path().join("replays")
    }

    /// Builds it, which must succeed.
    pub fn build(&self, command: &str) -> CapturedBuild {
        self.try_build(command).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Builds it.
    pub fn try_build(&self, command: &str) -> Result<CapturedBuild, BuildError> {
        let asked = BuildAsked {
            sections: false,
            texts: TextsAsked::None,
            command: command.to_owned(),
            folder: self.path(),
            store: self.folder.path().join("store"),
            environment: Vec::new(),
            assay: env!("CARGO_BIN_EXE_assay").into(),
        };
        build(&asked, &|_| {})
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("a fixture").flatten() {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).expect("copied");
        }
    }
}

/// What a program prints.
pub fn output(program: &Path) -> String {
    let output =
        Command::new(program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(output.status.success(), "{}: {}", program.display(), output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// The link repeats itself, each of `names` visits each of the four offsets, shuffles differ, and the program says the same
/// in every placement. Returns the warnings of a placed link.
pub fn assert_placed(project: &Project, link: &CapturedLink, names: &[&str]) -> Vec<String> {
    assert_repeats(project, link);
    let replay = |shuffle, phase_bytes| placed(project, link, shuffle, phase_bytes);
    let rotation = PHASES.map(|phase| replay(1, phase));
    let expected = if link.shared { String::new() } else { output(&link.output) };
    for replayed in &rotation {
        if !link.shared {
            assert_eq!(output(&replayed.path), expected, "{}", replayed.path.display());
        }
    }
    for name in names {
        let places = rotation.each_ref().map(|replayed| &replayed.functions[..]);
        let reached = layout::phases_reached(name, &places).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(reached.note, None, "{name}: {reached:?}");
        assert_eq!(reached.offsets.len(), PHASES.len(), "{name}: {reached:?}");
    }
    let orders: BTreeSet<Vec<String>> =
        (1..=4).map(|shuffle| order(&replay(shuffle, 0).functions, names)).collect();
    let can_shuffle = !rotation[0].limits.iter().any(|limit| limit.what.contains("cannot be shuffled"));
    assert_eq!(orders.len() > 1, can_shuffle && names.len() > 1, "{orders:?}");
    rotation[0].limits.iter().map(ToString::to_string).collect()
}

/// One placement.
pub fn placed(project: &Project, link: &CapturedLink, shuffle: u64, phase_bytes: u32) -> Replayed {
    let placed = link.replay(Link::Placed { shuffle, phase_bytes }, &project.replays());
    placed.unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a tool is on PATH; if not, that is reported.
pub fn has(name: &str) -> bool {
    path_of(name).is_some()
}

/// Where a tool is on PATH; if it is not, that is reported.
pub fn path_of(name: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: no {name} on PATH");
    }
    found
}

/// A repeated link gives the code that the build left.
pub fn assert_repeats(project: &Project, link: &CapturedLink) {
    let repeated = link.is_reproducible(&project.replays()).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(repeated, Repeated::Exactly | Repeated::SameCode { stripped: false }), "{repeated:?}");
}

fn order(functions: &[layout::FunctionPlace], names: &[&str]) -> Vec<String> {
    let known = functions.iter().filter(|function| names.contains(&function.name.as_str()));
    known.map(|function| function.name.clone()).collect()
}
