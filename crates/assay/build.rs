//! What the one file `assay` carries, so that every way of installing a program installs all of it: the emulator's
//! plugin, the crate that Rust benchmarks link, and who made what is linked in. (The header is in assay-link.)
//!
//! Cargo links the plugin, a dependency, before this crate's program and keeps it in the profile's folder `deps`, by its
//! plain name as long as its sources lie on disk. Cargo from 1.89 to 1.97 does so. Where it does not (sources from a git
//! address, another layout of the target folder), the file stays empty and main.rs stops the build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    plugin(&out);
    harness(&out);
    linked(&out);
    without_unwind_tables(&out);
    println!("cargo:rustc-env=ASSAY_TARGET={}", env::var("TARGET").expect("cargo sets it"));
}

/// Names the plugin's file. It may not be linked yet, or never (`cargo check`), so an empty one takes its place: what
/// `include_bytes!` reads must be there.
fn plugin(out: &Path) {
    let profile = out.ancestors().nth(3).expect("PROFILE/build/assay-HASH/out");
    let file = profile.join("deps/libassay_qemu.so");
    let _ = fs::create_dir_all(profile.join("deps"));
    let _ = fs::File::create_new(&file);
    println!("cargo:rustc-env=ASSAY_PLUGIN_FILE={}", file.display());
}

/// The sources of assay-harness and its licences, as names and texts, with a Cargo.toml that stands alone.
fn harness(out: &Path) {
    let krate = Path::new("../assay-harness");
    println!("cargo:rerun-if-changed={}", krate.display());
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(krate.join("src")).expect("the harness's sources").flatten() {
        names.push(entry.file_name().into_string().expect("a plain name"));
    }
    names.sort();
    let own = fs::read_to_string(krate.join("Cargo.toml")).expect("the harness's manifest");
    let oldest =
        own.lines().find(|line| line.starts_with("rust-version = ")).expect("it names its oldest Rust");
    let manifest = format!(
        "[package]\nname = \"assay-harness\"\nversion = \"{}\"\nedition = \"2024\"\n{oldest}\n\
         license = \"{}\"\ndescription = \"What a Rust benchmark links to be measured by assay\"\n",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_LICENSE"),
    );
    let mut text = format!("&[(\"Cargo.toml\", {manifest:?}),\n");
    let sources = names.into_iter().map(|name| format!("src/{name}"));
    for name in sources.chain(["LICENSE-MIT", "LICENSE-APACHE"].map(str::to_owned)) {
        let path = fs::canonicalize(krate.join(&name)).expect("it lies in the harness's folder");
        text.push_str(&format!("({name:?}, include_str!({path:?})),\n"));
    }
    text.push(']');
    fs::write(out.join("harness.rs"), text).expect("OUT_DIR can be written");
}

/// A release ends at a panic and has no symbols: nothing reads its unwind tables, an eighth of the file. The compiler writes them
/// whatever a profile says, so the linker leaves them out. Not every linker takes a script: one that somebody chose is left alone.
fn without_unwind_tables(out: &Path) {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = env::var_os("RUSTC_LINKER").is_some()
        || ["linker", "link-arg", "fuse-ld"].iter().any(|word| flags.contains(word));
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    if chosen || !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let script = out.join("without_unwind_tables.ld");
    fs::write(&script, "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame.*) } } INSERT AFTER .text;\n")
        .expect("OUT_DIR can be written");
    println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
}

/// The crates linked into a release and their licences, a line per licence. Other builds do not ask: it takes a second.
fn linked(out: &Path) {
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    let found = if env::var("PROFILE").as_deref() == Ok("release") { asked() } else { None };
    let text = found.unwrap_or_else(|| "(not collected in this build)\n".to_owned());
    fs::write(out.join("linked.txt"), text).expect("OUT_DIR can be written");
}

fn asked() -> Option<String> {
    let target = env::var("TARGET").ok()?;
    let output = Command::new(env::var_os("CARGO")?)
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}|{l}",
        ])
        .args(["--target", &target])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let mut licences: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).ok()?.lines() {
        let (package, licence) = line.split_once('|')?;
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ").replace("  ", " ");
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        if !name.starts_with("assay") {
            licences.entry(licence).or_default().insert(format!("{name} {version}"));
        }
    }
    let line = |(licence, names): (&String, &BTreeSet<String>)| {
        format!("{licence}: {}\n", names.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    Some(licences.iter().map(line).collect())
}
