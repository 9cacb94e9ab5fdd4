//! What the ledger knows of both sides of a step, and the sentence that says it. What is not known is not claimed: facts that
//! differ stand beside the step, and none is called its cause.

use super::code::{self, CampaignBuild, KeptBinaries};
use super::runs::{CampaignData, RecordedRuns, RunData};
use super::series::{BuildName, Series, SeriesKey};
use assay_pure::words;
use assay_report::history::page::{ChangeCause, ChangePoint, KnownFact, SeriesKind};
use serde_json::Value;

/// A step of the plain link belongs to a step of the code at most so many runs away.
const BESIDE: usize = 2;

/// Adds causes and sentences to all changes; steps of the plain link that the code has too are told of the code alone.
pub fn tell(series: &mut [Series], read: &RecordedRuns, binaries: &KeptBinaries) {
    let of_code: Vec<(SeriesKey, ChangePoint)> = series
        .iter()
        .filter(|one| one.key.kind == SeriesKind::Contrast)
        .flat_map(|one| one.page.changes.iter().map(|change| (one.key.clone(), change.clone())))
        .collect();
    let machine = |change: &ChangePoint| read.runs[change.at].page.machine;
    for one in series.iter_mut() {
        let page = &one.page;
        let key = one.key.of_code();
        let has_code = |change: &ChangePoint| {
            of_code.iter().any(|(of, code)| {
                *of == key
                    && machine(code) == machine(change)
                    && (code.ratio > 1.0) == (change.ratio > 1.0)
                    && code.at.abs_diff(change.at) <= BESIDE
            })
        };
        let as_built = page.kind == SeriesKind::ContrastAsBuilt;
        let mut changes = page.changes.clone();
        changes.retain(|change| !as_built || !has_code(change));
        for change in &mut changes {
            change.causes = causes(one, change, read, binaries);
            if as_built {
                let text = "placement as built: the code effect does not change here".to_owned();
                change
                    .causes
                    .insert(0, ChangeCause { fact: KnownFact::Placement, differs: Some(true), text });
            }
        }
        one.page.changes = changes;
    }
    let steps: Vec<VariantTimeStep> = series
        .iter()
        .filter(|one| one.key.kind == SeriesKind::Time)
        .flat_map(|one| {
            one.page
                .changes
                .iter()
                .map(|change| VariantTimeStep { key: one.key.clone(), change: change.clone() })
        })
        .collect();
    for one in series {
        for change in &mut one.page.changes {
            let here = |step: &&VariantTimeStep| machine(&step.change) == machine(change);
            if let Some(step) = steps.iter().filter(here).find(|step| step.is_alike(&one.key, change)) {
                change.causes.insert(0, step.cause(read));
            }
        }
        let mut changes = one.page.changes.clone();
        changes.iter_mut().for_each(|change| change.sentence = sentence(one, change, read));
        one.page.changes = changes;
    }
}

/// A step of a variant's time.
struct VariantTimeStep {
    key: SeriesKey,
    change: ChangePoint,
}

impl VariantTimeStep {
    /// Whether it speaks for another reason than the code of a step of another variant in the same build on the same input: as large
    /// within a factor of two, at most so many runs away, and its own machine code is the same on both sides.
    fn is_alike(&self, key: &SeriesKey, change: &ChangePoint) -> bool {
        let share = self.change.ratio.ln() / change.ratio.ln();
        let same_code =
            |cause: &ChangeCause| cause.fact == KnownFact::MachineCode && cause.differs == Some(false);
        self.key.variant != key.variant
            && self.key == key.time_of(&self.key.variant)
            && key.kind == SeriesKind::Time
            && (0.5..=2.0).contains(&share)
            && self.change.at.abs_diff(change.at) <= BESIDE
            && self.change.causes.iter().any(same_code)
    }

    fn cause(&self, read: &RecordedRuns) -> ChangeCause {
        let run = &read.runs[self.change.at].page;
        let text = format!(
            "{} stepped by {} from run {} on with the same machine code, so the machine may have changed",
            self.key.variant,
            words::fine_change(self.change.ratio),
            run.id
        );
        ChangeCause { fact: KnownFact::Alike, differs: Some(true), text }
    }
}

fn campaign(read: &RecordedRuns, run: usize) -> Option<&CampaignData> {
    match &read.runs[run].data {
        RunData::Campaign(campaign) => Some(campaign),
        RunData::Import(_) => None,
    }
}

/// The build of a series at a run.
fn build(series: &Series, run: usize) -> Option<&BuildName> {
    series.page.points.iter().zip(&series.builds).find(|(point, _)| point.run == run).map(|(_, build)| build)
}

fn causes(
    series: &Series,
    change: &ChangePoint,
    read: &RecordedRuns,
    binaries: &KeptBinaries,
) -> Vec<ChangeCause> {
    let mut found = Vec::new();
    let revisions = [change.before, change.at].map(|run| read.runs[run].page.revision.clone());
    if let (Some(before), Some(at)) = (campaign(read, change.before), campaign(read, change.at)) {
        if let (Some(old), Some(new)) = (build(series, change.before), build(series, change.at)) {
            let of = |campaign, build| CampaignBuild { campaign, build };
            found.extend(built(series, of(before, old), of(at, new), binaries));
        }
        found.extend(surroundings(before, at));
    }
    if let [Some(before), Some(at)] = &revisions
        && before != at
    {
        let text = format!("commit {} to {}", short(before), short(at));
        found.push(ChangeCause { fact: KnownFact::Revision, differs: Some(true), text });
    }
    // What differs first, then what is the same and worth saying.
    found.sort_by_key(|cause| (cause.differs != Some(true), cause.fact));
    found
}

fn short(revision: &str) -> String {
    revision.chars().take(10).collect()
}

/// Compiler, flags, sources, machine code, input.
fn built(
    series: &Series,
    before: CampaignBuild<'_>,
    at: CampaignBuild<'_>,
    binaries: &KeptBinaries,
) -> Vec<ChangeCause> {
    let mut found = Vec::new();
    let mut add = |fact, differs, text: String| found.push(ChangeCause { fact, differs, text });
    let compiler = |of: CampaignBuild<'_>| {
        let mut compilers = of.campaign.page.machine.compilers.iter();
        let known = compilers.find(|compiler| compiler.name == of.build.compiler);
        known.map(|compiler| (format!("{} {}", compiler.name, compiler.version), compiler.sha256.clone()))
    };
    if let (Some(old), Some(new)) = (compiler(before), compiler(at)) {
        if old.0 != new.0 {
            add(KnownFact::Compiler, Some(true), format!("compiler {} to {}", old.0, new.0));
        } else if old.1 != new.1 {
            add(KnownFact::Compiler, Some(true), format!("another build of the compiler {}", old.0));
        }
    }
    let flags = |of: CampaignBuild<'_>| {
        let mut sets = of.campaign.page.flag_sets.iter();
        sets.find(|set| set.name == of.build.flags).map(|set| set.flags.join(" "))
    };
    if let (Some(old), Some(new)) = (flags(before), flags(at))
        && old != new
    {
        add(KnownFact::Flags, Some(true), format!("flags `{old}` to `{new}`"));
    }
    if let Some((differs, text)) = sources(before.campaign, at.campaign) {
        add(KnownFact::Sources, Some(differs), text);
    }
    let names: Vec<&str> = [Some(&series.page.variant), series.page.baseline.as_ref()]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let compared: Vec<_> =
        names.iter().map(|name| (*name, code::compare(binaries, name, before, at))).collect();
    let (differs, text) = code::told(&compared);
    add(KnownFact::MachineCode, differs, text);
    if let Some(input) = &series.page.input {
        let content = |campaign: &CampaignData| {
            campaign.page.inputs.iter().find(|known| known.name == *input).map(|known| known.digest.clone())
        };
        if let (Some(old), Some(new)) = (content(before.campaign), content(at.campaign))
            && old != new
        {
            add(KnownFact::Input, Some(true), format!("the input {input} has different content"));
        }
    }
    found
}

/// Whether source files differ, in words; none where a campaign did not keep them.
fn sources(before: &CampaignData, at: &CampaignData) -> Option<(bool, String)> {
    let files = |campaign: &CampaignData| campaign.row.sources.as_ref()?["files"].as_object().cloned();
    let (old, new) = (files(before)?, files(at)?);
    if old == new {
        return Some((false, "the same source files".into()));
    }
    let changed: Vec<&str> = new
        .iter()
        .filter(|(name, digest)| old.get(*name) != Some(digest))
        .map(|(name, _)| name.as_str())
        .collect();
    let gone: Vec<&str> = old.keys().filter(|name| !new.contains_key(*name)).map(String::as_str).collect();
    let all: Vec<&str> = changed.into_iter().chain(gone).collect();
    Some((true, format!("{} changed", words::list(&all))))
}

/// Kernel, microcode, governor, processor, the experiment's other keys, assay.
fn surroundings(before: &CampaignData, at: &CampaignData) -> Vec<ChangeCause> {
    let mut found = Vec::new();
    let mut add = |fact, text: String| found.push(ChangeCause { fact, differs: Some(true), text });
    let fact = |campaign: &CampaignData, key: &str| campaign.row.machine[key].as_str().map(str::to_owned);
    for (known, key) in [
        (KnownFact::Kernel, "kernel"),
        (KnownFact::Microcode, "microcode"),
        (KnownFact::Governor, "governor"),
    ] {
        if let (Some(old), Some(new)) = (fact(before, key), fact(at, key))
            && old != new
        {
            add(known, format!("{key} {old} to {new}"));
        }
    }
    if let (Some(old), Some(new)) = (before.row.pinned_cpu, at.row.pinned_cpu)
        && old != new
    {
        add(KnownFact::Core, format!("measured on CPU {new}, previously on CPU {old}"));
    }
    let keys = other_keys(&before.row.spec, &at.row.spec);
    if !keys.is_empty() {
        add(KnownFact::Experiment, format!("changed values in the experiment file: {}", keys.join(", ")));
    }
    if before.row.assay_version != at.row.assay_version {
        add(KnownFact::Assay, format!("assay {} to {}", before.row.assay_version, at.row.assay_version));
    }
    found
}

/// Keys of an experiment that differ, but for those that the other facts tell, and how long and in which order it was measured.
fn other_keys(before: &Value, at: &Value) -> Vec<String> {
    const TOLD: [&str; 8] =
        ["flags", "compilers", "budget_seconds", "seed", "question", "prediction", "placement", "claims"];
    let (Some(old), Some(new)) = (before.as_object(), at.as_object()) else { return Vec::new() };
    let differs = |key: &&String| !TOLD.contains(&key.as_str()) && old.get(*key) != new.get(*key);
    old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))).filter(differs).cloned().collect()
}

/// "b / a, mixed: +3.1 % (+2.9 % to +3.3 %) from run 6 on (2026-11-06): compiler gcc-12 12.2.0 to gcc-13 13.1.0, …"
fn sentence(series: &Series, change: &ChangePoint, read: &RecordedRuns) -> String {
    let run = &read.runs[change.at].page;
    let day = run.at.split('T').next().unwrap_or_default();
    let step = words::fine_change(change.ratio);
    let span = words::fine_span(change.lower, change.upper);
    let differs: Vec<&str> = change
        .causes
        .iter()
        .filter(|cause| cause.differs == Some(true))
        .map(|cause| cause.text.as_str())
        .collect();
    let rest: Vec<&str> = change
        .causes
        .iter()
        .filter(|cause| cause.differs != Some(true))
        .map(|cause| cause.text.as_str())
        .collect();
    let same_code = change
        .causes
        .iter()
        .any(|cause| cause.fact == KnownFact::MachineCode && cause.differs == Some(false));
    let mut known = if differs.is_empty() {
        if same_code { "not the code" } else { "nothing recorded in the ledger differs" }.to_owned()
    } else {
        differs.join(", ")
    };
    if !rest.is_empty() {
        known += &format!("; {}", rest.join(", "));
    }
    if series.page.kind == SeriesKind::Imported && differs.is_empty() {
        "the file does not say what changed".clone_into(&mut known);
    }
    let run = if run.tool == "assay" { format!("run {}", run.id) } else { run.id.clone() };
    format!("{}: {step} ({span}) from {run} on ({day}): {known}.", series.page.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_variant_of_the_same_code_that_steps_alike_speaks_for_the_machine() {
        let key = |variant: &str, kind| SeriesKey {
            kind,
            variant: variant.into(),
            baseline: String::new(),
            input: "mixed".into(),
            compiler: "gcc".into(),
            flags: String::new(),
        };
        let step = |at: usize, ratio: f64, same_code: bool| {
            let text = String::new();
            ChangePoint {
                at,
                told_at: at,
                p: 0.001,
                before: at - 1,
                ratio,
                lower: ratio,
                upper: ratio,
                causes: vec![ChangeCause { fact: KnownFact::MachineCode, differs: Some(!same_code), text }],
                sentence: String::new(),
            }
        };
        let time = |variant: &str| key(variant, SeriesKind::Time);
        let four = (time("four"), step(8, 1.135, false));
        let alike = |variant: &str, at, ratio, same_code| {
            VariantTimeStep { key: time(variant), change: step(at, ratio, same_code) }
                .is_alike(&four.0, &four.1)
        };
        assert!(alike("loop", 7, 1.134, true) && alike("loop", 10, 1.2, true));
        assert!(!alike("loop", 7, 1.134, false), "its own code changed");
        assert!(!alike("loop", 7, 0.88, true), "the other way");
        assert!(!alike("loop", 7, 1.03, true), "by much less");
        assert!(!alike("loop", 11, 1.134, true), "at another time");
        assert!(!alike("four", 8, 1.135, true), "it is itself");
        let contrast = (key("four", SeriesKind::Contrast), step(8, 1.135, false));
        let of = VariantTimeStep { key: time("loop"), change: step(8, 1.135, true) };
        assert!(!of.is_alike(&contrast.0, &contrast.1), "the machine cancels out");
    }

    #[test]
    fn other_keys_are_those_that_change_what_is_measured() {
        let old = json!({"unit": "byte", "seed": 1, "clock": "wall", "budget_seconds": 3.0});
        let new =
            json!({"unit": "byte", "seed": 2, "clock": "thread_cpu", "budget_seconds": 9.0, "accept": []});
        assert_eq!(other_keys(&old, &new), ["clock", "accept"]);
    }
}
