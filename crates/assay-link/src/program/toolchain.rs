//! Which toolchains does an experiment mean?
//!
//! For sources: the compilers on PATH. For cargo: the rustc that it would call in the package's folder, or toolchains that rustup
//! has, asked for as cargo has them (`+nightly`) or without the plus. For Zig: the zig of `ZIG`, PATH or python3's package, or
//! programs that are asked for. For other builds: what they choose, or compilers on PATH.

use crate::build::{
    Compiler, CompilerFamily, ToolchainError, Toolchains, command, find_compilers, name_apart,
};
use assay_pure::experiment::diagnostic::nearest;
use assay_pure::experiment::spec::{OwnBuild, Program};
use assay_pure::experiment::to_name;
use assay_pure::inputs::digest;
use std::path::Path;

/// The toolchains of a program that match any of the patterns; what its build would take, where there are none.
///
/// # Errors
/// There is none, or a pattern matches none.
pub fn find_toolchains(
    program: &Program,
    folder: &Path,
    patterns: &[String],
) -> Result<Vec<Compiler>, ToolchainError> {
    match &program.build {
        None => find_compilers(patterns),
        Some(OwnBuild::Cargo { manifest, .. }) => rust(&folder.join(manifest), patterns),
        Some(OwnBuild::Zig { .. } | OwnBuild::ZigBuild { .. }) => zigs(patterns),
        Some(_) if !patterns.is_empty() => find_compilers(patterns),
        Some(OwnBuild::Cmake { .. }) => Ok(vec![own("cmake")]),
        Some(OwnBuild::Command { command, .. }) => {
            let program = command.split_whitespace().next().unwrap_or_default();
            Ok(vec![own(&to_name(program.rsplit('/').next().unwrap_or_default()))])
        }
    }
}

/// Whatever the build chooses, under the name of what builds.
fn own(name: &str) -> Compiler {
    Compiler {
        name: name.into(),
        aliases: Vec::new(),
        family: CompilerFamily::Own,
        version: String::new(),
        target: std::env::consts::ARCH.to_owned() + "-linux-gnu",
        path: "cc".into(),
        cxx_path: None,
        sha256: digest(b"own"),
    }
}

fn rust(manifest: &Path, patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    let folder = if manifest.is_dir() { manifest } else { manifest.parent().unwrap_or(Path::new("/")) };
    if patterns.is_empty() {
        let said = ask(folder, &["rustc", "-vV"]).map_err(|why| ToolchainError::NoRust { why })?;
        return identified(&said, None).map(|found| vec![found]);
    }
    let mut all: Vec<Compiler> = Vec::new();
    for (index, wanted) in patterns.iter().enumerate() {
        let toolchain = format!("+{}", wanted.trim_start_matches('+'));
        let Ok(said) = ask(folder, &["rustc", &toolchain, "-vV"]) else {
            return Err(unknown(folder, index, wanted));
        };
        let found = identified(&said, Some(toolchain))?;
        match all.iter_mut().find(|other| other.sha256 == found.sha256) {
            Some(other) => other.aliases.extend(found.aliases),
            None => all.push(found),
        }
    }
    Ok(all)
}

fn unknown(folder: &Path, index: usize, wanted: &str) -> ToolchainError {
    let listed = ask(folder, &["rustup", "toolchain", "list"]).unwrap_or_default();
    let found: Vec<String> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    if found.is_empty() {
        let why = format!("a toolchain such as `{wanted}` needs rustup, which is not on PATH");
        return ToolchainError::NoRust { why };
    }
    let wanted = wanted.trim_start_matches('+').to_owned();
    // "nightly-x86_64-unknown-linux-gnu" is asked for as "nightly".
    let short = |name: &String| {
        name.split_once(&format!("-{}", std::env::consts::ARCH))
            .map_or(name.clone(), |(short, _)| short.to_owned())
    };
    let found: Vec<String> = found.iter().map(short).collect();
    let near = nearest(&wanted, found.iter().map(String::as_str)).map(str::to_owned);
    ToolchainError::Unknown { among: Toolchains::OfRustup, index, wanted, found, nearest: near }
}

/// What a command prints, or why it does not.
fn ask(folder: &Path, words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let finished = command::run(folder, &words).map_err(|error| format!("{}: {error}", words[0]))?;
    if finished.succeeded() {
        return Ok(finished.stdout);
    }
    let said = finished.stderr.lines().next().unwrap_or_default().to_owned();
    Err(format!("`{}`: {}: {said}", words.join(" "), finished.ending()))
}

/// Reads what `rustc -vV` prints.
fn identified(said: &str, toolchain: Option<String>) -> Result<Compiler, ToolchainError> {
    let value =
        |key: &str| said.lines().find_map(|line| line.strip_prefix(key)).map(|text| text.trim().to_owned());
    let (Some(version), Some(target)) = (value("release:"), value("host:")) else {
        return Err(ToolchainError::NoRust { why: "`rustc -vV` names no release and no host".into() });
    };
    let (number, channel) = version.split_once('-').unwrap_or((&version, ""));
    let short = number.split('.').take(2).collect::<Vec<_>>().join(".");
    let channel: String = channel.chars().take_while(char::is_ascii_alphabetic).collect();
    let suffix = if channel.is_empty() { String::new() } else { format!("-{channel}") };
    Ok(Compiler {
        name: format!("rustc-{short}{suffix}"),
        aliases: toolchain.into_iter().collect(),
        family: CompilerFamily::Rustc,
        target,
        path: "rustc".into(),
        cxx_path: None,
        sha256: digest(said.as_bytes()),
        version,
    })
}

/// Commands that may be zig where none is asked for; the Python package brings the last two.
const ZIGS: [&str; 3] = ["zig", "python-zig", "python3 -m ziglang"];

/// The zig of `ZIG`, of PATH or of python3's package; or those that are asked for, each a program or its path.
fn zigs(patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    let usual = || {
        let own = std::env::var("ZIG").ok().filter(|own| !own.is_empty());
        let tried = own.iter().map(String::as_str).chain(ZIGS).find_map(|command| zig(command).ok());
        let why = || "zig is neither on PATH nor a package of python3".to_owned();
        tried.ok_or_else(|| ToolchainError::NoZig { index: None, why: why() })
    };
    if patterns.is_empty() {
        return usual().map(|found| vec![found]);
    }
    let mut all: Vec<Compiler> = Vec::new();
    for (index, wanted) in patterns.iter().enumerate() {
        let of_usual = usual().ok().filter(|found| found.names().any(|name| name == wanted));
        let found = match of_usual {
            Some(found) => found,
            None => zig(wanted).map_err(|why| ToolchainError::NoZig { index: Some(index), why })?,
        };
        if all.iter().all(|other| other.sha256 != found.sha256) {
            all.push(found);
        }
    }
    name_apart(&mut all);
    Ok(all)
}

/// Asks a command that may be zig.
fn zig(command: &str) -> Result<Compiler, String> {
    let words: Vec<&str> = command.split_whitespace().chain(["env"]).collect();
    let said = ask(Path::new("."), &words)?;
    identified_zig(&said, command)
        .ok_or_else(|| format!("`{command} env` names no version and no program, as zig does from 0.11 on"))
}

/// Reads what `zig env` prints: ZON from 0.15 on, JSON before.
fn identified_zig(said: &str, command: &str) -> Option<Compiler> {
    let value = |key: &str| {
        said.lines().find_map(|line| {
            let line = line.trim().trim_start_matches('.').trim_start_matches('"');
            let rest = line.strip_prefix(key)?.trim_start_matches('"').trim_start();
            let quoted = rest.strip_prefix(['=', ':'])?.trim().trim_end_matches(',');
            Some(quoted.trim_matches('"').to_owned())
        })
    };
    let (version, path) = (value("version")?, value("zig_exe")?);
    let target = value("target").unwrap_or_default();
    let short = version.split('.').take(2).collect::<Vec<_>>().join(".");
    Some(Compiler {
        name: format!("zig-{short}"),
        aliases: vec![command.to_owned(), "zig".into()],
        family: CompilerFamily::Zig,
        target: target.split('.').next().unwrap_or_default().to_owned(),
        sha256: digest(format!("zig {version} {path} {target}").as_bytes()),
        path: path.into(),
        cxx_path: None,
        version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zig_tells_its_version_and_its_program() {
        let of =
            |said: &str| identified_zig(said, "zig").map(|zig| (zig.name, zig.version, zig.path, zig.target));
        let expected =
            ("zig-0.15".to_owned(), "0.15.2".to_owned(), "/opt/zig/zig".into(), "x86_64-linux".to_owned());
        let zon = ".{\n    .zig_exe = \"/opt/zig/zig\",\n    .lib_dir = \"/opt/zig/lib\",\n    .version = \"0.15.2\",\n    \
                   .target = \"x86_64-linux.6.18...6.18-gnu.2.36\",\n    .env = .{\n        .ZIG_LIBC = null,\n    },\n}\n";
        assert_eq!(of(zon), Some(expected.clone()));
        let json = "{\n \"zig_exe\": \"/opt/zig/zig\",\n \"version\": \"0.15.2\",\n \"target\": \"x86_64-linux.6...6-gnu.2.36\",\n}";
        assert_eq!(of(json), Some(expected));
        assert_eq!(of("usage: zig [command]"), None);
        let Err(ToolchainError::NoZig { index, why }) = zigs(&["no-such-zig".into()]) else {
            panic!("none is there")
        };
        assert_eq!(index, Some(0));
        assert!(why.contains("no-such-zig"), "{why}");
    }

    #[test]
    fn a_toolchain_is_named_by_its_release() {
        let said = |release: &str| {
            format!("rustc {release}\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: {release}\n")
        };
        let name = |release: &str| identified(&said(release), None).expect("it names all").name;
        assert_eq!(name("1.95.0"), "rustc-1.95");
        assert_eq!(name("1.97.0-nightly"), "rustc-1.97-nightly");
        assert_eq!(name("1.96.0-beta.3"), "rustc-1.96-beta");
        let nightly = identified(&said("1.97.0-nightly"), Some("+nightly".into())).expect("it names all");
        assert_eq!((nightly.toolchain(), nightly.family), (Some("+nightly"), CompilerFamily::Rustc));
        assert!(matches!(identified("error", None), Err(ToolchainError::NoRust { .. })));
    }
}
