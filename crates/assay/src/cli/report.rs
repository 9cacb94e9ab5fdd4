//! `assay report`: what was measured before, again, from the ledger: on the terminal, as a page, as data; or a list of it.

mod files;
mod list;

use super::help::OUTPUT;
use super::picture::PictureArguments;
use super::run::{StoragePaths, exit_code};
use super::{DONE, compare, screen, stages, sweep};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::{AnyPage, named};
use assay_report::Detail;
use list::Since;
use std::path::PathBuf;

/// Show what was measured before, or list it, or write it as a page or as data
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/report.txt"))]
pub struct ReportArguments {
    /// Name of an experiment, sweep, comparison or diary, the beginning of one, an experiment's file, a campaign's number,
    /// sweep/2, last, or a JSON file of assay's; NAME~1 is the one before; two for -o stand side by side; default: last. With
    /// --list only names that begin so or match the pattern
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// List what the ledger has, the newest first: what was asked and answered
    #[arg(long, conflicts_with = "pictures")]
    pub list: bool,
    /// List at most N
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        requires = "list",
        default_value_t = 20,
        conflicts_with = "all"
    )]
    pub newest: usize,
    /// List only what was measured by this verb; can be repeated
    #[arg(long, value_name = "VERB", requires = "list", value_parser = list::kinds())]
    pub kind: Vec<Kept>,
    /// List only what began since then: 3h, 7d, 2w, or a day such as 2026-11-21
    #[arg(long, value_name = "WHEN", requires = "list")]
    pub since: Option<Since>,
    /// Show every contrast, with all reasons; list everything
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Write a summary for a pull request as Markdown; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", conflicts_with = "list")]
    pub markdown: Option<PathBuf>,
    /// Write the report or the list as JSON (a schema for each in schema/); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write it as a page of pictures (.html), as data (.json) or its samples as a table (.csv)
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE", conflicts_with_all = ["list", "json", "markdown", "all"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb.
///
/// # Errors
/// No ledger, or nothing of that name.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    let written = || arguments.json.iter().chain(&arguments.markdown).chain(&arguments.output);
    for file in written() {
        screen::find_place(file, &[])?;
    }
    arguments.pictures.check(written().chain([&arguments.places.ledger]).map(PathBuf::as_path))?;
    if arguments.list {
        return list::run(arguments);
    }
    let drawn = files::draw(&arguments.pictures, &arguments.what, &arguments.places)?;
    if let Some(file) = &arguments.output {
        return files::write(file, &arguments.what, &arguments.places);
    }
    let what = match arguments.what.as_slice() {
        [] => None,
        [only] => match files::page_in(only)? {
            Some(_) if drawn => return Ok(DONE),
            Some(_) => return Err(Misuse(format!("show {only} as a page: add -o FILE.html")).into()),
            None => Some(only.as_str()),
        },
        _ => {
            return Err(
                Misuse("two can be shown side by side only on a page: add -o FILE.html".into()).into()
            );
        }
    };
    let ledger = Ledger::open(arguments.places.find_ledger("assay run")?)?;
    let page = AnyPage::of(&ledger, &named(&ledger, what, &Kept::ALL)?)?;
    show(arguments, &page)
}

fn show(arguments: &ReportArguments, page: &AnyPage) -> Result<u8> {
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    if let Some(file) = &arguments.markdown {
        let pictures = arguments.pictures.beside(file);
        let text = match page {
            AnyPage::Campaign(page) => assay_report::markdown::markdown(page, &pictures),
            AnyPage::Comparison(page) => assay_report::compare::markdown(page, &pictures),
            AnyPage::Diary(page) => assay_report::stages::markdown(page, &pictures),
            AnyPage::Sweep(_) => {
                return Err(Misuse(
                    "a sweep has no Markdown; --picture draws it, --json has its data".into(),
                )
                .into());
            }
        };
        screen::write(file, &text)?;
    }
    if !arguments.json.iter().chain(&arguments.markdown).any(|file| screen::is_stdout(file)) {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        let (width, look) = (screen::width(), screen::look());
        screen::show(&match page {
            AnyPage::Campaign(page) => assay_report::render(page, width, look, detail),
            AnyPage::Comparison(page) => assay_report::render_compare(page, width, look, detail),
            AnyPage::Sweep(page) => assay_report::render_sweep(page, width, look.colour, detail),
            AnyPage::Diary(page) => assay_report::render_stages(page, width, look.colour, detail),
        });
    }
    Ok(match page {
        AnyPage::Campaign(page) => exit_code(page),
        AnyPage::Comparison(page) => compare::exit_code(page),
        AnyPage::Sweep(page) => sweep::exit_code(std::slice::from_ref(page)),
        AnyPage::Diary(page) => stages::exit_code(page),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        _arguments: ReportArguments,
    }

    #[test]
    fn a_list_has_no_picture() {
        let refused = |words: &[&str]| Line::try_parse_from([&["report"], words].concat()).is_err();
        assert!(refused(&["--list", "--picture", "x.svg"]));
        assert!(!refused(&["--picture", "x.svg"]) && !refused(&["--list"]));
    }
}
