//! What the command line asks for, and the sweeps of a file that it means.

use crate::campaign::CampaignRequest;
use crate::campaign::prepare::{self, Outline};
use crate::lead::Misuse;
use anyhow::Result;
use assay_pure::experiment::diagnostic::{self, nearest};
use assay_pure::experiment::{ContrastSpec, CountedEvent, Experiment, pattern};
use assay_pure::stats::rotation::MIN_ROTATIONS;
use assay_pure::sweep::SweepSpec;

/// A sweep that the command line describes.
#[derive(Clone, Debug, Default)]
pub struct AdHoc {
    /// Keys of `[sweeps.NAME]` with their values as TOML.
    pub keys: Vec<(&'static str, String)>,
}

/// The name of a sweep that is in no file.
pub const AD_HOC: &str = "command-line";

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// As of any campaign.
    pub campaign: CampaignRequest,
    /// Names of sweeps of the file; none: all of them.
    pub names: Vec<String>,
    /// A sweep that the command line describes, instead of the file's.
    pub ad_hoc: Option<AdHoc>,
    /// Most further points, instead of the file's.
    pub refine: Option<u32>,
    /// Only these variants (globs) beside the baseline.
    pub variants: Vec<String>,
    /// Refine where any two variants cross, not only with the baseline.
    pub every_pair: bool,
    /// Go on with those of these sweeps that are unfinished or were not reached.
    pub resume: bool,
}

/// An experiment's outline with one of its sweeps, ready for its steps: their inputs are all that is missing.
#[derive(Clone, Debug)]
pub struct SweepSubject {
    /// The sweep.
    pub sweep: SweepSpec,
    /// The experiment without inputs, claims, counts and other sweeps.
    pub outline: Outline,
    /// What the file wants counted; beside steps only.
    pub events: Vec<CountedEvent>,
    /// The text that the outline is of.
    pub text: String,
}

impl SweepRequest {
    /// Reads the file and picks the sweeps.
    ///
    /// # Errors
    /// [`Misuse`]: problems of the file or of what the command line says, no such sweep.
    pub fn subjects(&self) -> Result<Vec<SweepSubject>> {
        let mut text = prepare::text_of(&self.campaign)?;
        if let Some(ad_hoc) = &self.ad_hoc {
            text = with_ad_hoc(&text, ad_hoc, &self.campaign.experiment.display().to_string())?;
        }
        let outline = prepare::outline_of(&self.campaign, text.clone())?;
        let chosen = self.choose(&outline.experiment)?;
        chosen.into_iter().map(|sweep| self.subject(sweep, &outline, &text)).collect()
    }

    fn choose(&self, experiment: &Experiment) -> Result<Vec<SweepSpec>, Misuse> {
        let known: Vec<&str> = experiment.sweeps.iter().map(|sweep| sweep.name.as_str()).collect();
        let file = self.campaign.experiment.display();
        if self.ad_hoc.is_some() {
            return Ok(experiment.sweeps.iter().filter(|sweep| sweep.name == AD_HOC).cloned().collect());
        }
        if known.is_empty() {
            return Err(Misuse(format!(
                "{file} has no sweeps; `--key inputs.NAME.units --from 1k --to 1M` describes one, or write [sweeps.NAME] \
                 (`assay new` explains its keys)"
            )));
        }
        if let Some(name) = self.names.iter().find(|name| !known.contains(&name.as_str())) {
            let near = nearest(name, known.iter().copied());
            let near = near.map_or(String::new(), |near| format!("; nearest: `{near}`"));
            return Err(Misuse(format!(
                "{file} has no sweep `{name}`; its sweeps are: {}{near}",
                known.join(", ")
            )));
        }
        let wanted = |sweep: &&SweepSpec| self.names.is_empty() || self.names.contains(&sweep.name);
        Ok(experiment.sweeps.iter().filter(wanted).cloned().collect())
    }

    fn subject(&self, mut sweep: SweepSpec, outline: &Outline, text: &str) -> Result<SweepSubject> {
        sweep.refine = self.refine.unwrap_or(sweep.refine);
        if !self.variants.is_empty() {
            sweep.variants = self.variants.clone();
        }
        let mut outline = outline.clone();
        let experiment = &mut outline.experiment;
        let (baseline, globs) = (experiment.baseline.clone(), &sweep.variants);
        if !globs.is_empty() {
            let names: Vec<String> = experiment.variants.iter().map(|variant| variant.name.clone()).collect();
            experiment.variants.retain(|variant| {
                variant.name == baseline || globs.iter().any(|glob| pattern::matches(glob, &variant.name))
            });
            if experiment.variants.len() < 2 {
                return Err(Misuse(format!(
                    "the sweep {}: {} leaves nothing to compare with {baseline}; the variants are: {}",
                    sweep.name,
                    globs.join(" "),
                    names.join(", ")
                ))
                .into());
            }
        }
        let rotations = experiment.placement.rotations;
        if (rotations as usize) < MIN_ROTATIONS {
            return Err(Misuse(format!(
                "a sweep needs placement.rotations of {MIN_ROTATIONS} or more: the file has {rotations}, too \
                 few for an interval"
            ))
            .into());
        }
        let events = std::mem::take(&mut experiment.events);
        experiment.claims.clear();
        experiment.inputs.clear();
        experiment.contrasts = ContrastSpec::default();
        experiment.sweeps = vec![sweep.clone()];
        // One look at one number of rotations: the intervals of a point then need no allowance for stopping early.
        experiment.placement.max_rotations = experiment.placement.rotations;
        Ok(SweepSubject { sweep, outline, events, text: text.to_owned() })
    }
}

/// The file with the sweep of the command line as its last table: one way to read them, one set of complaints.
fn with_ad_hoc(text: &str, ad_hoc: &AdHoc, file: &str) -> Result<String, Misuse> {
    Experiment::from_toml(text, file).map_err(|problems| Misuse(diagnostic::shown(&problems)))?;
    let mut longer = format!("{}\n\n[sweeps.{AD_HOC}]\n", text.trim_end());
    for (key, value) in &ad_hoc.keys {
        longer.push_str(&format!("{key} = {value}\n"));
    }
    let problems = match Experiment::from_toml(&longer, file) {
        Ok(_) => return Ok(longer),
        Err(problems) => problems,
    };
    let complaint = |problem: &assay_pure::experiment::Diagnostic| {
        let option = problem.key.rsplit('.').next().unwrap_or_default();
        let message = problem.message.replace(&format!("sweeps.{AD_HOC}."), "--");
        let expected =
            problem.expected.as_ref().map_or(String::new(), |text| format!("\n  expected: {text}"));
        let near = problem.nearest.as_ref().map_or(String::new(), |near| format!("\n  nearest:  `{near}`"));
        format!("--{option}: {message}{expected}{near}")
    };
    Err(Misuse(problems.iter().map(complaint).collect::<Vec<_>>().join("\n")))
}
