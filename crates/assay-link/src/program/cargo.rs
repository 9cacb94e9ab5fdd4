//! A target of a cargo package.
//!
//! It is built by the user's cargo, in the folder of its Cargo.toml, so that toolchain files and settings hold; into a target
//! folder of the store for each toolchain and flag set, so that neither the user's own builds nor each other's are undone.
//! Flags go to rustc by the stand-in for it that captures links, behind those that cargo gives it: cargo takes its own from one
//! place only (`CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, `target.*.rustflags` or `build.rustflags`), so a variable of ours would
//! undo the user's. Those that profiles decide over (optimisation, LTO, code-generation units, overflow checks, panics) go into
//! `CARGO_PROFILE_<NAME>_<KEY>`, as cargo would contradict them; `--profile=NAME` names another profile.

use super::own::{OwnAsked, OwnOrder, Wanted};
use crate::adopt::capture::RUSTC_FLAGS_VARIABLE;
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
    let Flags { profile, set, rustc } = Flags::read(&asked.flags.flags, profile);
    let words = words(asked.compiler.toolchain(), &manifest, &place, target, features, &profile);
    let variable = |(key, value)| (format!("CARGO_PROFILE_{}_{key}", in_variables(&profile)), value);
    let mut environment: Vec<(String, String)> = set.into_iter().map(variable).collect();
    environment.extend((!rustc.is_empty()).then(|| (RUSTC_FLAGS_VARIABLE.to_owned(), rustc.join("\u{1f}"))));
    Ok(OwnOrder {
        before: Vec::new(),
        command: format!("cd {} && exec {}", quote(&home.to_string_lossy()), command_line(&words)),
        environment,
        wanted: wanted(target, &profile),
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

/// A profile's name as variables have it.
fn in_variables(profile: &str) -> String {
    profile.to_uppercase().replace('-', "_")
}

/// The words of a flag set, by who is told.
#[derive(Debug, PartialEq)]
struct Flags {
    /// The profile: that of the program, unless a word names another.
    profile: String,
    /// Keys of the profile.
    set: Vec<(&'static str, String)>,
    /// For rustc.
    rustc: Vec<String>,
}

impl Flags {
    fn read(flags: &[String], profile: &str) -> Self {
        let mut found = Self { profile: profile.to_owned(), set: Vec::new(), rustc: Vec::new() };
        let mut words = flags.iter().flat_map(|flag| flag.split_whitespace()).peekable();
        while let Some(word) = words.next() {
            let split = matches!(word, "-C" | "--codegen");
            if let Some(name) = word.strip_prefix("--profile=") {
                found.profile = name.to_owned();
                continue;
            }
            let value = if split {
                words.peek().copied()
            } else {
                word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen="))
            };
            let of_profile = value.and_then(|value| {
                let (name, value) = value.split_once('=')?;
                let (_, key) = OF_PROFILES.iter().find(|(own, _)| *own == name)?;
                Some((*key, value.to_owned()))
            });
            match of_profile {
                Some(pair) => {
                    found.set.push(pair);
                    if split {
                        words.next();
                    }
                }
                None => found.rustc.push(word.to_owned()),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_to_rustc_and_what_profiles_decide_to_the_profile() {
        let read = |flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
            Flags::read(&flags, "release-fast")
        };
        let told = |profile: &str, set: &[(&'static str, &str)], rustc: &[&str]| Flags {
            profile: profile.to_owned(),
            set: set.iter().map(|&(key, value)| (key, value.to_owned())).collect(),
            rustc: rustc.iter().map(|&word| word.to_owned()).collect(),
        };
        assert_eq!(read(&[]), told("release-fast", &[], &[]));
        assert_eq!(
            read(&["-C target-cpu=native", "-Clto=fat", "-C", "opt-level=3", "--cfg", "fast"]),
            told(
                "release-fast",
                &[("LTO", "fat"), ("OPT_LEVEL", "3")],
                &["-C", "target-cpu=native", "--cfg", "fast"]
            )
        );
        let other = read(&["--codegen=codegen-units=1", "--profile=dist"]);
        assert_eq!(other, told("dist", &[("CODEGEN_UNITS", "1")], &[]));
        assert_eq!(in_variables("release-fast"), "RELEASE_FAST");
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
