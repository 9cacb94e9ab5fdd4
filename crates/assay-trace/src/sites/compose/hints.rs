//! The hints as the page shows them: with what the wrong ones cost and what to do about them.

use super::super::audit::{AuditedHint, Located, audit};
use super::super::image::ModuleImage;
use super::super::source::SourceFiles;
use super::{Priced, SiteSelection};
use assay_pure::trace::hints::judge::FEWEST;
use assay_pure::trace::hints::{Form, HintJudgement, HintVerdict};
use assay_pure::words;
use assay_report::sites::page::{Cycles, HintOrigin, Hints, JudgedHint, SiteMisses};

/// Cycles that a misprediction costs: the least and the most of the vendors' figures and measurements for cores of the last
/// ten years (Neoverse N2 and V2 10, Zen 4 11 to 18, Skylake 16 to 20).
const PENALTY: [f64; 2] = [10.0, 20.0];

/// Cycles that fetching loses at a taken branch: none where the target is in the first-level buffer, about 2 in the next.
const BUBBLE: [f64; 2] = [0.0, 2.0];

/// Compares the hints with what happened.
pub fn hints(
    images: &[ModuleImage],
    priced: &[Priced],
    sources: &SourceFiles,
    wish: &SiteSelection,
) -> Hints {
    let located: Vec<&Located> = priced.iter().map(|site| &site.located).collect();
    let held = audit(images, &located, sources);
    let mut list: Vec<JudgedHint> = held.iter().map(|held| show(held, priced, wish)).collect();
    let high = |hint: &JudgedHint| hint.cycles.map_or(0.0, |cycles| cycles.high);
    let executed = |hint: &JudgedHint| hint.likely + hint.unlikely + hint.unknown;
    list.sort_by(|one, other| {
        let verdict = one.verdict.cmp(&other.verdict);
        verdict
            .then_with(|| high(other).total_cmp(&high(one)))
            .then_with(|| executed(other).cmp(&executed(one)))
            .then_with(|| (&one.file, one.line).cmp(&(&other.file, other.line)))
    });
    let count = |verdict| list.iter().filter(|hint| hint.verdict == verdict).count() as u64;
    Hints {
        right: count(HintVerdict::Right),
        wrong: count(HintVerdict::Wrong),
        unclear: count(HintVerdict::Unclear),
        not_executed: count(HintVerdict::NotExecuted),
        fewest: FEWEST,
        list,
    }
}

fn show(held: &AuditedHint, priced: &[Priced], wish: &SiteSelection) -> JudgedHint {
    let HintJudgement { verdict, unclear } = held.judgement;
    let own = || held.sites.iter().map(|&site| &priced[site].located.seen);
    let taken = own().map(|seen| seen.taken).sum();
    let mispredictions: Vec<SiteMisses> = own().next().map_or_else(Vec::new, |first| {
        let zero = vec![0; wish.models.len()];
        let sums = own()
            .fold(zero, |sums, seen| sums.iter().zip(&seen.missed).map(|(sum, more)| sum + more).collect());
        wish.missed(first.class, &sums)
    });
    let is_wrong = verdict == HintVerdict::Wrong;
    JudgedHint {
        verdict,
        reason: unclear.map(|why| why.to_string()),
        origin: held.origin,
        text: held.text.clone(),
        file: held.file.clone(),
        line: (held.line > 0).then_some(held.line),
        function: held.function.clone(),
        likely: held.likely,
        unlikely: held.unlikely,
        unknown: held.unknown,
        taken,
        cycles: is_wrong.then(|| cycles(taken, &mispredictions)),
        remedy: is_wrong.then(|| remedy(held)),
        mispredictions,
        branches: own().map(|seen| format!("{:#x}", seen.place.address)).collect(),
    }
}

/// What the mispredictions and the taken branches at a hint cost.
fn cycles(taken: u64, missed: &[SiteMisses]) -> Cycles {
    let counts = || missed.iter().map(|missed| missed.count);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    Cycles {
        low: least as f64 * PENALTY[0] + taken as f64 * BUBBLE[0],
        high: most as f64 * PENALTY[1] + taken as f64 * BUBBLE[1],
    }
}

fn remedy(held: &AuditedHint) -> String {
    let share = held.unlikely as f64 / (held.likely + held.unlikely).max(1) as f64;
    let often = format!("the side marked unlikely runs {} of the time", words::fraction(share));
    match (&held.origin, held.form) {
        (HintOrigin::ColdCall, _) => {
            format!("{often}: remove the mark from the function, or call another one here")
        }
        (HintOrigin::ColdPart, _) => format!(
            "{often}: find what makes the compiler treat it as cold (a cold or noreturn function, a hint), or build with \
             a profile"
        ),
        (HintOrigin::Source, Some(Form::ColdPath)) => format!("{often}: remove the cold_path()"),
        (HintOrigin::Source, Some(Form::Attribute)) => {
            format!("{often}: remove the attribute, or put it on the other side")
        }
        (HintOrigin::Source, Some(Form::BranchHint)) => {
            format!("{often}: remove the hint, or put it into the other block")
        }
        (HintOrigin::Source, _) => {
            format!("{often}: invert the hint, or remove it and build with a profile")
        }
    }
}
