//! One source, one object file: compiled, or found if nothing that it was made from has changed.

use super::compilers::Compiler;
use super::failure::{BuildFailure, Stage};
use super::workshop::Workshop;
use super::{cache, dependencies, keys};
use assay_linux::given;
use assay_pure::inputs::digest;
use assay_pure::placement::sections::{ObjectCode, code_sections};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What is compiled, and how.
pub struct Compilation<'a> {
    /// The folder to which everything is relative.
    pub folder: &'a Path,
    /// The source file.
    pub source: &'a str,
    /// Its compiler.
    pub compiler: &'a Compiler,
    /// The driver for its language.
    pub driver: &'a Path,
    /// All flags, in order.
    pub flags: &'a [String],
    /// The flag set's name and flags, for messages.
    pub described: &'a str,
}

/// A compiled source.
#[derive(Clone, Debug)]
pub struct Object {
    /// SHA-256 of the file.
    pub hash: String,
    /// The file.
    pub path: PathBuf,
    /// The code in it.
    pub code: ObjectCode,
}

impl Object {
    /// The last component of its path, by which linker scripts name it.
    pub fn file_name(&self) -> String {
        cache::file_name(&self.hash, "o")
    }
}

/// What a compilation gave, and the content of all files that it read.
#[derive(Serialize, Deserialize)]
struct Compiled {
    object: String,
    dependencies: Vec<(String, String)>,
    /// Files that it did not read, but of whose kind one more could be read instead.
    rivals: BTreeSet<PathBuf>,
}

/// Compiles, or finds.
pub fn compile(workshop: &Workshop, job: &Compilation<'_>) -> Result<Object, BuildFailure> {
    let what = format!("{} with {} cannot compile {}", job.compiler.name, job.described, job.source);
    let source = given::read(&job.folder.join(job.source), given::DATA).map_err(|error| {
        let path = job.folder.join(job.source);
        BuildFailure::plain(Stage::Source, format!("cannot read the source {}: {error}", path.display()))
    })?;
    let key = key(workshop, job, &source);
    if let Some(object) = find(workshop, job, &key, &what) {
        workshop.counters.objects_from_cache.fetch_add(1, Ordering::Relaxed);
        return object;
    }
    let rule = workshop.cache.unfinished(".d");
    let made = workshop.cache.unfinished(".o");
    let mut words = command(job);
    words.extend(["-MD".into(), "-MF".into(), rule.word(), "-o".into(), made.word()]);
    workshop.run(Stage::Compile, &what, job.folder, &words)?;
    workshop.counters.compiled.fetch_add(1, Ordering::Relaxed);
    let keep = || {
        let rule = fs::read_to_string(&rule.path)?;
        let (hash, bytes) = workshop.cache.keep(&made, "objects", "o")?;
        let read = dependencies::prerequisites(&rule);
        let compiled = Compiled {
            object: hash.clone(),
            rivals: dependencies::rivals(job.folder, job.flags, &read),
            dependencies: hashes(workshop, job, read),
        };
        workshop.cache.put_record(&key, &compiled)?;
        Ok((hash, bytes))
    };
    let (hash, bytes) = keep().map_err(|error| workshop.cache_failure("storing an object", &error))?;
    read(workshop, hash, &bytes, &what)
}

/// The command but for where it writes.
fn command(job: &Compilation<'_>) -> Vec<String> {
    let mut words = vec![job.driver.to_string_lossy().into_owned()];
    words.extend(job.flags.iter().cloned());
    words.extend(["-c".into(), job.source.to_owned()]);
    words
}

fn key(workshop: &Workshop, job: &Compilation<'_>, source: &[u8]) -> String {
    let words = command(job).join("\n");
    let folder = job.folder.to_string_lossy();
    let surroundings = keys::surroundings(job.flags);
    let named: Vec<String> = dependencies::named_by_flags(job.folder, job.flags)
        .iter()
        .filter_map(|path| workshop.cache.outside(path))
        .collect();
    let parts = [&words, &*folder, &digest(source), &surroundings, &named.join("\n")];
    keys::key(&[&["object 2", &job.compiler.sha256], &parts[..]].concat())
}

/// The object recorded under `key`, if all that it was made from is as it was.
fn find(
    workshop: &Workshop,
    job: &Compilation<'_>,
    key: &str,
    what: &str,
) -> Option<Result<Object, BuildFailure>> {
    let recorded: Compiled = workshop.cache.record(key)?;
    let unchanged = |(path, hash): &(String, String)| {
        workshop.cache.outside(&job.folder.join(path)).as_deref() == Some(hash)
    };
    let paths: Vec<String> = recorded.dependencies.iter().map(|(path, _)| path.clone()).collect();
    let same_rivals = || dependencies::rivals(job.folder, job.flags, &paths) == recorded.rivals;
    if !recorded.dependencies.iter().all(unchanged) || !same_rivals() {
        return None;
    }
    let bytes = workshop.cache.kept("objects", &recorded.object, "o")?;
    Some(read(workshop, recorded.object, &bytes, what))
}

fn hashes(workshop: &Workshop, job: &Compilation<'_>, read: Vec<String>) -> Vec<(String, String)> {
    let hashed = |path: String| {
        // A file that vanished since has the hash of nothing, which no file will have again: compiled anew.
        let hash = workshop.cache.outside(&job.folder.join(&path)).unwrap_or_default();
        (path, hash)
    };
    read.into_iter().map(hashed).collect()
}

fn read(workshop: &Workshop, hash: String, bytes: &[u8], what: &str) -> Result<Object, BuildFailure> {
    let path = workshop.cache.place("objects", &hash, "o");
    let code = code_sections(bytes).map_err(|error| {
        BuildFailure::plain(Stage::Compile, format!("{what}: the object is unusable: {error}"))
    })?;
    Ok(Object { hash, path, code })
}
