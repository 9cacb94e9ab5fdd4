//! The command line: one file per verb. Nothing here computes; it reads arguments, calls the lab, prints pages.

mod calibrate;
mod clean;
mod compare;
mod completions;
mod display;
mod doctor;
mod export;
mod gates;
mod harness;
mod help;
mod history;
mod import;
mod inputs;
mod instrumented;
mod layout;
mod limits;
mod manual;
mod merge;
mod new;
mod on;
mod picture;
mod plan;
mod reads;
mod report;
mod run;
mod screen;
mod serve;
mod sites;
mod stages;
mod stat;
mod status;
mod sweep;
mod trace;
mod version;

use assay_lab::lead::{Misuse, Unable};
use assay_lab::store::Unusable;
use assay_report::prose;
use assay_trace::{Blame, TraceRefusal};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Exit code: done, no gate failed.
const DONE: u8 = 0;
/// Exit code: a cell failed, or a gate said slower.
const FAILED: u8 = 1;
/// Exit code: misuse.
const MISUSE: u8 = 2;
/// Exit code: this machine cannot measure what was asked.
const UNABLE: u8 = 3;

#[derive(Parser)]
#[command(
    name = "assay",
    version,
    long_version = version::long(),
    about = "Is B really faster than A, by how much, on which inputs, and why?",
    after_help = include_str!("cli/help/assay.txt")
)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    display: display::DisplayArguments,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::RunArguments),
    Sweep(sweep::SweepArguments),
    Compare(compare::CompareArguments),
    Stages(stages::StagesArguments),
    Doctor(doctor::DoctorArguments),
    Plan(plan::PlanArguments),
    New(new::NewArguments),
    Inputs(inputs::InputsArguments),
    Report(report::ReportArguments),
    Serve(serve::ServeArguments),
    History(history::HistoryArguments),
    Export(export::ExportArguments),
    Import(import::ImportArguments),
    Merge(merge::MergeArguments),
    Status(status::StatusArguments),
    Cancel(status::CancelArguments),
    Layout(layout::LayoutArguments),
    Limits(limits::LimitsArguments),
    Sites(sites::SitesArguments),
    Stat(stat::StatArguments),
    Calibrate(calibrate::CalibrateArguments),
    Trace(trace::TraceArguments),
    Harness(harness::HarnessArguments),
    Clean(clean::CleanArguments),
    Completions(completions::CompletionsArguments),
    Man(manual::ManArguments),
}

/// Reads the command line, does it, and says how it went. `plugin` is the emulator's plugin, the bytes of its file;
/// `commit` is what the program was built from.
pub fn main(plugin: &'static [u8], commit: Option<&'static str>) -> ExitCode {
    assay_trace::carry_plugin(plugin);
    version::tell(commit, plugin.len());
    assay_linux::lock::told_by(|sentence| screen::tell(&format!("assay: {sentence}")));
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            let verb = std::env::args_os().nth(1).unwrap_or_default();
            return refuse(&better(error, &verb.to_string_lossy()));
        }
    };
    match command.display.apply() {
        Ok(warning) => warning.iter().for_each(|text| screen::complain(&format!("assay: {text}"))),
        Err(error) => {
            screen::complain(&format!("assay: {error}"));
            return ExitCode::from(MISUSE);
        }
    }
    let result = match &command.verb {
        Verb::Run(arguments) => run::run(arguments),
        Verb::Sweep(arguments) => sweep::run(arguments),
        Verb::Compare(arguments) => compare::run(arguments),
        Verb::Stages(arguments) => stages::run(arguments),
        Verb::Doctor(arguments) => doctor::run(arguments),
        Verb::Plan(arguments) => plan::run(arguments),
        Verb::New(arguments) => new::run(arguments),
        Verb::Inputs(arguments) => inputs::run(arguments),
        Verb::Report(arguments) => report::run(arguments),
        Verb::Serve(arguments) => serve::run(arguments),
        Verb::History(arguments) => history::run(arguments),
        Verb::Export(arguments) => export::run(arguments),
        Verb::Import(arguments) => import::run(arguments),
        Verb::Merge(arguments) => merge::run(arguments),
        Verb::Status(arguments) => status::run(arguments),
        Verb::Cancel(arguments) => status::cancel(arguments),
        Verb::Layout(arguments) => layout::run(arguments),
        Verb::Limits(arguments) => limits::run(arguments),
        Verb::Sites(arguments) => sites::run(arguments),
        Verb::Stat(arguments) => stat::run(arguments),
        Verb::Calibrate(arguments) => calibrate::run(arguments),
        Verb::Trace(arguments) => trace::run(arguments),
        Verb::Harness(arguments) => harness::run(arguments),
        Verb::Clean(arguments) => clean::run(arguments),
        Verb::Completions(arguments) => completions::run(arguments),
        Verb::Man(arguments) => manual::run(arguments),
    };
    let code = match result {
        Ok(code) => ExitCode::from(whole(code)),
        Err(error) => {
            let (mut code, mut text) = explain(&error);
            if assay_linux::interrupt::asked() {
                // What failed may have failed because it was ended.
                code = FAILED;
                if !text.starts_with("interrupted") {
                    text = format!("interrupted; {text}");
                }
            }
            screen::complain(&format!("assay: {text}"));
            ExitCode::from(code)
        }
    };
    assay_linux::interrupt::finish();
    code
}

/// Verbs that take a command of the user's, which may have options of its own.
const WITH_COMMANDS: [&str; 4] = ["compare", "stat", "sites", "trace"];
/// Options that people look for at a verb that has none of that name, and where it is.
const ELSEWHERE: [(&str, &str, &str); 3] = [
    (
        "run",
        "--variant",
        "`variants` in the file says which are measured; remove the others in a copy of the file",
    ),
    ("run", "--plan", "`assay plan EXPERIMENT` shows what would be measured and how long it would take"),
    ("report", "--experiment", "give the campaign's number; `assay report --list` shows the numbers"),
];

/// An unknown option with a tip that helps: nobody means it for a value where there is no command that it could be of.
fn better(mut error: clap::Error, verb: &str) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let asked = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(asked)) if error.kind() == ErrorKind::UnknownArgument => asked.clone(),
        _ => return error,
    };
    if WITH_COMMANDS.contains(&verb) {
        return error;
    }
    error.remove(ContextKind::Suggested);
    if let Some((.., tip)) = ELSEWHERE.iter().find(|known| (known.0, known.1) == (verb, asked.as_str())) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
    error
}

/// Shows the help that was asked for, or says what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let is_help = matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand);
    if is_help && !error.use_stderr() {
        let page = error.render();
        let text = if screen::colour() { page.ansi().to_string() } else { page.to_string() };
        screen::show(&help::fit(&text, screen::width()));
    } else if error.use_stderr() && !std::env::args_os().any(|word| is_unclean(&word)) {
        let _ = error.print();
    } else if error.use_stderr() {
        screen::tell(error.to_string().trim_end());
    } else {
        screen::print(&error.to_string());
    }
    ExitCode::from(whole(if error.use_stderr() { MISUSE } else { DONE }))
}

/// Whether what was typed would steer a terminal when it is repeated.
fn is_unclean(word: &std::ffi::OsStr) -> bool {
    let word = word.to_string_lossy();
    *prose::clean(&word) != *word
}

/// The exit code, or that of a failure if a page was lost.
fn whole(code: u8) -> u8 {
    let Some(why) = screen::lost() else { return code };
    screen::complain(&format!("assay: cannot write {why}"));
    FAILED
}

/// What tracing refused, said in these words, as the error that has its exit code.
fn cannot_trace(refusal: &TraceRefusal, text: String) -> anyhow::Error {
    match refusal.blame {
        Blame::Asked => Misuse(text).into(),
        Blame::Machine => Unable(text).into(),
    }
}

/// Exit code and text of an error. A broken pipe (`assay report | head`) is the reader's wish, not an error.
fn explain(error: &anyhow::Error) -> (u8, String) {
    if let Some(misuse) = error.downcast_ref::<Misuse>() {
        return (MISUSE, misuse.0.clone());
    }
    if let Some(unable) = error.downcast_ref::<Unable>() {
        return (UNABLE, unable.0.clone());
    }
    if let Some(unusable) = error.downcast_ref::<Unusable>() {
        return (MISUSE, unusable.0.clone());
    }
    (FAILED, format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let error = Command::try_parse_from(&words).err().expect("no such option");
        better(error, words[1]).to_string()
    }

    #[test]
    fn an_option_that_is_elsewhere_is_told_where_and_no_other_is_taken_for_a_value() {
        let variant = told("assay run a.toml --variant b");
        assert!(variant.contains("tip: `variants` in the file says"), "{variant}");
        let plan = told("assay run a.toml --plan");
        assert!(
            plan.contains("unexpected argument '--plan'") && plan.contains("`assay plan EXPERIMENT`"),
            "{plan}"
        );
        let unknown = told("assay run a.toml --shade");
        assert!(unknown.contains("'--shade'") && !unknown.contains("as a value"), "{unknown}");
        let near = told("assay run a.toml --ledgr x");
        assert!(near.contains("a similar argument exists: '--ledger'"), "{near}");
        // A command of the user's can have any option.
        assert!(told("assay compare a --shade").contains("as a value"));
    }
}
