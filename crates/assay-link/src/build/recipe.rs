//! A program compiled with one compiler and one flag set, ready to be linked in any placement.
//!
//! Each source is compiled twice: with the user's own flags, for the link as built; and with `-ffunction-sections`
//! added, which gives every function a section that a linker can move.

use super::compilers::{Compiler, ELSEWHERE};
use super::failure::{BuildFailure, Stage};
use super::instrument::SourceCommand;
use super::linker::{self, Linker, LinkerKind};
use super::objects::{self, Compilation, Object};
use super::relink;
use super::workshop::Workshop;
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::placement::order::{OrderedSection, object_pattern};
use assay_pure::placement::sections::ObjectCode;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The flag that is added for placed links, and recorded.
pub const ADDED_FLAG: &str = "-ffunction-sections";

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The experiment's folder.
    pub folder: PathBuf,
    /// What compiled it.
    pub compiler: Compiler,
    /// Name of the flag set.
    pub flag_set: String,
    /// The user's flags, those of the program first.
    pub flags: Vec<String>,
    /// The flags we add to compilations for placed links.
    pub added_flags: Vec<String>,
    /// The user's flags for the link only.
    pub link_flags: Vec<String>,
    /// What links it.
    pub linker: Linker,
    /// What cannot be placed as asked, and why.
    pub warnings: Vec<String>,
    pub(super) driver: PathBuf,
    /// How each source was compiled as built.
    pub(super) commands: Vec<SourceCommand>,
    pub(super) as_built: Vec<Object>,
    pub(super) placed: Vec<Object>,
    pub(super) pieces: Vec<OrderedSection>,
    /// Functions come into being in the linker, so their sections are not known before.
    pub(super) link_time: bool,
}

impl Recipe {
    /// "gcc-12 with flags O2 (-O2 -g)".
    pub(super) fn described(&self) -> String {
        format!("{} with {}", self.compiler.name, describe_flags(&self.flag_set, &self.flags))
    }

    /// Whether its functions come into being in its links.
    pub fn optimises_its_link(&self) -> bool {
        self.link_time
    }

    /// The command of its link as built.
    pub fn linking(&self, output: &Path) -> Vec<String> {
        let objects: Vec<PathBuf> = self.as_built.iter().map(|object| object.path.clone()).collect();
        let mut words = relink::command_of(self, &objects);
        words.extend(["-o".into(), output.to_string_lossy().into_owned()]);
        words
    }

    /// Names of the functions that the objects of a link define; nothing if they are not known.
    pub(super) fn function_names(&self, placed: bool) -> Option<BTreeSet<&str>> {
        let objects = if placed { &self.placed } else { &self.as_built };
        let mut names = BTreeSet::new();
        for object in objects {
            match &object.code {
                ObjectCode::LinkTime => return None,
                ObjectCode::Sections(sections) => {
                    names.extend(sections.iter().flat_map(|section| &section.functions).map(String::as_str));
                }
            }
        }
        Some(names)
    }
}

fn describe_flags(name: &str, flags: &[String]) -> String {
    if flags.is_empty() {
        format!("flags {name} (none)")
    } else {
        format!("flags {name} ({})", flags.join(" "))
    }
}

/// See [`super::Builder::compile`].
pub fn compile(
    workshop: &Workshop,
    experiment_dir: &Path,
    program: &Program,
    flags: &FlagSet,
    compiler: &Compiler,
) -> Result<Recipe, BuildFailure> {
    workshop.cache.forget_outside();
    let folder = experiment_dir.canonicalize().map_err(|error| {
        BuildFailure::plain(Stage::Source, format!("cannot enter {}: {error}", experiment_dir.display()))
    })?;
    let own: Vec<String> = program.flags.iter().chain(&flags.flags).cloned().collect();
    let added = vec![ADDED_FLAG.to_owned()];
    let described = describe_flags(&flags.name, &own);
    let sources = Sources { workshop, folder: &folder, program, compiler, described: &described };
    // Modules are written to one folder (gcm.cache), from which the next file reads them: two at once would meet there.
    let has_modules = own.iter().any(|flag| flag.starts_with("-fmodules"));
    let (as_built, placed) = if has_modules {
        (sources.compile(&own, &[]), sources.compile(&own, &added))
    } else {
        std::thread::scope(|scope| {
            let as_built = scope.spawn(|| sources.compile(&own, &[]));
            let placed = sources.compile(&own, &added);
            (as_built.join().expect("compiling does not panic"), placed)
        })
    };
    let (as_built, placed) = (as_built?, placed?);
    let driver = sources.linking_driver()?;
    let commands = sources.commands(&own)?;
    let link = linker::Plain {
        folder: &folder,
        compiler,
        driver: &driver,
        flags: &own,
        link_flags: &program.link_flags,
        objects: &as_built,
        described: &described,
    };
    let linker = linker::probe(workshop, &link)?;
    let pieces = pieces(&placed);
    let mut recipe = Recipe {
        link_time: placed.iter().any(|object| object.code == ObjectCode::LinkTime),
        folder,
        compiler: compiler.clone(),
        flag_set: flags.name.clone(),
        flags: own,
        added_flags: added,
        link_flags: program.link_flags.clone(),
        linker,
        warnings: Vec::new(),
        driver,
        commands,
        as_built,
        placed,
        pieces,
    };
    recipe.warnings = warnings(&recipe);
    Ok(recipe)
}

struct Sources<'a> {
    workshop: &'a Workshop,
    folder: &'a Path,
    program: &'a Program,
    compiler: &'a Compiler,
    described: &'a str,
}

impl Sources<'_> {
    fn compile(&self, own: &[String], added: &[String]) -> Result<Vec<Object>, BuildFailure> {
        let flags: Vec<String> = own.iter().chain(added).cloned().collect();
        let one = |command: &SourceCommand| {
            objects::compile(
                self.workshop,
                &Compilation {
                    folder: self.folder,
                    source: &command.source,
                    compiler: self.compiler,
                    driver: &command.driver,
                    flags: &command.flags,
                    described: self.described,
                },
            )
        };
        self.commands(&flags)?.iter().map(one).collect()
    }

    /// How each source is compiled with these flags, the program's folders and ours added.
    fn commands(&self, flags: &[String]) -> Result<Vec<SourceCommand>, BuildFailure> {
        let mut flags = flags.to_vec();
        flags.extend(self.program.include_dirs.iter().map(|folder| format!("-I{folder}")));
        flags.push(format!("-I{}", self.workshop.include.display()));
        let cxx_flags: Vec<String> =
            self.compiler.cxx_standard().map(str::to_owned).into_iter().chain(flags.clone()).collect();
        let one = |source: &String| {
            let flags = if driver_of(source) == Some(Driver::Cxx) { &cxx_flags } else { &flags };
            let driver = self.driver(source)?.to_owned();
            Ok(SourceCommand { source: source.clone(), driver, flags: flags.clone() })
        };
        self.program.sources.iter().map(one).collect()
    }

    fn driver(&self, source: &str) -> Result<&Path, BuildFailure> {
        match driver_of(source) {
            Some(Driver::C) => Ok(&self.compiler.path),
            Some(Driver::Cxx) => self.cxx(source),
            None => Err(BuildFailure::plain(
                Stage::Source,
                format!(
                    "{source} is not in a known language: its name must end in .c, .s, .S, .cc, .cpp, .cxx or \
                     .C; {ELSEWHERE}"
                ),
            )),
        }
    }

    fn cxx(&self, source: &str) -> Result<&Path, BuildFailure> {
        self.compiler.cxx_path.as_deref().ok_or_else(|| {
            let package = self.compiler.name.replacen("gcc", "g++", 1);
            let what = format!(
                "{} cannot compile {source}: no C++ driver of version {} is on PATH; install it, for example \
                 with `apt-get install {package}`",
                self.compiler.name, self.compiler.version
            );
            BuildFailure::plain(Stage::Compile, what)
        })
    }

    /// C++ objects need the C++ library, which only the C++ driver adds.
    fn linking_driver(&self) -> Result<PathBuf, BuildFailure> {
        let cxx = self.program.sources.iter().find(|source| driver_of(source) == Some(Driver::Cxx));
        match cxx {
            Some(source) => self.cxx(source).map(Path::to_owned),
            None => Ok(self.compiler.path.clone()),
        }
    }
}

/// Whether a program of these sources can only be built by a C++ compiler.
pub fn needs_cxx(sources: &[String]) -> bool {
    sources.iter().any(|source| driver_of(source) == Some(Driver::Cxx))
}

/// Which of a compiler's two commands compiles a source.
#[derive(PartialEq, Eq)]
enum Driver {
    C,
    Cxx,
}

fn driver_of(source: &str) -> Option<Driver> {
    match Path::new(source).extension()?.to_str()? {
        "c" | "s" | "S" => Some(Driver::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Driver::Cxx),
        _ => None,
    }
}

fn pieces(objects: &[Object]) -> Vec<OrderedSection> {
    let mut pieces = Vec::new();
    for object in objects {
        if let ObjectCode::Sections(sections) = &object.code {
            // Objects are named by their content, so the end of the path tells them apart.
            let object = format!("*{}", object_pattern(&object.file_name()));
            pieces.extend(
                sections
                    .iter()
                    .map(|section| OrderedSection { object: object.clone(), section: section.clone() }),
            );
        }
    }
    pieces
}

fn warnings(recipe: &Recipe) -> Vec<String> {
    let mut found = Vec::new();
    let linker = &recipe.linker;
    let who = format!("{}, flags {}", recipe.compiler.name, recipe.flag_set);
    for piece in recipe.pieces.iter().filter(|piece| !piece.section.is_text()) {
        let holds = piece.section.functions.first().map_or("code", String::as_str);
        found.push(format!(
            "{who}: {holds} lies in section {}, which the padding before .text may not move",
            piece.section.name
        ));
    }
    if recipe.link_time && linker.kind != LinkerKind::Lld {
        found.push(format!(
            "{who}: with -flto and {} functions cannot be shuffled, only moved together; -fuse-ld=lld can shuffle them",
            linker.kind.name()
        ));
    } else if !linker.kind.shuffles() {
        found.push(format!(
            "{who}: functions cannot be shuffled with {}, only moved together; GNU ld and lld can shuffle them",
            linker.kind.name()
        ));
    }
    if recipe.flags.iter().chain(&recipe.link_flags).any(|flag| flag == "-s" || flag == "-Wl,-s") {
        found.push(format!(
            "{who}: -s removes the symbols. Functions are still moved, and the program tells where its variants are; but identical code \
             cannot be proven, and no companions are named. Leave -s out"
        ));
    }
    found
}
