//! Running somebody's build command so that its links are captured.

use super::call::{CaptureSession, LinkerCall};
use super::failure::{self, BuildError, FailedBuild, NothingCaptured};
use super::link::CapturedLink;
use super::linkers::{LINKERS, link_anew};
use super::{
    LINKERS_VARIABLE, VARIABLE, WRAPPER_VARIABLE, assembler, clang, copies, runner, rust, sections, zig,
};
use crate::build::unresolved::{self, LinkOf};
use assay_linux::tied::with_the_lab;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

/// How often the log's last line is told.
const TELLING: Duration = Duration::from_secs(1);

/// Which texts of a build's objects are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextsAsked {
    /// None.
    #[default]
    None,
    /// Those that can be had without a change to what is built: what gcc has assembled, and how clang is asked.
    Unchanged,
    /// All: clang has its texts assembled, too, which may be other code than its own assembler makes.
    Assembled,
}

/// A build to run.
#[derive(Clone, Debug)]
pub struct BuildAsked {
    /// The command, for `sh -c`.
    pub command: String,
    /// Where it runs. What lies in it is kept with the links.
    pub folder: PathBuf,
    /// Where captured inputs, logs and orders are kept. It must outlive the links, and should stay the same from build to
    /// build.
    pub store: PathBuf,
    /// Variables that are set for it besides this process's own.
    pub environment: Vec<(String, String)>,
    /// Each function of C and C++ gets a section of its own, without which those of an object cannot be moved apart.
    pub sections: bool,
    /// Which texts of its objects are kept, so that links can be made again with records.
    pub texts: TextsAsked,
    /// The program `assay`, which stands in for linkers.
    pub assay: PathBuf,
}

impl BuildAsked {
    /// A build as it is, without further variables, with this process's own program as the stand-in.
    ///
    /// # Errors
    /// The program's path cannot be found out; a folder's path is not UTF-8, as the words of a link must be.
    pub fn new(command: &str, folder: &Path, store: &Path) -> io::Result<Self> {
        for path in [folder, store] {
            let path = std::path::absolute(path)?;
            if path.to_str().is_none() {
                return Err(io::Error::other(format!(
                    "{} is not UTF-8, and only builds below paths in UTF-8 can be linked again. Rename the folder; if only \
                     the store lies there, give --store DIR",
                    path.display()
                )));
            }
        }
        Ok(Self {
            command: command.to_owned(),
            folder: folder.to_owned(),
            store: store.to_owned(),
            environment: Vec::new(),
            sections: false,
            texts: TextsAsked::None,
            assay: std::env::current_exe()?,
        })
    }
}

/// What a build gave.
#[derive(Debug)]
pub struct CapturedBuild {
    /// The links whose outputs are still there, in the order in which they were made; the last one of each output.
    pub links: Vec<CapturedLink>,
    /// When the command was started, ns since 1970.
    pub begun: i64,
    /// How long the command ran.
    pub elapsed: Duration,
    /// All that it wrote.
    pub log: PathBuf,
    /// What could not be captured, and why.
    pub warnings: Vec<String>,
    /// The folder of the stand-in for assemblers.
    pub assemblers: PathBuf,
    /// What the build saw of us. A benchmark command must see the same: cargo builds anew what read a variable that has
    /// changed since, as a build script that looks for a compiler reads `PATH` and `COMPILER_PATH`.
    pub environment: Vec<(String, String)>,
}

/// Runs the command to its end and gathers its links. `said` is told the log's last line now and then.
///
/// # Errors
/// The command fails, or none of its links could be captured; the store cannot be written.
pub fn build(asked: &BuildAsked, said: &dyn Fn(&str)) -> Result<CapturedBuild, BuildError> {
    let site = BuildFolders::prepare(asked)?;
    let begun = Instant::now();
    let status = site.run(asked, said)?;
    let elapsed = begun.elapsed();
    if !status.success() {
        return Err(site.failed(asked, status));
    }
    let mut gathered = site.gather()?;
    if gathered.links.is_empty() {
        return Err(BuildError::NothingCaptured(Box::new(NothingCaptured {
            command: asked.command.clone(),
            log: site.log,
            linkers: site.linkers,
            missed: gathered.missed,
            gone: gathered.gone,
            unknown: gathered.unknown,
        })));
    }
    if let Err(error) = clang::keep(&site.clang_log(), &site.store.join("kept"), &gathered.links) {
        gathered.missed.push(format!("the calls of clang were not kept: {error}"));
    }
    let warnings = gathered.warnings();
    let environment = site.environment(asked);
    Ok(CapturedBuild {
        links: gathered.links,
        begun: gathered.begun,
        elapsed,
        log: site.log,
        assemblers: site.assemblers,
        warnings,
        environment,
    })
}

/// The folders of one build.
struct BuildFolders {
    folder: PathBuf,
    store: PathBuf,
    linkers: PathBuf,
    compilers: PathBuf,
    assemblers: PathBuf,
    /// Ahead in PATH: only what PATH has too, so that no build finds a tool that is not there.
    path: PathBuf,
    calls: PathBuf,
    log: PathBuf,
}

struct Gathered {
    begun: i64,
    links: Vec<CapturedLink>,
    missed: Vec<String>,
    gone: Vec<PathBuf>,
    unknown: Vec<PathBuf>,
}

impl Gathered {
    fn warnings(&self) -> Vec<String> {
        let missed = |why: &String| format!("a link of the build could not be recorded: {why}");
        let unknown = |path: &PathBuf| {
            format!(
                "{} is new, but none of the captured links made it (a linker named by path, or a tool that \
                 changed the file afterwards), so it cannot be placed",
                path.display()
            )
        };
        self.missed.iter().map(missed).chain(self.unknown.iter().map(unknown)).collect()
    }
}

fn unable(doing: String) -> impl FnOnce(io::Error) -> BuildError {
    move |error| BuildError::Unable { doing, why: error.to_string() }
}

impl BuildFolders {
    fn prepare(asked: &BuildAsked) -> Result<Self, BuildError> {
        let folder = asked.folder.canonicalize();
        let folder = folder.map_err(unable(format!("cannot enter {}", asked.folder.display())))?;
        // Replaced by a newer one while it ran, the file of this process is gone.
        let own = || {
            format!(
                "cannot find assay's own program {}, which was replaced or removed",
                asked.assay.display()
            )
        };
        let assay = asked.assay.canonicalize().map_err(unable(own()))?;
        let doing = || format!("cannot prepare the store {}", asked.store.display());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let make = || {
            fs::create_dir_all(&asked.store)?;
            let store = asked.store.canonicalize()?;
            let own = store.join("builds").join(format!("{now}-{}", std::process::id()));
            let site = Self {
                folder: folder.clone(),
                linkers: store.join("linkers"),
                compilers: store.join("compilers"),
                assemblers: store.join("assemblers"),
                path: store.join("path"),
                calls: own.join("calls"),
                log: own.join("log"),
                store,
            };
            fs::create_dir_all(&site.calls)?;
            site.link_stand_ins(&assay, &asked.value("PATH").unwrap_or_default())?;
            let begun = i64::try_from(now).map_err(io::Error::other)?;
            CaptureSession { folder, begun, kept: site.store.join("kept") }.write(&site.calls)?;
            Ok(site)
        };
        make().map_err(unable(doing()))
    }

    /// Under each linker's and compiler's name a link to `assay`, written anew where it leads elsewhere.
    fn link_stand_ins(&self, assay: &Path, search: &OsStr) -> io::Result<()> {
        let on_path = |name: &&&str| std::env::split_paths(search).any(|folder| folder.join(name).is_file());
        let all = LINKERS.iter().chain(&[rust::WRAPPER]).map(|name| self.linkers.join(name));
        let found = LINKERS.iter().chain(&[zig::NAME]).filter(on_path).chain(&[runner::NAME]);
        let found = found.map(|name| self.path.join(name));
        let compilers = sections::COMPILERS.iter().map(|name| self.compilers.join(name));
        for folder in [&self.linkers, &self.compilers, &self.assemblers, &self.path] {
            fs::create_dir_all(folder)?;
        }
        let assembler = self.assemblers.join(assembler::NAME);
        for place in all.chain(found).chain(compilers).chain([assembler]) {
            if fs::read_link(&place).ok().as_deref() != Some(assay) {
                link_anew(assay, &place)?;
            }
        }
        Ok(())
    }

    fn run(&self, asked: &BuildAsked, said: &dyn Fn(&str)) -> Result<ExitStatus, BuildError> {
        let start = || {
            let log = File::create(&self.log)?;
            let mut command = Command::new("sh");
            with_the_lab(&mut command)
                .args(["-c", &replacing_shell(&asked.command, &asked.value("PATH").unwrap_or_default())])
                .current_dir(&self.folder)
                .envs(asked.environment.iter().map(|(name, value)| (name, value)))
                .envs(self.variables(asked))
                .env(VARIABLE, &self.calls)
                .stdin(Stdio::null())
                .stderr(log.try_clone()?)
                .stdout(log)
                .spawn()
        };
        let mut child = start().map_err(unable(format!("cannot start `{}`", asked.command)))?;
        let (ended, wait) = mpsc::channel();
        // Waiting is another thread's work, so that the end is known at once.
        std::thread::spawn(move || ended.send(child.wait()));
        let mut told = String::new();
        loop {
            match wait.recv_timeout(TELLING) {
                Ok(status) => return status.map_err(unable("cannot wait for the build".into())),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let line = self.last_line();
                    if !line.is_empty() && line != told {
                        said(&line);
                        told = line;
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
            }
        }
    }

    /// What leads a build to us; only [`VARIABLE`] makes it be recorded.
    fn variables(&self, asked: &BuildAsked) -> Vec<(String, OsString)> {
        let mut all: Vec<(String, OsString)> = vec![
            ("COMPILER_PATH".into(), ahead(&self.linkers, asked.value("COMPILER_PATH"))),
            ("PATH".into(), ahead(&self.path, asked.value("PATH"))),
            (LINKERS_VARIABLE.into(), self.linkers.clone().into()),
            ("RUSTC_WRAPPER".into(), self.linkers.join(rust::WRAPPER).into()),
            (WRAPPER_VARIABLE.into(), asked.value("RUSTC_WRAPPER").unwrap_or_default()),
        ];
        if asked.sections {
            all[0].1 = ahead(&self.compilers, Some(all[0].1.clone()));
            all.extend(sections::variables(&|name| asked.value(name)));
        }
        if asked.texts != TextsAsked::None {
            all[0].1 = ahead(&self.assemblers, Some(all[0].1.clone()));
            // What a cache of compilations hands out was assembled elsewhere.
            all.push(("CCACHE_DISABLE".into(), "1".into()));
            all.extend(match asked.texts {
                TextsAsked::Assembled => assembler::variables(&|name| asked.value(name)),
                _ => clang::variables(&self.clang_log(), &|name| asked.value(name)),
            });
        }
        all.extend(runner::variables(&self.folder, |name| asked.value(name)));
        all
    }

    /// The same for whoever runs what was built, as far as it is text.
    fn environment(&self, asked: &BuildAsked) -> Vec<(String, String)> {
        let text = self.variables(asked).into_iter();
        text.filter_map(|(name, value)| Some((name, value.into_string().ok()?))).collect()
    }

    /// What clang says of the commands that it executes.
    fn clang_log(&self) -> PathBuf {
        self.calls.join("clang")
    }

    fn last_line(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(1000)..])
            .lines()
            .last()
            .unwrap_or("")
            .trim()
            .to_owned()
    }

    fn failed(self, asked: &BuildAsked, status: ExitStatus) -> BuildError {
        let log = String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned();
        let link = if log.contains("error: linking with `") { LinkOf::Cargo } else { LinkOf::Build };
        let ended = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "it ended in an unknown way".into(),
        };
        BuildError::Failed(Box::new(FailedBuild {
            command: asked.command.clone(),
            folder: self.folder.clone(),
            code: status.code(),
            ended,
            symbol: unresolved::told(&log, &self.objects_of_the_failed_link(), link),
            tail: failure::telling_lines(&log),
            log: self.log,
        }))
    }

    /// What the build itself gave to its last link that made nothing, in the copies that were kept.
    fn objects_of_the_failed_link(&self) -> Vec<PathBuf> {
        let calls = LinkerCall::read_all(&self.calls).unwrap_or_default();
        let is_it = |call: &&LinkerCall| {
            !call.inputs.is_empty() && !call.is_made() && !copies::is_probe(&call.output())
        };
        let failed = calls.iter().rev().find(is_it);
        let kept = failed.iter().flat_map(|call| &call.inputs).filter_map(|input| input.kept.clone());
        kept.filter(|file| file.extension().is_some_and(|ending| ending == "o" || ending == "a")).collect()
    }

    /// The links whose outputs are there, under whatever name.
    fn gather(&self) -> Result<Gathered, BuildError> {
        let reading = || unable(format!("cannot read the calls in {}", self.calls.display()));
        let calls = LinkerCall::read_all(&self.calls).map_err(reading())?;
        let session = CaptureSession::read(&self.calls).map_err(reading())?;
        let mut last: BTreeMap<PathBuf, LinkerCall> = BTreeMap::new();
        // Without inputs a linker was only asked for its version.
        for call in calls.into_iter().filter(|call| !call.parts().relocatable && !call.inputs.is_empty()) {
            let output = call.output();
            if !copies::is_probe(&output) {
                last.insert(output, call);
            }
        }
        let (there, mut gone): (Vec<LinkerCall>, Vec<LinkerCall>) =
            last.into_values().partition(|call| call.is_made());
        gone.sort_by_key(|call| call.at);
        let outputs: Vec<PathBuf> = gone.iter().map(LinkerCall::output).collect();
        let mut links: Vec<CapturedLink> =
            there.into_iter().filter_map(|call| CapturedLink::of(call, &self.store)).collect();
        let matched = copies::find(&self.folder, session.begun, &mut links, gone, &self.store);
        links.extend(matched.moved);
        links.sort_by_key(CapturedLink::made_at);
        Ok(Gathered {
            begun: session.begun,
            links,
            missed: self.missed(),
            gone: outputs,
            unknown: matched.unknown,
        })
    }

    fn missed(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.calls).into_iter().flatten().flatten().map(|entry| entry.path());
        let told = entries.filter(|path| path.extension().is_some_and(|extension| extension == "missed"));
        told.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }
}

impl BuildAsked {
    /// A variable as the build would see it.
    fn value(&self, name: &str) -> Option<OsString> {
        let asked = self.environment.iter().rfind(|(own, _)| own == name);
        asked.map(|(_, value)| value.into()).or_else(|| std::env::var_os(name))
    }
}

/// The command for `sh -c`, put in the shell's own place where it is one program with plain words: if the lab is killed, this
/// program is, too, which one started by the shell would not be.
fn replacing_shell(command: &str, search: &OsStr) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ./_-+,:%@=".contains(c);
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_program = !program.contains(['=', '/'])
        && std::env::split_paths(search).any(|folder| folder.join(program).is_file());
    if is_program && command.chars().all(is_plain) { format!("exec {command}") } else { command.to_owned() }
}

/// A list of folders with ours in front.
fn ahead(own: &Path, list: Option<OsString>) -> OsString {
    let mut text = own.as_os_str().to_owned();
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        text.push(":");
        text.push(list);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_takes_the_shells_place_and_all_else_is_left_to_the_shell() {
        let folder = std::env::temp_dir().join(format!("assay-shell-{}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        fs::write(folder.join("make"), "").expect("a file");
        let told = |command: &str| replacing_shell(command, folder.as_os_str());
        assert_eq!(told("make -j 4 CC=gcc-12 all"), "exec make -j 4 CC=gcc-12 all");
        for command in [
            "make; touch x",
            "cd sub && make",
            "make 'a b'",
            "CC=gcc make",
            "exit 1",
            "./make",
            "make > log",
            "",
        ] {
            assert_eq!(told(command), command);
        }
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
