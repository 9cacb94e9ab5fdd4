//! A target of a cargo package.
//!
//! It is built by the user's cargo, in the folder of its Cargo.toml, so that toolchain files and settings hold; into a target
//! folder of the store for each toolchain and flag set, so that neither the user's own builds nor each other's are undone.
//! Flags go to rustc in `CARGO_ENCODED_RUSTFLAGS`, behind those of `RUSTFLAGS`; those that profiles decide over (optimisation,
//! LTO, code-generation units, overflow checks, panics) in `CARGO_PROFILE_<NAME>_<KEY>`, as cargo would contradict them.

use super::own::{OwnAsked, OwnOrder, Wanted};
use crate::build::BuildFailure;
use crate::build::text::{command_line, quote};
use assay_pure::experiment::spec::CargoTarget;
use std::path::{Path, PathBuf};

/// What profiles decide over: rustc's name and the profile's.
const OF_PROFILES: [(&str, &str); 6] = [
    ("opt-level", "OPT_LEVEL"),
    ("lto", "LTO"),
    ("codegen-units", "CODEGEN_UNITS"),
    ("debuginfo", "DEBUG"),
    ("panic", "PANIC"),
    ("overflow-checks", "OVERFLOW_CHECKS"),
];

/// The order of a cargo build.
///
/// # Errors
/// There is no such manifest, or no place in the store.
pub fn order(
    asked: &OwnAsked<'_>,
    manifest: &Path,
    target: &CargoTarget,
    features: &[String],
    profile: &str,
) -> Result<OwnOrder, BuildFailure> {
    let manifest = if manifest.is_dir() { manifest.join("Cargo.toml") } else { manifest.to_owned() };
    let manifest = manifest
        .canonicalize()
        .map_err(|error| asked.failure(format!("cannot read {}: {error}", manifest.display())))?;
    let place = asked.place("cargo", &manifest)?;
    let home = manifest.parent().unwrap_or(Path::new("/"));
    let words = words(asked.compiler.toolchain(), &manifest, &place, target, features, profile);
    Ok(OwnOrder {
        before: Vec::new(),
        command: format!("cd {} && exec {}", quote(&home.to_string_lossy()), command_line(&words)),
        environment: environment(&asked.flags.flags, profile, std::env::var("RUSTFLAGS").ok()),
        wanted: wanted(target, profile),
        folder: place,
    })
}

fn words(
    toolchain: Option<&str>,
    manifest: &Path,
    place: &Path,
    target: &CargoTarget,
    features: &[String],
    profile: &str,
) -> Vec<String> {
    let mut words: Vec<String> = vec!["cargo".into()];
    words.extend(toolchain.map(str::to_owned));
    words.extend(["build", "--color", "never", "--profile", profile].map(str::to_owned));
    words.extend(["--manifest-path".into(), manifest.display().to_string()]);
    words.extend(["--target-dir".into(), place.display().to_string()]);
    match target {
        CargoTarget::OnlyBin => words.push("--bins".into()),
        CargoTarget::Bin(name) => words.extend(["--bin".into(), name.clone()]),
        CargoTarget::Bench(name) => words.extend(["--bench".into(), name.clone()]),
        CargoTarget::Example(name) => words.extend(["--example".into(), name.clone()]),
    }
    if !features.is_empty() {
        words.extend(["--features".into(), features.join(",")]);
    }
    words
}

/// The folder in the target folder that a profile's programs lie in.
fn folder_of(profile: &str) -> &str {
    match profile {
        "dev" | "test" => "debug",
        "bench" => "release",
        other => other,
    }
}

fn wanted(target: &CargoTarget, profile: &str) -> Wanted {
    let folder = PathBuf::from(folder_of(profile));
    match target {
        CargoTarget::OnlyBin => Wanted::Only { folder },
        CargoTarget::Bin(name) => Wanted::Named { folder, name: name.clone(), hashed: false },
        CargoTarget::Example(name) => {
            Wanted::Named { folder: folder.join("examples"), name: name.clone(), hashed: false }
        }
        CargoTarget::Bench(name) => {
            Wanted::Named { folder: folder.join("deps"), name: name.replace('-', "_"), hashed: true }
        }
    }
}

/// The variables that carry flags to rustc.
fn environment(flags: &[String], profile: &str, already: Option<String>) -> Vec<(String, String)> {
    let mut set = Vec::new();
    let mut rest: Vec<String> = Vec::new();
    let mut words = flags.iter().flat_map(|flag| flag.split_whitespace()).peekable();
    while let Some(word) = words.next() {
        let split = matches!(word, "-C" | "--codegen");
        let value = if split {
            words.peek().copied()
        } else {
            word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen="))
        };
        let of_profile = value.and_then(|value| {
            let (name, value) = value.split_once('=')?;
            let (_, key) = OF_PROFILES.iter().find(|(own, _)| *own == name)?;
            Some((*key, value))
        });
        match of_profile {
            Some((key, value)) => {
                let profile = profile.to_uppercase().replace('-', "_");
                set.push((format!("CARGO_PROFILE_{profile}_{key}"), value.to_owned()));
                if split {
                    words.next();
                }
            }
            None => rest.push(word.to_owned()),
        }
    }
    if !rest.is_empty() {
        let already = already.unwrap_or_default();
        let all: Vec<&str> = already.split_whitespace().chain(rest.iter().map(String::as_str)).collect();
        set.push(("CARGO_ENCODED_RUSTFLAGS".into(), all.join("\u{1f}")));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(flags: &[&str], already: Option<&str>) -> Vec<(String, String)> {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        environment(&flags, "release-fast", already.map(str::to_owned))
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    #[test]
    fn flags_go_to_rustc_and_what_profiles_decide_to_the_profile() {
        assert_eq!(told(&[], Some("-Cx=y")), []);
        assert_eq!(
            told(&["-C target-cpu=native", "-Clto=fat", "-C", "opt-level=3", "--cfg", "fast"], Some("-g")),
            [
                pair("CARGO_PROFILE_RELEASE_FAST_LTO", "fat"),
                pair("CARGO_PROFILE_RELEASE_FAST_OPT_LEVEL", "3"),
                pair("CARGO_ENCODED_RUSTFLAGS", "-g\u{1f}-C\u{1f}target-cpu=native\u{1f}--cfg\u{1f}fast"),
            ]
        );
        assert_eq!(
            told(&["--codegen=codegen-units=1"], None),
            [pair("CARGO_PROFILE_RELEASE_FAST_CODEGEN_UNITS", "1")]
        );
    }

    #[test]
    fn a_command_names_the_toolchain_the_target_and_the_features() {
        let said = |toolchain, target, features: &[&str]| {
            let features: Vec<String> = features.iter().map(|&feature| feature.to_owned()).collect();
            words(toolchain, Path::new("/p/Cargo.toml"), Path::new("/t"), &target, &features, "release")
                .join(" ")
        };
        assert_eq!(
            said(Some("+nightly"), CargoTarget::Bench("sort".into()), &["a", "b"]),
            "cargo +nightly build --color never --profile release --manifest-path /p/Cargo.toml --target-dir /t --bench sort \
             --features a,b"
        );
        assert!(said(None, CargoTarget::OnlyBin, &[]).ends_with("--target-dir /t --bins"));
    }
}
