//! Machines of one kind in words: which one is out of line, by how much, and what to look at there.

use super::page::{AlikeFinding, AlikeMachines, HistoryPage, SeriesKind};
use assay_pure::history::NOISE;
use assay_pure::words;
use std::collections::BTreeMap;

/// What is out of line of one machine, or of it beside another.
struct Said<'a> {
    host: usize,
    from: Option<usize>,
    findings: Vec<&'a AlikeFinding>,
}

/// What is said of a kind, machines that are named first.
fn said(kind: &AlikeMachines) -> Vec<Said<'_>> {
    let mut by_host: BTreeMap<(bool, usize, Option<usize>), Vec<&AlikeFinding>> = BTreeMap::new();
    for finding in &kind.findings {
        by_host.entry((finding.from.is_some(), finding.host, finding.from)).or_default().push(finding);
    }
    by_host.into_iter().map(|((_, host, from), findings)| Said { host, from, findings }).collect()
}

/// The machines that are named, of all kinds.
pub fn named(page: &HistoryPage) -> Vec<&str> {
    let of = |kind: &'_ AlikeMachines| -> Vec<usize> {
        said(kind).into_iter().filter(|one| one.from.is_none()).map(|one| one.host).collect()
    };
    page.alike
        .iter()
        .flat_map(|kind| of(kind).into_iter().map(|host| kind.hosts[host].name.as_str()))
        .collect()
}

/// What is out of line, as a clause for the answer; none where nothing is.
pub fn clause(page: &HistoryPage) -> Option<String> {
    let of = |kind: &AlikeMachines| -> Vec<String> {
        said(kind).iter().map(|one| format!("{} ({})", subject(kind, one), effect(kind, one))).collect()
    };
    let all: Vec<String> = page.alike.iter().flat_map(of).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// "node7 is out of line", "node1 and node2 differ".
fn subject(kind: &AlikeMachines, one: &Said) -> String {
    let name = &kind.hosts[one.host].name;
    match one.from {
        None => format!("{name} is out of line"),
        Some(from) => format!("{} and {name} differ", kind.hosts[from].name),
    }
}

/// "12 to 15 % more time in 6 of 6 times, at least 8 %; b / a, mixed: +4.1 %".
fn effect(kind: &AlikeMachines, one: &Said) -> String {
    let mut parts = Vec::new();
    let of_times = |slower: bool| -> Vec<&AlikeFinding> {
        let is = |found: &&&AlikeFinding| found.kind == SeriesKind::Time && (found.ratio > 1.0) == slower;
        one.findings.iter().filter(is).copied().collect()
    };
    let there = if one.from.is_some() { format!(" on {}", kind.hosts[one.host].name) } else { String::new() };
    for (slower, word) in [(true, "more"), (false, "less")] {
        let found = of_times(slower);
        if found.is_empty() {
            continue;
        }
        let size = words::size_span(found.iter().map(|found| found.ratio));
        let least = found.iter().map(|found| (found.at_least - 1.0).abs()).fold(f64::INFINITY, f64::min);
        parts.push(format!(
            "{size} {word} time{there} in {} of {}, at least {}",
            found.len(),
            words::plural(kind.times as u64, "time"),
            words::fraction(least)
        ));
    }
    let contrasts = one.findings.iter().filter(|found| found.kind == SeriesKind::Contrast);
    let contrasts: Vec<String> =
        contrasts.map(|found| format!("{} {}", found.label, words::fine_change(found.ratio))).collect();
    if !contrasts.is_empty() {
        parts.push(format!("{}{there}", words::list(&contrasts)));
    }
    parts.join("; ")
}

/// What is said of a kind, each a sentence or two.
pub fn sentences(page: &HistoryPage, kind: &AlikeMachines) -> Vec<String> {
    let cpu = &page.machines[kind.machine].called;
    let all = said(kind);
    if all.is_empty() {
        let machines = words::plural(kind.hosts.len() as u64, "machine");
        return vec![format!("{machines} of the kind {cpu}: none is out of line in {}.", compared(kind))];
    }
    all.iter()
        .map(|one| {
            let why = match one.from {
                None => format!(" {}", check(kind, one)),
                Some(_) if kind.hosts.len() == 2 => {
                    " Which of two is wrong cannot be told: measure on a third.".to_owned()
                }
                Some(_) => " No majority agrees, so none can be named.".to_owned(),
            };
            let facts = [Some(one.host), one.from].into_iter().flatten().flat_map(|host| {
                let host = &kind.hosts[host];
                host.facts.iter().map(|fact| format!("{} has {fact}", host.name))
            });
            let facts: Vec<String> = facts.collect();
            let facts = if facts.is_empty() {
                String::new()
            } else {
                format!(" Known to differ: {}.", facts.join("; "))
            };
            let of = match one.from {
                None => {
                    format!(" among {} of the kind {cpu}", words::plural(kind.hosts.len() as u64, "machine"))
                }
                Some(_) => format!(", of the kind {cpu}"),
            };
            format!("{}{of}: {}.{why}{facts}", subject(kind, one), effect(kind, one))
        })
        .collect()
}

/// How often what is said is wrong, and what that rests on; none where nothing is compared.
pub fn note(page: &HistoryPage) -> Option<String> {
    let said = || {
        format!(
            "Of machines that are alike, one is said to differ in at most {} of 100 such reports, if campaigns of one machine \
             repeat to {} (standard deviation).",
            100.0 * page.alike_level,
            words::asked(NOISE)
        )
    };
    (!page.alike.is_empty()).then(said)
}

fn compared(kind: &AlikeMachines) -> String {
    let times = words::plural(kind.times as u64, "time");
    match kind.contrasts {
        0 => times,
        contrasts => format!("{times} and {}", words::plural(contrasts as u64, "contrast")),
    }
}

/// What to look at: a clock that is too low leaves ratios as they are, most else does not.
fn check(kind: &AlikeMachines, one: &Said) -> &'static str {
    let times = one.findings.iter().filter(|found| found.kind == SeriesKind::Time).count();
    if times == kind.times && times == one.findings.len() {
        "Everything moved together: check its clock there (governor, power and temperature limits), and what else runs."
    } else {
        "Not everything moved: check there for a busy sibling thread, other settings of memory and kernel, and what else runs."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::page::AlikeHost;
    use crate::history::{answer, sample};

    /// Hosts and findings as (host, from, ratio, is it a time?).
    fn page(hosts: usize, findings: &[(usize, Option<usize>, f64, bool)]) -> HistoryPage {
        let mut page = sample::history();
        let host = |at: usize| AlikeHost { name: format!("node{at}"), run: at, facts: Vec::new() };
        let finding = |(at, &(host, from, ratio, is_time)): (usize, &(usize, Option<usize>, f64, bool))| {
            let (label, kind) = if is_time {
                (format!("v{at}, mixed"), SeriesKind::Time)
            } else {
                ("b / a, mixed".to_owned(), SeriesKind::Contrast)
            };
            AlikeFinding { label, kind, host, from, ratio, at_least: 1.0 + 0.6 * (ratio - 1.0) }
        };
        page.gate = None;
        page.left_out.clear();
        page.alike_note = None;
        page.alike = vec![AlikeMachines {
            machine: 0,
            hosts: (0..hosts).map(host).collect(),
            times: 2,
            contrasts: 1,
            findings: findings.iter().enumerate().map(finding).collect(),
            sentences: Vec::new(),
        }];
        page
    }

    fn told(page: &HistoryPage) -> String {
        sentences(page, &page.alike[0]).join(" | ")
    }

    #[test]
    fn a_machine_that_is_slower_in_all_is_named_with_its_clock_to_be_checked() {
        let mut page = page(3, &[(1, None, 1.15, true), (1, None, 1.12, true)]);
        page.alike[0].hosts[1].facts = vec!["governor powersave, not performance".into()];
        assert_eq!(
            told(&page),
            "node1 is out of line among 3 machines of the kind A CPU: 12 to 15 % more time in 2 of 2 times, at least 7.2 %. \
             Everything moved together: check its clock there (governor, power and temperature limits), and what else runs. \
             Known to differ: node1 has governor powersave, not performance."
        );
        let (said, next) = answer(&page);
        assert!(
            said.starts_with(
                "decode: node1 is out of line (12 to 15 % more time in 2 of 2 times, at least 7.2 %); "
            ),
            "{said}"
        );
        assert!(next.unwrap().contains("`assay history decode --leave-out node1`"));
    }

    #[test]
    fn a_machine_with_another_ratio_is_named_with_what_changes_ratios() {
        let page = page(3, &[(2, None, 1.15, true), (2, None, 0.9, false)]);
        let said = told(&page);
        assert!(
            said.contains("15 % more time in 1 of 2 times, at least 9 %; b / a, mixed -10.0 %"),
            "{said}"
        );
        assert!(said.contains("Not everything moved"), "{said}");
        assert_eq!(named(&page), ["node2"]);
    }

    #[test]
    fn of_two_machines_neither_is_named() {
        let two = page(2, &[(1, Some(0), 1.2, true)]);
        assert_eq!(
            told(&two),
            "node0 and node1 differ, of the kind A CPU: 20 % more time on node1 in 1 of 2 times, at least 12 %. Which of two is \
             wrong cannot be told: measure on a third."
        );
        assert!(named(&two).is_empty());
        assert!(!answer(&two).1.unwrap_or_default().contains("--leave-out"));
        let four = page(4, &[(1, Some(0), 1.2, true)]);
        assert!(told(&four).contains("none can be named"), "{}", told(&four));
    }

    #[test]
    fn machines_that_are_alike_are_said_to_be_compared_and_are_no_news() {
        let page = page(5, &[]);
        assert_eq!(
            told(&page),
            "5 machines of the kind A CPU: none is out of line in 2 times and 1 contrast."
        );
        assert_eq!(clause(&page), None);
        assert!(answer(&page).0.starts_with("decode: 1 change in"));
    }
}
