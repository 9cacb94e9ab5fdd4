//! What each machine says: the newest run of each that has the contrast, its own verdict. Samples of two machines are never in
//! one interval, so what differs between them is told, not averaged.

use super::page::{HistoryPage, HistorySeries, SeriesKind};
use assay_pure::verdict::Verdict;
use assay_pure::words;

/// A contrast on several machines.
#[derive(Clone, Debug, PartialEq)]
pub struct AcrossMachines<'a> {
    /// The series' label.
    pub label: &'a str,
    /// One for each machine, in the page's order.
    pub said: Vec<MachineSays>,
}

/// What one machine says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSays {
    /// Number among the machines, from 0.
    pub machine: usize,
    /// Number among the runs, from 0.
    pub run: usize,
    /// Of that run's report.
    pub verdict: Verdict,
    /// The candidate's time over the baseline's.
    pub ratio: f64,
    /// Lower end of the run's interval.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

impl AcrossMachines<'_> {
    /// Two machines decided, and not the same. What is undecided contradicts nothing.
    pub fn disagrees(&self) -> bool {
        let mut decided =
            self.said.iter().map(|said| said.verdict).filter(|said| *said != Verdict::Undecided);
        let first = decided.next();
        decided.any(|verdict| Some(verdict) != first)
    }

    /// One takes longer where another takes less.
    fn is_opposite(&self) -> bool {
        let has = |verdict| self.said.iter().any(|said| said.verdict == verdict);
        has(Verdict::Faster) && has(Verdict::Slower)
    }
}

/// The contrasts that two machines have, those on which they disagree first.
pub fn across(page: &HistoryPage) -> Vec<AcrossMachines<'_>> {
    let contrasts = page.series.iter().filter(|series| series.kind == SeriesKind::Contrast);
    let mut found: Vec<AcrossMachines<'_>> = contrasts.map(|series| of(page, series)).collect();
    found.retain(|contrast| contrast.said.len() > 1);
    found.sort_by_key(|contrast| (!contrast.is_opposite(), !contrast.disagrees()));
    found
}

fn of<'a>(page: &HistoryPage, series: &'a HistorySeries) -> AcrossMachines<'a> {
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
    AcrossMachines { label: &series.label, said: (0..page.machines.len()).filter_map(newest).collect() }
}

/// A machine's name, with what tells it from others of that name.
pub fn name(page: &HistoryPage, machine: usize) -> String {
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
    let found = across(page);
    let first = found.first()?;
    let differing = found.iter().filter(|contrast| contrast.disagrees()).count();
    let contrasts = words::plural(found.len() as u64, "contrast");
    if differing == 0 {
        let open =
            |contrast: &&AcrossMachines| contrast.said.iter().any(|said| said.verdict == Verdict::Undecided);
        let far = if found.iter().any(|contrast| open(&contrast)) { ", as far as they decide" } else { "" };
        return Some(MachinesTold {
            disagree: false,
            text: format!("the machines agree on {contrasts}{far}"),
        });
    }
    let said: Vec<String> = first
        .said
        .iter()
        .map(|said| {
            let effect = match said.verdict {
                Verdict::Equivalent | Verdict::Undecided => said.verdict.word().to_owned(),
                difference => format!("{} ({})", difference.word(), words::fine_change(said.ratio)),
            };
            format!("{effect} on {}", name(page, said.machine))
        })
        .collect();
    let text = format!(
        "the machines disagree on {differing} of {contrasts}: {} is {}",
        first.label,
        words::list(&said)
    );
    Some(MachinesTold { disagree: true, text })
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
        page
    }

    #[test]
    fn each_machine_says_its_newest_run_and_what_they_disagree_on_is_told() {
        let page = with([Verdict::Faster, Verdict::Slower]);
        let found = across(&page);
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
    fn one_machine_has_nobody_to_disagree_with_and_two_of_one_name_are_told_apart() {
        let mut page = with([Verdict::Faster, Verdict::Slower]);
        page.runs.iter_mut().for_each(|run| run.machine = 0);
        assert_eq!((sentence(&page), across(&page).len()), (None, 0));
        page.machines[1].name = "A CPU".into();
        assert_eq!(name(&page, 1), "A CPU (AuthenticAMD 25 1)");
    }
}
