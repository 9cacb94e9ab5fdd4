//! Which benchmarks execute nothing that differs between the two builds?
//!
//! Method: in each side's tree lies a copy of its programs in which all that the other build does not have, too, kills the process
//! ([`tripwire`](mod@tripwire)). The command is executed once as a whole; where it ends well and gives all figures, nothing that
//! differs was executed by any benchmark. Else each benchmark is executed alone, where its library can be asked for one. Files of
//! the repository that differ must not have been opened either: they may be data; nor programs in the tree without a wire.
//! Limits: data that the build made are not compared.
//! Checked by: tests/compare.rs, on a suite of which one function changed.

use super::alike::files;
use super::bench::SidePlayer;
use super::code::BinaryPair;
use super::executed::{escaped, only};
use super::places::Binaries;
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
        let files = differing.iter().map(|file| root.join(file)).filter(|file| file.exists());
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

/// The command for these benchmarks only, where its library can be asked for some by name.
///
/// Google Benchmark takes an expression from the environment. criterion, divan and libtest take arguments, which are written at
/// the end of a plain command; whether they understood them is seen by the names that they report.
fn only_these(command: &BenchCommand, names: &[&str]) -> Option<BenchCommand> {
    let all = |of: &dyn Fn(&str) -> String| names.iter().map(|name| of(name)).collect::<Vec<_>>().join("|");
    let filter = match command.adapter {
        Adapter::GoogleBenchmark => all(&|name| only(own_name(name))),
        Adapter::Criterion => all(&only),
        // The program is no part of the name that its filter sees; what stands between the others depends on the version.
        Adapter::Divan => all(&|name| {
            name.split('/').skip(1).map(escaped).collect::<Vec<_>>().join("(::|/| )(.*::)?") + "$"
        }),
        Adapter::Libtest => String::new(),
        _ => return None,
    };
    let arguments = if command.adapter == Adapter::Libtest {
        [&["--exact"], names].concat()
    } else {
        vec![filter.as_str()]
    };
    if arguments.iter().map(|word| word.len()).sum::<usize>() > LONGEST {
        return None;
    }
    if command.adapter == Adapter::GoogleBenchmark {
        return Some(BenchCommand { filter: Some(filter), ..command.clone() });
    }
    let words = with_arguments(&command.command, &arguments)?;
    Some(BenchCommand { command: words, ..command.clone() })
}

/// A plain command with more arguments for the benchmark program; none where the shell would do something else with them.
fn with_arguments(command: &str, arguments: &[&str]) -> Option<String> {
    if command.contains(['|', '&', ';', '<', '>', '(', ')', '`', '#', '\n']) {
        return None;
    }
    let has = |wanted: &str| command.split_whitespace().any(|word| word == wanted);
    let mut words = command.to_owned();
    if has("cargo") && !has("--") {
        words += " --";
    }
    for argument in arguments {
        words += &format!(" '{}'", argument.replace('\'', r"'\''"));
    }
    Some(words)
}

/// What a benchmark is called inside its program: names of several programs begin with the program's.
fn own_name(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, own)| own)
}

/// Bytes of one argument or variable that every kernel takes, with room to spare.
const LONGEST: usize = 100_000;

/// Tracked files that differ between two commits, from the root of the tree; none where git cannot tell, or where a whole folder
/// differs. cargo's own are left out: it reads them at every start.
fn differing(commits: [&str; 2], folder: &Path) -> Result<Option<Vec<PathBuf>>> {
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
        let file = PathBuf::from(OsStr::from_bytes(file));
        let of_cargo = file.file_name().is_some_and(|name| name == "Cargo.toml" || name == "Cargo.lock");
        files.extend((!of_cargo).then_some(file));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(adapter: Adapter, command: &str, names: &[&str]) -> Option<(String, Option<String>)> {
        let command = BenchCommand { adapter, ..BenchCommand::new(command, Path::new("/")) };
        only_these(&command, names).map(|found| (found.command, found.filter))
    }

    #[test]
    fn each_library_is_asked_in_its_own_way() {
        let google = asked(Adapter::GoogleBenchmark, "make bench", &["suite: BM<int>/8", "b"]);
        assert_eq!(google, Some(("make bench".into(), Some("^BM<int>/8$|^b$".into()))));
        let criterion = |command| asked(Adapter::Criterion, command, &["group/it's"]).map(|found| found.0);
        assert_eq!(
            criterion("cargo bench --bench b").as_deref(),
            Some(r"cargo bench --bench b -- '^group/it'\''s$'")
        );
        assert_eq!(
            criterion("cargo bench -- --noplot").as_deref(),
            Some(r"cargo bench -- --noplot '^group/it'\''s$'")
        );
        assert_eq!(criterion("./b --bench").as_deref(), Some(r"./b --bench '^group/it'\''s$'"));
        for script in ["cargo bench | tee log", "cargo bench; true", "(cargo bench)", "cargo bench > log"] {
            assert_eq!(criterion(script), None, "{script}");
        }
        assert_eq!(asked(Adapter::Nanobench, "./b", &["a"]), None);
        let divan = asked(Adapter::Divan, "./b", &["program/group/of 8"]).unwrap().0;
        assert_eq!(divan, "./b 'group(::|/| )(.*::)?of 8$'");
        let libtest = asked(Adapter::Libtest, "cargo bench", &["a::b", "c"]).unwrap().0;
        assert_eq!(libtest, "cargo bench -- '--exact' 'a::b' 'c'");
    }
}
