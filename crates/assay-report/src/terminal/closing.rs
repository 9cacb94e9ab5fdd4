//! What comes last: claims, what was not measured, and how the figures came about.

use super::{Detail, twin_found};
use crate::ink::Ink;
use crate::page::Clock;
use crate::page::{Claim, ClaimStatus, FailureKind, Page, PageFailure, Stopped};
use crate::sheet::Sheet;
use assay_pure::words;

/// Failures shown in the brief view.
const MOST_FAILURES: usize = 8;
/// Lines of a compiler's or linker's words for each of them: more than a screen, as the first is rarely the one that counts.
const MOST_LINES: usize = 200;

/// Adds the sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    claims(&page.claims, sheet);
    failures(page, detail, sheet);
    if detail == Detail::Full {
        inputs(page, sheet);
    }
    footer(page, detail, sheet);
}

/// What somebody said, with what was found.
pub(crate) fn claims(claims: &[Claim], sheet: &mut Sheet) {
    if claims.is_empty() {
        return;
    }
    sheet.heading("Claims");
    for claim in claims {
        let (word, ink) = match claim.status {
            ClaimStatus::Confirmed => ("confirmed", Ink::Good),
            ClaimStatus::Refuted => ("refuted", Ink::Bad),
            ClaimStatus::Undecided => ("undecided", Ink::Doubt),
        };
        let source = claim.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        sheet.labelled(ink, &format!("  {word:<9}  "), &format!("\"{}\"{source}", claim.text));
        sheet.labelled(Ink::Dim, "             found: ", &claim.found);
    }
}

fn failures(page: &Page, detail: Detail, sheet: &mut Sheet) {
    if page.failures.is_empty() {
        return;
    }
    sheet.heading("Not measured");
    let alike = alike(&page.failures, detail);
    let most = if detail == Detail::Full { alike.len() } else { MOST_FAILURES };
    for (what, failure) in alike.iter().take(most) {
        let (word, ink) = match failure.kind {
            FailureKind::Failed => ("failed", Ink::Bad),
            FailureKind::Skipped => ("skipped", Ink::Doubt),
        };
        let mut lines = failure.reason.lines();
        let first = lines.next().unwrap_or_default();
        sheet.labelled(ink, &format!("  {word:<9}  "), &format!("{what}: {first}"));
        // A compiler's complaint points at columns: its lines stay lines.
        let lines: Vec<&str> = lines.collect();
        let shown = if detail == Detail::Full { lines.len() } else { MOST_LINES };
        for line in lines.iter().take(shown) {
            sheet.quoted(Ink::Dim, &" ".repeat(13), line);
        }
        if lines.len() > shown {
            let more = words::plural((lines.len() - shown) as u64, "more line");
            sheet.paragraph(Ink::Dim, &" ".repeat(13), &format!("[{more}: --all]"));
        }
    }
    if alike.len() > most {
        sheet.paragraph(Ink::Dim, "  ", &format!("{} more: --all", alike.len() - most));
    }
}

/// Failures with what they are of; in the brief view those that differ in one word, as in every compiler, are one.
fn alike(failures: &[PageFailure], detail: Detail) -> Vec<(String, &PageFailure)> {
    let mut found: Vec<(Vec<Vec<&str>>, &PageFailure)> = Vec::new();
    for failure in failures {
        let words: Vec<&str> = failure.what.split(", ").collect();
        let same = |(_, other): &&mut (_, &PageFailure)| {
            other.kind == failure.kind && other.reason == failure.reason
        };
        let joined = detail == Detail::Brief && found.iter_mut().filter(same).any(|(of, _)| join(of, &words));
        if !joined {
            found.push((words.into_iter().map(|word| vec![word]).collect(), failure));
        }
    }
    let what = |of: Vec<Vec<&str>>| of.iter().map(|words| words.join("/")).collect::<Vec<_>>().join(", ");
    found.into_iter().map(|(of, failure)| (what(of), failure)).collect()
}

/// Takes words in at the one place where they differ; false if there are more, or another place is open already.
fn join<'a>(of: &mut [Vec<&'a str>], words: &[&'a str]) -> bool {
    let differ = |(own, word): (&Vec<&str>, &&str)| !own.contains(word);
    let places: Vec<usize> =
        (0..of.len().min(words.len())).filter(|&at| differ((&of[at], &words[at]))).collect();
    let open = of.iter().position(|own| own.len() > 1);
    match places[..] {
        [at] if of.len() == words.len() && open.is_none_or(|open| open == at) => {
            of[at].push(words[at]);
            true
        }
        _ => false,
    }
}

fn inputs(page: &Page, sheet: &mut Sheet) {
    sheet.heading("Inputs");
    sheet.table(&crate::plan::input_table(&page.inputs, &page.unit));
}

fn footer(page: &Page, detail: Detail, sheet: &mut Sheet) {
    sheet.gap();
    // That it holds, or is undecided, needs nothing done; that it failed is told first of all.
    let twin = if detail == Detail::Full { twin_found(page) } else { String::new() };
    for (label, text) in [
        ("measured", measured(page, detail)),
        ("twin", twin),
        ("machine", machine(page, detail)),
        ("built by", built_by(page, detail)),
        ("kept in", kept_in(page)),
        (
            "more",
            "--all shows everything, --json FILE writes the data, `assay report` shows this page again"
                .to_owned(),
        ),
    ] {
        if !text.is_empty() {
            sheet.labelled(Ink::Dim, &format!("{label:<8}  "), &text);
        }
    }
}

fn measured(page: &Page, detail: Detail) -> String {
    let campaign = &page.campaign;
    let stopped = match campaign.stopped_because {
        Stopped::Decided if page.contrasts.is_empty() => "nothing is left to compare",
        Stopped::Decided => "every contrast is decided",
        Stopped::Budget => "the budget is spent",
        Stopped::Rotations | Stopped::Rounds => "the largest number of rotations is reached",
        Stopped::Interrupted => "interrupted (--resume continues)",
        Stopped::Nothing => "nothing could be measured",
        Stopped::Refined | Stopped::Points => "nothing is left to refine",
    };
    let samples = format!(
        ", {} ({} left out: interrupted or sibling thread busy)",
        words::plural(campaign.samples, "sample"),
        words::count(campaign.flagged_samples)
    );
    let elapsed = format!(", {} in all", words::duration(campaign.elapsed_seconds));
    // Less is not worth a word.
    let waited = match campaign.waited_seconds {
        waited if waited >= 0.1 * campaign.measured_seconds && waited > 0.0 => {
            format!(", {} of it waiting for an unshared core", words::duration(waited))
        }
        _ => String::new(),
    };
    let full = |text: String| if detail == Detail::Full { text } else { String::new() };
    format!(
        "{}, {}{}, {} of measuring{} (budget {}){}; {stopped}",
        words::plural(campaign.rounds, "round"),
        words::plural(u64::from(campaign.rotations), "rotation"),
        full(samples),
        words::duration(campaign.measured_seconds),
        waited,
        words::duration(campaign.budget_seconds),
        full(elapsed),
    )
}

fn machine(page: &Page, detail: Detail) -> String {
    let machine = &page.machine;
    let pinned = machine.pinned_cpu.map_or("not pinned".to_owned(), |cpu| format!("pinned to core {cpu}"));
    let cost = |what: &str, ns: Option<f64>| ns.map(|ns| format!("{what} {}", words::time(ns)));
    let timer = &machine.timer;
    let (clock, read, region) = match machine.clock {
        Clock::ThreadCpu => ("thread CPU", timer.cpu_read_ns, timer.region_cpu_ns),
        Clock::Wall => ("wall", timer.wall_read_ns, timer.region_wall_ns),
    };
    let costs: Vec<String> =
        [cost("a read costs", read), cost("an empty region", region)].into_iter().flatten().collect();
    let costs = if costs.is_empty() || detail == Detail::Brief {
        String::new()
    } else {
        format!(" ({})", costs.join(", "))
    };
    format!(
        "{}, {}, {pinned}; {}; {clock} clock{costs}",
        machine.cpu,
        words::plural(u64::from(machine.cores), "core"),
        machine.kernel
    )
}

fn built_by(page: &Page, detail: Detail) -> String {
    let compiler = |c: &crate::page::PageCompiler| match detail {
        Detail::Full if !c.version.is_empty() => format!("{} ({}, {})", c.name, c.version, c.target),
        _ => c.told(),
    };
    let compilers: Vec<String> = page.machine.compilers.iter().map(compiler).collect();
    let flags: Vec<String> = page.flag_sets.iter().map(crate::page::PageFlagSet::told).collect();
    [compilers.join(", "), flags.join("; ")]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

fn kept_in(page: &Page) -> String {
    let campaign = &page.campaign;
    let ledger = campaign.ledger.as_ref().map(|ledger| format!("{ledger}, ")).unwrap_or_default();
    format!("{ledger}campaign {}, {}, seed {}", campaign.id, campaign.started, campaign.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(what: &str, reason: &str) -> PageFailure {
        PageFailure { kind: FailureKind::Failed, what: what.into(), reason: reason.into() }
    }

    #[test]
    fn what_was_waited_for_an_unshared_core_is_said_where_it_is_much() {
        let mut page = crate::sample::page();
        let mut said = |waited_seconds: f64| {
            page.campaign.waited_seconds = waited_seconds;
            measured(&page, Detail::Brief)
        };
        assert!(
            said(20.0).contains("42 s of measuring, 20 s of it waiting for an unshared core (budget 1 min)")
        );
        assert!(said(4.0).contains("42 s of measuring (budget 1 min)"));
    }

    #[test]
    fn the_same_failure_in_every_build_is_told_once() {
        let failures = [
            failed("djb, text, gcc-11, O2", "another answer"),
            failed("djb, text, gcc-12, O2", "another answer"),
            failed("djb, words, gcc-12, O2", "another answer"),
            failed("djb, text, clang-16, O2", "another answer"),
            failed("crc, text, clang-16, O2", "it crashed"),
            failed("gcc-12, O2", "it crashed"),
        ];
        let told: Vec<String> = alike(&failures, Detail::Brief).into_iter().map(|(what, _)| what).collect();
        assert_eq!(
            told,
            [
                "djb, text, gcc-11/gcc-12/clang-16, O2",
                "djb, words, gcc-12, O2",
                "crc, text, clang-16, O2",
                "gcc-12, O2"
            ]
        );
        assert_eq!(alike(&failures, Detail::Full).len(), failures.len());
    }

    #[test]
    fn a_compilers_words_are_not_cut_below_200_lines() {
        let told = |lines: usize| {
            let mut page = crate::sample::page();
            let words: String = (1..=lines).map(|number| format!("\nld: line {number}")).collect();
            page.failures = vec![failed("gcc-12, O2", &format!("cannot link{words}"))];
            let mut sheet = Sheet::new(100, false);
            failures(&page, Detail::Brief, &mut sheet);
            sheet.into_text()
        };
        let (whole, cut) = (told(200), told(201));
        assert!(whole.ends_with("ld: line 200\n") && !whole.contains("--all"), "{whole}");
        assert!(cut.contains("ld: line 200\n") && cut.ends_with("[1 more line: --all]\n"), "{cut}");
    }
}
