//! Why: the contrasts that a reader would stumble over, with causes and evidence, and what depends on the input.

use super::{Detail, build_name, candidate_name, distinct, says_word, verdict_word};
use crate::report::ink::Ink;
use crate::report::number;
use crate::report::page::{AsBuiltSays, CauseKind, Contrast, Flips, InputDependence, Page, Verdict};
use crate::report::prose;
use crate::report::sheet::Sheet;

/// Contrasts explained in the brief view.
const MOST_EXPLAINED: usize = 6;
/// With so few contrasts each is explained, noteworthy or not.
const FEW: usize = 4;

/// Adds both sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    explain(page, detail, sheet);
    input_dependence(page, sheet);
}

/// The word of a cause as in the JSON.
pub(super) fn cause_name(cause: CauseKind) -> String {
    match cause {
        CauseKind::Placement => "placement",
        CauseKind::IdenticalCode => "identical-code",
        CauseKind::Work => "work",
        CauseKind::Prediction => "prediction",
        CauseKind::Input => "input",
        CauseKind::Memory => "memory",
        CauseKind::CodegenDrift => "codegen-drift",
        CauseKind::Noise => "noise",
        CauseKind::Build => "build",
    }
    .to_owned()
}

fn explain(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let all = detail == Detail::Full || page.contrasts.len() <= FEW;
    let mut chosen: Vec<&Contrast> = page.contrasts.iter().filter(|c| all || rank(c) < ORDINARY).collect();
    // Stable: within a rank the order of the tables remains.
    chosen.sort_by_key(|contrast| rank(contrast));
    if chosen.is_empty() {
        return;
    }
    sheet.heading("Why");
    let most = if all { chosen.len() } else { MOST_EXPLAINED };
    for contrast in chosen.iter().take(most) {
        one(page, contrast, detail, sheet);
    }
    if chosen.len() > most {
        sheet.paragraph(Ink::Dim, "  ", &format!("{} more: --all", chosen.len() - most));
    }
}

const ORDINARY: u8 = 6;

/// What misleads most comes first.
fn rank(contrast: &Contrast) -> u8 {
    match (contrast.as_built_says, contrast.verdict) {
        (Some(AsBuiltSays::Reversed), _) => 0,
        (Some(AsBuiltSays::Ghost), _) => 1,
        (Some(AsBuiltSays::Masked), _) => 2,
        (_, Verdict::Inconclusive) => 3,
        (Some(AsBuiltSays::Inflated), _) => 4,
        (Some(AsBuiltSays::Deflated), _) => 5,
        _ => ORDINARY,
    }
}

fn one(page: &Page, contrast: &Contrast, detail: Detail, sheet: &mut Sheet) {
    let misleads = contrast.as_built_says.filter(|&says| says != AsBuiltSays::Confirmed).map(says_word);
    let (word, ink) = misleads.map_or_else(|| verdict_word(contrast.verdict), |(word, ink, _)| (word, ink));
    let place = format!("{} on {}, {}", candidate_name(page, contrast), contrast.input, build(contrast));
    sheet.labelled(ink, &format!("  {word:<12}  "), &format!("{place}: {}", figures(contrast)));
    let indent = " ".repeat(16);
    for cause in &contrast.causes {
        let share = cause.share.map(|share| format!(" {}", number::fraction(share))).unwrap_or_default();
        sheet.paragraph(
            Ink::Plain,
            &indent,
            &format!("{}{share}: {}", cause_name(cause.cause), cause.evidence),
        );
    }
    if detail == Detail::Full || contrast.causes.is_empty() {
        for reason in &contrast.reasons {
            sheet.paragraph(Ink::Plain, &indent, reason);
        }
    }
    if contrast.verdict == Verdict::Inconclusive {
        sheet.paragraph(Ink::Plain, &indent, &what_it_takes(contrast));
    }
}

fn build(contrast: &Contrast) -> String {
    build_name(&contrast.compiler, &contrast.flags)
}

/// "as built +20.6 % ± 1.0, code +0.4 % ± 0.4".
fn figures(contrast: &Contrast) -> String {
    let effect = |name: &str, effect| match effect {
        Some(effect) => format!("{name} {}", number::change_with_interval(&effect)),
        None => format!("{name} not measured"),
    };
    format!("{}, {}", effect("as built", contrast.as_built), effect("code", contrast.code))
}

fn what_it_takes(contrast: &Contrast) -> String {
    let seconds = contrast
        .seconds_needed
        .map(|seconds| format!(" ({})", number::duration(seconds)))
        .unwrap_or_default();
    let takes = contrast
        .rotations_needed
        .map(|rotations| {
            format!("about {}{seconds} would decide", prose::plural(u64::from(rotations), "more rotation"))
        })
        .unwrap_or_else(|| "how many rotations would decide can't be said yet".to_owned());
    let seen = contrast.minimum_detectable_effect.map(|effect| {
        let rotations = prose::plural(u64::from(contrast.rotations), "rotation");
        format!("; {rotations} show differences from {}", number::fraction(effect))
    });
    format!("{takes}{}", seen.unwrap_or_default())
}

fn input_dependence(page: &Page, sheet: &mut Sheet) {
    if page.input_dependence.is_empty() {
        return;
    }
    sheet.heading("Depends on the input");
    let same = |a: &InputDependence, b: &InputDependence| {
        let sides = a.favours_candidate == b.favours_candidate && a.favours_baseline == b.favours_baseline;
        sides && a.candidate == b.candidate && a.baseline == b.baseline && a.flips == b.flips
    };
    let mut told: Vec<&InputDependence> = Vec::new();
    for entry in &page.input_dependence {
        if told.iter().any(|known| same(known, entry)) {
            continue;
        }
        told.push(entry);
        let alike: Vec<&InputDependence> =
            page.input_dependence.iter().filter(|other| same(entry, other)).collect();
        let builds = distinct(alike.iter().map(|other| build_name(&other.compiler, &other.flags)));
        sheet.paragraph(Ink::Plain, "  ", &format!("{} ({})", sides(entry), prose::list(&builds)));
        for other in alike.iter().filter(|other| !other.note.is_empty()) {
            let which = if alike.len() > 1 {
                format!("{}: ", build_name(&other.compiler, &other.flags))
            } else {
                String::new()
            };
            sheet.paragraph(Ink::Dim, "    ", &format!("{which}{}", other.note));
        }
    }
}

fn sides(entry: &InputDependence) -> String {
    let side = |name: &str, inputs: &[String]| format!("{name} takes less time on {}", prose::list(inputs));
    let mut sides = Vec::new();
    if !entry.favours_candidate.is_empty() {
        sides.push(side(&entry.candidate, &entry.favours_candidate));
    }
    if !entry.favours_baseline.is_empty() {
        sides.push(side(&entry.baseline, &entry.favours_baseline));
    }
    let what = match entry.flips {
        Flips::Sign => "",
        Flips::Size => ", by very different amounts",
    };
    format!("{}{what}", sides.join(", "))
}
