//! `assay new`: a commented experiment and its program to start from.

use super::harness::CRATE;
use super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_pure::experiment::template::{self, rust, zig};
use std::path::PathBuf;

/// Write a commented experiment and a small program to start from
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/new.txt"))]
pub struct NewArguments {
    /// Folder to create
    pub folder: PathBuf,
    /// Write a cargo package in Rust instead of a program in C
    #[arg(long)]
    pub rust: bool,
    /// Write a program in Zig
    #[arg(long, conflicts_with = "rust")]
    pub zig: bool,
    /// Write a program in C++20
    #[arg(long, conflicts_with_all = ["rust", "zig"])]
    pub cpp: bool,
}

/// The files of an experiment with a program in C, by their paths.
fn c_files(name: &str) -> Vec<(String, String)> {
    vec![
        ("experiment.toml".into(), template::commented_experiment(name)),
        (template::PROGRAM_FILE.into(), template::commented_program()),
    ]
}

/// Those of a cargo package; the harness lies in it, so that it builds wherever it is copied to.
fn rust_files(name: &str) -> Vec<(String, String)> {
    let own = rust::package(name).into_iter().map(|(file, text)| (file.to_owned(), text));
    let harness =
        CRATE.iter().map(|(file, text)| (format!("{}/{file}", rust::HARNESS_FOLDER), (*text).to_owned()));
    own.chain(harness).collect()
}

/// Runs the verb.
///
/// # Errors
/// The folder holds an experiment already, or cannot be written.
pub fn run(arguments: &NewArguments) -> Result<u8> {
    let folder = &arguments.folder;
    let name =
        folder.file_name().map_or_else(|| "experiment".into(), |name| name.to_string_lossy().into_owned());
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let owned = |files: [(&str, String); 2]| files.map(|(file, text)| (file.to_owned(), text)).to_vec();
    let files = match arguments {
        NewArguments { rust: true, .. } => rust_files(&name),
        NewArguments { zig: true, .. } => owned(zig::files(&name)),
        NewArguments { cpp: true, .. } => owned(template::cpp_files(&name)),
        _ => c_files(&name),
    };
    for (file, _) in &files {
        let path = folder.join(file);
        // A link that leads nowhere is somebody's, too.
        if path.symlink_metadata().is_ok() {
            let message =
                format!("{} exists already; nothing was written. Choose another folder", path.display());
            return Err(Misuse(message).into());
        }
    }
    let mut text = String::new();
    for (file, content) in &files {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| assay_linux::output::write(&path, content.as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
        if !file.starts_with(rust::HARNESS_FOLDER) {
            text.push_str(&format!("wrote {}\n", path.display()));
        }
    }
    if arguments.rust {
        text.push_str(&format!(
            "wrote the harness crate to {}\n",
            folder.join(rust::HARNESS_FOLDER).display()
        ));
    }
    let experiment = folder.join("experiment.toml");
    text.push_str(&format!("next: assay run {}\n", experiment.display()));
    screen::print(&text);
    Ok(DONE)
}
