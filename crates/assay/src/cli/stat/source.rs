//! Counting or tracing? Decided before the command is started, from what the kernel says of each event.

use super::wanted::{StatRequest, is_traceable};
use assay_lab::lead::{Misuse, Unable};
use assay_linux::perf::{Counter, CounterEvent, CounterRefusal, RefusalContext, Target};
use assay_pure::words;
use assay_report::stat::page::FigureSource;

/// What `--source` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SourceChoice {
    /// Counters where the kernel allows them, else tracing
    Auto,
    /// Counters of the kernel and the processor, or exit code 3
    Counted,
    /// Under emulation: exact counts, simulated predictors
    Traced,
    /// Both, each by an execution of its own
    Both,
}

impl SourceChoice {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            SourceChoice::Auto => "auto",
            SourceChoice::Counted => "counted",
            SourceChoice::Traced => "traced",
            SourceChoice::Both => "both",
        }
    }
}

/// What is done, and why that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Counting, tracing or both.
    pub sources: Vec<FigureSource>,
    /// Groups of events for the kernel, adapted to what it allows.
    pub groups: Vec<Vec<CounterEvent>>,
    /// Whole sentences for the reader.
    pub reasons: Vec<String>,
    /// Events that the kernel refuses.
    pub refused: Vec<CounterRefusal>,
}

/// Tries each event on this very thread: what is refused here is refused for the command, too.
pub fn probe(event: &CounterEvent) -> Result<(), CounterRefusal> {
    Counter::open(event, Target::Here, None).map(drop)
}

/// Decides. `simulated` says that predictors were named.
///
/// # Errors
/// What was asked for cannot be had: [`Unable`] where the machine refuses it, [`Misuse`] where nothing could give it.
pub fn choose(
    asked: SourceChoice,
    wanted: &StatRequest,
    simulated: bool,
    conditions: &RefusalContext,
    probe: &dyn Fn(&CounterEvent) -> Result<(), CounterRefusal>,
) -> anyhow::Result<Choice> {
    if asked == SourceChoice::Traced {
        return traced(wanted);
    }
    let (groups, refused) = adapt(wanted, probe);
    let explained = explain(&refused, conditions);
    let missing: Vec<&CounterEvent> = wanted
        .events()
        .filter(|event| {
            wanted.essential(event) && refused.iter().any(|refusal| refusal.event == event.to_string())
        })
        .collect();
    let only_traced = wanted.groups.is_empty();
    match asked {
        SourceChoice::Counted if only_traced => Err(Misuse(
            "--source counted: no counter counts what -e names, but --source traced does".to_owned(),
        )
        .into()),
        SourceChoice::Counted if !missing.is_empty() => {
            let text = format!("{} `--source traced` needs no counters.", explained.join(" "));
            Err(Unable(text).into())
        }
        SourceChoice::Counted => {
            Ok(Choice { sources: vec![FigureSource::Counted], groups, reasons: Vec::new(), refused })
        }
        SourceChoice::Both => {
            let sources = vec![FigureSource::Counted, FigureSource::Traced];
            Ok(Choice { sources, groups, reasons: explained, refused })
        }
        _ if only_traced => traced(wanted),
        _ if missing.is_empty() && simulated => {
            let reason =
                "Predictors need a trace, so the command was executed twice: once counted, once traced.";
            let sources = vec![FigureSource::Counted, FigureSource::Traced];
            Ok(Choice { sources, groups, reasons: vec![reason.to_owned()], refused })
        }
        _ if missing.is_empty() => {
            Ok(Choice { sources: vec![FigureSource::Counted], groups, reasons: Vec::new(), refused })
        }
        _ if missing.iter().any(|event| is_traceable(event)) => Ok(Choice {
            sources: vec![FigureSource::Traced],
            groups: Vec::new(),
            reasons: explained,
            refused,
        }),
        _ => Err(Unable(format!("{} Tracing cannot count these either.", explained.join(" "))).into()),
    }
}

fn traced(wanted: &StatRequest) -> anyhow::Result<Choice> {
    let blind: Vec<String> =
        wanted.events().filter(|event| !is_traceable(event)).map(|event| event.to_string()).collect();
    if wanted.traced.is_empty() && !wanted.mispredictions {
        let names = words::list(&blind);
        return Err(Misuse(format!("--source traced cannot count {names}, but --source counted may")).into());
    }
    Ok(Choice {
        sources: vec![FigureSource::Traced],
        groups: Vec::new(),
        reasons: Vec::new(),
        refused: Vec::new(),
    })
}

/// The groups that can be opened, and what cannot. A page fault that may not be counted in the kernel is counted in user
/// mode, as perf does; what happens in the kernel only is refused instead, as it would read 0.
fn adapt(
    wanted: &StatRequest,
    probe: &dyn Fn(&CounterEvent) -> Result<(), CounterRefusal>,
) -> (Vec<Vec<CounterEvent>>, Vec<CounterRefusal>) {
    let mut refused = Vec::new();
    let mut adapted = |event: &CounterEvent| {
        let Err(refusal) = probe(event) else { return event.clone() };
        let milder = event.in_user_mode();
        if event.is_software()
            && !event.scope_was_asked
            && !event.happens_in_the_kernel()
            && probe(&milder).is_ok()
        {
            return milder;
        }
        refused.push(refusal);
        event.clone()
    };
    let groups = wanted.groups.iter().map(|group| group.iter().map(&mut adapted).collect()).collect();
    (groups, refused)
}

/// Refusals of the same reason in one sentence, and what would allow them.
pub fn explain(refused: &[CounterRefusal], conditions: &RefusalContext) -> Vec<String> {
    struct RefusedEvents<'a> {
        reason: String,
        remedy: Option<String>,
        events: Vec<&'a str>,
    }
    let mut groups: Vec<RefusedEvents> = Vec::new();
    for refusal in refused {
        let (reason, remedy) = (refusal.reason(conditions), refusal.remedy(conditions));
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.events.push(&refusal.event),
            None => groups.push(RefusedEvents { reason, remedy, events: vec![&refusal.event] }),
        }
    }
    let sentence = |RefusedEvents { reason, remedy, events }| {
        let remedy = remedy.map(|remedy| format!(" To allow it: {remedy}.")).unwrap_or_default();
        format!("{} cannot be counted: {reason}.{remedy}", words::list(&events))
    };
    groups.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENOENT: i32 = 2;
    const EACCES: i32 = 13;

    fn conditions() -> RefusalContext {
        RefusalContext { paranoid: Some(2), filtered: false, virtual_machine: true, has_counters: false }
    }

    fn wanted(list: &[&str]) -> StatRequest {
        StatRequest::read(&list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn everything(_: &CounterEvent) -> Result<(), CounterRefusal> {
        Ok(())
    }

    /// As a virtual machine: software events alone.
    fn software(event: &CounterEvent) -> Result<(), CounterRefusal> {
        if event.is_software() { Ok(()) } else { Err(CounterRefusal::new(event, ENOENT)) }
    }

    /// As a user without privileges.
    fn user_mode(event: &CounterEvent) -> Result<(), CounterRefusal> {
        if event.scope == assay_pure::command::Scope::User {
            Ok(())
        } else {
            Err(CounterRefusal::new(event, EACCES))
        }
    }

    fn sources(
        asked: SourceChoice,
        list: &[&str],
        simulated: bool,
        probe: &dyn Fn(&CounterEvent) -> Result<(), CounterRefusal>,
    ) -> Result<Vec<FigureSource>, String> {
        choose(asked, &wanted(list), simulated, &conditions(), probe)
            .map(|choice| choice.sources)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn counts_where_the_kernel_allows_it_and_traces_elsewhere() {
        assert_eq!(sources(SourceChoice::Auto, &[], false, &everything), Ok(vec![FigureSource::Counted]));
        assert_eq!(sources(SourceChoice::Auto, &[], false, &software), Ok(vec![FigureSource::Traced]));
        assert_eq!(
            sources(SourceChoice::Auto, &["task-clock"], false, &software),
            Ok(vec![FigureSource::Counted])
        );
        assert_eq!(
            sources(SourceChoice::Auto, &["cycles,branches"], false, &software),
            Ok(vec![FigureSource::Traced])
        );
        assert_eq!(
            sources(SourceChoice::Auto, &["returns"], false, &everything),
            Ok(vec![FigureSource::Traced])
        );
        assert_eq!(sources(SourceChoice::Traced, &[], false, &everything), Ok(vec![FigureSource::Traced]));
        assert_eq!(sources(SourceChoice::Counted, &[], false, &everything), Ok(vec![FigureSource::Counted]));
    }

    #[test]
    fn predictors_named_beside_counters_give_both() {
        let both = Ok(vec![FigureSource::Counted, FigureSource::Traced]);
        assert_eq!(sources(SourceChoice::Auto, &[], true, &everything), both);
        assert_eq!(sources(SourceChoice::Both, &[], false, &everything), both);
        assert_eq!(sources(SourceChoice::Both, &[], false, &software), both);
        assert_eq!(sources(SourceChoice::Auto, &[], true, &software), Ok(vec![FigureSource::Traced]));
        let told = choose(SourceChoice::Both, &wanted(&[]), false, &conditions(), &software).unwrap().reasons;
        assert!(told.len() == 1 && told[0].contains("branch-misses:u"), "{told:?}");
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_why_and_what_would_allow_it() {
        let refusal = sources(SourceChoice::Counted, &[], false, &software).unwrap_err();
        assert!(
            refusal
                .starts_with("branches:u, branch-misses:u, cycles:u and instructions:u cannot be counted: ")
        );
        for part in ["ENOENT", "To allow it: ", "bare metal", "--source traced"] {
            assert!(refusal.contains(part), "{part}: {refusal}");
        }
        let refusal = sources(SourceChoice::Auto, &["cycles"], false, &software).unwrap_err();
        assert!(refusal.contains("Tracing cannot count these either"), "{refusal}");
        assert!(
            sources(SourceChoice::Traced, &["cycles,cs"], false, &everything)
                .unwrap_err()
                .contains("cycles:u and context-switches")
        );
        assert!(
            sources(SourceChoice::Counted, &["returns"], false, &everything)
                .unwrap_err()
                .contains("--source traced")
        );
    }

    #[test]
    fn tracing_says_first_why_nothing_is_counted() {
        let choice = choose(SourceChoice::Auto, &wanted(&[]), false, &conditions(), &software).unwrap();
        assert_eq!(choice.reasons.len(), 1);
        assert!(choice.reasons[0].contains("branch-misses:u"), "{:?}", choice.reasons);
        assert_eq!(choice.refused.len(), 4);
    }

    #[test]
    fn without_privileges_faults_are_counted_in_user_mode_and_switches_refused() {
        let choice = choose(SourceChoice::Auto, &wanted(&[]), false, &conditions(), &user_mode).unwrap();
        let events: Vec<String> = choice.groups.iter().flatten().map(|event| event.to_string()).collect();
        assert!(events.contains(&"page-faults:u".to_owned()), "{events:?}");
        let refused: Vec<&str> = choice.refused.iter().map(|refusal| refusal.event.as_str()).collect();
        assert_eq!(refused, ["context-switches", "cpu-migrations"]);
        assert_eq!(choice.sources, [FigureSource::Counted]);
        let explicit = sources(SourceChoice::Counted, &["page-faults:uk"], false, &user_mode).unwrap_err();
        assert!(explicit.contains("perf_event_paranoid is 2"), "{explicit}");
    }

    #[test]
    fn different_reasons_are_told_apart() {
        let refused = [
            CounterRefusal::new(&"branches".parse().unwrap(), ENOENT),
            CounterRefusal::new(&"cs".parse().unwrap(), EACCES),
        ];
        let told = explain(&refused, &conditions());
        assert_eq!(told.len(), 2);
        assert!(told[0].starts_with("branches:u") && told[1].starts_with("context-switches"), "{told:?}");
    }
}
