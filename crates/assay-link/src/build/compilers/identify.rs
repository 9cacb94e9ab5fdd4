//! Asking a driver what it is.

use super::{Compiler, CompilerFamily};
use crate::build::command::{self, Finished};
use assay_pure::inputs::digest;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What `-v` tells.
struct Voice {
    family: CompilerFamily,
    version: String,
    target: String,
    /// The line that names the version, with the vendor's revision.
    line: String,
}

/// Asks the driver at `path`, known by `names` (the longest first), and adds to `read` the programs whose contents make up its
/// hash. Errors: why it cannot be used.
pub fn identify(
    path: &Path,
    names: &[String],
    search_path: &OsStr,
    read: &mut Vec<PathBuf>,
) -> Result<Compiler, String> {
    let voice = listen(&ask(path, &["-v"])?)?;
    let cxx_path = cxx_driver(names, &voice, path, search_path);
    let sha256 = fingerprint(path, &voice, read)?;
    let major = voice.version.split('.').next().unwrap_or(&voice.version);
    Ok(Compiler {
        name: format!("{}-{major}", voice.family.name()),
        aliases: names.to_vec(),
        family: voice.family,
        version: voice.version,
        target: voice.target,
        path: path.to_owned(),
        cxx_path,
        sha256,
    })
}

fn ask(path: &Path, arguments: &[&str]) -> Result<Finished, String> {
    let mut words = vec![path.to_string_lossy().into_owned()];
    words.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let finished = command::run(Path::new("/"), &words).map_err(|error| error.to_string())?;
    if finished.succeeded() { Ok(finished) } else { Err(format!("{} for -v", finished.ending())) }
}

/// Reads "gcc version 12.2.0 (Debian ...)" or "Debian clang version 16.0.6 (...)", and "Target: ...".
fn listen(finished: &Finished) -> Result<Voice, String> {
    let text = finished.everything();
    let after = |line: &str, mark: &str| line.split_once(mark).map(|(_, rest)| rest.to_owned());
    let target = text.lines().find_map(|line| line.strip_prefix("Target: ")).ok_or("-v names no target")?;
    for line in text.lines() {
        for (family, mark) in
            [(CompilerFamily::Gcc, "gcc version "), (CompilerFamily::Clang, "clang version ")]
        {
            let Some(rest) = after(line, mark) else { continue };
            let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            if !version.is_empty() {
                return Ok(Voice {
                    family,
                    version,
                    target: target.trim().to_owned(),
                    line: line.to_owned(),
                });
            }
        }
    }
    Err("-v names neither gcc nor clang".into())
}

/// The C++ driver beside it, or elsewhere on PATH, that says the same of itself.
fn cxx_driver(names: &[String], voice: &Voice, path: &Path, search_path: &OsStr) -> Option<PathBuf> {
    let beside = path.parent().map(Path::to_owned);
    let folders: Vec<PathBuf> = beside.into_iter().chain(std::env::split_paths(search_path)).collect();
    for name in names {
        // By its own name: one called gcc that is a clang comes with a clang called g++.
        let Some(name) = cxx_name(name) else { continue };
        for candidate in folders.iter().map(|folder| folder.join(&name)).filter(|path| path.is_file()) {
            let same = ask(&candidate, &["-v"]).and_then(|finished| listen(&finished));
            if same.is_ok_and(|other| other.line == voice.line && other.target == voice.target) {
                return Some(candidate);
            }
        }
    }
    None
}

fn cxx_name(name: &str) -> Option<String> {
    let by = |from: &str, to: &str| name.strip_prefix(from).map(|rest| format!("{to}{rest}"));
    by("gcc", "g++").or_else(|| by("clang", "clang++"))
}

fn fingerprint(path: &Path, voice: &Voice, read: &mut Vec<PathBuf>) -> Result<String, String> {
    let programs: &[&str] = match voice.family {
        CompilerFamily::Gcc => &["cc1", "cc1plus"],
        _ => &[],
    };
    let mut text = format!("{}\n{}\n", voice.line, voice.target);
    for name in programs {
        // Without the C++ compiler proper, gcc answers with the bare name.
        let answer = ask(path, &[&format!("-print-prog-name={name}")])?;
        let program = PathBuf::from(answer.stdout.trim());
        if program.is_absolute() {
            text.push_str(&format!("{name} {}\n", hash_of(&program)?));
            read.push(program);
        }
    }
    if programs.is_empty() {
        text.push_str(&format!("driver {}\n", hash_of(path)?));
    }
    Ok(digest(text.as_bytes()))
}

fn hash_of(path: &Path) -> Result<String, String> {
    std::fs::read(path)
        .map(|bytes| digest(&bytes))
        .map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Result<Voice, String> {
        listen(&Finished { code: Some(0), signal: None, stdout: String::new(), stderr: text.into() })
    }

    #[test]
    fn versions_are_read_from_what_the_compilers_say() {
        let gcc =
            heard("Using built-in specs.\nTarget: x86_64-linux-gnu\ngcc version 12.2.0 (Debian 12.2.0-14)\n")
                .expect("gcc's words");
        assert_eq!((gcc.family, gcc.version.as_str()), (CompilerFamily::Gcc, "12.2.0"));
        let clang = heard("Debian clang version 16.0.6 (15~deb12u1)\nTarget: x86_64-pc-linux-gnu\n")
            .expect("clang's");
        assert_eq!((clang.family, clang.version.as_str()), (CompilerFamily::Clang, "16.0.6"));
        assert_eq!(clang.target, "x86_64-pc-linux-gnu");
        assert!(heard("tcc version 0.9\nTarget: x\n").is_err());
        assert!(heard("gcc version 12.2.0\n").is_err());
    }
}
