//! A program built a second time so that it logs its branches: for counting, never for measuring.
//!
//! Each source is compiled to assembly with its own flags, rewritten (`rewrite`) and assembled twice. The text without
//! records must give the measured program, byte for byte of its code: then the log of the one with records is a
//! log of the measured program's branches, and each address of one is known in the other. Anything else is refused with its
//! reason, and who asked counts another way.

mod dead;
mod entrances;
mod functions;
mod kept;
mod named;
mod pointers;
mod quiet;
mod records;
mod registers;
mod rewrite;
mod sections;
mod spare;
mod statements;

use super::artifact::Artifact;
use super::compilers::CompilerFamily;
use super::failure::Stage;
use super::recipe::Recipe;
use super::relink;
use super::workshop::Workshop;
use super::{builder, keys};
use assay_pure::inputs::digest;
use assay_pure::outcomes::{self, LoggingProgram};
pub use rewrite::{Scope, rewrite};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a whole instrumented program is linked with.
const WHOLE: &str = concat!(
    include_str!("instrument/record.c"),
    include_str!("instrument/stream.c"),
    include_str!("instrument/program.c")
);
/// What an instrumented program of regions is linked with.
const LOG: &str = concat!(
    include_str!("instrument/record.c"),
    include_str!("instrument/stream.c"),
    include_str!("instrument/log.c")
);
/// What both replace in the C library.
pub const WRAPPED: [&str; 5] = ["sigaction", "signal", "__sysv_signal", "sigprocmask", "pthread_sigmask"];

/// What an instrumented program is linked with: its side of the log, in C.
pub fn program_side(scope: Scope) -> &'static str {
    match scope {
        Scope::Program => WHOLE,
        Scope::Regions => LOG,
    }
}

/// How one source was compiled as built.
#[derive(Clone, Debug)]
pub(super) struct SourceCommand {
    /// The source.
    pub source: String,
    /// The driver for its language.
    pub driver: PathBuf,
    /// All flags, in order.
    pub flags: Vec<String>,
}

/// What was built for a measured program: hashes of the links with a table of sites alone, and with records.
#[derive(Serialize, Deserialize)]
struct InstrumentedBuild {
    marked: String,
    logging: String,
}

/// What decides about the records besides the sources and how they are compiled.
const REWRITER: &str = concat!(
    include_str!("instrument.rs"),
    include_str!("instrument/rewrite.rs"),
    include_str!("instrument/records.rs"),
    include_str!("instrument/functions.rs"),
    include_str!("instrument/dead.rs"),
    include_str!("instrument/named.rs"),
    include_str!("instrument/pointers.rs"),
    include_str!("instrument/quiet.rs"),
    include_str!("instrument/registers.rs"),
    include_str!("instrument/sections.rs"),
    include_str!("instrument/spare.rs"),
    include_str!("instrument/statements.rs"),
    include_str!("instrument/entrances.rs")
);

/// Builds it, or finds it. The reason why not is a whole sentence's part.
pub fn build(workshop: &Workshop, recipe: &Recipe, measured: &Artifact) -> Result<LoggingProgram, String> {
    let measured_bytes =
        std::fs::read(&measured.path).map_err(|error| format!("{}: {error}", measured.path.display()))?;
    outcomes::may_have_records(&measured_bytes)?;
    if recipe.link_time {
        return Err(
            "with link-time optimisation the linker generates the code, so its link must be captured".into(),
        );
    }
    let whole = Work { workshop, recipe };
    let key = whole.key(measured);
    let kept = |hash: &str| workshop.cache.kept("artifacts", hash, "elf");
    let found: Option<InstrumentedBuild> = workshop.cache.record(&key);
    let found = found.and_then(|build| Some((kept(&build.marked)?, kept(&build.logging)?, build)));
    let is_new = found.is_none();
    let (marked, logging, build) = found.map_or_else(|| whole.make(), Ok)?;
    if !outcomes::same_code(&measured_bytes, &marked)? {
        return Err("assembled from the compiler's text it differs from the measured code".into());
    }
    let table = outcomes::pair(&marked, &logging)?;
    if is_new {
        workshop.cache.put_record(&key, &build).map_err(|error| whole.stored(&error))?;
    }
    let logging = workshop.cache.place("artifacts", &build.logging, "elf");
    Ok(LoggingProgram { plain: measured.path.clone(), logging, table, notes: Vec::new() })
}

struct Work<'a> {
    workshop: &'a Workshop,
    recipe: &'a Recipe,
}

impl Work<'_> {
    /// A program of the same code, compiled and linked by the same commands, has the same records.
    fn key(&self, measured: &Artifact) -> String {
        let words = |command: &SourceCommand| {
            let flags = command.flags.join("\n");
            format!("{}\n{}\n{flags}", command.source, command.driver.display())
        };
        let commands: Vec<String> = self.recipe.commands.iter().map(words).collect();
        let rewriter = digest(REWRITER.as_bytes());
        let parts = [&measured.hash, &self.recipe.compiler.sha256, &rewriter, &digest(LOG.as_bytes())];
        let parts: Vec<&str> = parts.into_iter().chain(&commands).map(String::as_str).collect();
        keys::key(&[&["instrumented"], &parts[..]].concat())
    }

    /// The links without and with records, their bytes first; sources are compiled and assembled two at a time.
    fn make(&self) -> Result<(Vec<u8>, Vec<u8>, InstrumentedBuild), String> {
        let commands: Vec<&SourceCommand> = self.recipe.commands.iter().collect();
        let texts = builder::in_pairs(&commands, |command| self.assembly(command), &|_, _| ());
        let mut site = 1;
        let mut rewritten = Vec::new();
        for (command, text) in commands.into_iter().zip(texts) {
            let text = rewrite(&text?, site, Scope::Regions);
            let text = text.map_err(|why| format!("{}, {why}", command.source))?;
            site = text.next_site;
            rewritten.push((command, text));
        }
        let marked = rewritten.iter().map(|(command, text)| (*command, &*text.marked));
        let logging = rewritten.iter().map(|(command, text)| (*command, &*text.logging));
        let jobs: Vec<(&SourceCommand, &str)> = marked.chain(logging).collect();
        let objects = builder::in_pairs(&jobs, |(command, text)| self.assemble(command, text), &|_, _| ());
        let mut marked = objects.into_iter().collect::<Result<Vec<PathBuf>, String>>()?;
        let mut logging = marked.split_off(rewritten.len());
        logging.push(self.log()?);
        let ((marked_hash, marked), (logging_hash, logging)) =
            (self.link(&marked, &[])?, self.link(&logging, &WRAPPED)?);
        Ok((marked, logging, InstrumentedBuild { marked: marked_hash, logging: logging_hash }))
    }

    fn run(&self, stage: Stage, what: &str, words: &[String]) -> Result<(), String> {
        let ran = self.workshop.run(stage, what, &self.recipe.folder, words);
        ran.map(drop).map_err(|failure| failure.to_string())
    }

    fn stored(&self, error: &std::io::Error) -> String {
        self.workshop.cache_failure("storing an instrumented build", error).to_string()
    }

    /// The text that the compiler gives its assembler.
    fn assembly(&self, command: &SourceCommand) -> Result<String, String> {
        let extension = Path::new(&command.source).extension().unwrap_or_default();
        if extension == "s" {
            let path = self.recipe.folder.join(&command.source);
            return std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        }
        let made = self.workshop.cache.unfinished(".s");
        let mut words = vec![command.driver.to_string_lossy().into_owned()];
        words.extend(command.flags.iter().cloned());
        // An assembler's source is only sent through the preprocessor.
        words.push(if extension == "S" { "-E" } else { "-S" }.into());
        words.extend([command.source.clone(), "-o".into(), made.word()]);
        self.run(Stage::Compile, &format!("{} gives no assembly", command.source), &words)?;
        let bytes = std::fs::read(&made.path).map_err(|error| self.stored(&error))?;
        String::from_utf8(bytes).map_err(|_| format!("the assembly of {} is no text", command.source))
    }

    fn assemble(&self, command: &SourceCommand, text: &str) -> Result<PathBuf, String> {
        let (source, made) = (self.workshop.cache.unfinished(".s"), self.workshop.cache.unfinished(".o"));
        std::fs::write(&source.path, text).map_err(|error| self.stored(&error))?;
        let mut words = vec![command.driver.to_string_lossy().into_owned()];
        words.extend(command.flags.iter().filter(|flag| is_of_the_assembler(flag)).cloned());
        if self.recipe.compiler.family == CompilerFamily::Clang && !is_optimised(&command.flags) {
            // Without optimisation clang writes all branches long when it compiles, but not when it assembles.
            words.push("-mrelax-all".into());
        }
        words.extend(["-c".into(), source.word(), "-o".into(), made.word()]);
        self.run(Stage::Compile, &format!("{} does not assemble with records", command.source), &words)?;
        let kept = self.workshop.cache.keep(&made, "objects", "o").map_err(|error| self.stored(&error))?;
        Ok(self.workshop.cache.place("objects", &kept.0, "o"))
    }

    /// The program's side of the log.
    fn log(&self) -> Result<PathBuf, String> {
        let (source, made) = (self.workshop.cache.unfinished(".c"), self.workshop.cache.unfinished(".o"));
        std::fs::write(&source.path, LOG).map_err(|error| self.stored(&error))?;
        let mut words = vec![self.recipe.compiler.path.to_string_lossy().into_owned()];
        let flags = ["-O2", "-fPIE", "-std=gnu11", "-mgeneral-regs-only", "-fno-stack-protector", "-c"];
        words.extend(flags.map(str::to_owned));
        words.extend([source.word(), "-o".into(), made.word()]);
        self.run(Stage::Compile, "the log does not compile", &words)?;
        let kept = self.workshop.cache.keep(&made, "objects", "o").map_err(|error| self.stored(&error))?;
        Ok(self.workshop.cache.place("objects", &kept.0, "o"))
    }

    /// A link's hash and bytes.
    fn link(&self, objects: &[PathBuf], wrapped: &[&str]) -> Result<(String, Vec<u8>), String> {
        let made = self.workshop.cache.unfinished("");
        let mut words = relink::command_of(self.recipe, objects);
        words.extend(wrapped.iter().map(|name| format!("-Wl,--wrap={name}")));
        words.extend(["-o".into(), made.word()]);
        self.run(Stage::Link, "the instrumented program does not link", &words)?;
        self.workshop.cache.keep(&made, "artifacts", "elf").map_err(|error| self.stored(&error))
    }
}

/// Flags that change what an assembler makes of a text. Others are left out: `-g` would describe the text itself.
fn is_of_the_assembler(flag: &str) -> bool {
    ["-Wa,", "-m", "-B", "-fno-integrated-as", "-fintegrated-as", "-no-integrated-as", "-integrated-as"]
        .iter()
        .any(|start| flag.starts_with(start))
}

/// Whether clang takes these flags as a wish for optimisation: the last one counts.
fn is_optimised(flags: &[String]) -> bool {
    flags.iter().rfind(|flag| flag.starts_with("-O")).is_some_and(|flag| flag != "-O0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcomes::{MARK_BYTES, STREAMS_VARIABLE, SiteKind, TARGET_BYTES, outcome};

    /// Both sides of the log are written apart; this is what they share.
    #[test]
    fn the_programs_side_of_the_log_writes_what_is_read() {
        assert!(LOG.contains(&format!("name[] = \"{STREAMS_VARIABLE}=\"")));
        // A mark's record: what came before, two wide numbers and five words.
        assert_eq!(MARK_BYTES, TARGET_BYTES + 2 * 8 + 5 * 4);
        assert!(
            LOG.contains(&format!("    uint8_t before[{TARGET_BYTES}];\n    uint64_t anchor, position;\n"))
        );
        assert!(LOG.contains("    uint32_t what, variant, input, pass, word;\n"));
        for side in [LOG, WHOLE] {
            assert!(side.contains(&format!(".quad {}\\n", SiteKind::Anchor as u32)));
            assert!(side.contains(outcomes::SECTION));
        }
        assert!(
            LOG.contains(&format!("#define ASSAY_LOG_MARK {:#x}\n", assay_pure::trace::channel::MARK_OPTION))
        );
        let code =
            rewrite("\tje f\n\tret\n\tsyscall\n", 1, Scope::Regions).expect("it can be instrumented").logging;
        assert!(code.contains(&format!("leaq {TARGET_BYTES}(%r11)")));
        assert!(code.contains(&format!("${:#x}, 8(%r11)", outcomes::word(2, outcome::WENT))));
        assert!(code.contains(&format!("${:#x}, %ecx", outcomes::word(3, outcome::SYSTEM_CALL))));
    }

    #[test]
    fn only_what_concerns_the_assembler_reaches_it() {
        let given =
            ["-O2", "-g", "-march=native", "-Wa,-mbranches-within-32B-boundaries", "-Iinclude", "-flto"];
        let kept: Vec<&str> = given.into_iter().filter(|flag| is_of_the_assembler(flag)).collect();
        assert_eq!(kept, ["-march=native", "-Wa,-mbranches-within-32B-boundaries"]);
    }
}
