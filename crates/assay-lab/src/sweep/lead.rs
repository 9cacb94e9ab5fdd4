//! Leads a sweep through its steps: the points of the range, then what the readings so far ask for, until nothing is asked,
//! the points are spent, or somebody presses Ctrl-C.
//!
//! Each step is a campaign with the points as its inputs, so nothing measured is lost, and what comes next follows from the
//! ledger alone: a sweep that was killed goes on where it stopped.

use super::asked::{SweepRequest, SweepSubject};
use super::behind;
use super::readings::{self, SweepSteps};
use crate::campaign::unchanged::LinksOfToday;
use crate::campaign::{self, CampaignRequest, MeasuringCore, shared};
use crate::lead::{Begun, Misuse, Question, Resume};
use crate::store::{Led, Ledger, NewSweep, SweepPoint, SweepRow, SweepStep};
use anyhow::{Context, Result, bail};
use assay_linux::machine::Machine;
use assay_pure::event::Event;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::InputSpec;
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_pure::sweep::confirm;
use assay_pure::sweep::key::{SweptKey, SweptValue, inputs_at};
use assay_pure::sweep::refine::{self, WantedPoint, Why};
use assay_pure::words;
use serde_json::{Value, json};
use std::time::Duration;

/// Points' worth of the budget that is kept for measuring the ends of crossovers again.
const KEPT_FOR_REPEATS: u32 = 2;
/// Most steps that measure again, whatever comes of them.
const MOST_REPEATS: usize = 6;
/// Below this part of the seconds that points usually get, measuring them again would tell nothing.
const LEAST_SHARE: f64 = 0.25;

/// Part of the budget that may be waited besides while somebody is on the core, in all steps,
const SPARE: f64 = 0.5;
/// and in one: most bursts of a neighbour are shorter, but longer than the measuring of some points.
const MOST_SPARE: Duration = Duration::from_secs(2);

/// A sweep that has come to its end, or was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct EndedSweep {
    /// Its number in the ledger.
    pub sweep: i64,
    /// Somebody pressed Ctrl-C.
    pub interrupted: bool,
}

/// A step's campaign that is to be measured.
struct StepCampaign<'a> {
    step: &'a SweepStep,
    experiment: Experiment,
    resume: Resume,
}

/// One sweep under way.
struct RunningSweep<'a> {
    asked: &'a SweepRequest,
    subject: &'a SweepSubject,
    machine: &'a Machine,
    ledger: &'a Ledger,
    sweep: i64,
    key: SweptKey,
}

/// Measures every sweep asked for, one after the other.
///
/// # Errors
/// [`Misuse`], as of any campaign; a ledger that cannot be written.
pub fn run(asked: &SweepRequest, events: &mut dyn FnMut(Event)) -> Result<Vec<EndedSweep>> {
    let subjects = asked.subjects()?;
    let machine = assay_linux::machine::facts();
    let ledger = Ledger::open(&asked.campaign.ledger)?;
    let mut ended = Vec::new();
    if asked.resume {
        something_to_resume(asked, &subjects, &ledger)?;
    }
    for subject in &subjects {
        let lead = match begin_or_resume(asked, subject, &ledger, events)? {
            Begun::UnderWay(lead) => lead,
            Begun::Over(sweep) => {
                ended.push(EndedSweep { sweep, interrupted: false });
                continue;
            }
        };
        let key = SweptKey::parse(&subject.sweep.key)?;
        let way = RunningSweep { asked, subject, machine: &machine, ledger: &ledger, sweep: lead.id, key };
        let stopped = way.walk(events)?;
        lead.end(&ledger, stopped)?;
        let interrupted = stopped == Stopped::Interrupted;
        ended.push(EndedSweep { sweep: way.sweep, interrupted });
        if interrupted {
            break;
        }
    }
    events(Event::Finished);
    Ok(ended)
}

/// What is asked of a sweep.
struct SweepQuestion {
    spec: Value,
    wishes: Value,
    /// Of all that must be the same for it to go on.
    digest: String,
}

fn question(asked: &SweepRequest, subject: &SweepSubject) -> Result<SweepQuestion> {
    let experiment = &subject.outline.experiment;
    let spec = serde_json::to_value(&subject.sweep)?;
    let wishes = json!({
        "budget_seconds": experiment.budget_seconds,
        "events": subject.events,
        "every_pair": asked.every_pair,
    });
    let compilers: Vec<&str> =
        subject.outline.compilers.iter().map(|compiler| compiler.sha256.as_str()).collect();
    let options = json!([experiment, compilers, asked.campaign.cpu]);
    let digest = digest(json!([subject.text, spec, wishes, options]).to_string().as_bytes());
    Ok(SweepQuestion { spec, wishes, digest })
}

/// One sweep that is asked for must be unfinished; of several, one must have been begun.
fn something_to_resume(asked: &SweepRequest, subjects: &[SweepSubject], ledger: &Ledger) -> Result<()> {
    for subject in subjects {
        let digest = question(asked, subject)?.digest;
        let is_open = !ledger.unfinished(Led::Sweep, &digest)?.is_empty();
        if is_open || subjects.len() > 1 && ledger.finished(Led::Sweep, &digest)?.is_some() {
            return Ok(());
        }
    }
    let names: Vec<&str> = subjects.iter().map(|subject| subject.sweep.name.as_str()).collect();
    let of = format!("{} {SAME}", words::list_or(&names));
    let none = Question { led: Led::Sweep, digest: "", of: &of, resume: true };
    Err(none.nothing(ledger).into())
}

/// What must be the same for a sweep to be resumed.
const SAME: &str = "of this experiment as it is now (same file, options and compilers)";

fn begin_or_resume(
    asked: &SweepRequest,
    subject: &SweepSubject,
    ledger: &Ledger,
    events: &mut dyn FnMut(Event),
) -> Result<Begun> {
    let SweepQuestion { spec, wishes, digest } = question(asked, subject)?;
    let new = NewSweep { name: &subject.sweep.name, question: &digest, spec: &spec, asked: &wishes };
    let of = format!("{} {SAME}", subject.sweep.name);
    let question = Question { led: Led::Sweep, digest: &digest, of: &of, resume: asked.resume };
    let mut is_current = |sweep: i64| {
        let steps = ledger.sweep_steps(sweep)?;
        if steps.is_empty() {
            return Ok(true);
        }
        let today = LinksOfToday::of((&subject.outline).into(), &asked.campaign.store)?;
        for step in steps {
            if !today.are_those_of(ledger, step.campaign)? {
                let text = format!("sweep {sweep} measured other machine code than what is built now");
                events(Event::Warning(text));
                return Ok(false);
            }
        }
        Ok(true)
    };
    question.begin_or_resume_of_several(ledger, &mut is_current, || ledger.begin_sweep(&new))
}

impl RunningSweep<'_> {
    /// Walks the steps; says why it stopped.
    fn walk(&self, events: &mut dyn FnMut(Event)) -> Result<Stopped> {
        let mut core = self.core()?;
        loop {
            let family = readings::family(self.ledger, &self.row()?)?;
            if let Some(open) = family.steps.iter().find(|step| step.is_open()) {
                let experiment = open.experiment.clone();
                let open = StepCampaign { step: &open.kept, experiment, resume: Resume::Unfinished };
                if !self.measure(&family, open, &mut core, events)? {
                    return Ok(Stopped::Interrupted);
                }
                continue;
            }
            let wishes = self.wishes(&family);
            if wishes.is_empty() {
                if family.steps.iter().all(|step| step.nothing()) {
                    return Ok(Stopped::Nothing);
                }
                if !behind::count(&family, self.subject, &self.asked.campaign, self.machine, events)? {
                    return Ok(Stopped::Interrupted);
                }
                return Ok(if self.points_left(&family) == 0 { Stopped::Points } else { Stopped::Refined });
            }
            let (points, experiment) = self.plan(&family, &wishes)?;
            let step = SweepStep { step: family.steps.len() as u32, campaign: 0, points };
            let next = StepCampaign { step: &step, experiment, resume: Resume::No };
            if !self.measure(&family, next, &mut core, events)? {
                return Ok(Stopped::Interrupted);
            }
        }
    }

    /// What the steps so far tell of the measuring core, and the time that all may wait for it.
    fn core(&self) -> Result<MeasuringCore> {
        let steps = self.ledger.sweep_steps(self.sweep)?;
        Ok(MeasuringCore {
            own: shared::learned_by(self.ledger, steps.iter().map(|step| step.campaign))?,
            spare: Duration::try_from_secs_f64(SPARE * self.subject.outline.experiment.budget_seconds)
                .unwrap_or(Duration::MAX),
            is_charged: false,
        })
    }

    fn row(&self) -> Result<SweepRow> {
        self.ledger.sweep(Some(self.sweep))?.context("the ledger lost the sweep it just began")
    }

    /// The points of the next step.
    fn wishes(&self, family: &SweepSteps) -> Vec<WantedPoint> {
        let spec = &self.subject.sweep;
        if family.steps.is_empty() {
            let wish = |at| WantedPoint { at, why: Why::Grid, variants: Vec::new() };
            return spec.grid().into_iter().map(wish).collect();
        }
        if family.steps.iter().all(|step| step.nothing()) {
            return Vec::new();
        }
        let left = self.points_left(family);
        let confidence = self.subject.outline.experiment.confidence;
        let mut wishes: Vec<WantedPoint> = Vec::new();
        for series in family.series(self.asked.every_pair) {
            let step = family.steps.len() as u32;
            for wish in refine::next(spec, &series.measured, step, left, confidence) {
                if wishes.len() < left as usize || wishes.iter().any(|known| known.at == wish.at) {
                    refine::add(&mut wishes, wish);
                }
            }
        }
        if wishes.is_empty() { self.again(family) } else { wishes }
    }

    /// The points that another campaign must confirm, those that crossovers rest on first, as many as there is budget for.
    fn again(&self, family: &SweepSteps) -> Vec<WantedPoint> {
        let spec = &self.subject.sweep;
        let confidence = self.subject.outline.experiment.confidence;
        let repeats = family.steps.iter().filter(|step| is_repeat(&step.kept)).count();
        if spec.refine == 0 || repeats == MOST_REPEATS {
            return Vec::new();
        }
        let (mut wishes, series): (Vec<WantedPoint>, _) = (Vec::new(), family.series(self.asked.every_pair));
        let ends = series.iter().flat_map(|series| confirm::again(spec, &series.measured, confidence));
        let spoiled = series.iter().flat_map(|series| confirm::spoiled(&series.measured));
        ends.chain(spoiled).for_each(|wish| refine::add(&mut wishes, wish));
        let affordable = self.seconds_left(family) / (LEAST_SHARE * self.fair_seconds());
        wishes.truncate(affordable.max(0.0) as usize);
        wishes.sort_by(|a, b| a.at.total_cmp(&b.at));
        wishes
    }

    /// Seconds of the budget for a point, if all that may come do.
    fn fair_seconds(&self) -> f64 {
        let spec = &self.subject.sweep;
        let most = spec.grid().len() + spec.refine as usize + KEPT_FOR_REPEATS as usize;
        self.subject.outline.experiment.budget_seconds / most as f64
    }

    /// Points that may still be measured beyond those of the range.
    fn points_left(&self, family: &SweepSteps) -> u32 {
        let further = family.values().len() - self.subject.sweep.grid().len().min(family.values().len());
        self.subject.sweep.refine.saturating_sub(further as u32)
    }

    /// The inputs of a step and its experiment: its points share the budget that is left with those that may come.
    fn plan(&self, family: &SweepSteps, wishes: &[WantedPoint]) -> Result<(Vec<SweepPoint>, Experiment)> {
        let mut experiment = self.subject.outline.experiment.clone();
        let mut points = Vec::new();
        for wish in wishes {
            for (of, input) in self.inputs(wish.at)? {
                points.push(SweepPoint { input: input.name.clone(), of, at: wish.at, why: wish.why });
                experiment.inputs.push(input);
            }
        }
        let about: Vec<&String> = wishes.iter().flat_map(|wish| &wish.variants).collect();
        let baseline = experiment.baseline.clone();
        if wishes.iter().all(|wish| !wish.variants.is_empty()) {
            experiment.variants.retain(|variant| variant.name == baseline || about.contains(&&variant.name));
        }
        let seconds = self.seconds_left(family) * self.share(family, wishes);
        // Whole milliseconds: read back from the ledger it must be the same number, or the step could not go on.
        experiment.budget_seconds = (seconds * 1e3).round().max(1.0) / 1e3;
        Ok((points, experiment))
    }

    /// A step's part of the budget that is left.
    ///
    /// New points share it with those that may come and with what confirms them. That comes last: it gets half of what is left, as
    /// its outcome may ask for more, or more where that is less than a fair share.
    fn share(&self, family: &SweepSteps, wishes: &[WantedPoint]) -> f64 {
        let now = wishes.len() as f64;
        if wishes.iter().any(|wish| wish.why == Why::Again) {
            let fair = self.fair_seconds() * now / self.seconds_left(family);
            return fair.clamp(0.5, 1.0);
        }
        let refine = self.subject.sweep.refine;
        let after = if family.steps.is_empty() {
            refine
        } else {
            self.points_left(family).saturating_sub(wishes.len() as u32)
        };
        let kept = if refine > 0 { KEPT_FOR_REPEATS } else { 0 };
        now / (now + f64::from(after + kept))
    }

    /// The inputs at a value of the key, each with the name of what it is a point of.
    fn inputs(&self, at: f64) -> Result<Vec<(String, InputSpec)>> {
        let spec = &self.subject.sweep;
        let file = self.asked.campaign.experiment.display().to_string();
        let name = |input: &str| spec.point_name(input, at);
        let made =
            inputs_at(&self.subject.text, &file, &self.key, SweptValue { at, whole: spec.whole }, &name);
        let inputs = made.map_err(|(message, _)| {
            Misuse(format!("the sweep {}: `{}` cannot be {at}: {message}", spec.name, spec.key))
        })?;
        let ending = spec.point_name("", at);
        let of = |input: InputSpec| (input.name.trim_end_matches(&ending).to_owned(), input);
        Ok(inputs.into_iter().map(of).collect())
    }

    fn seconds_left(&self, family: &SweepSteps) -> f64 {
        self.subject.outline.experiment.budget_seconds - family.spent_seconds()
    }

    /// One step's campaign. False: interrupted.
    fn measure(
        &self,
        family: &SweepSteps,
        campaign: StepCampaign<'_>,
        core: &mut MeasuringCore,
        events: &mut dyn FnMut(Event),
    ) -> Result<bool> {
        let StepCampaign { step, experiment, resume } = campaign;
        let (before, now) = (family.values().len(), points(step));
        let most = self.subject.sweep.grid().len() + self.subject.sweep.refine as usize;
        let again = is_repeat(step);
        events(Event::Step {
            step: step.step,
            points: now as u64,
            again,
            points_left: most.saturating_sub(if again || resume == Resume::Unfinished {
                before
            } else {
                before + now
            }) as u64,
            seconds_left: self.seconds_left(family).max(0.0),
        });
        let mut outline = self.subject.outline.clone();
        outline.experiment = experiment;
        let asked = CampaignRequest { resume, ..self.asked.campaign.clone() };
        let mut begun = |ledger: &Ledger, campaign: i64| {
            ledger.put_sweep_step(self.sweep, &SweepStep { campaign, ..step.clone() })
        };
        let mut inner = |event: Event| {
            if event != Event::Finished {
                events(event);
            }
        };
        let machine = self.machine.clone();
        let mut of_step = MeasuringCore { spare: core.spare.min(MOST_SPARE), ..*core };
        let lent = of_step.spare;
        let ended = campaign::run_outline(outline, machine, &asked, &mut of_step, &mut begun, &mut inner)?;
        *core = MeasuringCore { own: of_step.own, spare: core.spare - (lent - of_step.spare), ..*core };
        if self.ledger.campaign(ended.campaign)?.is_none() {
            bail!("the ledger lost the campaign it just measured");
        }
        Ok(!ended.interrupted)
    }
}

/// Was it measured to confirm what others showed?
fn is_repeat(step: &SweepStep) -> bool {
    step.points.iter().any(|point| point.why == Why::Again)
}

/// Values of the key in a step, whatever the number of inputs at each.
fn points(step: &SweepStep) -> usize {
    let mut values: Vec<f64> = step.points.iter().map(|point| point.at).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}
