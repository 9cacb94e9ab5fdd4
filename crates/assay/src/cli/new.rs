//! `assay new`: a commented experiment and its program to start from.

use super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_pure::experiment::template;
use std::path::PathBuf;

/// Write a commented experiment and a small program to start from
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/new.txt"))]
pub struct NewArguments {
    /// Folder to create
    pub folder: PathBuf,
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
    let files = [
        ("experiment.toml", template::commented_experiment(&name)),
        (template::PROGRAM_FILE, template::commented_program()),
    ];
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
        assay_linux::output::write(&path, content.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    let experiment = folder.join("experiment.toml");
    text.push_str(&format!("next: assay run {}\n", experiment.display()));
    screen::print(&text);
    Ok(DONE)
}
