//! Builds each stage and reference in a folder of its own, with its links captured.

use crate::compare::revisions::Repository;
use crate::lead::Misuse;
use anyhow::{Context, Result};
use assay_link::adopt::capture::{self, BuildAsked, BuildError, CapturedLink};
use assay_pure::event::Event;
use assay_pure::inputs::digest::digest;
use assay_pure::placement::layout;
use assay_pure::stages::file::{BuildRecipe, PlaceholderValues};
use assay_pure::stages::{Diary, Entrant};
use std::path::{Path, PathBuf};

/// An entrant whose commands can be run.
pub struct BuiltEntrant {
    /// Where its commands run.
    pub folder: PathBuf,
    /// What placeholders stand for.
    pub places: PlaceholderValues,
    /// Variables of its commands.
    pub environment: Vec<(String, String)>,
    /// What the build linked.
    pub links: Vec<CapturedLink>,
    /// Full hash of the commit.
    pub revision: Option<String>,
    /// Hash of all that was built; `None` where nothing was.
    pub artifact: Option<String>,
    /// Bytes of code.
    pub text_bytes: Option<u64>,
    /// Sentences.
    pub warnings: Vec<String>,
}

/// Where builds go.
pub struct BuildDestination<'a> {
    /// The diary.
    pub diary: &'a Diary,
    /// The folder of its file.
    pub folder: &'a Path,
    /// Where trees, links and outputs are kept.
    pub store: &'a Path,
}

impl BuildDestination<'_> {
    /// Builds an entrant; what fails is a reason, not an error.
    ///
    /// # Errors
    /// A revision does not exist, the store cannot be written, a path cannot stand in a command.
    pub fn build(
        &self,
        entrant: &Entrant,
        on: &mut dyn FnMut(Event),
    ) -> Result<Result<BuiltEntrant, String>> {
        let folder = self.folder.to_owned();
        let named = PlaceholderValues {
            stage: entrant.name.clone(),
            folder: placeholder(&folder)?,
            ..PlaceholderValues::default()
        };
        let Some(recipe) = &entrant.recipe else {
            return Ok(Ok(BuiltEntrant {
                folder,
                places: named,
                environment: Vec::new(),
                links: Vec::new(),
                revision: None,
                artifact: None,
                text_bytes: None,
                warnings: Vec::new(),
            }));
        };
        let own = self.own_folder(entrant)?;
        let (folder, revision) = self.source(recipe, &own)?;
        if !folder.is_dir() {
            return Ok(Err(format!("there is no folder {}", folder.display())));
        }
        let out = own.join("out");
        if out.exists() {
            // What is up to date already would link nothing.
            std::fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
        }
        std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
        let places = PlaceholderValues {
            out: placeholder(&out)?,
            flags: recipe.flags.clone(),
            defines: recipe.defines.clone(),
            ..named
        };
        let program = folder.join(places.fill(&recipe.program));
        let places = PlaceholderValues { program: placeholder(&program)?, ..places };
        self.run(entrant, recipe, ReadyBuild { folder, places, program, revision }, on)
    }

    /// A folder that is this entrant's alone, at a path as long as every other one's.
    fn own_folder(&self, entrant: &Entrant) -> Result<PathBuf> {
        let key = digest(format!("{}\n{}", self.diary.name, entrant.name).as_bytes());
        let own = self.store.join("stages").join(&key[..16]);
        std::fs::create_dir_all(&own).with_context(|| format!("cannot make {}", own.display()))?;
        own.canonicalize().with_context(|| format!("cannot enter {}", own.display()))
    }

    /// The folder that is built, and its commit.
    fn source(&self, recipe: &BuildRecipe, own: &Path) -> Result<(PathBuf, Option<String>)> {
        let below = |folder: &Path| {
            recipe.source.as_ref().map_or_else(|| folder.to_owned(), |source| folder.join(source))
        };
        let Some(name) = &recipe.revision else { return Ok((below(self.folder), None)) };
        let repository = Repository::find(self.folder)?;
        let revision = repository.revision(name)?;
        let trees = own.join("trees");
        repository.forget(&revision, &trees)?;
        let (folder, _) = repository.check_out(&revision, &trees)?;
        let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
        Ok((below(&folder), Some(revision.commit)))
    }

    fn run(
        &self,
        entrant: &Entrant,
        recipe: &BuildRecipe,
        ready: ReadyBuild,
        on: &mut dyn FnMut(Event),
    ) -> Result<Result<BuiltEntrant, String>> {
        let ReadyBuild { folder, places, program, revision } = ready;
        let environment: Vec<(String, String)> =
            recipe.environment.iter().map(|(name, value)| (name.clone(), places.fill(value))).collect();
        let mut asked = BuildAsked::new(&places.fill(&recipe.command), &folder, &self.store.join("links"))?;
        asked.environment.clone_from(&environment);
        let said = std::cell::RefCell::new(on);
        let built = capture::build(&asked, &|line| {
            (said.borrow_mut())(Event::Phase { name: format!("build {}: {line}", entrant.name) });
        });
        let mut seen = Vec::new();
        let (links, warnings) = match built {
            Ok(built) => {
                seen.clone_from(&built.environment);
                self.own_only(&places, built)
            }
            Err(nothing @ BuildError::NothingCaptured(_)) => (Vec::new(), vec![nothing.to_string()]),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Ok(bytes) = std::fs::read(&program) else {
            return Ok(Err(format!("the build succeeded but produced no program at {}", program.display())));
        };
        let size = recipe.size.as_ref().map(|size| folder.join(places.fill(size)));
        let measured = match &size {
            None => bytes.clone(),
            Some(size) => match std::fs::read(size) {
                Ok(bytes) => bytes,
                Err(error) => return Ok(Err(format!("{} cannot be read: {error}", size.display()))),
            },
        };
        Ok(Ok(BuiltEntrant {
            artifact: Some(artifact(&bytes, &measured, &links)),
            text_bytes: layout::text_bytes(&measured).ok(),
            folder,
            places,
            // As the build saw it: what the entrant sets is in ours already.
            environment: [environment, seen].concat(),
            links,
            revision,
            warnings,
        }))
    }
}

impl BuildDestination<'_> {
    /// Without what other entrants built: it is below the same folder and may be as young, or even the same to the last
    /// byte, and then it must not be taken for a copy.
    fn own_only(
        &self,
        places: &PlaceholderValues,
        built: capture::CapturedBuild,
    ) -> (Vec<CapturedLink>, Vec<String>) {
        let (all, own) =
            (self.store.join("stages"), Path::new(&places.out).parent().unwrap_or(Path::new("/")));
        let is_ours = |path: &Path| !path.starts_with(&all) || path.starts_with(own);
        let mut links = built.links;
        for link in &mut links {
            link.copies.retain(|copy| is_ours(copy));
        }
        let told = |warning: &String| is_ours(Path::new(warning.split(" is new").next().unwrap_or_default()));
        (links, built.warnings.into_iter().filter(told).collect())
    }
}

/// What a build is run with.
struct ReadyBuild {
    folder: PathBuf,
    places: PlaceholderValues,
    program: PathBuf,
    revision: Option<String>,
}

/// A path as it is put into a command, where the command's own quotes must hold it together.
fn placeholder(path: &Path) -> Result<String, Misuse> {
    let breaks = ['\'', '"', '\\', '$', '`', '\n'];
    path.to_str().filter(|text| !text.contains(breaks)).map(str::to_owned).ok_or_else(|| {
        Misuse(format!(
            "{} cannot stand in a stage's command: the path must be UTF-8, without quotes, $, \\ and line breaks. Rename the \
             folder, or move the builds by --store DIR",
            path.display()
        ))
    })
}

/// The hash of everything that a stage may execute of what it built.
fn artifact(program: &[u8], measured: &[u8], links: &[CapturedLink]) -> String {
    let mut all = vec![digest(program), digest(measured)];
    let mut outputs: Vec<String> = links
        .iter()
        .filter_map(|link| std::fs::read(&link.output).ok())
        .map(|bytes| digest(&bytes))
        .collect();
    outputs.sort();
    all.append(&mut outputs);
    digest(all.join("\n").as_bytes())
}

/// The names of the entrants that somebody asked for.
///
/// # Errors
/// One is not in the diary.
pub fn numbers(diary: &Diary, names: &[String]) -> Result<Option<std::collections::BTreeSet<usize>>> {
    let mut found = std::collections::BTreeSet::new();
    for name in names {
        let known = || diary.entrants.iter().map(|entrant| entrant.name.as_str());
        let number = diary.number(name).ok_or_else(|| {
            let near = assay_pure::experiment::diagnostic::nearest(name, known());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let all: Vec<&str> = known().collect();
            Misuse(format!(
                "there is no stage `{name}` in the diary {} ({}){hint}",
                diary.name,
                all.join(", ")
            ))
        })?;
        found.insert(number);
    }
    Ok((!found.is_empty()).then_some(found))
}
