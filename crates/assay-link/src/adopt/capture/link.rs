//! A captured link, made again: as it was, or placed.

use super::call::{LinkInput, LinkerCall};
use super::failure::{self, ReplayError};
use super::go;
use super::kept::Stamp;
use super::linker::{self, KnownLinker};
use super::program::{BuiltObjects, PlacementLimit};
use super::response;
use super::words::{self, PartRole, Parts};
use super::zig;
use crate::build::{self, Link, LinkerKind, OrderError, Ordering, text};
use assay_pure::inputs::{digest, short_digest};
use assay_pure::placement::layout::{self, FunctionPlace, LayoutError};
use assay_pure::placement::{loaded, order, pad};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of words above which they go through a file: systems refuse more than 2 MB, some less.
const LONG_CALL: usize = 100_000;

/// One link of a captured build.
#[derive(Debug)]
pub struct CapturedLink {
    /// Where the build left what it made.
    pub output: PathBuf,
    /// Other files in the build's folder that are it, or load the same code and data: links, copies, stripped ones.
    pub copies: Vec<PathBuf>,
    /// It is a shared library.
    pub shared: bool,
    call: LinkerCall,
    parts: Parts,
    store: PathBuf,
    left: Option<Stamp>,
    known: OnceLock<KnownLinker>,
    program: Mutex<Option<(Vec<PathBuf>, Arc<BuiltObjects>)>>,
}

/// The words of a replay.
pub(super) struct Words {
    /// As many as the call has, in its order.
    pub(super) own: Vec<String>,
    /// Further ones ahead of them.
    pub(super) ahead: Vec<String>,
    /// The file that each input of the call is read from now.
    pub(super) files: Vec<PathBuf>,
}

impl Words {
    /// All of them; zig's first says what it is to do.
    pub(super) fn all(mut self, zig: bool) -> Vec<String> {
        let at = usize::from(zig);
        self.own.splice(at..at, self.ahead);
        self.own
    }
}

/// A link made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The file.
    pub path: PathBuf,
    /// All functions where they really lie, by address; those of the build's own objects with the alignment that was
    /// asked for.
    pub functions: Vec<FunctionPlace>,
    /// Address of the file's first byte.
    pub image_base: u64,
    /// Size of all executable sections, bytes.
    pub text_bytes: u64,
    /// What is not as asked.
    pub limits: Vec<PlacementLimit>,
}

/// How a repeated link compares with what the build left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The same file, byte by byte.
    Exactly,
    /// The same code and data at the same addresses; other parts differ (debug information, symbols, a build-id).
    SameCode {
        /// The build's own file has no table of symbols any more.
        stripped: bool,
    },
    /// These loaded sections differ: the build changed the file after the link, or the linker does not repeat itself.
    Differs {
        /// Their names.
        sections: Vec<String>,
    },
    /// The build left a file that is not comparable.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl Repeated {
    /// Whether measuring replays says something of the file that the build left.
    pub fn is_same_code(&self) -> bool {
        matches!(self, Self::Exactly | Self::SameCode { .. })
    }

    /// What the user should know; nothing where all is the same.
    ///
    /// A binary that was only stripped after its link needs nothing done: the code is the same.
    pub fn limit(&self, output: &Path) -> Option<PlacementLimit> {
        let output = output.display();
        let (what, of) = match self {
            Self::Exactly | Self::SameCode { .. } => return None,
            Self::Differs { sections } => (
                "what is measured is not exactly the build's file: the build changes it after the link (objcopy, \
                 patchelf), or the linker is not deterministic",
                format!("{output}: {}", sections.join(", ")),
            ),
            Self::Unreadable { why } => {
                ("a binary cannot be compared with its link", format!("{output}: {why}"))
            }
        };
        Some(PlacementLimit { what: what.into(), of: Some(of) })
    }
}

impl CapturedLink {
    /// The link of a call, if what it made is there.
    pub(super) fn of(call: LinkerCall, store: &Path) -> Option<Self> {
        let output = call.output();
        Self::unplaced(call, store).left_at(output)
    }

    /// The link of a call of which it is not known where what it made lies.
    pub(super) fn unplaced(call: LinkerCall, store: &Path) -> Self {
        let parts = call.parts();
        Self {
            output: call.output(),
            copies: Vec::new(),
            shared: parts.shared,
            parts,
            store: store.to_owned(),
            left: None,
            known: OnceLock::new(),
            program: Mutex::default(),
            call,
        }
    }

    /// The same, of what lies there.
    pub(super) fn left_at(self, output: PathBuf) -> Option<Self> {
        let left = Stamp::of(&output)?;
        Some(Self { output, left: Some(left), ..self })
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(super) fn store(&self) -> &Path {
        &self.store
    }

    /// Has an input of the call read from another file, of the same name if it is a library's.
    pub(super) fn replace(&self, words: &mut Words, input: usize, file: &Path) {
        let word = self.call.inputs[input].word;
        let Some(part) = self.parts.parts.iter().find(|part| part.word == word) else { return };
        match part.role {
            PartRole::Library { .. } => words.ahead.insert(0, format!("-L{}", folder_of(file).display())),
            _ => {
                words.own[word].truncate(part.at);
                words.own[word].push_str(&file.to_string_lossy());
            }
        }
    }

    pub(super) fn call(&self) -> &LinkerCall {
        &self.call
    }

    pub(super) fn made_at(&self) -> i64 {
        self.call.at
    }

    /// The objects and archives of the build's own folder that were made before a time, ns since 1970.
    pub fn compiled_before(&self, time: i64) -> Vec<PathBuf> {
        let compiled = |file: &Path| {
            file.extension().is_some_and(|ending| ["o", "a", "obj", "lo"].iter().any(|own| ending == *own))
        };
        let own = self.call.inputs.iter().filter(|input| input.kept.is_some() && compiled(&input.file));
        own.filter(|input| !input.stamp.is_since(time)).map(|input| input.file.clone()).collect()
    }

    /// Which compilers made the build's own objects, as these say themselves ("GCC: (Debian 12.2.0-14) 12.2.0"); objects that say
    /// nothing, and archives, are left out.
    pub fn compilers(&self) -> BTreeSet<String> {
        let own = self.call.inputs.iter().filter_map(|input| input.kept.as_ref());
        own.filter_map(|kept| fs::read(kept).ok()).flat_map(|bytes| said_compilers(&bytes)).collect()
    }

    /// Links again into a folder below `into`, in a file named like the output.
    ///
    /// # Errors
    /// An input has changed or vanished and was not kept; the link has a script of its own and is to be placed; the
    /// linker fails; what it made cannot be read.
    pub fn replay(&self, link: Link, into: &Path) -> Result<Replayed, ReplayError> {
        let path = self.place(link, into)?;
        let mut resolved = self.resolved(&path)?;
        let mut limits = Vec::new();
        let mut program = None;
        if let Link::Placed { shuffle, phase_bytes } = link {
            let own = self.program(&resolved);
            limits = self.limits(&own)?;
            self.put_order(&mut resolved, &own, shuffle, phase_bytes)?;
            program = Some(own);
        }
        self.run(&resolved.all(self.call.zig), &path)?;
        self.read_back(path, program.as_deref(), limits)
    }

    /// Names of the functions that the build's own objects define; none if the link optimises, and they are not known
    /// before.
    ///
    /// # Errors
    /// An input has changed or vanished and was not kept.
    pub fn own_functions(&self) -> Result<Option<BTreeSet<String>>, ReplayError> {
        let program = self.program(&self.resolved(&self.output)?);
        Ok(program.function_names().map(|names| names.into_iter().map(str::to_owned).collect()))
    }

    /// Whether the link, made again into a folder below `into`, gives what the build left.
    ///
    /// # Errors
    /// It cannot be made again.
    pub fn is_reproducible(&self, into: &Path) -> Result<Repeated, ReplayError> {
        let replayed = self.replay(Link::AsBuilt, into)?;
        let (own, again) = (read(&self.output)?, read(&replayed.path)?);
        if own == again {
            return Ok(Repeated::Exactly);
        }
        Ok(match loaded::differences(&own, &again) {
            Ok(sections) if sections.iter().all(|name| go::writes(name)) => {
                let stripped =
                    loaded::has_symbols(&own) == Ok(false) && loaded::has_symbols(&again) == Ok(true);
                Repeated::SameCode { stripped }
            }
            Ok(sections) => Repeated::Differs { sections },
            Err(error) => Repeated::Unreadable { why: error.to_string() },
        })
    }

    /// The call of the linker by itself, as a replay as built makes it, into a folder below `into`.
    ///
    /// # Errors
    /// An input has changed or vanished and was not kept.
    pub fn bare(&self, into: &Path) -> Result<Command, ReplayError> {
        let path = self.place(Link::AsBuilt, into)?;
        let words = self.resolved(&path)?.all(self.call.zig);
        self.command(&words, &path)
    }

    /// Whether the file at `output` is still the one that the build left.
    pub fn is_in_place(&self) -> bool {
        Stamp::of(&self.output).zip(self.left).is_some_and(|(now, left)| now.same_content(&left))
    }

    /// Where a replay goes: programs may look at their own name, so it stays.
    fn place(&self, link: Link, into: &Path) -> Result<PathBuf, ReplayError> {
        let identity = digest(self.output.to_string_lossy().as_bytes());
        let how = match link {
            Link::AsBuilt => "as-built".to_owned(),
            Link::Placed { shuffle, phase_bytes } => format!("shuffle-{shuffle}-phase-{phase_bytes}"),
        };
        let folder = into.join(format!("{}-{how}", short_digest(&identity)));
        let made = fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let folder = made.map_err(|error| unwritten(&folder, &error))?;
        Ok(folder.join(self.output.file_name().unwrap_or_default()))
    }

    /// The words with what is written redirected and what has vanished replaced by what was kept. Symbols stay: without them no
    /// function's place is known, and nothing that is loaded depends on them.
    pub(super) fn resolved(&self, path: &Path) -> Result<Words, ReplayError> {
        let mut own = self.call.words.clone();
        if !self.call.zig {
            words::keep_symbols(&mut own, &self.parts);
        }
        let mut set = |word: usize, at: usize, value: &Path| {
            own[word].truncate(at);
            own[word].push_str(&value.to_string_lossy());
        };
        for part in &self.parts.parts {
            match part.role {
                PartRole::Output => set(part.word, part.at, path),
                PartRole::Written if part.value(&self.call.words) != "-" => {
                    set(part.word, part.at, &path.with_extension(format!("written-{}", part.word)));
                }
                _ => {}
            }
        }
        let mut ahead = Vec::new();
        let mut files = Vec::new();
        for input in &self.call.inputs {
            if input.is_unchanged() {
                files.push(input.file.clone());
                continue;
            }
            let part = self.parts.parts.iter().find(|part| part.word == input.word);
            let part = part.expect("inputs were found by the same reading of the words");
            let kept = substitute(input, part.role)?;
            match part.role {
                // The name of a library is left to be found, as it may become part of what is made.
                PartRole::Library { .. } => ahead.push(format!("-L{}", folder_of(kept).display())),
                _ => set(part.word, part.at, kept),
            }
            files.push(kept.to_owned());
        }
        if self.parts.first(PartRole::Output).is_none() && self.call.zig {
            ahead.push(zig::output_word(&own, path));
        } else if self.parts.first(PartRole::Output).is_none() {
            ahead.extend(["-o".into(), path.to_string_lossy().into_owned()]);
        }
        Ok(Words { own, ahead, files })
    }

    fn program(&self, words: &Words) -> Arc<BuiltObjects> {
        let mut known = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((files, program)) if *files == words.files => program.clone(),
            _ => {
                let program = Arc::new(BuiltObjects::read(&self.call, &words.own, &words.files));
                *known = Some((words.files.clone(), program.clone()));
                program
            }
        }
    }

    fn known(&self) -> Result<&KnownLinker, ReplayError> {
        if self.known.get().is_none() {
            let known = linker::ask(&self.call, &self.parts)?;
            // Another thread may have been quicker; it asked the same.
            let _ = self.known.set(known);
        }
        Ok(self.known.get().expect("just set"))
    }

    /// Whether its linker is lld.
    pub(super) fn is_lld(&self) -> bool {
        self.known().is_ok_and(|known| known.kind == LinkerKind::Lld)
    }

    /// What a placement of this link cannot do.
    fn limits(&self, program: &BuiltObjects) -> Result<Vec<PlacementLimit>, ReplayError> {
        if let Some(option) = linker::own_script(&self.call, &self.parts) {
            return Err(ReplayError::OwnScript { option });
        }
        let kind = self.known()?.kind;
        let mut found = program.limits();
        if self.call.zig {
            found.push(PlacementLimit::from(
                "zig orders whole objects: functions keep their order within each object and each source file",
            ));
        } else if program.link_time && kind != LinkerKind::Lld {
            found.push(PlacementLimit::from(format!(
                "with -flto and {} functions cannot be shuffled, only moved together, so what their order does to the times stays \
                 in the result; build with -fno-lto, or with clang and -fuse-ld=lld, to shuffle them",
                kind.name()
            )));
        } else if !kind.shuffles() {
            let what = format!("functions cannot be shuffled with {}, only moved together", kind.name());
            found.push(PlacementLimit::from(what));
        }
        Ok(found)
    }

    /// Puts the padding ahead of all inputs, and the order behind.
    fn put_order(
        &self,
        words: &mut Words,
        program: &BuiltObjects,
        shuffle: u64,
        phase_bytes: u32,
    ) -> Result<(), ReplayError> {
        let known = self.known()?;
        let pad = self.pad(program, phase_bytes)?;
        if self.call.zig {
            let inputs = self.call.inputs.iter().map(|input| input.word);
            let files: Vec<(usize, &Path)> = inputs.zip(words.files.iter().map(PathBuf::as_path)).collect();
            zig::put_order(&mut words.own, &files, shuffle, &pad);
            return Ok(());
        }
        let ordering = Ordering {
            kind: known.kind,
            script: known.script.as_deref(),
            pieces: &program.pieces,
            link_time: program.link_time,
        };
        let keep = |text: &str, extension: &str| self.keep(text.as_bytes(), extension);
        let order = build::order_words(&ordering, shuffle, &keep).map_err(|error| match error {
            OrderError::Unwritten(error) => unwritten(&self.orders(), &error),
            why => ReplayError::Linker { linker: self.call.linker.clone(), why: why.to_string() },
        })?;
        let first = self.parts.first(PartRole::Input).map_or(words.own.len(), |part| part.word);
        words.own.insert(first, pad.to_string_lossy().into_owned());
        words.own.extend(order);
        Ok(())
    }

    /// The object that is only padding.
    fn pad(&self, program: &BuiltObjects, phase_bytes: u32) -> Result<PathBuf, ReplayError> {
        let unusable = |why: String| ReplayError::Linker { linker: self.call.linker.clone(), why };
        let model = program.model.as_deref().ok_or_else(|| unusable("the link reads no ELF file".into()))?;
        let bytes = pad::object(model, phase_bytes)
            .map_err(|error| unusable(format!("the padding cannot be created: {error}")))?;
        self.keep(&bytes, "o").map_err(|error| unwritten(&self.orders(), &error))
    }

    fn orders(&self) -> PathBuf {
        self.store.join("orders")
    }

    /// Writes bytes under a name made of their content, unless they are there.
    fn keep(&self, bytes: &[u8], extension: &str) -> io::Result<PathBuf> {
        let name = format!("{}.{extension}", short_digest(&digest(bytes)));
        let place = self.orders().join(&name);
        if fs::metadata(&place).is_ok_and(|data| data.len() == bytes.len() as u64) {
            return Ok(place);
        }
        fs::create_dir_all(self.orders())?;
        let beside =
            self.orders().join(format!(".{name}-{}-{:?}", std::process::id(), std::thread::current().id()));
        fs::write(&beside, bytes)?;
        fs::rename(&beside, &place)?;
        Ok(place)
    }

    fn command(&self, words: &[String], path: &Path) -> Result<Command, ReplayError> {
        let mut command = linker::command(&self.call);
        if words.iter().map(String::len).sum::<usize>() > LONG_CALL {
            let file = path.with_extension("words");
            fs::write(&file, response::written(words)).map_err(|error| unwritten(&file, &error))?;
            command.arg(format!("@{}", file.display()));
        } else {
            command.args(words);
        }
        Ok(command)
    }

    fn run(&self, words: &[String], path: &Path) -> Result<(), ReplayError> {
        self.run_in(words, path, &[])
    }

    /// The same with other variables; folders of `COMPILER_PATH` come ahead of the call's own.
    pub(super) fn run_in(
        &self,
        words: &[String],
        path: &Path,
        variables: &[(&str, PathBuf)],
    ) -> Result<(), ReplayError> {
        let mut command = self.command(words, path)?;
        for (name, value) in variables {
            let own = self.call.environment.iter().find(|(own, _)| own == name && name.ends_with("_PATH"));
            let value = value.to_string_lossy();
            match own {
                Some((_, own)) => command.env(name, format!("{value}:{own}")),
                None => command.env(name, value.as_ref()),
            };
        }
        let output = command.output().map_err(|error| ReplayError::Linker {
            linker: self.call.linker.clone(),
            why: format!("the linker cannot be started: {error}"),
        })?;
        if output.status.success() { Ok(()) } else { Err(self.failed(words, &output)) }
    }

    fn failed(&self, words: &[String], output: &Output) -> ReplayError {
        let mut all = vec![self.call.linker.to_string_lossy().into_owned()];
        all.extend(words.iter().cloned());
        let folder = text::quote(&self.call.folder.to_string_lossy());
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        ReplayError::Failed {
            ended: match (output.status.code(), output.status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
            },
            tail: failure::telling_lines(&String::from_utf8_lossy(&said)),
            log: self.keep(&said, "log").ok(),
            command: format!("cd {folder} && {}", text::command_line(&all)),
        }
    }

    fn read_back(
        &self,
        path: PathBuf,
        program: Option<&BuiltObjects>,
        mut limits: Vec<PlacementLimit>,
    ) -> Result<Replayed, ReplayError> {
        let elf = read(&path)?;
        let unreadable =
            |error: LayoutError| ReplayError::Unreadable { file: path.clone(), why: error.to_string() };
        let mut functions = match layout::functions(&elf) {
            Err(error @ LayoutError::NoSymbols) => {
                limits.push(PlacementLimit::from(format!(
                    "{error}. Functions are still moved, and the program tells where its variants are; but identical code cannot be \
                     proven, and no companions are named"
                )));
                Vec::new()
            }
            found => found.map_err(unreadable)?,
        };
        let mut own_names = None;
        if let Some(program) = program {
            let alignments = order::alignments(&program.pieces);
            for function in &mut functions {
                function.alignment = alignments.get(function.name.as_str()).copied();
            }
            own_names = program.function_names();
        }
        if program.is_some() && !functions.is_empty() {
            let misplaced = build::misplaced(&elf, &functions, own_names.as_ref()).map_err(unreadable)?;
            limits.extend(misplaced.into_iter().map(PlacementLimit::from));
        }
        let image_base = layout::image_base(&elf).map_err(unreadable)?;
        let text_bytes = layout::text_bytes(&elf).map_err(unreadable)?;
        Ok(Replayed { path, functions, image_base, text_bytes, limits })
    }
}

/// The kept file that stands for a changed one.
fn substitute(input: &LinkInput, role: PartRole) -> Result<&Path, ReplayError> {
    let changed = || ReplayError::Changed { file: input.file.clone() };
    let kept = input.kept.as_deref().filter(|kept| kept.is_file()).ok_or_else(changed)?;
    // A shared library without a name of its own is known to the program by the path in the call.
    if role == PartRole::Input && !has_a_name(kept) { Err(changed()) } else { Ok(kept) }
}

/// Whether a file can be read under another path without that being seen in what is made.
fn has_a_name(file: &Path) -> bool {
    use object::read::elf::{Dyn as _, FileHeader as _};
    let Ok(bytes) = fs::read(file) else { return false };
    let Ok(header) = object::elf::FileHeader64::<object::Endianness>::parse(&*bytes) else { return true };
    let Ok(endian) = header.endian() else { return true };
    if header.e_type(endian) != object::elf::ET_DYN {
        return true;
    }
    let sections = header.sections(endian, &*bytes);
    let dynamic = sections
        .and_then(|sections| Ok(sections.dynamic(endian, &*bytes)?.map(|(entries, _)| entries.to_vec())));
    dynamic.ok().flatten().unwrap_or_default().iter().any(|entry| entry.d_tag(endian).0 == 14)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// What an object's `.comment` says.
fn said_compilers(bytes: &[u8]) -> Vec<String> {
    use object::{Object as _, ObjectSection as _};
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let data = file.section_by_name(".comment").and_then(|section| section.data().ok()).unwrap_or_default();
    let texts = data.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, ReplayError> {
    fs::read(path).map_err(|error| ReplayError::Unreadable { file: path.to_owned(), why: error.to_string() })
}

fn unwritten(file: &Path, error: &io::Error) -> ReplayError {
    ReplayError::Unwritten { file: file.to_owned(), why: error.to_string() }
}
