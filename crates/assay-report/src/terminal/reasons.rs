//! Why: the contrasts that a reader would stumble over, with causes and evidence, and what depends on the input.

use super::{Detail, build_name, candidate_name, distinct, says_word, verdict_word};
use crate::ink::Ink;
use crate::page::{
    AsBuiltSays, Dependence, InputDependentContrast, Page, PageContrast, RatioInterval, Verdict,
};
use crate::sheet::Sheet;
use assay_pure::words;

/// Groups explained in the brief view.
const MOST_EXPLAINED: usize = 3;
/// With so few contrasts each is explained, noteworthy or not.
const FEW: usize = 4;
/// Where causes and reasons start.
const INDENT: &str = "                ";

/// Adds both sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    explain(page, detail, sheet);
    // In the brief view the answer tells it.
    if detail == Detail::Full {
        input_dependence(page, detail, sheet);
    }
}

fn explain(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let all = detail == Detail::Full || page.contrasts.len() <= FEW;
    let mut groups = if all { page.contrasts.iter().map(|c| vec![c]).collect() } else { noteworthy(page) };
    // Stable: within a rank the order of the tables remains.
    groups.sort_by_key(|group| rank(group[0]));
    if groups.is_empty() {
        return;
    }
    sheet.heading("Why");
    let most = if all { groups.len() } else { MOST_EXPLAINED };
    for group in groups.iter().take(most) {
        one(page, group, detail, sheet);
    }
    let left: usize = groups.iter().skip(most).map(Vec::len).sum();
    if left > 0 {
        sheet.paragraph(Ink::Dim, "  ", &format!("{}: --all", words::plural(left as u64, "more contrast")));
    }
}

/// Noteworthy contrasts that differ only in the input, together; the most telling of each group first.
fn noteworthy(page: &Page) -> Vec<Vec<&PageContrast>> {
    let key = |c: &PageContrast| (rank(c), candidate_name(page, c), c.compiler.clone(), c.flags.clone());
    let mut groups: Vec<Vec<&PageContrast>> = Vec::new();
    // What would decide an undecided one stands below the answer.
    let told = |c: &&PageContrast| rank(c) < ORDINARY && rank(c) != UNDECIDED;
    for contrast in page.contrasts.iter().filter(told) {
        match groups.iter_mut().find(|group| key(group[0]) == key(contrast)) {
            Some(group) => group.push(contrast),
            None => groups.push(vec![contrast]),
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| telling(b).total_cmp(&telling(a)));
    }
    groups
}

/// How much a contrast tells within its group: the rotations it needs, else how far the plain link misleads.
fn telling(contrast: &PageContrast) -> f64 {
    match (contrast.verdict, contrast.as_built, contrast.code) {
        (Verdict::Undecided, ..) => contrast.rotations_needed.map_or(0.0, f64::from),
        (_, Some(as_built), Some(code)) => (as_built.ratio / code.ratio).ln().abs(),
        _ => 0.0,
    }
}

const UNDECIDED: u8 = 3;
const ORDINARY: u8 = 6;

/// What misleads most comes first.
fn rank(contrast: &PageContrast) -> u8 {
    match (contrast.as_built_says, contrast.verdict) {
        (Some(AsBuiltSays::Reversed), _) => 0,
        (Some(AsBuiltSays::Ghost), _) => 1,
        (Some(AsBuiltSays::Masked), _) => 2,
        (_, Verdict::Undecided) => UNDECIDED,
        (Some(AsBuiltSays::Inflated), _) => 4,
        (Some(AsBuiltSays::Deflated), _) => 5,
        _ => ORDINARY,
    }
}

fn one(page: &Page, group: &[&PageContrast], detail: Detail, sheet: &mut Sheet) {
    let contrast = group[0];
    let misleads = contrast.as_built_says.filter(|&says| says != AsBuiltSays::Confirmed).map(says_word);
    let (word, ink) = misleads.map_or_else(|| verdict_word(contrast.verdict), |(word, ink, _)| (word, ink));
    let build = build_name(&contrast.compiler, &contrast.flags);
    let place = format!("{} on {}, {build}", candidate_name(page, contrast), contrast.input);
    let (label, figures) = (format!("  {word:<12}  "), figures(contrast));
    let line = format!("{place}: {figures}");
    if sheet.fits(&label, &line) {
        sheet.labelled(ink, &label, &line);
    } else {
        sheet.labelled(ink, &label, &place);
        sheet.paragraph(Ink::Plain, INDENT, &figures);
    }
    for cause in &contrast.causes {
        let share = cause.share.map(|share| format!(" {}", words::fraction(share))).unwrap_or_default();
        sheet.paragraph(Ink::Plain, INDENT, &format!("{}{share}: {}", cause.cause.name(), cause.evidence));
    }
    let takes = what_it_takes(contrast);
    if detail == Detail::Full || (contrast.causes.is_empty() && takes.is_none()) {
        for reason in &contrast.reasons {
            sheet.paragraph(Ink::Plain, INDENT, reason);
        }
    } else if let Some(takes) = takes {
        sheet.paragraph(Ink::Plain, INDENT, &takes);
    }
    if group.len() > 1 {
        let inputs: Vec<&str> = group[1..].iter().map(|c| c.input.as_str()).collect();
        sheet.paragraph(Ink::Plain, INDENT, &format!("also on {}", words::list(&inputs)));
    }
}

/// "as built +20.6 % ± 1.0, code +0.4 % ± 0.4".
fn figures(contrast: &PageContrast) -> String {
    let effect =
        |name: &str, change: Option<String>, none: &str| format!("{name} {}", change.unwrap_or(none.into()));
    format!(
        "{}, {}",
        effect("as built", contrast.as_built.map(RatioInterval::change), "not measured"),
        effect("code", contrast.code.map(RatioInterval::change), "unknown")
    )
}

/// What would decide an undecided contrast, where that is known; else its reasons tell.
fn what_it_takes(contrast: &PageContrast) -> Option<String> {
    let more = contrast.more_rotations().filter(|_| contrast.verdict == Verdict::Undecided)?;
    let seconds =
        contrast.seconds_needed.map(|seconds| format!(" ({})", words::duration(seconds))).unwrap_or_default();
    let seen = contrast.minimum_detectable_effect.map(|effect| {
        let rotations = words::plural(u64::from(contrast.rotations), "rotation");
        format!("; {rotations} show differences from {}", words::fraction(effect))
    });
    let rotations = words::plural(u64::from(more), "more rotation");
    Some(format!("about {rotations}{seconds} would decide{}", seen.unwrap_or_default()))
}

fn input_dependence(page: &Page, detail: Detail, sheet: &mut Sheet) {
    // Builds that are compared have tables of their own, with every input in them.
    let entries: Vec<&InputDependentContrast> =
        page.input_dependence.iter().filter(|entry| entry.against.is_none()).collect();
    if entries.is_empty() {
        return;
    }
    sheet.heading("Depends on the input");
    let same = |a: &InputDependentContrast, b: &InputDependentContrast| {
        let sides = a.favours_candidate == b.favours_candidate && a.favours_baseline == b.favours_baseline;
        sides && a.candidate == b.candidate && a.baseline == b.baseline && a.flips == b.flips
    };
    let mut told: Vec<&InputDependentContrast> = Vec::new();
    for entry in entries.iter().copied() {
        if told.iter().any(|known| same(known, entry)) {
            continue;
        }
        told.push(entry);
        let alike: Vec<&InputDependentContrast> =
            entries.iter().copied().filter(|other| same(entry, other)).collect();
        let builds = distinct(alike.iter().map(|other| build_name(&other.compiler, &other.flags)));
        sheet.paragraph(Ink::Plain, "  ", &format!("{} ({})", sides(entry), words::list(&builds)));
        for other in alike.iter().filter(|_| detail == Detail::Full) {
            sheet.paragraph(Ink::Dim, "    ", &other.note);
        }
    }
}

/// "bmi2 takes less time on p80, branch on all-1".
fn sides(entry: &InputDependentContrast) -> String {
    let mut sides = Vec::new();
    for (name, inputs) in
        [(&entry.candidate, &entry.favours_candidate), (&entry.baseline, &entry.favours_baseline)]
    {
        let verb = if sides.is_empty() { " takes less time" } else { "" };
        if !inputs.is_empty() {
            sides.push(format!("{name}{verb} on {}", words::list(inputs)));
        }
    }
    let what = match entry.flips {
        Dependence::Sign => "",
        Dependence::Size => ", by different amounts",
    };
    format!("{}{what}", sides.join(", "))
}
