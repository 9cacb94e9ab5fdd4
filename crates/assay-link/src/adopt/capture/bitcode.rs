//! Links in which LLVM generates the code (clang's `-flto`), made of texts instead.
//!
//! Question: how does such a link get records, if its linker writes the objects by itself? Method: lld and the plugin `LLVMgold.so`
//! write texts when asked (`emit-asm`). They are rewritten, assembled and linked where the linker had put the objects. Linkers
//! number entries of the PLT and the GOT by the order in which they meet symbols, so each input of bitcode is replaced by a stub: an
//! object without code, that names the same symbols in the same order, as the linker tells them (`save-temps`). What a stub defines
//! is weak, so the text's own definition wins.
//! Limits: the C library in a static program of `-flto=thin` lands elsewhere. Whether the code is the build's is compared as for any
//! link (`instrumented`). Tried with LLVM 14, lld and GNU ld. Checked: `crates/assay/tests/instrument/whole.rs` and
//! `captured.rs`.

use super::link::CapturedLink;
use super::pairs::{Pair, PairText, Pairs};
use super::run::run;
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::{digest, short_digest};
use object::read::archive::ArchiveFile;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// How bitcode begins, as it is and in a wrapper.
const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
/// What the linker is asked: for texts, and for the symbols of its inputs.
const TEXTS: &str = "-plugin-opt=emit-asm";
const NAMES: &str = "-plugin-opt=save-temps";
/// The processor that it generates code for.
const PROCESSOR: &str = "-plugin-opt=mcpu=";
/// Bytes ahead of a member's contents in an archive.
const HEADER: u64 = 60;

/// Where bitcode is: a file, or what begins so many bytes into an archive.
type BitcodePlace = (PathBuf, Option<u64>);

/// The code that a link has generated, and what stands for its inputs.
#[derive(Debug)]
pub struct LateCode {
    stubs: HashMap<BitcodePlace, PathBuf>,
    /// In the order in which the linker takes them.
    pub objects: Vec<Pair>,
}

/// A symbol of an input, as the linker resolved it.
#[derive(Debug, PartialEq)]
struct ResolvedSymbol<'a> {
    name: &'a str,
    /// This input's definition is the program's.
    prevails: bool,
}

impl LateCode {
    /// The code of a link; nothing if LLVM generates none in it. What is written goes below `folder`.
    ///
    /// # Errors
    /// The linker does not tell; a text cannot be rewritten or assembled.
    pub fn of(link: &CapturedLink, folder: &Path, pairs: &Pairs) -> Result<Option<LateCode>, String> {
        let words = link.resolved(&folder.join("x")).map_err(|error| error.to_string())?;
        if !words.files.iter().any(|file| fs::read(file).is_ok_and(|bytes| has_bitcode(&bytes))) {
            return Ok(None);
        }
        let asked = |option: &str, name: &str| {
            let place = folder.join(name);
            fs::create_dir_all(&place).map_err(|error| unable(&place, &error))?;
            let made = place.join("x");
            let mut words = link.resolved(&made).map_err(|error| error.to_string())?;
            words.own.push(option.to_owned());
            link.run_in(&words.all(false), &made, &[]).map_err(|error| error.to_string())?;
            Ok::<PathBuf, String>(place)
        };
        let names = asked(NAMES, "names")?.join("x.resolution.txt");
        let names = fs::read_to_string(&names).map_err(|error| unable(&names, &error))?;
        let inputs = resolved_inputs(&names);
        let texts = texts(&asked(TEXTS, "texts")?)?;
        let named: HashSet<&str> = texts.iter().flat_map(|text| names_of(text)).collect();
        let assembler = Assembler::of(link);
        let mut stubs = HashMap::new();
        for (number, (input, symbols)) in inputs.iter().enumerate() {
            let stub = folder.join(format!("stub-{number}.o"));
            let source = stub.with_extension("s");
            fs::write(&source, stub_text(symbols, &named)).map_err(|error| unable(&source, &error))?;
            assembler.assemble(&source, &stub)?;
            let (file, at) = bitcode_place(input);
            stubs.insert((real(&link.call().folder.join(file)), at), stub);
        }
        let own = inputs.iter().flat_map(|(_, symbols)| symbols).filter(|symbol| symbol.prevails);
        let own: BTreeSet<&str> = own.map(|symbol| symbol.name).collect();
        let mut objects = Vec::new();
        for text in &texts {
            let text = with_strong_symbols(text, &own);
            let assemble = |source: &Path, object: &Path| assembler.assemble(source, object);
            let text = PairText { text: &text, object: None, assemble: &assemble };
            objects.push(pairs.of(short_digest(&digest(text.text.as_bytes())), &text)?);
        }
        Ok(Some(LateCode { stubs, objects }))
    }

    /// Whether a file is an input of bitcode, or an archive with one.
    pub fn reads(&self, file: &Path) -> bool {
        let file = real(file);
        self.stubs.keys().any(|(own, _)| *own == file)
    }

    /// What stands for an input, or for a member of an archive whose contents begin at a byte of it.
    pub fn stub(&self, file: &Path, contents_at: Option<u64>) -> Option<&Path> {
        let file = real(file);
        // lld says where the member begins, the plugin where its contents do.
        let ahead = contents_at.and_then(|at| at.checked_sub(HEADER));
        let of = |at: Option<u64>| self.stubs.get(&(file.clone(), at)).map(PathBuf::as_path);
        of(contents_at).or_else(|| ahead.and_then(|at| of(Some(at))))
    }
}

fn has_bitcode(bytes: &[u8]) -> bool {
    if BITCODE.iter().any(|magic| bytes.starts_with(magic)) {
        return true;
    }
    let Ok(archive) = ArchiveFile::parse(bytes) else { return false };
    let mut members = archive.members().flatten().filter_map(|member| member.data(bytes).ok());
    members.any(|data| BITCODE.iter().any(|magic| data.starts_with(magic)))
}

/// One spelling for a file.
fn real(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

fn unable(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}

/// The inputs of bitcode that a linker told, each with its symbols in order.
fn resolved_inputs(told: &str) -> Vec<(&str, Vec<ResolvedSymbol<'_>>)> {
    let mut inputs: Vec<(&str, Vec<ResolvedSymbol<'_>>)> = Vec::new();
    for line in told.lines() {
        let Some(symbol) = line.strip_prefix("-r=") else {
            inputs.push((line, Vec::new()));
            continue;
        };
        let Some((input, symbols)) = inputs.last_mut() else { continue };
        // The name of an input may have a comma.
        let symbol = symbol.strip_prefix(*input).and_then(|rest| rest.strip_prefix(',')).unwrap_or(symbol);
        if let Some((name, how)) = symbol.rsplit_once(',') {
            symbols.push(ResolvedSymbol { name, prevails: how.contains('p') });
        }
    }
    inputs
}

/// What a name of an input means: `a.o`; `x.a(a.o at 94)` to lld; `x.a.llvm.154.a.c` to the plugin.
fn bitcode_place(name: &str) -> (&str, Option<u64>) {
    let of_lld = || {
        let (archive, member) = name.strip_suffix(')')?.split_once('(')?;
        Some((archive, member.rsplit_once(" at ")?.1.parse().ok()?))
    };
    let of_plugin = || {
        let (archive, member) = name.split_once(".llvm.")?;
        Some((archive, member.split('.').next()?.parse().ok()?))
    };
    of_lld().or_else(of_plugin).map_or((name, None), |(file, at): (&str, u64)| (file, Some(at)))
}

/// All words of a text that may be symbols. Debug information has names, too, as strings.
fn names_of(text: &str) -> impl Iterator<Item = &str> {
    let is_string =
        |line: &&str| [".asciz", ".ascii", ".string"].iter().any(|kind| line.trim_start().starts_with(kind));
    let code = text.lines().filter(move |line| !is_string(line));
    code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || "_.$".contains(c))))
}

/// A stub. What is undefined and `named` in no text any more is left out: the program would look for it when it is loaded. What was
/// defined, and was put into its users, is hidden: under the name of a function of a library, it would be offered to that.
fn stub_text(symbols: &[ResolvedSymbol<'_>], named: &HashSet<&str>) -> String {
    let mut text = String::from("\t.section .note.GNU-stack,\"\",@progbits\n");
    for ResolvedSymbol { name, prevails } in symbols {
        let told = match prevails {
            true if named.contains(name) => writeln!(text, "\t.weak \"{name}\"\n\"{name}\" = 0"),
            true => writeln!(text, "\t.weak \"{name}\"\n\t.hidden \"{name}\"\n\"{name}\" = 0"),
            false if named.contains(name) => writeln!(text, "\t.globl \"{name}\""),
            false => Ok(()),
        };
        told.expect("a text takes all");
    }
    text
}

/// The text with its own definitions preferred to those of stubs.
fn with_strong_symbols(text: &str, own: &BTreeSet<&str>) -> String {
    let mut strong = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.trim().strip_prefix(".weak").map(|name| name.trim().trim_matches('"')) {
            Some(name) if own.contains(name) => strong.push_str(&line.replacen(".weak", ".globl", 1)),
            _ => strong.push_str(line),
        }
    }
    strong
}

/// The texts that a linker wrote, `x`, `x1`, `x2`, in the order of their numbers; without those of nothing.
fn texts(place: &Path) -> Result<Vec<String>, String> {
    let mut numbered: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(place).map_err(|error| unable(place, &error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix('x').filter(|number| !number.is_empty()).unwrap_or("0");
        numbered.extend(number.parse().ok().map(|number| (number, entry.path())));
    }
    numbered.sort();
    let read = |(_, file): &(u64, PathBuf)| fs::read_to_string(file).map_err(|error| unable(file, &error));
    let texts = numbered.iter().map(read).collect::<Result<Vec<String>, String>>()?;
    Ok(texts.into_iter().filter(|text| !text.is_empty()).collect())
}

/// clang's assembler, of the version that generates the code.
struct Assembler {
    clang: PathBuf,
    processor: Option<String>,
}

impl Assembler {
    /// It lies beside lld, or in a folder beside that of the plugin.
    fn of(link: &CapturedLink) -> Assembler {
        let words = &link.call().words;
        let plugin = words.iter().find(|word| word.ends_with("LLVMgold.so"));
        let plugin = plugin.map(|word| PathBuf::from(word.rsplit('=').next().unwrap_or(word)));
        let near = real(plugin.as_deref().unwrap_or(&link.call().linker));
        let folders =
            [near.parent().map(Path::to_owned), near.ancestors().nth(2).map(|above| above.join("bin"))];
        let clang =
            folders.into_iter().flatten().map(|folder| folder.join("clang")).find(|clang| clang.is_file());
        let processor =
            words.iter().rev().find_map(|word| word.trim_start_matches('-').strip_prefix(&PROCESSOR[1..]));
        Assembler { clang: clang.unwrap_or_else(|| "clang".into()), processor: processor.map(str::to_owned) }
    }

    fn assemble(&self, source: &Path, object: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.clang);
        let fixed =
            "-cc1as -triple x86_64-pc-linux-gnu -filetype obj --mrelax-relocations -mrelocation-model pic";
        with_the_lab(&mut command).args(fixed.split(' '));
        if let Some(processor) = &self.processor {
            command.args(["-target-cpu", processor]);
        }
        run(command.arg("-o").arg(object).arg(source))
            .map_err(|why| format!("the text of the link does not assemble: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_linker_tells_of_its_inputs_is_read_in_order() {
        let told =
            "a,b.o\n-r=a,b.o,main,plx\n-r=a,b.o,qsort,\n./x.a(c.o at 94)\n-r=./x.a(c.o at 94),tally,pl\n";
        let symbol = |name, prevails| ResolvedSymbol { name, prevails };
        let expected = vec![
            ("a,b.o", vec![symbol("main", true), symbol("qsort", false)]),
            ("./x.a(c.o at 94)", vec![symbol("tally", true)]),
        ];
        assert_eq!(resolved_inputs(told), expected);
    }

    #[test]
    fn an_input_is_a_file_or_a_member_of_an_archive() {
        assert_eq!(bitcode_place("a.o"), ("a.o", None));
        assert_eq!(bitcode_place("./x.a(a.o at 94)"), ("./x.a", Some(94)));
        assert_eq!(bitcode_place("./x.a.llvm.154.a.c"), ("./x.a", Some(154)));
    }

    #[test]
    fn a_stub_names_what_is_still_used_in_order() {
        let named: HashSet<&str> = names_of("main:\n\tcallq\tqsort@PLT\n\t.asciz\t\"gone\"\n").collect();
        let told = "a.o\n-r=a.o,gone,\n-r=a.o,memcmp,pl\n-r=a.o,main,plx\n-r=a.o,qsort,\n";
        let text = stub_text(&resolved_inputs(told)[0].1, &named);
        assert!(text.ends_with("\t.weak \"main\"\n\"main\" = 0\n\t.globl \"qsort\"\n"), "{text}");
        assert!(text.contains("\t.hidden \"memcmp\"\n"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }

    #[test]
    fn only_weak_symbols_that_stubs_define_too_become_strong() {
        let own = BTreeSet::from(["mine"]);
        let text = "\t.weak\tmine\n\t.weak\tother\nmine:\n";
        assert_eq!(with_strong_symbols(text, &own), "\t.globl\tmine\n\t.weak\tother\nmine:\n");
    }
}
