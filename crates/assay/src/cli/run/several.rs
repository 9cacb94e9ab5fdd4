//! Several experiments in one go: each measured and shown, then all answers together.

use super::super::{DONE, FAILED, UNABLE, screen};
use super::{RunArguments, exit_code, measure};
use anyhow::Result;
use assay_lab::campaign::prepare;
use assay_lab::campaign::workspace::ListedExperiments;
use assay_lab::lead::Misuse;
use assay_report::ink::Ink;
use assay_report::markdown::markdown;
use assay_report::page::{Page, Stopped};
use assay_report::sheet::Sheet;
use std::path::PathBuf;

/// An experiment that was measured, or why it was not.
struct Measured {
    file: PathBuf,
    page: Result<Page, String>,
}

impl Measured {
    fn exit_code(&self) -> u8 {
        self.page.as_ref().map_or(UNABLE, exit_code)
    }
}

/// Measures all of them, one after the other.
///
/// # Errors
/// [`Misuse`]: one of the files is wrong (nothing is measured then), or what was asked for is of one experiment only. An output
/// cannot be written.
pub fn run(arguments: &RunArguments, listed: &ListedExperiments) -> Result<u8> {
    if arguments.resume || !arguments.pictures.pictures.is_empty() {
        let what = if arguments.resume { "--resume continues" } else { "--picture draws" };
        return Err(Misuse(format!("{what} one experiment: name its file alone")).into());
    }
    let budgets = own_budgets(arguments, listed)?;
    let mut done: Vec<Measured> = Vec::new();
    let mut left = listed.budget;
    for (number, file) in listed.experiments.iter().enumerate() {
        // What one did not need is there for those behind it.
        let budget = left.map(|left| left * budgets[number] / budgets[number..].iter().sum::<f64>());
        screen::tell(&format!("assay: {} ({} of {})", file.display(), number + 1, listed.experiments.len()));
        let page = measure(arguments, file, budget).map_err(|error| format!("{error:#}"));
        if !arguments.prints_data() {
            screen::print("\n");
        }
        if let Err(why) = &page {
            screen::complain(&format!("assay: {why}"));
        }
        let measured = page.as_ref().map_or(0.0, |page| page.campaign.measured_seconds);
        left = left.map(|left| (left - measured).max(0.0));
        done.push(Measured { file: file.clone(), page });
        if assay_linux::interrupt::asked() {
            break;
        }
    }
    write(arguments, &done)?;
    if !arguments.prints_data() {
        screen::show(&together(&done, listed));
    }
    let codes: Vec<u8> = done.iter().map(Measured::exit_code).collect();
    let cut = done.len() < listed.experiments.len();
    Ok(if cut || codes.contains(&FAILED) { FAILED } else { codes.into_iter().max().unwrap_or(DONE) })
}

/// Each experiment's own budget, seconds. All files are read here: what is wrong with one is said before the first is measured.
fn own_budgets(arguments: &RunArguments, listed: &ListedExperiments) -> Result<Vec<f64>, Misuse> {
    let outlines = listed.experiments.iter().map(|file| prepare::outline(&arguments.asked(file, None)));
    let (read, wrong): (Vec<_>, Vec<_>) = outlines.partition(Result::is_ok);
    let wrong: Vec<String> =
        wrong.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    if !wrong.is_empty() {
        return Err(Misuse(wrong.join("\n\n")));
    }
    Ok(read.into_iter().flatten().map(|outline| outline.experiment.budget_seconds).collect())
}

fn write(arguments: &RunArguments, done: &[Measured]) -> Result<()> {
    let pages: Vec<&Page> = done.iter().filter_map(|one| one.page.as_ref().ok()).collect();
    if let Some(path) = &arguments.json {
        let texts: Vec<String> = pages.iter().map(|page| page.to_json().trim_end().to_owned()).collect();
        screen::write(path, &format!("[\n{}\n]\n", texts.join(",\n")))?;
    }
    if let Some(path) = &arguments.markdown {
        let texts: Vec<String> = pages.iter().map(|page| markdown(page, &[])).collect();
        screen::write(path, &texts.join("\n"))?;
    }
    Ok(())
}

/// All answers together.
fn together(done: &[Measured], listed: &ListedExperiments) -> String {
    let mut sheet = Sheet::new(screen::width(), screen::colour());
    let all = listed.experiments.len();
    sheet.heading(&match done.len() {
        measured if measured == all => format!("All {all} experiments"),
        measured => format!("{measured} of {all} experiments: interrupted"),
    });
    for one in done {
        let (ink, text) = match &one.page {
            Err(why) => (Ink::Bad, why.lines().next().unwrap_or_default().to_owned()),
            Ok(page) => {
                let gate =
                    page.gate.as_ref().map(|gate| format!("gate {}. ", gate.sentence())).unwrap_or_default();
                let ink = match one.exit_code() {
                    DONE if page.campaign.stopped_because != Stopped::Nothing => Ink::Plain,
                    FAILED => Ink::Bad,
                    _ => Ink::Doubt,
                };
                (ink, format!("{gate}{}", page.answer))
            }
        };
        sheet.labelled(ink, &format!("{}: ", one.file.display()), &text);
    }
    sheet.into_text()
}
