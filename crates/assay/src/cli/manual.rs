//! `assay man`: manual pages, made from the same description as the help.
//!
//! clap_mangen writes the sections that clap knows. What stands below the options in our help (examples, exit codes) it
//! would fill into paragraphs, so these sections are written here: examples keep their lines.

use super::{Command, DONE, screen};
use anyhow::{Context, Result};
use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::{Path, PathBuf};

/// Print assay's manual page, or write one for each verb
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/man.txt"))]
pub struct ManArguments {
    /// Folder to write all pages to (assay.1, assay-run.1, ...)
    pub folder: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// A page cannot be written.
pub fn run(arguments: &ManArguments) -> Result<u8> {
    let pages = pages()?;
    match &arguments.folder {
        None => screen::print(&pages[0].1),
        Some(folder) => write(folder, &pages)?,
    }
    Ok(DONE)
}

fn write(folder: &Path, pages: &[(String, String)]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    for (name, text) in pages {
        let path = folder.join(format!("{name}.1"));
        assay_linux::output::write(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Names and texts, `assay` first.
fn pages() -> io::Result<Vec<(String, String)>> {
    fn collect(command: &clap::Command, name: &str, pages: &mut Vec<(String, String)>) -> io::Result<()> {
        pages.push((name.to_owned(), page(command, name)?));
        let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set());
        for verb in verbs {
            collect(verb, &format!("{name}-{}", verb.get_name()), pages)?;
        }
        Ok(())
    }
    let mut assay = Command::command().disable_help_subcommand(true);
    assay.build();
    let mut pages = Vec::new();
    collect(&assay, "assay", &mut pages)?;
    Ok(pages)
}

fn page(command: &clap::Command, name: &str) -> io::Result<String> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // `display_name` is what the page is called; the synopsis keeps the words as they are typed.
    let man = Man::new(command.clone().display_name(name.to_owned()))
        // An empty date would be left out, and the source taken for it.
        .date(" ")
        .source(concat!("assay ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    below(&after).to_writer(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The sections of what stands below the options: examples, exit codes, notes.
fn below(after: &str) -> Roff {
    let mut roff = Roff::new();
    let mut notes = false;
    for block in after.trim().split("\n\n").filter(|block| !block.is_empty()) {
        let (first, rest) = block.split_once('\n').unwrap_or((block, ""));
        if let Some(codes) = block.strip_prefix("Exit codes: ") {
            roff.control("SH", ["EXIT STATUS"]).text([roman(joined(codes))]);
        } else if let Some(heading) = first.strip_suffix(':').filter(|_| rest.starts_with("  ")) {
            roff.control("SH", [heading.to_uppercase().as_str()]);
            as_typed(&mut roff, rest);
        } else if block.lines().any(|line| line.starts_with("  ")) {
            roff.control("PP", []);
            as_typed(&mut roff, block);
        } else {
            roff.control(if notes { "PP" } else { "SH" }, if notes { vec![] } else { vec!["NOTES"] });
            notes = true;
            roff.text([roman(joined(block))]);
        }
    }
    roff
}

fn joined(block: &str) -> String {
    block.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn as_typed(roff: &mut Roff, lines: &str) {
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_with_its_name_its_options_and_its_exit_codes() {
        let pages = pages().expect("pages");
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["assay", "assay-run", "assay-trace-record", "assay-man"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for (name, text) in &pages {
            assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
            assert!(text.contains(".SH \"EXIT STATUS\"") || name == "assay-stages-add", "{name}: {text}");
        }
    }

    #[test]
    fn examples_keep_their_lines_and_paragraphs_do_not() {
        let roff = below("One\ntwo.\n\nExamples:\n  assay run\n  .x\n\nExit codes: 0 done,\n1 not.").render();
        assert!(roff.contains("One two."), "{roff}");
        assert!(roff.contains(".SH EXAMPLES\n.nf\n  assay run\n"), "{roff}");
        assert!(roff.contains("0 done, 1 not."), "{roff}");
    }
}
