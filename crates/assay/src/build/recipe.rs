//! A program compiled with one compiler and one flag set: objects as the user would have made them, and objects whose
//! functions can be moved.

use super::cache::Cache;
use super::command::{self, Started};
use super::failure::BuildFailure;
use super::linker::{self, Linker};
use super::toolchain::Compiler;
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::inputs::digest::digest;
use std::path::{Path, PathBuf};

/// What is added so that functions can be moved: each gets a section of its own.
pub const ADDED_FLAGS: [&str; 1] = ["-ffunction-sections"];

/// One object in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Content hash.
    pub digest: String,
    /// The file.
    pub path: PathBuf,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The compiler.
    pub compiler: Compiler,
    /// All flags as given, without those added.
    pub flags: Vec<String>,
    /// Flags for the link.
    pub link_flags: Vec<String>,
    /// As the user would have compiled.
    pub as_built: Vec<Object>,
    /// With [`ADDED_FLAGS`].
    pub movable: Vec<Object>,
    /// The linker that the driver calls.
    pub linker: Linker,
    /// What the user should know.
    pub warnings: Vec<String>,
    pub(super) driver: PathBuf,
}

impl Recipe {
    /// What it is, in messages.
    pub fn subject(&self) -> String {
        format!("{} {}", self.compiler.name, self.flags.join(" "))
    }
}

/// Everything compiling needs.
pub(super) struct Compiling<'a> {
    pub objects: &'a Cache,
    pub include: &'a Path,
    pub started: &'a Started,
}

impl Compiling<'_> {
    /// Compiles a program, or finds its objects.
    ///
    /// # Errors
    /// The compiler refuses a source, there is no C++ driver where one is needed, or the store cannot be written.
    pub fn compile(
        &self,
        folder: &Path,
        program: &Program,
        set: &FlagSet,
        compiler: &Compiler,
    ) -> Result<Recipe, BuildFailure> {
        let flags: Vec<String> = program.flags.iter().chain(&set.flags).cloned().collect();
        let any_cxx = program.sources.iter().any(|source| is_cxx(source));
        let driver = self.driver(compiler, any_cxx)?;
        let mut as_built = Vec::new();
        let mut movable = Vec::new();
        for source in &program.sources {
            let driver = self.driver(compiler, is_cxx(source))?;
            let mut arguments: Vec<String> = flags.clone();
            arguments.push(format!("-I{}", self.include.display()));
            arguments.extend(program.include_dirs.iter().map(|folder| format!("-I{folder}")));
            as_built.push(self.object(folder, source, &driver, compiler, &arguments)?);
            arguments.extend(ADDED_FLAGS.map(str::to_owned));
            movable.push(self.object(folder, source, &driver, compiler, &arguments)?);
        }
        let link_flags: Vec<String> = program.link_flags.clone();
        let all: Vec<String> = flags.iter().chain(&link_flags).cloned().collect();
        let linker = linker::ask(&driver, &all, folder, self.started);
        let mut warnings = Vec::new();
        if let Some(warning) = linker.warning(&all) {
            warnings.push(format!("{}: {warning}", compiler.name));
        }
        Ok(Recipe {
            compiler: compiler.clone(),
            flags,
            link_flags,
            as_built,
            movable,
            linker,
            warnings,
            driver,
        })
    }

    fn driver(&self, compiler: &Compiler, cxx: bool) -> Result<PathBuf, BuildFailure> {
        if !cxx {
            return Ok(compiler.path.clone());
        }
        compiler.cxx_path.clone().ok_or_else(|| BuildFailure {
            stage: "compile",
            subject: compiler.name.clone(),
            command: String::new(),
            ended: format!(
                "the program has C++ sources, and {} has no C++ driver beside it",
                compiler.path.display()
            ),
            complaint: String::new(),
        })
    }

    fn object(
        &self,
        folder: &Path,
        source: &str,
        driver: &Path,
        compiler: &Compiler,
        arguments: &[String],
    ) -> Result<Object, BuildFailure> {
        let subject = format!("{} {source}", compiler.name);
        let store = |error: &std::io::Error| BuildFailure::store("compile", &subject, error);
        let bytes = std::fs::read(folder.join(source)).map_err(|error| store(&error))?;
        let key = key_of(compiler, arguments, source, &digest(&bytes));
        if let Some(known) = self.known(folder, &key) {
            return Ok(known);
        }
        let draft = self.objects.draft(&key);
        let depfile = draft.with_extension("d");
        let mut all = arguments.to_vec();
        all.extend(["-c", source, "-MD", "-MF"].map(str::to_owned));
        all.push(depfile.display().to_string());
        all.push("-o".to_owned());
        all.push(draft.display().to_string());
        command::run(driver, &all, folder, ("compile", &subject), self.started)?;
        let object = std::fs::read(&draft).map_err(|error| store(&error))?;
        let dependencies = std::fs::read_to_string(&depfile).unwrap_or_default();
        let _ = std::fs::remove_file(&draft);
        let _ = std::fs::remove_file(&depfile);
        let content = digest(&object);
        let name = format!("{content}.o");
        let list = dependency_list(folder, &dependencies, &content);
        self.objects.put(&name, &object, false).map_err(|error| store(&error))?;
        self.objects.put(&format!("{key}.deps"), list.as_bytes(), false).map_err(|error| store(&error))?;
        Ok(Object { digest: content, path: self.objects.path(&name) })
    }

    /// The object of an earlier compilation, if nothing that it was made from has changed.
    fn known(&self, folder: &Path, key: &str) -> Option<Object> {
        let list = String::from_utf8(self.objects.get(&format!("{key}.deps"))?).ok()?;
        let mut lines = list.lines();
        let content = lines.next()?.to_owned();
        for line in lines {
            let (expected, path) = line.split_once(' ')?;
            if digest(&std::fs::read(folder.join(path)).ok()?) != expected {
                return None;
            }
        }
        let name = format!("{content}.o");
        self.objects.get(&name)?;
        Some(Object { digest: content, path: self.objects.path(&name) })
    }
}

fn key_of(compiler: &Compiler, arguments: &[String], source: &str, content: &str) -> String {
    let mut text = format!("object/1\n{}\n{}\n{source}\n{content}\n", compiler.sha256, compiler.target);
    for argument in arguments {
        text.push_str(argument);
        text.push('\n');
    }
    digest(text.as_bytes())
}

/// First the object's hash, then every file it was made from with its own.
fn dependency_list(folder: &Path, depfile: &str, content: &str) -> String {
    let mut list = format!("{content}\n");
    for path in dependencies(depfile) {
        let Ok(bytes) = std::fs::read(folder.join(&path)) else { continue };
        list.push_str(&format!("{} {path}\n", digest(&bytes)));
    }
    list
}

/// The prerequisites of a Make rule, as `-MD` writes it: blanks separate, a backslash quotes a blank or a newline.
fn dependencies(depfile: &str) -> Vec<String> {
    let Some((_, list)) = depfile.split_once(": ") else { return Vec::new() };
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut characters = list.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if characters.peek() == Some(&'\n') => {
                characters.next();
            }
            '\\' if characters.peek() == Some(&' ') => path.extend(characters.next()),
            c if c.is_whitespace() => paths.push(std::mem::take(&mut path)),
            c => path.push(c),
        }
    }
    paths.push(path);
    paths.retain(|path| !path.is_empty());
    paths
}

fn is_cxx(source: &str) -> bool {
    [".cc", ".cpp", ".cxx", ".C", ".c++"].iter().any(|ending| source.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_compiler_lists_as_prerequisites() {
        let text = "out.o: a.c dir/b.h \\\n /usr/include/x.h with\\ blank.h\n";
        assert_eq!(dependencies(text), ["a.c", "dir/b.h", "/usr/include/x.h", "with blank.h"]);
        assert!(dependencies("").is_empty());
    }

    #[test]
    fn knows_cxx_by_its_endings() {
        assert!(is_cxx("a.cc") && is_cxx("a.cpp") && is_cxx("a.C"));
        assert!(!is_cxx("a.c"));
    }
}
