//! An answer in a few words: what a list has room for. Sizes are of the code effect, as in the tables: -12 % takes 12 % less
//! time.

use crate::answer::carried;
use crate::compare::ComparePage;
use crate::ink::Ink;
use crate::page::{Axis, Page, RatioInterval, SAME_CODE, TwinVerdict, Verdict};
use crate::stages::page::{Against, Brought, DiaryPage};
use crate::sweep::SweepPage;
use crate::sweep::page::PairPage;
use assay_pure::sweep::Winner;
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// What was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Brief {
    /// A few words.
    pub text: String,
    /// What they amount to.
    pub tone: Tone,
    /// The whole answer.
    pub whole: String,
}

/// What an answer amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Every difference that was found is less time.
    Faster,
    /// Every difference that was found is more time.
    Slower,
    /// Both were found.
    Mixed,
    /// No difference was found where everything is decided.
    Same,
    /// Nothing was decided.
    Undecided,
    /// The figures are not to be believed as they are.
    Misleading,
    /// There is no answer.
    Nothing,
}

impl Tone {
    /// Its colour.
    pub fn ink(self) -> Ink {
        match self {
            Tone::Faster => Ink::Good,
            Tone::Slower => Ink::Bad,
            Tone::Mixed | Tone::Same => Ink::Plain,
            Tone::Undecided | Tone::Misleading => Ink::Doubt,
            Tone::Nothing => Ink::Dim,
        }
    }
}

/// One contrast, wherever it was measured.
struct Found<'a> {
    who: &'a str,
    place: &'a str,
    verdict: Verdict,
    code: Option<RatioInterval>,
    proof: Option<&'static str>,
}

impl Found<'_> {
    fn change(&self) -> String {
        match (self.proof, self.code) {
            (Some(proof), _) => format!(", {proof}"),
            (None, Some(code)) => format!(", {}", code.change()),
            (None, None) => String::new(),
        }
    }

    fn size(&self) -> f64 {
        self.code.map_or(0.0, |code| code.ratio.ln().abs())
    }
}

fn tone(found: &[Found]) -> Tone {
    let has = |verdict| found.iter().any(|one| one.verdict == verdict);
    match (has(Verdict::Faster), has(Verdict::Slower)) {
        (true, true) => Tone::Mixed,
        (true, false) => Tone::Faster,
        (false, true) => Tone::Slower,
        (false, false) if has(Verdict::Undecided) => Tone::Undecided,
        (false, false) => Tone::Same,
    }
}

/// "b faster, -12.3 % ± 0.4"; "b faster in all 4, -55.2 to -9.2 %"; "2 faster, 1 undecided; most: b on p80, -12.3 % ± 0.4".
fn several(found: &[Found]) -> String {
    let first = &found[0];
    if let [one] = found {
        return format!("{} {}{}", one.who, one.verdict.word(), one.change());
    }
    let is_one = found.iter().all(|one| one.who == first.who);
    let who = if is_one { format!("{} ", first.who) } else { String::new() };
    let all = found.len();
    if found.iter().all(|one| one.verdict == first.verdict) {
        let span = match first.verdict {
            Verdict::Faster | Verdict::Slower => {
                format!(", {}", words::change_span(found.iter().filter_map(|one| Some(one.code?.ratio))))
            }
            Verdict::Equivalent | Verdict::Undecided => String::new(),
        };
        return format!("{who}{} in all {all}{span}", first.verdict.word());
    }
    let kinds = [Verdict::Faster, Verdict::Slower, Verdict::Equivalent, Verdict::Undecided];
    let counted = kinds.into_iter().filter_map(|verdict| {
        let count = found.iter().filter(|one| one.verdict == verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.word()))
    });
    let counted = counted.collect::<Vec<_>>().join(", ");
    let different = found.iter().filter(|one| matches!(one.verdict, Verdict::Faster | Verdict::Slower));
    let most = different.max_by(|one, other| one.size().total_cmp(&other.size()));
    let most = most.map_or(String::new(), |most| {
        let who = if is_one { String::new() } else { format!("{} ", most.who) };
        let place = if most.place.is_empty() { String::new() } else { format!("on {}", most.place) };
        format!("; most: {}{}", format!("{who}{place}").trim_end(), most.change())
    });
    let who = if is_one { format!("{}: ", first.who) } else { String::new() };
    format!("{who}{counted}{most}")
}

impl Brief {
    /// Of something that cannot be judged, and why.
    pub fn unreadable(why: &str) -> Self {
        let first = why.lines().next().unwrap_or_default();
        Self { text: format!("cannot be shown: {first}"), tone: Tone::Nothing, whole: why.to_owned() }
    }

    /// Of a campaign.
    pub fn of_campaign(page: &Page) -> Self {
        let (page, whole) = (carried(page).0, page.answer.clone());
        let of = |axis: Axis| -> Vec<Found> {
            let found = page.along(axis).map(|contrast| Found {
                who: &contrast.candidate,
                place: &contrast.input,
                verdict: contrast.verdict,
                code: contrast.code,
                proof: contrast.proof(),
            });
            found.collect()
        };
        // Where one variant was measured, its builds are compared.
        let axes = [Axis::Variant, Axis::Compiler, Axis::Flags];
        let found = axes.into_iter().map(of).find(|found| !found.is_empty()).unwrap_or_default();
        let (text, tone) = if let Some(finding) = page.findings.first() {
            let of = finding.variant.as_ref().map_or(String::new(), |variant| format!(" in {variant}"));
            (format!("misleading: {}{of}", finding.kind.name()), Tone::Misleading)
        } else if page.twin_control.verdict == TwinVerdict::Different && !found.is_empty() {
            ("not to be trusted: twin control failed".into(), Tone::Misleading)
        } else if found.is_empty() {
            let why = page.failures.first();
            (why.map_or("nothing compared".into(), |why| format!("failed: {}", why.what)), Tone::Nothing)
        } else {
            (several(&found), tone(&found))
        };
        Self { text, tone, whole }
    }

    /// Of a comparison.
    pub fn of_comparison(page: &ComparePage) -> Self {
        let whole = page.answer.clone();
        let candidate = page.sides.get(1).map_or("", |side| side.name.as_str());
        let found: Vec<Found> = (page.benchmarks.iter())
            .filter_map(|found| {
                let (code, proof) = (found.code, found.proven.then_some(SAME_CODE));
                let (who, place) = (candidate, found.benchmark.as_str());
                Some(Found { who, place, verdict: found.verdict?, code, proof })
            })
            .collect();
        let gate = match &page.gate {
            Some(gate) if !gate.failed.is_empty() => "gate failed; ",
            Some(gate) if !gate.passed => "gate undecided; ",
            _ => "",
        };
        if page.benchmarks.is_empty() {
            return Self { text: "nothing compared".into(), tone: Tone::Nothing, whole };
        }
        if found.is_empty() {
            let spread = |figure: &crate::compare::SideFigure| figure.worst / figure.best - 1.0;
            let most = page.benchmarks.iter().map(|found| spread(&found.baseline)).fold(0.0, f64::max);
            let text = format!("placement alone: up to {}", words::fraction(most));
            return Self { text, tone: Tone::Same, whole };
        }
        Self { text: format!("{gate}{}", several(&found)), tone: tone(&found), whole }
    }

    /// Of a sweep.
    pub fn of_sweep(page: &SweepPage) -> Self {
        let whole = page.answer.clone();
        let pairs: Vec<&PairPage> = (page.series.iter().flat_map(|series| &series.pairs))
            .filter(|pair| pair.baseline == page.baseline)
            .collect();
        // The answer tells the first that has a crossover.
        let Some(pair) = pairs.iter().find(|pair| !pair.crossovers.is_empty()).or(pairs.first()) else {
            return Self { text: "nothing compared".into(), tone: Tone::Nothing, whole };
        };
        let more = match pairs.len() - 1 {
            0 => String::new(),
            more => format!("; {}", words::plural(more as u64, "more pair")),
        };
        let won = |winner| pair.zones.iter().any(|zone| zone.winner == winner);
        let tone = match (won(Winner::Candidate), won(Winner::Baseline)) {
            (true, true) => Tone::Mixed,
            (true, false) => Tone::Faster,
            (false, true) => Tone::Slower,
            (false, false) if won(Winner::Neither) && !won(Winner::Unclear) => Tone::Same,
            (false, false) => Tone::Undecided,
        };
        Self { text: format!("{}{more}", pair.note), tone, whole }
    }

    /// Of a diary.
    pub fn of_diary(page: &DiaryPage) -> Self {
        let whole = page.answer.clone();
        let steps = || page.steps.iter().filter(|step| step.against == Against::Before);
        let count = |brought| steps().filter(|step| step.brought == brought).count() as u64;
        let (faster, slower) = (count(Brought::Faster), count(Brought::Slower));
        let kinds = [
            (faster, "faster"),
            (slower, "slower"),
            (count(Brought::Ghost), "placement only"),
            (count(Brought::OnlyCounts), "different counts, same time"),
            (count(Brought::Nothing), "without effect"),
            (count(Brought::Open), "undecided"),
        ];
        let told: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let all = steps().count() as u64;
        if all == 0 {
            return Self { text: "nothing compared".into(), tone: Tone::Nothing, whole };
        }
        let tone = match (faster, slower) {
            (1.., 1..) => Tone::Mixed,
            (1.., 0) => Tone::Faster,
            (0, 1..) => Tone::Slower,
            (0, 0) if count(Brought::Open) > 0 => Tone::Undecided,
            (0, 0) => Tone::Same,
        };
        Self { text: format!("of {}: {}", words::plural(all, "step"), told.join(", ")), tone, whole }
    }
}
