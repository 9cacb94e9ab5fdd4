//! A program in Zig: from files by `zig build-obj`, or by `zig build`.
//!
//! Each file becomes an object with a section for each function, assay.h another one; zig links them once and tells how
//! (`--verbose-link`). That link is made again with zig's own lld (`zig ld.lld`) under the eyes of `adopt::capture`, so a placement
//! is one call of a linker. How each object was compiled is kept for its text, so that it can have records. No compiler but zig is
//! needed. `zig build` tells its links in the same way; those of what is up to date are remembered beside its cache.
//! Limits: zig tells words without quotes, so a path with a blank is put together again by looking for it; zig's own linker, which
//! Debug takes unless it is told otherwise, gives functions no order and is refused by name. Tried with zig 0.15.2, 0.16.0 and
//! 0.17.1.

use super::own::{OwnAsked, OwnOrder, Wanted};
use crate::adopt::capture::ZigCall;
use crate::build::text::{command_line, quote};
use crate::build::{self, BuildFailure, Stage, command, in_pairs};
use assay_pure::inputs::{digest, short_digest};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a Zig benchmark is written with: a package for a `build.zig`.
pub const HARNESS: &[(&str, &str)] = &[
    ("assay.zig", include_str!("../../../../harness/zig/assay.zig")),
    ("assay.c", include_str!("../../../../harness/zig/assay.c")),
    ("assay.h", build::HARNESS),
    ("build.zig", include_str!("../../../../harness/zig/build.zig")),
    ("build.zig.zon", include_str!("../../../../harness/zig/build.zig.zon")),
];
/// The root of a program that is built from a file.
const ROOT: (&str, &str) = ("root.zig", include_str!("../../../../harness/zig/root.zig"));

/// What each object is compiled with, ahead of the flags that are asked for: functions need names and sections.
const OBJECT: [&str; 5] = ["-fno-strip", "-ffunction-sections", "-fllvm", "-lc", "--verbose-link"];
/// The mode where no flag names one.
const USUAL_MODE: &str = "-OReleaseFast";
/// What a line that tells a link begins with.
const LLD: &str = "ld.lld ";
/// What `zig build` has compilers do besides: wait for further orders.
const SERVES: &str = "--listen=-";
/// How the names end of objects that zig does not have compiled by clang.
const OWN_OBJECT: &str = "_zcu.o";

/// The order of a program from files.
///
/// # Errors
/// A file does not compile, the objects do not link, or the store cannot be written.
pub fn order(asked: &OwnAsked<'_>, files: &[String]) -> Result<OwnOrder, BuildFailure> {
    let folder = canonical(asked, asked.folder)?;
    let zig = ZigCalls::new(asked, "zig", harness(asked)?, folder)?;
    let flags = with_mode(words_of(&asked.flags.flags));
    let mut objects: Vec<ObjectCall> =
        files.iter().enumerate().map(|(number, file)| zig.object(number, file, &flags)).collect();
    objects.push(zig.harness_object(&flags));
    let compiled = in_pairs(&objects.iter().collect::<Vec<_>>(), |object| zig.compile(object), &|_, _| {});
    compiled.into_iter().collect::<Result<Vec<()>, _>>()?;
    let linked = zig.link(&objects, &flags);
    let said = zig.run(Stage::Link, "link the program", &linked)?.stderr;
    let words = told_links(&said, &zig.folder).pop().ok_or_else(|| zig.untold(&said))?;
    let before = objects.into_iter().map(|object| object.words).chain([linked]);
    zig.relinked(words, before.map(|words| command_line(&words)).collect())
}

/// The order of a program of a `build.zig`.
///
/// # Errors
/// The build fails, makes no such program or does not link it with lld; the store cannot be written.
pub fn order_of_build(
    asked: &OwnAsked<'_>,
    file: &Path,
    bin: Option<&str>,
) -> Result<OwnOrder, BuildFailure> {
    let home = if file.is_dir() { file.to_owned() } else { file.parent().unwrap_or(asked.folder).to_owned() };
    let folder = canonical(asked, &home)?;
    let mut zig = ZigCalls::new(asked, "zig-build", PathBuf::new(), folder)?;
    let mut remembered = remembered(&zig.shared);
    for again in [false, true] {
        let words = zig.build_words();
        let said = zig.run(Stage::Compile, "build the program with zig", &words)?;
        let text = format!("{}\n{}", said.stderr, said.stdout);
        remembered.extend(told_links(&text, &zig.folder));
        let program = zig.installed(bin)?;
        if let Some(link) = remembered.iter().rev().find(|link| zig.makes(link, &program)).cloned() {
            remember(&zig.shared, &remembered).map_err(|error| asked.failure(error))?;
            zig.keep_told(&text, &link)?;
            return zig.relinked(link, vec![command_line(&words)]);
        }
        // What is up to date is not linked again, and nobody was told how it was: it is built once in a cache that is empty.
        // The shared one has what placements of other flags are linked from.
        let own = zig.place.join("cache");
        if again || fs::remove_dir_all(&own).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            return Err(zig.untold(&text));
        }
        zig.cache = own;
    }
    unreachable!("the second round returns")
}

/// The call that compiles one file.
struct ObjectCall {
    file: String,
    words: Vec<String>,
    object: PathBuf,
}

impl ObjectCall {
    fn new(mut words: Vec<String>, file: &str, object: PathBuf) -> ObjectCall {
        words.push(format!("-femit-bin={}", object.display()));
        ObjectCall { file: file.to_owned(), words, object }
    }
}

/// Zig, called for one program.
struct ZigCalls<'a> {
    asked: &'a OwnAsked<'a>,
    /// A folder of the store, for this program with these flags alone.
    place: PathBuf,
    /// One for this program with any flags.
    shared: PathBuf,
    /// What was compiled before. All flags share it: zig tells them apart, and for each cache it compiles what runs a build.zig,
    /// which takes ten times as long as a small program.
    cache: PathBuf,
    /// The folder of assay.zig.
    harness: PathBuf,
    /// Where zig runs.
    folder: PathBuf,
}

impl<'a> ZigCalls<'a> {
    fn new(
        asked: &'a OwnAsked<'a>,
        kind: &str,
        harness: PathBuf,
        folder: PathBuf,
    ) -> Result<Self, BuildFailure> {
        let place = asked.place(kind, &folder)?;
        let shared = asked.place_of_all_flags(kind, &folder)?;
        let cache = shared.join("cache");
        Ok(ZigCalls { asked, place, shared, cache, harness, folder })
    }

    fn words(&self, verb: &str) -> Vec<String> {
        let zig = self.asked.compiler.path.display().to_string();
        vec![zig, verb.into(), "--cache-dir".into(), self.cache.display().to_string()]
    }

    /// Compiles a file, and keeps how for its text.
    fn compile(&self, object: &ObjectCall) -> Result<(), BuildFailure> {
        let said = self.run(Stage::Compile, &format!("compile {}", object.file), &object.words)?.stderr;
        let name = object.object.file_name().filter(|_| !is_zig(&object.file));
        let by_clang = name.map(|name| name.to_string_lossy().into_owned());
        self.keep(
            ZigCall { words: object.words.clone(), folder: self.folder.clone(), by_clang, said },
            &object.object,
        )
    }

    /// Keeps how an object was compiled, for its text.
    fn keep(&self, call: ZigCall, object: &Path) -> Result<(), BuildFailure> {
        let kept = call.keep(&self.asked.links(), object);
        kept.map_err(|error| self.asked.failure(format!("{}: {error}", object.display())))
    }

    /// Keeps how the objects of a link were compiled, by the call that `zig build` tells of the program.
    fn keep_told(&self, said: &str, link: &[String]) -> Result<(), BuildFailure> {
        let name = output_of(link).and_then(|at| Path::new(&link[at]).file_name()).unwrap_or_default();
        let calls = told_compilations(said, &self.asked.compiler.path, &self.folder);
        let Some(words) = calls.into_iter().find(|words| named(words) == name.to_str()) else {
            return Ok(());
        };
        // What lies below its folder zig tells from there.
        for object in link.iter().filter(|word| word.ends_with(".o")).map(|word| self.folder.join(word)) {
            if object.starts_with(&self.cache) {
                let name = object.file_name().unwrap_or_default().to_string_lossy();
                let by_clang = (!name.ends_with(OWN_OBJECT)).then(|| name.into_owned());
                let said = String::new();
                self.keep(
                    ZigCall { words: words.clone(), folder: self.folder.clone(), by_clang, said },
                    &object,
                )?;
            }
        }
        Ok(())
    }

    /// The call that compiles a file.
    fn object(&self, number: usize, file: &str, flags: &[String]) -> ObjectCall {
        let mut words = self.words("build-obj");
        words.extend(OBJECT.map(str::to_owned));
        words.extend(flags.iter().cloned());
        words.extend(["--name".into(), format!("{number}")]);
        let of = |name: &str| self.harness.join(name).display().to_string();
        if is_zig(file) {
            words.extend(["--dep".into(), "program".into(), format!("-Mroot={}", of("root.zig"))]);
            words.extend(["--dep".into(), "assay".into(), format!("-Mprogram={file}")]);
            words.push(format!("-Massay={}", of("assay.zig")));
        } else {
            words.extend([format!("-I{}", self.asked.include.display()), file.to_owned()]);
        }
        ObjectCall::new(words, file, self.place.join(format!("{number}.o")))
    }

    /// assay.h, compiled in one way whatever is asked for, but for the machine; for the least of its processors, as the emulator
    /// does not know all instructions of the newest.
    fn harness_object(&self, flags: &[String]) -> ObjectCall {
        let mut words = self.words("build-obj");
        words.extend(OBJECT.map(str::to_owned));
        words.push(USUAL_MODE.into());
        words.extend(target(flags));
        words.push("-mcpu=baseline".into());
        words.extend(["--name".into(), "assay".into()]);
        words.push(format!("-I{}", self.asked.include.display()));
        words.push(self.harness.join("assay.c").display().to_string());
        ObjectCall::new(words, "assay.h", self.place.join("assay.o"))
    }

    fn link(&self, objects: &[ObjectCall], flags: &[String]) -> Vec<String> {
        let mut words = self.words("build-exe");
        words.extend(["-fno-strip", "-lc", "--verbose-link"].map(str::to_owned));
        words.extend(flags.iter().cloned());
        words.extend(["--name".into(), "program".into()]);
        words.push(format!("-femit-bin={}", self.place.join("linked").display()));
        words.extend(objects.iter().map(|object| object.object.display().to_string()));
        words
    }

    fn build_words(&self) -> Vec<String> {
        let mut words = self.words("build");
        words.extend(["--prefix".into(), self.place.join("out").display().to_string()]);
        words.extend(["--verbose", "--verbose-link"].map(str::to_owned));
        words.extend(build_options(&words_of(&self.asked.flags.flags)));
        words
    }

    fn run(&self, stage: Stage, doing: &str, words: &[String]) -> Result<command::Finished, BuildFailure> {
        let what = format!("{} cannot {doing}", self.asked.described());
        let pasteable = command::pasteable(&self.folder, words);
        match command::run(&self.folder, words) {
            Ok(finished) if finished.succeeded() => Ok(finished),
            Ok(finished) => Err(BuildFailure::of_command(stage, &what, pasteable, &finished)),
            Err(error) => Err(BuildFailure::not_started(stage, &what, pasteable, &error)),
        }
    }

    /// The installed program of this name, or the only one.
    fn installed(&self, bin: Option<&str>) -> Result<PathBuf, BuildFailure> {
        let folder = self.place.join("out/bin");
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let among = if names.is_empty() {
            "none: does build.zig call b.installArtifact?".into()
        } else {
            names.join(", ")
        };
        match bin {
            Some(name) if names.iter().any(|own| own == name) => Ok(folder.join(name)),
            Some(name) => Err(self
                .asked
                .failure(format!("`zig build` installs no program {name}; it installs {among}"))),
            None if names.len() == 1 => Ok(folder.join(&names[0])),
            None => Err(self.asked.failure(format!(
                "`zig build` must install one program, or bin = \"NAME\" must name one; it installs {among}"
            ))),
        }
    }

    /// Whether a link made what is installed: that is a copy.
    fn makes(&self, link: &[String], installed: &Path) -> bool {
        let made = output_of(link).map(|at| self.folder.join(&link[at]));
        let named = |file: &PathBuf| file.file_name() == installed.file_name();
        let read = |file: &Path| fs::read(file).ok();
        made.filter(named).is_some_and(|made| read(&made).is_some_and(|own| read(installed) == Some(own)))
    }

    /// The link that was told, as an order whose only command it is.
    fn relinked(&self, mut words: Vec<String>, before: Vec<String>) -> Result<OwnOrder, BuildFailure> {
        let program = self.place.join("program");
        let at = output_of(&words).ok_or_else(|| self.untold(&words.join(" ")))?;
        words[at] = program.display().to_string();
        let tools = self.place.join("tools");
        wrapper(&tools, &self.asked.compiler.path)
            .map_err(|error| self.asked.failure(format!("cannot write {}: {error}", tools.display())))?;
        let folder = quote(&self.folder.to_string_lossy()).clone();
        let list = |name: &str| match std::env::var(name) {
            Ok(own) if !own.is_empty() => format!("{}:{own}", tools.display()),
            _ => tools.display().to_string(),
        };
        Ok(OwnOrder {
            before,
            command: format!("cd {folder} && exec ld.lld {}", command_line(&words)),
            folder: self.place.clone(),
            environment: ["COMPILER_PATH", "PATH"].map(|name| (name.to_owned(), list(name))).to_vec(),
            wanted: Wanted::At(program),
        })
    }

    /// No link by lld was told.
    fn untold(&self, said: &str) -> BuildFailure {
        let own = said.lines().any(|line| line.contains("zig ld "));
        let why = if own {
            "zig links this program with its own linker, which gives functions no order. Let it take lld: \
             `.use_lld = true, .use_llvm = true` for the program in build.zig, as `assay.addTo(b, program)` does"
        } else {
            "zig does not say how it links this program, as zig 0.15 does with --verbose-link"
        };
        self.asked.failure(why)
    }
}

fn is_zig(file: &str) -> bool {
    file.ends_with(".zig")
}

fn canonical(asked: &OwnAsked<'_>, folder: &Path) -> Result<PathBuf, BuildFailure> {
    folder
        .canonicalize()
        .map_err(|error| asked.failure(format!("cannot enter {}: {error}", folder.display())))
}

/// Writes our sources to a folder of the store, one for each version of them.
fn harness(asked: &OwnAsked<'_>) -> Result<PathBuf, BuildFailure> {
    let files = || HARNESS.iter().chain([&ROOT]);
    let all: String = files().flat_map(|(name, text)| [*name, "\0", *text, "\0"]).collect();
    let folder = asked.store.join("zig").join(format!("harness-{}", short_digest(&digest(all.as_bytes()))));
    let write = || {
        fs::create_dir_all(&folder)?;
        for (name, text) in files() {
            put(&folder.join(name), text)?;
        }
        folder.canonicalize()
    };
    write().map_err(|error: io::Error| asked.failure(format!("cannot write {}: {error}", folder.display())))
}

/// Writes a file in one step, unless it is there with this text.
fn put(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    let beside = path.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

/// A program `ld.lld` that is zig's.
fn wrapper(tools: &Path, zig: &Path) -> io::Result<()> {
    fs::create_dir_all(tools)?;
    let place = tools.join("ld.lld");
    put(&place, &format!("#!/bin/sh\nexec {} ld.lld \"$@\"\n", quote(&zig.to_string_lossy())))?;
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755))
}

/// Flags as words: a flag may hold several.
fn words_of(flags: &[String]) -> Vec<String> {
    flags.iter().flat_map(|flag| flag.split_whitespace()).map(str::to_owned).collect()
}

fn with_mode(mut flags: Vec<String>) -> Vec<String> {
    if !flags.iter().any(|flag| flag.starts_with("-O")) {
        flags.insert(0, USUAL_MODE.into());
    }
    flags
}

/// The flags that say for which machine, which all objects of a program share.
fn target(flags: &[String]) -> Vec<String> {
    let at = flags.iter().rposition(|flag| flag == "-target");
    at.and_then(|at| flags.get(at..at + 2)).unwrap_or_default().to_vec()
}

/// Flags as `zig build` has them: mode and processor are options of the project; without a mode it is asked for a fast release,
/// which also projects take that declare no such option.
fn build_options(flags: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let mut value = |short: &str| match flag.strip_prefix(short)? {
            "" => rest.next().cloned(),
            value => Some(value.trim_start_matches('=').to_owned()),
        };
        words.push(if let Some(mode) = value("-O") {
            format!("-Doptimize={mode}")
        } else if let Some(cpu) = value("-mcpu") {
            format!("-Dcpu={cpu}")
        } else if let Some(target) = value("-target") {
            format!("-Dtarget={target}")
        } else {
            flag.clone()
        });
    }
    if !words.iter().any(|word| word.starts_with("-Doptimize") || word.starts_with("--release")) {
        words.push("--release=fast".into());
    }
    words
}

/// The calls that compile a program which `zig build` tells, as their words. What zig calls itself there need not be how it was
/// called.
fn told_compilations(said: &str, zig: &Path, folder: &Path) -> Vec<Vec<String>> {
    let zig = zig.display().to_string();
    let told = said
        .lines()
        .filter_map(|line| line.split_once(" build-exe "))
        .filter(|(own, _)| own.starts_with('/'));
    told.map(|(_, words)| {
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty() && *word != SERVES).collect();
        [&[zig.clone(), "build-exe".to_owned()], &*whole_paths(&words, folder)].concat()
    })
    .collect()
}

/// What a call says that its program is called.
fn named(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word == "--name")?;
    words.get(at + 1).map(String::as_str)
}

/// The links by lld that zig tells, as their words, which follow `ld.lld`.
fn told_links(said: &str, folder: &Path) -> Vec<Vec<String>> {
    let told = said.lines().filter_map(|line| {
        let at = line.find(LLD).filter(|&at| at == 0 || line[..at].ends_with(' '))?;
        let words: Vec<&str> = line[at + LLD.len()..].split(' ').filter(|word| !word.is_empty()).collect();
        Some(whole_paths(&words, folder))
    });
    told.filter(|words| output_of(words).is_some()).collect()
}

/// Puts together paths that blanks have torn apart: a beginning that is no file and whose continuation is one.
fn whole_paths(words: &[&str], folder: &Path) -> Vec<String> {
    let is_there = |path: &str| folder.join(path).exists();
    let mut whole = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let longer = (at + 1..words.len().min(at + 9)).map(|end| (end + 1, words[at..=end].join(" ")));
        let torn = words[at].starts_with('/') && !is_there(words[at]);
        match torn.then(|| longer.into_iter().find(|(_, path)| is_there(path))).flatten() {
            Some((next, path)) => {
                whole.push(path);
                at = next;
            }
            None => {
                whole.push(words[at].to_owned());
                at += 1;
            }
        }
    }
    whole
}

/// Which word names what a link makes.
fn output_of(link: &[String]) -> Option<usize> {
    link.iter().position(|word| word == "-o").map(|at| at + 1).filter(|&at| at < link.len())
}

/// The links of earlier builds in this place.
fn remembered(place: &Path) -> Vec<Vec<String>> {
    let kept = fs::read(place.join("links.json")).ok();
    kept.and_then(|kept| serde_json::from_slice(&kept).ok()).unwrap_or_default()
}

/// Keeps those whose outputs are there.
fn remember(place: &Path, links: &[Vec<String>]) -> io::Result<()> {
    // Another lab may have kept its own meanwhile.
    let before = remembered(place);
    let mut kept: Vec<&Vec<String>> = Vec::new();
    for link in before.iter().chain(links).filter(|link| !link.is_empty()) {
        if !kept.contains(&link) {
            kept.push(link);
        }
    }
    // Links of builds long past lead to nothing that is still cached.
    let from = kept.len().saturating_sub(100);
    put(&place.join("links.json"), &serde_json::to_string(&kept[from..])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_file_is_compiled_in_the_mode_that_is_asked_for_or_as_a_fast_release() {
        assert_eq!(with_mode(split("-mcpu=native")), split("-OReleaseFast -mcpu=native"));
        assert_eq!(with_mode(split("-O ReleaseSafe")), split("-O ReleaseSafe"));
        assert_eq!(
            target(&split("-OReleaseSafe -target x86_64-linux-musl -lm")),
            split("-target x86_64-linux-musl")
        );
        assert!(target(&split("-OReleaseSafe -target")).is_empty());
    }

    #[test]
    fn flags_are_options_of_a_build_and_a_fast_release_is_the_default() {
        let of = |flags: &str| build_options(&split(flags)).join(" ");
        assert_eq!(of(""), "--release=fast");
        assert_eq!(of("-OReleaseSafe -mcpu=x86_64_v3"), "-Doptimize=ReleaseSafe -Dcpu=x86_64_v3");
        assert_eq!(of("-O Debug -Dsteps=3"), "-Doptimize=Debug -Dsteps=3");
        assert_eq!(of("-Doptimize=ReleaseSmall"), "-Doptimize=ReleaseSmall");
        assert_eq!(of("--release=safe"), "--release=safe");
    }

    #[test]
    fn links_are_read_from_what_zig_tells() {
        let said = "ar rcs /c/libcompiler_rt.a /c/x.o\nzig ld -o cache/tmp/1/build --entry _start\ninstall\n\
                    error: ld.lld --error-limit=0 -o cache/o/1/bench crt1.o cache/o/1/bench_zcu.o -lc\nld.lld --version\n";
        let links = told_links(said, Path::new("/"));
        assert_eq!(links, [split("--error-limit=0 -o cache/o/1/bench crt1.o cache/o/1/bench_zcu.o -lc")]);
        assert_eq!(links[0][output_of(&links[0]).expect("an output")], "cache/o/1/bench");
    }

    #[test]
    fn calls_that_compile_are_read_from_what_a_build_tells() {
        let said = "/z/zig build-exe -OReleaseFast -Mroot=a.zig --name bench --listen=-\ninstall -C a b\n/z/zig build-lib x.zig\n";
        let told = told_compilations(said, Path::new("/bin/zig"), Path::new("/"));
        assert_eq!(told, [split("/bin/zig build-exe -OReleaseFast -Mroot=a.zig --name bench")]);
        assert_eq!(named(&told[0]), Some("bench"));
    }

    #[test]
    fn a_path_with_blanks_is_put_together_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("my own project");
        fs::create_dir(&path).expect("a new folder");
        let object = path.join("0.o").display().to_string();
        fs::write(&object, "").expect("written");
        let line = format!("ld.lld -o /no/such file {object} -lc");
        assert_eq!(told_links(&line, folder.path()), [vec!["-o", "/no/such", "file", &object, "-lc"]]);
    }

    #[test]
    fn links_are_remembered_once_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let links = [split("-o a x.o"), split("-o b x.o"), split("-o a x.o")];
        assert!(remembered(folder.path()).is_empty());
        remember(folder.path(), &links).expect("written");
        assert_eq!(remembered(folder.path()), links[..2]);
    }
}
