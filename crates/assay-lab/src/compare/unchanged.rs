//! Which benchmarks execute nothing that differs between the two builds?
//!
//! Method: in each side's tree lies a copy of its programs in which all that the other build does not have, too, kills the process
//! ([`tripwire`](mod@tripwire)). The command is executed once as a whole; where it ends well and gives all figures, nothing that
//! differs was executed by any benchmark. Else each benchmark is executed alone, where its library can be asked for one. Files of
//! the repository that differ must not have been opened either: they may be data; nor programs in the tree without a wire.
//! Limits: data that the build made are not compared.
//! Checked by: tests/compare.rs, on a suite of which one function changed.

use super::bench::SidePlayer;
use super::code::BinaryPair;
use super::places::Binaries;
use super::select::{only_these, own_name};
use super::tree::files;
use crate::lead::git::{bytes, git, path};
use anyhow::Result;
use assay_link::adopt::bench::{self, Adapter, BenchCommand, Surroundings};
use assay_pure::compare::VisitPlacement;
use assay_pure::event::Event;
use assay_pure::placement::tripwire::tripwire;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Share of the budget that benchmarks executed alone may take: all of them together run twice, where measuring runs them 34 times.
const SHARE: f64 = 0.3;

/// As the first runs are.
pub(super) const PLAIN: Surroundings = Surroundings { environment_bytes: 0, stack_bytes: 0, aslr: true };

/// What is known ahead of the runs.
pub struct UnchangedAsked<'a> {
    /// The binaries of both sides.
    pub pairs: &'a [BinaryPair],
    /// The commits of both sides.
    pub commits: [&'a str; 2],
    /// What the command gives figures of on either side.
    pub names: [&'a [String]; 2],
    /// Seconds of measuring.
    pub budget: f64,
    /// What libraries write.
    pub scratch: &'a Path,
}

/// The benchmarks that execute nothing which differs; the programs are what they were before.
///
/// # Errors
/// A binary cannot be put in its place.
pub fn unchanged(
    asked: &UnchangedAsked<'_>,
    players: &mut [SidePlayer],
    on: &mut dyn FnMut(Event),
) -> Result<BTreeSet<String>> {
    let found = wired(asked, players)?.map(|commands| survivors(asked, &commands, on)).unwrap_or_default();
    // Also where only one side could be wired.
    for binaries in players.iter_mut().filter_map(|player| player.binaries.as_mut()) {
        binaries.install(VisitPlacement::AsBuilt)?;
    }
    Ok(found)
}

/// All benchmarks that both sides have where the whole command survives, else those that survive alone.
fn survivors(
    asked: &UnchangedAsked<'_>,
    commands: &[BenchCommand; 2],
    on: &mut dyn FnMut(Event),
) -> BTreeSet<String> {
    let all = asked.names.map(|names| names.iter().map(String::as_str).collect::<BTreeSet<&str>>());
    let survives = |commands: &[BenchCommand; 2], names: [&BTreeSet<&str>; 2]| {
        commands.iter().zip(names).all(|(command, names)| gives(command, names, asked.scratch))
    };
    let common: Vec<&str> = all[0].intersection(&all[1]).copied().collect();
    if survives(commands, [&all[0], &all[1]]) {
        return common.into_iter().map(str::to_owned).collect();
    }
    let (begun, patience) = (Instant::now(), Duration::from_secs_f64(asked.budget * SHARE));
    let total = common.len() as u64;
    let mut found = BTreeSet::new();
    for (name, done) in common.into_iter().zip(1..) {
        let alone = [&commands[0], &commands[1]].map(|command| only_these(command, &[name]));
        let [Some(old), Some(new)] = alone else { break };
        if assay_linux::interrupt::asked() || begun.elapsed() > patience {
            break;
        }
        let own = if commands[0].adapter == Adapter::GoogleBenchmark { own_name(name) } else { name };
        let one = BTreeSet::from([own]);
        // Another benchmark may have the name that is left without the program's.
        let is_another = own != name && all.iter().any(|all| all.contains(own));
        if !is_another && survives(&[old, new], [&one, &one]) {
            found.insert(name.to_owned());
        }
        on(Event::Counted { done, total });
    }
    found
}

/// Both commands with programs that have a wire in their place; none where there are no such programs.
fn wired(asked: &UnchangedAsked<'_>, players: &mut [SidePlayer]) -> Result<Option<[BenchCommand; 2]>> {
    let [old, new] = players else { return Ok(None) };
    let Some(differing) = differing(asked.commits, &new.bench.folder)? else { return Ok(None) };
    let mut commands = Vec::new();
    for (player, side) in [old, new].into_iter().zip(0..) {
        let Some(binaries) = &mut player.binaries else { return Ok(None) };
        let Some(contents) = wire(asked.pairs, side, binaries) else { return Ok(None) };
        binaries.install_changed(&contents)?;
        let root = path(git(&player.bench.folder).args(["rev-parse", "--show-toplevel"]))?;
        let Ok(root) = root else { return Ok(None) };
        // cargo reads its own at every start.
        let of_cargo = |file: &&PathBuf| {
            file.file_name().is_some_and(|name| name == "Cargo.toml" || name == "Cargo.lock")
        };
        let read = differing.iter().filter(|file| !of_cargo(file));
        let files = read.map(|file| root.join(file)).filter(|file| file.exists());
        let watched = files.chain(other_programs(&root, binaries)).collect();
        commands.push(BenchCommand { watched, ..player.bench.clone() });
    }
    Ok(commands.try_into().ok())
}

/// The contents of a side's programs with a wire; none where one cannot be read.
fn wire(pairs: &[BinaryPair], side: usize, binaries: &Binaries) -> Option<Vec<Vec<u8>>> {
    let wired = binaries.own().map(|(paths, file)| {
        let pair = pairs.iter().find(|pair| pair.paths[side] == paths)?;
        tripwire(&std::fs::read(file).ok()?, &pair.untouched(side)).ok()
    });
    wired.collect()
}

/// Whether an execution ends well, gives figures of exactly these benchmarks, executed no watched program and opened no other
/// watched file: cargo opens programs to see whether they are one file, and who maps data only opens them.
fn gives(command: &BenchCommand, names: &BTreeSet<&str>, scratch: &Path) -> bool {
    bench::visit(command, &PLAIN, scratch).is_ok_and(|ran| {
        let given: BTreeSet<&str> = ran.figures.iter().map(|figure| figure.name.as_str()).collect();
        ran.opened.is_empty() && ran.touched.iter().all(|file| is_program(file)) && given == *names
    })
}

/// The command of each side without what is known already, and how long it takes; none where not all that is left can be asked
/// for, and nothing else.
pub fn without(
    unchanged: &BTreeSet<String>,
    names: [&[String]; 2],
    players: &[SidePlayer],
    scratch: &Path,
) -> Option<(Vec<BenchCommand>, Duration)> {
    let (mut commands, mut longest) = (Vec::new(), Duration::ZERO);
    for (player, names) in players.iter().zip(names) {
        let open: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !unchanged.contains(*name)).collect();
        if open.is_empty() || open.len() == names.len() {
            return None;
        }
        let command = only_these(&player.bench, &open)?;
        let ran = bench::visit(&command, &PLAIN, scratch).ok()?;
        let given: BTreeSet<&str> = ran.figures.iter().map(|figure| figure.name.as_str()).collect();
        if given != open.into_iter().collect() {
            return None;
        }
        longest = longest.max(ran.elapsed);
        commands.push(command);
    }
    Some((commands, longest))
}

/// Tracked files that differ between two commits, from the root of the tree; none where git cannot tell, or where a whole folder
/// differs.
pub(super) fn differing(commits: [&str; 2], folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let [old, new] = commits;
    let listed = bytes(git(folder).args(["diff", "--raw", "-z", "--no-renames", "--no-abbrev", old, new]))?;
    let Ok(listed) = listed else { return Ok(None) };
    let mut words = listed.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let mut files = Vec::new();
    while let (Some(change), Some(file)) = (words.next(), words.next()) {
        let submodule = change.windows(GITLINK.len()).any(|mode| mode == GITLINK);
        if submodule {
            return Ok(None);
        }
        files.push(PathBuf::from(OsStr::from_bytes(file)));
    }
    Ok(Some(files))
}

/// Programs and libraries in a tree that no wire was laid in: copies that a build stripped, what another toolchain linked. Whoever
/// executes one may execute code that differs.
fn other_programs(root: &Path, binaries: &Binaries) -> Vec<PathBuf> {
    let wired: BTreeSet<&Path> = binaries.files().collect();
    files(root).into_iter().filter(|file| !wired.contains(file.as_path()) && is_program(file)).collect()
}

/// Whether it is an ELF file that can be executed or loaded: of type `ET_EXEC` or `ET_DYN`.
pub(super) fn is_program(path: &Path) -> bool {
    let mut head = [0; 18];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"\x7fELF") && matches!(u16::from_le_bytes([head[16], head[17]]), 2 | 3)
}

/// The mode by which git lists a submodule.
const GITLINK: &[u8] = b"160000 ";
