//! What each machine says: the newest run of each that has the contrast, its own verdict. Samples of two machines are never in
//! one interval, so what differs between them is told, not averaged.

use super::page::{AcrossMachines, HistoryPage, HistorySeries, MachineSays, SeriesKind};
use assay_pure::verdict::Verdict;
use assay_pure::words;
use std::collections::BTreeSet;

/// With more machines than these those of one verdict are told together.
pub const ALONE: usize = 3;

/// Puts on the page what the machines are called and what they say.
pub fn tell(page: &mut HistoryPage) {
    let called: Vec<String> = (0..page.machines.len()).map(|machine| name(page, machine)).collect();
    for (machine, called) in page.machines.iter_mut().zip(called) {
        machine.called = called;
    }
    page.across = across(page);
}

/// Two machines decided, and not the same. What is undecided contradicts nothing.
fn disagree(said: &[MachineSays]) -> bool {
    let mut decided = said.iter().map(|said| said.verdict).filter(|said| *said != Verdict::Undecided);
    let first = decided.next();
    decided.any(|verdict| Some(verdict) != first)
}

/// One takes longer where another takes less.
fn is_opposite(said: &[MachineSays]) -> bool {
    let has = |verdict| said.iter().any(|said| said.verdict == verdict);
    has(Verdict::Faster) && has(Verdict::Slower)
}

fn across(page: &HistoryPage) -> Vec<AcrossMachines> {
    let contrasts = page.series.iter().enumerate().filter(|(_, series)| series.kind == SeriesKind::Contrast);
    let of = |(number, series)| {
        let said = said(page, series);
        AcrossMachines { series: number, disagree: disagree(&said), said }
    };
    let mut found: Vec<AcrossMachines> = contrasts.map(of).filter(|one| one.said.len() > 1).collect();
    found.sort_by_key(|one| (!is_opposite(&one.said), !one.disagree));
    found
}

fn said(page: &HistoryPage, series: &HistorySeries) -> Vec<MachineSays> {
    let newest = |machine: usize| {
        let point = series.points.iter().rev().find(|point| page.runs[point.run].machine == machine)?;
        Some(MachineSays {
            machine,
            run: point.run,
            verdict: point.verdict?,
            ratio: point.value,
            lower: point.lower,
            upper: point.upper,
        })
    };
    (0..page.machines.len()).filter_map(newest).collect()
}

/// Runs of two machines that contradict each other on the first contrast.
pub fn two_that_disagree(page: &HistoryPage) -> Option<(usize, usize)> {
    let first = page.across.first().filter(|contrast| contrast.disagree)?;
    let groups = by_verdict(first);
    Some((groups.first()?.said.first()?.run, groups.get(1)?.said.first()?.run))
}

/// "-12.3 %", "equivalent", "+1.0 %, undecided".
pub fn in_short(said: &MachineSays) -> String {
    match said.verdict {
        Verdict::Faster | Verdict::Slower => words::fine_change(said.ratio),
        Verdict::Equivalent => said.verdict.word().to_owned(),
        Verdict::Undecided => format!("{}, undecided", words::fine_change(said.ratio)),
    }
}

/// Machines of one verdict on a contrast.
pub struct OfOneVerdict<'a> {
    /// Which.
    pub verdict: Verdict,
    /// What each of them says.
    pub said: Vec<&'a MachineSays>,
}

impl OfOneVerdict<'_> {
    /// "-45.2 to -20.1 %".
    pub fn effect(&self) -> String {
        match self.said.as_slice() {
            [one] => words::fine_change(one.ratio),
            several => words::change_span(several.iter().map(|said| said.ratio)),
        }
    }

    /// A few by name; of many how many they are.
    pub fn machines(&self, page: &HistoryPage, of: usize) -> String {
        let names: Vec<&str> =
            self.said.iter().map(|said| page.machines[said.machine].called.as_str()).collect();
        if names.len() <= ALONE {
            return words::list(&names);
        }
        let count = words::plural(names.len() as u64, "machine");
        if names.len() == of { format!("all {count}") } else { count }
    }
}

/// What is said of a contrast, a verdict at a time: that of the most machines first.
pub fn by_verdict(across: &AcrossMachines) -> Vec<OfOneVerdict<'_>> {
    let all = [Verdict::Faster, Verdict::Slower, Verdict::Equivalent, Verdict::Undecided];
    let of = |verdict| OfOneVerdict {
        verdict,
        said: across.said.iter().filter(|said| said.verdict == verdict).collect(),
    };
    let mut found: Vec<OfOneVerdict> = all.into_iter().map(of).filter(|one| !one.said.is_empty()).collect();
    found.sort_by_key(|one| (one.verdict == Verdict::Undecided, std::cmp::Reverse(one.said.len())));
    found
}

/// A machine's name, with what tells it from others of that name.
fn name(page: &HistoryPage, machine: usize) -> String {
    let found = &page.machines[machine];
    let alike = page.machines.iter().filter(|other| other.name == found.name).count();
    if alike < 2 {
        return found.name.clone();
    }
    // Two that differ by nothing that is kept would be one machine.
    let others = || page.machines.iter().filter(|other| other.name == found.name && *other != found);
    let own: Vec<&str> = found
        .facts
        .iter()
        .filter(|fact| others().any(|other| !other.facts.contains(fact)))
        .map(String::as_str)
        .collect();
    if own.is_empty() { found.name.clone() } else { format!("{} ({})", found.name, own.join(", ")) }
}

/// What the machines say together, as a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct MachinesTold {
    /// Some contradict each other.
    pub disagree: bool,
    /// Where, and how the first of it looks.
    pub text: String,
}

/// Where the machines disagree; none where there is one machine.
pub fn sentence(page: &HistoryPage) -> Option<MachinesTold> {
    let found = &page.across;
    let first = found.first()?;
    let differing = found.iter().filter(|contrast| contrast.disagree).count();
    let contrasts = words::plural(found.len() as u64, "contrast");
    let machines = told_of(page, found);
    if differing == 0 {
        let open =
            |contrast: &AcrossMachines| contrast.said.iter().any(|said| said.verdict == Verdict::Undecided);
        let far = if found.iter().any(open) { ", as far as they decide" } else { "" };
        return Some(MachinesTold { disagree: false, text: format!("{machines} agree on {contrasts}{far}") });
    }
    let effect = |verdict: Verdict, change: String| match verdict {
        Verdict::Equivalent | Verdict::Undecided => verdict.word().to_owned(),
        difference => format!("{} ({change})", difference.word()),
    };
    let said: Vec<String> = if first.said.len() <= ALONE {
        let one = |said: &MachineSays| {
            let called = &page.machines[said.machine].called;
            format!("{} on {called}", effect(said.verdict, words::fine_change(said.ratio)))
        };
        first.said.iter().map(one).collect()
    } else {
        let several = |group: &OfOneVerdict| {
            let machines = group.machines(page, first.said.len());
            format!("{} on {machines}", effect(group.verdict, group.effect()))
        };
        by_verdict(first).iter().map(several).collect()
    };
    let label = &page.series[first.series].label;
    let text =
        format!("{machines} disagree on {differing} of {contrasts}: {label} is {}", words::list(&said));
    Some(MachinesTold { disagree: true, text })
}

/// "the 7 machines"; those without a verdict on any contrast neither agree nor disagree.
fn told_of(page: &HistoryPage, across: &[AcrossMachines]) -> String {
    let said = across.iter().flat_map(|contrast| contrast.said.iter().map(|said| said.machine));
    let judging = said.collect::<BTreeSet<usize>>().len();
    let all = match judging {
        few if few <= ALONE => "the machines".to_owned(),
        many => format!("the {many} machines"),
    };
    if judging < page.machines.len() { format!("{all} with a verdict") } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    /// The sample with these verdicts on the newest run of each machine, and these factors on the contrast.
    fn with(verdicts: [Verdict; 2]) -> HistoryPage {
        let mut page = sample::history();
        let (runs, series) = (page.runs.clone(), &mut page.series[0]);
        for point in &mut series.points {
            let machine = runs[point.run].machine;
            point.verdict = Some(verdicts[machine]);
            (point.value, point.lower, point.upper) =
                if machine == 1 { (1.2, Some(1.19), Some(1.21)) } else { (0.9, Some(0.89), Some(0.91)) };
        }
        tell(&mut page);
        page
    }

    #[test]
    fn each_machine_says_its_newest_run_and_what_they_disagree_on_is_told() {
        let page = with([Verdict::Faster, Verdict::Slower]);
        let found = &page.across;
        assert_eq!(found.len(), 1, "times are no verdicts");
        let said: Vec<(usize, usize, Verdict)> =
            found[0].said.iter().map(|said| (said.machine, said.run, said.verdict)).collect();
        assert_eq!(said, [(0, 8, Verdict::Faster), (1, 10, Verdict::Slower)]);
        assert_eq!(
            sentence(&page).unwrap().text,
            "the machines disagree on 1 of 1 contrast: fast / slow, mixed is faster (-10.0 %) on A CPU and slower (+20.0 %) on \
             Another CPU"
        );
    }

    #[test]
    fn what_is_undecided_contradicts_nothing_and_equal_is_no_difference() {
        let says = |verdicts| sentence(&with(verdicts)).unwrap().text;
        let open = says([Verdict::Faster, Verdict::Undecided]);
        assert_eq!(open, "the machines agree on 1 contrast, as far as they decide");
        assert_eq!(says([Verdict::Slower, Verdict::Slower]), "the machines agree on 1 contrast");
        let differs = says([Verdict::Equivalent, Verdict::Slower]);
        assert!(differs.contains("is equivalent on A CPU and slower (+20.0 %) on Another CPU"), "{differs}");
    }

    #[test]
    fn a_machine_that_measured_nothing_is_not_counted_among_those_that_agree() {
        let mut page = with([Verdict::Slower, Verdict::Slower]);
        page.machines.push(page.machines[1].clone());
        tell(&mut page);
        assert_eq!(sentence(&page).unwrap().text, "the machines with a verdict agree on 1 contrast");
        // A run of each of four machines; a fifth has none, as it could not measure.
        for machine in 2..4 {
            let (mut run, mut point) = (page.runs[10].clone(), *page.series[0].points.last().unwrap());
            run.machine = machine;
            point.run = page.runs.len();
            page.runs.push(run);
            page.series[0].points.push(point);
        }
        page.machines.extend([page.machines[0].clone(), page.machines[0].clone()]);
        tell(&mut page);
        assert_eq!(sentence(&page).unwrap().text, "the 4 machines with a verdict agree on 1 contrast");
        page.machines.pop();
        tell(&mut page);
        assert_eq!(sentence(&page).unwrap().text, "the 4 machines agree on 1 contrast");
    }

    #[test]
    fn one_machine_has_nobody_to_disagree_with_and_two_of_one_name_are_told_apart() {
        let mut page = with([Verdict::Faster, Verdict::Slower]);
        page.runs.iter_mut().for_each(|run| run.machine = 0);
        tell(&mut page);
        assert_eq!((sentence(&page), page.across.len()), (None, 0));
        page.machines[1].name = "A CPU".into();
        assert_eq!(name(&page, 1), "A CPU (AuthenticAMD 25 1)");
    }
}
