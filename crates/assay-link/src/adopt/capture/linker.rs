//! The linker of a captured link, asked what it is and which script it follows.

use super::call::LinkerCall;
use super::failure::ReplayError;
use super::words::{PartRole, Parts};
use crate::build::{LinkerKind, default_script, identify};
use assay_linux::tied::with_the_lab;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// What it said of itself.
#[derive(Clone, Debug)]
pub struct KnownLinker {
    /// Which one.
    pub kind: LinkerKind,
    /// The script that it follows by default under the words of this call (GNU ld).
    pub script: Option<String>,
}

/// Starts the linker in the surroundings of a call.
pub fn command(call: &LinkerCall) -> Command {
    let mut command = Command::new(&call.linker);
    with_the_lab(&mut command)
        .current_dir(&call.folder)
        .env_clear()
        .envs(call.environment.iter().map(|(name, value)| (name, value)))
        // Its answers are read, so they are asked for in English.
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// Asks.
///
/// # Errors
/// It cannot be started.
pub fn ask(call: &LinkerCall, parts: &Parts) -> Result<KnownLinker, ReplayError> {
    if call.zig {
        return Ok(KnownLinker { kind: LinkerKind::Other, script: None });
    }
    let (kind, _) = identify(&said(call, &["--version".to_owned()])?);
    let script = match kind {
        LinkerKind::Gnu => default_script(&said(call, &options(call, parts))?),
        _ => None,
    };
    Ok(KnownLinker { kind, script })
}

fn said(call: &LinkerCall, words: &[String]) -> Result<String, ReplayError> {
    let output = command(call).args(words).output().map_err(|error| ReplayError::Linker {
        linker: call.linker.clone(),
        why: format!("the linker cannot be started: {error}"),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(format!("{}\n{}", text(&output.stdout), text(&output.stderr)))
}

/// The options alone, without what is read, written or searched: they decide over the script, and nothing is linked.
fn options(call: &LinkerCall, parts: &Parts) -> Vec<String> {
    let mut left_out = BTreeSet::new();
    for part in &parts.parts {
        left_out.insert(part.word);
        if part.behind_option {
            left_out.insert(part.word - 1);
        }
    }
    let kept = |(at, word): (usize, &String)| {
        // Without its plugin, a plugin's options are errors.
        (!left_out.contains(&at) && !word.starts_with("-plugin-opt") && !word.starts_with("--plugin-opt"))
            .then(|| word.clone())
    };
    let mut words: Vec<String> = call.words.iter().enumerate().filter_map(kept).collect();
    words.push("--verbose".into());
    words
}

/// The option by which the link names a script of its own.
pub fn own_script(call: &LinkerCall, parts: &Parts) -> Option<String> {
    let part = parts.first(PartRole::Script)?;
    let option = if part.behind_option { part.word - 1 } else { part.word };
    Some(call.words[option..=part.word].join(" "))
}
