//! The builder: compiles, links as built and at placements, and keeps what it made by content.

use super::cache::Cache;
use super::command::{self, Started};
use super::failure::BuildFailure;
use super::linker::Linker;
use super::recipe::{Compiling, Object, Recipe};
use super::script::{self, Section};
use super::toolchain::Compiler;
use anyhow::{Context, Result};
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::inputs::digest::digest;
use assay_pure::placement::layout::{self, FunctionPlace};
use assay_pure::placement::shuffle::shuffled_order;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The harness, which every program includes.
const HARNESS: &str = include_str!("../../../../harness/assay.h");

/// Linkers at work at the same time: what two cores bear.
const LINKERS: usize = 2;

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// As the user would have: own flags, plain link.
    AsBuilt,
    /// Moved.
    Placed {
        /// Seed of the order of functions; 0 is the order of the sources.
        shuffle: u64,
        /// Padding ahead of all code, bytes.
        phase_bytes: u32,
    },
}

/// One linked binary.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Artifact {
    /// Hash of all that it was made from.
    pub hash: String,
    /// The file.
    pub path: PathBuf,
    /// How it was linked.
    pub link: Link,
    /// Where its functions lie, read back from the file.
    pub functions: Vec<FunctionPlace>,
    /// The link command, as run in a folder of its own.
    pub command: Vec<String>,
    /// It was there already.
    pub from_cache: bool,
    /// Bytes of executable code.
    pub text_bytes: u64,
}

/// Makes artifacts.
#[derive(Debug)]
pub struct Builder {
    objects: Cache,
    artifacts: Cache,
    include: PathBuf,
    started: Started,
}

impl Builder {
    /// Opens the store and puts the harness into it.
    ///
    /// # Errors
    /// The store cannot be made or written.
    pub fn new(store: &Path) -> Result<Self> {
        let context = || {
            format!("cannot use the store {} (is its disk full? --store DIR names another)", store.display())
        };
        // By content, so that two versions of assay can share a store.
        let include = store.join("include").join(&digest(HARNESS.as_bytes())[..16]);
        std::fs::create_dir_all(&include).with_context(context)?;
        let header = Cache::open(include).with_context(context)?;
        if header.get("assay.h").as_deref() != Some(HARNESS.as_bytes()) {
            header.put("assay.h", HARNESS.as_bytes(), false).with_context(context)?;
        }
        Ok(Self {
            objects: Cache::open(store.join("objects")).with_context(context)?,
            artifacts: Cache::open(store.join("artifacts")).with_context(context)?,
            include: header.folder().to_owned(),
            started: Started::default(),
        })
    }

    /// How many compiler drivers were started so far.
    pub fn started(&self) -> usize {
        self.started.count()
    }

    /// Compiles a program with one compiler and flag set.
    ///
    /// # Errors
    /// The compiler refuses it, or the store cannot be written.
    pub fn compile(
        &self,
        folder: &Path,
        program: &Program,
        set: &FlagSet,
        compiler: &Compiler,
    ) -> Result<Recipe, BuildFailure> {
        let compiling = Compiling { objects: &self.objects, include: &self.include, started: &self.started };
        compiling.compile(folder, program, set, compiler)
    }

    /// Is this link in the store?
    pub fn is_kept(&self, recipe: &Recipe, link: Link) -> bool {
        self.plan(recipe, link).is_ok_and(|plan| self.kept(&plan, link).is_some())
    }

    /// Links, or finds the binary.
    ///
    /// # Errors
    /// The linker refuses it, or the store cannot be written.
    pub fn link(&self, recipe: &Recipe, link: Link) -> Result<Artifact, BuildFailure> {
        let plan = self.plan(recipe, link)?;
        if let Some(kept) = self.kept(&plan, link) {
            return Ok(kept);
        }
        let subject = recipe.subject();
        let store = |error: &std::io::Error| BuildFailure::store("link", &subject, error);
        let folder = self.artifacts.draft(&plan.hash);
        std::fs::create_dir_all(&folder).map_err(|error| store(&error))?;
        let linked = self.link_in(&folder, recipe, &plan, &subject);
        let _ = std::fs::remove_dir_all(&folder);
        let elf = linked?;
        self.artifacts.put(&plan.hash, &elf, true).map_err(|error| store(&error))?;
        self.artifact(&plan, link, &elf, false).ok_or_else(|| BuildFailure {
            stage: "link",
            subject,
            command: String::new(),
            ended: "the linked file has no function symbols (is -s among the link flags?)".into(),
            complaint: String::new(),
        })
    }

    /// Links many, two at a time; `progress` is told how many are done of how many. The results are in the order asked.
    pub fn link_all(
        &self,
        jobs: &[(&Recipe, Link)],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<Result<Artifact, BuildFailure>> {
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Artifact, BuildFailure>>>> =
            jobs.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..LINKERS {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&(recipe, link)) = jobs.get(index) else { break };
                        let result = self.link(recipe, link);
                        *results[index].lock().expect("no holder of this lock panics") = Some(result);
                        progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|slot| slot.into_inner().expect("no holder panicked").expect("every job was taken"))
            .collect()
    }

    /// What a link is made from, and its hash.
    fn plan(&self, recipe: &Recipe, link: Link) -> Result<LinkPlan, BuildFailure> {
        let objects = match link {
            Link::AsBuilt => &recipe.as_built,
            Link::Placed { .. } => &recipe.movable,
        };
        let mut arguments: Vec<String> = recipe.flags.clone();
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        let names: Vec<String> = (0..objects.len()).map(|index| format!("u{index}.o")).collect();
        if let Link::Placed { shuffle, phase_bytes } = link {
            match &recipe.linker {
                Linker::Gnu { script, .. } => {
                    let order = self.order(recipe, objects, &names, shuffle)?;
                    let script =
                        script::placed(script, phase_bytes, &order).unwrap_or_else(|| script.clone());
                    files.push(("placed.ld".into(), script.into_bytes()));
                    arguments.push("-Wl,-T,placed.ld".into());
                }
                Linker::Lld { .. } | Linker::Other { .. } => {
                    files.push(("pad.s".into(), padding(phase_bytes).into_bytes()));
                    arguments.push("pad.s".into());
                    if shuffle != 0 && matches!(recipe.linker, Linker::Lld { .. }) {
                        arguments.push(format!("-Wl,--shuffle-sections=.text.*={shuffle}"));
                    }
                }
            }
        }
        arguments.extend(names.iter().cloned());
        arguments.extend(recipe.link_flags.iter().cloned());
        arguments.extend(["-o".to_owned(), "program".to_owned()]);
        let mut text = format!("artifact/1\n{}\n{}\n", recipe.compiler.sha256, recipe.linker.version());
        for part in arguments.iter().chain(objects.iter().map(|object| &object.digest)) {
            text.push_str(part);
            text.push('\n');
        }
        for (name, bytes) in &files {
            text.push_str(&format!("{name} {}\n", digest(bytes)));
        }
        let objects = names.into_iter().zip(objects.iter().map(|object| object.path.clone())).collect();
        Ok(LinkPlan { hash: digest(text.as_bytes()), arguments, files, objects })
    }

    /// The program's code sections in the order of a shuffle; empty for the order of the sources.
    fn order(
        &self,
        recipe: &Recipe,
        objects: &[Object],
        names: &[String],
        shuffle: u64,
    ) -> Result<Vec<Section>, BuildFailure> {
        if shuffle == 0 {
            return Ok(Vec::new());
        }
        let mut sections = Vec::new();
        for (object, name) in objects.iter().zip(names) {
            let bytes = std::fs::read(&object.path)
                .map_err(|error| BuildFailure::store("link", &recipe.subject(), &error))?;
            // With -flto an object holds no code yet; the order then is the linker's, and a warning said so.
            for section in layout::function_sections(&bytes).unwrap_or_default() {
                if section.size > 0 {
                    sections.push(Section { object: name.clone(), name: section.name });
                }
            }
        }
        Ok(shuffled_order(sections.len(), shuffle).into_iter().map(|index| sections[index].clone()).collect())
    }

    fn kept(&self, plan: &LinkPlan, link: Link) -> Option<Artifact> {
        let elf = self.artifacts.get(&plan.hash)?;
        self.artifact(plan, link, &elf, true)
    }

    fn artifact(&self, plan: &LinkPlan, link: Link, elf: &[u8], from_cache: bool) -> Option<Artifact> {
        Some(Artifact {
            hash: plan.hash.clone(),
            path: self.artifacts.path(&plan.hash),
            link,
            functions: layout::functions(elf).ok()?,
            command: plan.arguments.clone(),
            from_cache,
            text_bytes: layout::text_bytes(elf).ok()?,
        })
    }

    fn link_in(
        &self,
        folder: &Path,
        recipe: &Recipe,
        plan: &LinkPlan,
        subject: &str,
    ) -> Result<Vec<u8>, BuildFailure> {
        let store = |error: &std::io::Error| BuildFailure::store("link", subject, error);
        for (name, bytes) in &plan.files {
            std::fs::write(folder.join(name), bytes).map_err(|error| store(&error))?;
        }
        for (name, path) in &plan.objects {
            std::fs::hard_link(path, folder.join(name))
                .or_else(|_| std::fs::copy(path, folder.join(name)).map(|_| ()))
                .map_err(|error| store(&error))?;
        }
        command::run(&recipe.driver, &plan.arguments, folder, ("link", subject), &self.started)?;
        std::fs::read(folder.join("program")).map_err(|error| store(&error))
    }
}

/// What a link is made from.
struct LinkPlan {
    hash: String,
    arguments: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
    objects: Vec<(String, PathBuf)>,
}

/// An object that is nothing but padding, for linkers that take no script: it stands first, so all code of the
/// program comes after it.
fn padding(phase_bytes: u32) -> String {
    format!(
        ".section .text,\"ax\",@progbits\n.p2align 6\n.skip {phase_bytes}, 0x90\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    )
}
