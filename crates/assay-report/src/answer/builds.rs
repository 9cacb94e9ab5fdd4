//! What comparing builds found: how many contrasts of a variant with itself differ in their code, and how many only as built.

use super::super::page::{AsBuiltSays, Axis, Page, PageContrast, Verdict};
use assay_pure::words;

/// Variants that are named; more are counted.
const MOST_NAMED: usize = 4;

/// One sentence per axis along which builds are compared; nothing where none is.
pub(super) fn sentences(page: &Page) -> String {
    let axes = [(Axis::Compiler, "compilers"), (Axis::Flags, "flag sets")];
    let said = axes.into_iter().filter_map(|(axis, name)| {
        let own: Vec<&PageContrast> = page.along(axis).collect();
        (!own.is_empty()).then(|| sentence(name, &own))
    });
    said.collect::<Vec<_>>().join(" ")
}

/// "Between compilers: the time of visit differs (-70.0 to -69.0 % in 2 contrasts); virtual and fnptr take the same time; 3 of 24
/// contrasts undecided. In one ordinary link, 7 of 24 results mislead: placement shifts the time by up to +20.6 %."
fn sentence(axis: &str, contrasts: &[&PageContrast]) -> String {
    let mut variants: Vec<&str> = Vec::new();
    for contrast in contrasts {
        if !variants.contains(&contrast.candidate.as_str()) {
            variants.push(&contrast.candidate);
        }
    }
    let has = |variant: &str, wanted: &dyn Fn(&PageContrast) -> bool| {
        contrasts.iter().any(|contrast| contrast.candidate == variant && wanted(contrast))
    };
    let differs = |contrast: &PageContrast| matches!(contrast.verdict, Verdict::Faster | Verdict::Slower);
    let same = |contrast: &PageContrast| contrast.verdict == Verdict::Equivalent;
    let (differing, others): (Vec<&str>, Vec<&str>) =
        variants.into_iter().partition(|variant| has(variant, &differs));
    let alike: Vec<&str> = others.into_iter().filter(|variant| has(variant, &same)).collect();
    let mut parts = Vec::new();
    if !differing.is_empty() {
        let found: Vec<&&PageContrast> = contrasts.iter().filter(|contrast| differs(contrast)).collect();
        let ratios = found.iter().filter_map(|contrast| contrast.code.map(|code| code.ratio));
        let (time, verb) = if differing.len() == 1 { ("time", "differs") } else { ("times", "differ") };
        let spans = words::change_span(ratios);
        let noun = words::plural(found.len() as u64, "contrast");
        parts.push(format!("the {time} of {} {verb} ({spans} in {noun})", named(&differing)));
    }
    if !alike.is_empty() {
        let verb = if alike.len() == 1 { "takes" } else { "take" };
        parts.push(format!("{} {verb} the same time", named(&alike)));
    }
    let open = contrasts.iter().filter(|contrast| contrast.verdict == Verdict::Undecided).count();
    if open > 0 {
        parts.push(format!("{open} of {} contrasts undecided", contrasts.len()));
    }
    format!("Between {axis}: {}.{}", parts.join("; "), misled(contrasts))
}

/// " In one ordinary link, 7 of 24 results mislead: placement shifts the time by up to +20.6 %." for those that name a difference that the code has not, or miss one.
fn misled(contrasts: &[&PageContrast]) -> String {
    let misleads = |contrast: &&&PageContrast| {
        matches!(
            contrast.as_built_says,
            Some(AsBuiltSays::Ghost | AsBuiltSays::Reversed | AsBuiltSays::Masked)
        )
    };
    let found: Vec<&&PageContrast> = contrasts.iter().filter(misleads).collect();
    let farthest = found
        .iter()
        .filter_map(|contrast| contrast.placement_ratio)
        .max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
    let Some(farthest) = farthest else { return String::new() };
    let verb = if found.len() == 1 { "misleads" } else { "mislead" };
    format!(
        " In one ordinary link, {} of {} {verb}: placement shifts the time by up to {}.",
        found.len(),
        words::plural(contrasts.len() as u64, "result"),
        words::change(farthest)
    )
}

fn named(names: &[&str]) -> String {
    if names.len() <= MOST_NAMED { words::list(names) } else { format!("{} variants", names.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Build;
    use crate::sample::{built, contrast, nothing};

    fn across(variant: &str, verdict: Verdict, ratio: f64) -> PageContrast {
        let mut found = contrast(variant, "mono", "gcc-12", verdict, ratio);
        found.baseline = variant.to_owned();
        found.axis = Axis::Compiler;
        found.against = Some(Build { compiler: "gcc-11".into(), flags: "O2".into() });
        found
    }

    #[test]
    fn says_whose_code_differs_between_compilers_and_what_is_placement() {
        let mut page = nothing();
        assert_eq!(sentences(&page), "");
        page.contrasts = vec![
            built(across("virtual", Verdict::Equivalent, 1.001), 1.206, AsBuiltSays::Ghost),
            built(across("fnptr", Verdict::Equivalent, 1.0), 1.0, AsBuiltSays::Confirmed),
            built(across("visit", Verdict::Faster, 0.3), 0.31, AsBuiltSays::Confirmed),
            contrast("visit", "mono", "gcc-12", Verdict::Slower, 1.2),
        ];
        assert_eq!(
            sentences(&page),
            "Between compilers: the time of visit differs (-70.0 % in 1 contrast); virtual and fnptr take the same \
             time. In one ordinary link, 1 of 3 results misleads: placement shifts the time by up to +20.5 %."
        );
        let mut flags = across("visit", Verdict::Undecided, 1.01);
        flags.axis = Axis::Flags;
        page.contrasts = vec![flags];
        assert_eq!(sentences(&page), "Between flag sets: 1 of 1 contrasts undecided.");
    }
}
