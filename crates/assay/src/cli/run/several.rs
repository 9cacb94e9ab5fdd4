//! Several experiments in one go: each measured and shown, then all answers together.

use super::super::{DONE, FAILED, UNABLE, screen};
use super::{RunArguments, exit_code, measure};
use anyhow::Result;
use assay_lab::campaign::workspace::ListedExperiments;
use assay_lab::campaign::{self, prepare};
use assay_lab::lead::{self, Misuse, Resume};
use assay_pure::experiment::Experiment;
use assay_pure::words;
use assay_report::ink::Ink;
use assay_report::markdown::markdown;
use assay_report::page::{Page, Stopped};
use assay_report::sheet::Sheet;
use assay_report::unmeasured::Unmeasured;
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

    fn written(&self, page: impl Fn(&Page) -> String, unmeasured: impl Fn(&Unmeasured) -> String) -> String {
        match &self.page {
            Ok(found) => page(found),
            Err(why) => unmeasured(&Unmeasured::new(self.file.display().to_string(), why.clone())),
        }
    }
}

/// Measures all of them, one after the other.
///
/// # Errors
/// [`Misuse`]: one of the files is wrong (nothing is measured then), or what was asked for is of one experiment only. An output
/// cannot be written.
pub fn run(arguments: &RunArguments, listed: &ListedExperiments) -> Result<u8> {
    if !arguments.pictures.pictures.is_empty() {
        return Err(Misuse("--picture draws one experiment: name its file alone".into()).into());
    }
    let experiments = read(arguments, listed)?;
    if arguments.resume {
        let names = experiments.iter().map(|experiment| experiment.name.clone()).collect();
        let ledger = lead::open(&arguments.places.ledger, &arguments.places.store())?;
        campaign::something_begun(&ledger, &names)?;
    }
    let budgets = experiments.iter().map(|experiment| experiment.budget_seconds).collect();
    let mut shares = BudgetShares::of(budgets, listed.budget);
    let mut done: Vec<Measured> = Vec::new();
    for (number, file) in listed.experiments.iter().enumerate() {
        let budget = shares.next(number);
        screen::tell(&format!("assay: {} ({} of {})", file.display(), number + 1, listed.experiments.len()));
        let page = measure(arguments, file, budget, Resume::several(arguments.resume))
            .map_err(|error| format!("{error:#}"));
        if !arguments.prints_data() {
            screen::print("\n");
        }
        if let Err(why) = &page {
            screen::complain(&format!("assay: {why}"));
        }
        let measured = page.as_ref().map_or(0.0, |page| page.campaign.measured_seconds);
        if let Some(short) = shares.measured(budget, measured) {
            screen::tell(&format!("assay: {}: {short}", file.display()));
        }
        done.push(Measured { file: file.clone(), page });
        if assay_linux::interrupt::asked() {
            break;
        }
    }
    let reached = done.len();
    let interrupted = || Err("the run was interrupted before it came to this experiment".to_owned());
    done.extend(
        listed.experiments[reached..].iter().map(|file| Measured { file: file.clone(), page: interrupted() }),
    );
    write(arguments, &done)?;
    if !arguments.prints_data() {
        screen::show(&together(&done[..reached], listed));
    }
    let codes: Vec<u8> = done[..reached].iter().map(Measured::exit_code).collect();
    Ok(code_of(&codes, reached < done.len(), arguments.gate.is_some()))
}

/// The code of all: a gate on what was not measured is undecided.
fn code_of(codes: &[u8], is_cut: bool, has_gate: bool) -> u8 {
    match (codes.contains(&FAILED), is_cut) {
        (true, _) => FAILED,
        (false, true) if has_gate => UNABLE,
        (false, true) => FAILED,
        (false, false) => codes.iter().copied().max().unwrap_or(DONE),
    }
}

/// A budget for all together: each has its own share, and what those before it saved. What one overspends, as the first round of
/// a large matrix does, is nobody else's: the last file once was left with a budget of 0.
struct BudgetShares {
    /// Each experiment's own share, seconds.
    own: Vec<f64>,
    /// Saved by those before, seconds; none where each has its file's budget.
    saved: Option<f64>,
}

impl BudgetShares {
    /// Of a budget for all together, by the files' own ones.
    fn of(budgets: Vec<f64>, together: Option<f64>) -> BudgetShares {
        let all: f64 = budgets.iter().sum();
        let part = |budget: f64| together.map_or(budget, |together| together * budget / all);
        BudgetShares { own: budgets.into_iter().map(part).collect(), saved: together.map(|_| 0.0) }
    }

    /// What the next one is given; none: its file's own budget.
    fn next(&mut self, number: usize) -> Option<f64> {
        let saved = self.saved.as_mut()?;
        let own = self.own[number];
        let taken = *saved * own / self.own[number..].iter().sum::<f64>();
        *saved -= taken;
        Some(own + taken)
    }

    /// Keeps what is left of what was given; what to say where it was not enough for a first look.
    fn measured(&mut self, given: Option<f64>, measured: f64) -> Option<String> {
        /// Rounds end a little behind the budget.
        const MORE: f64 = 1.25;
        let (given, saved) = (given?, self.saved.as_mut()?);
        *saved += (given - measured).max(0.0);
        (measured > MORE * given).then(|| {
            format!(
                "its share of the budget is {}, but a first look takes {}: raise the budget for all together, or name this file alone",
                words::duration(given),
                words::duration(measured)
            )
        })
    }
}

/// All experiments: what is wrong with one is said before the first is measured.
fn read(arguments: &RunArguments, listed: &ListedExperiments) -> Result<Vec<Experiment>, Misuse> {
    let outlines = listed.experiments.iter().map(|file| prepare::outline(&arguments.asked(file, None)));
    let (read, wrong): (Vec<_>, Vec<_>) = outlines.partition(Result::is_ok);
    let wrong: Vec<String> =
        wrong.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    if !wrong.is_empty() {
        return Err(Misuse(wrong.join("\n\n")));
    }
    Ok(read.into_iter().flatten().map(|outline| outline.experiment).collect())
}

fn write(arguments: &RunArguments, done: &[Measured]) -> Result<()> {
    if let Some(path) = &arguments.json {
        let text = |one: &Measured| one.written(Page::to_json, Unmeasured::to_json).trim_end().to_owned();
        let texts: Vec<String> = done.iter().map(text).collect();
        screen::write(path, &format!("[\n{}\n]\n", texts.join(",\n")))?;
    }
    if let Some(path) = &arguments.markdown {
        let text = |one: &Measured| one.written(|page| markdown(page, &[]), Unmeasured::markdown);
        let texts: Vec<String> = done.iter().map(text).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_grows_by_what_others_saved_and_never_shrinks() {
        let mut shares = BudgetShares::of(vec![10.0, 10.0, 20.0], Some(4.0));
        let first = shares.next(0);
        assert_eq!(first, Some(1.0));
        assert!(shares.measured(first, 30.0).is_some_and(|said| said.contains("a first look takes 30 s")));
        let second = shares.next(1);
        assert_eq!(second, Some(1.0), "what the first overspent is its own");
        assert_eq!(shares.measured(second, 0.4), None);
        assert!((shares.next(2).unwrap() - 2.6).abs() < 1e-9);
        let mut own = BudgetShares::of(vec![10.0], None);
        assert_eq!((own.next(0), own.measured(None, 99.0)), (None, None));
    }

    #[test]
    fn a_failure_outweighs_what_is_undecided_and_that_what_passed() {
        for (codes, is_cut, has_gate, code) in [
            (&[DONE, DONE][..], false, true, DONE),
            (&[DONE, UNABLE, DONE], false, true, UNABLE),
            (&[UNABLE, FAILED, DONE], false, true, FAILED),
            (&[DONE], true, true, UNABLE),
            (&[DONE], true, false, FAILED),
            (&[FAILED], true, true, FAILED),
            (&[], false, false, DONE),
        ] {
            assert_eq!(code_of(codes, is_cut, has_gate), code, "{codes:?}, {is_cut}, {has_gate}");
        }
    }

    #[test]
    fn what_could_not_be_measured_stands_in_what_is_written() {
        let one = Measured { file: "x.toml".into(), page: Err("there is no gcc".into()) };
        let json = one.written(Page::to_json, Unmeasured::to_json);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (read["file"].as_str(), read["error"].as_str()),
            (Some("x.toml"), Some("there is no gcc"))
        );
        assert!(one.written(|_| String::new(), Unmeasured::markdown).contains("### assay run: x.toml"));
    }
}
