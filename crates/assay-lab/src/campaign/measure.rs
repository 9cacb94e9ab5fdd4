//! The loop of a campaign: link, launch, walk rounds, look, until every verdict is decided or the budget is spent.
//! What comes next is decided by [`super::steps`] from what the ledger holds, so a killed campaign goes on.

use super::blocks::{blocks, failed_cells, tuning_subjects};
use super::judge::{self, LookOfPlan, OpenCells};
use super::placements::{BuildGroup, Placements};
use super::prepare::PreparedExperiment;
use super::prove;
use super::scene::Scene;
use super::start::{self, Met, StartedPrograms};
use super::steps::{self, CampaignStep, DoneSoFar, StepLimits};
use super::{count, examination, inlined, shared, unoptimised, usage};
use crate::lead::turn;
use crate::run::lineup::Conditions;
use crate::run::retake::MeasuringCore;
use crate::run::round::{self, InputPlan, RoundBlock, RoundDraw, RoundOutcome, VisitBench as _};
use crate::run::{Lineup, tune};
use crate::store::{CampaignInput, NewSample, Round, SampleRow};
use anyhow::Result;
use assay_pure::event::{Event, Wait};
use assay_pure::experiment::matrix::Cell;
use assay_pure::ledger::Stopped;
use assay_pure::words;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Samples of a visit that count, where the warm-up is short.
const SAMPLES: u64 = 4;
/// What a visit costs beside its samples, seconds: waking a program, two messages, a context switch.
const BESIDE_SAMPLES_SECONDS: f64 = 150e-6;

/// More than a greeting or a debug line per process: a variant that prints in the measured function, bytes.
const MUCH_OUTPUT: u64 = 64 * 1024;

/// A campaign in motion.
struct RunningCampaign<'a, 's> {
    prepared: &'a PreparedExperiment,
    placements: &'a Placements<'a>,
    scene: &'a mut Scene<'s>,
    failed: HashSet<Cell>,
    /// What the last look left undecided.
    open: OpenCells,
    inputs: Vec<CampaignInput>,
    visit_seconds: f64,
    round: u32,
    measured_seconds: f64,
    /// Those that were measured.
    rotations: HashSet<u32>,
    /// Rotations that the next level measures, where they are fewer than planned.
    added: Option<u32>,
    core: &'a mut MeasuringCore,
    /// The store, where the variants are to be examined first.
    examined_in: Option<&'a Path>,
}

/// One level's programs and the blocks they are visited in.
struct MeasuredLevel {
    index: usize,
    rotations: Vec<u32>,
    started: StartedPrograms,
    blocks: Vec<RoundBlock>,
}

/// Measures until it is time to stop, and says why it stopped. What is to be measured is examined first where `examined_in`, the
/// store, says so.
///
/// # Errors
/// The ledger cannot be written, or nothing at all can be measured.
pub fn measure(
    prepared: &PreparedExperiment,
    placements: &Placements<'_>,
    examined_in: Option<&Path>,
    scene: &mut Scene<'_>,
    core: &mut MeasuringCore,
) -> Result<Stopped> {
    let (ledger, row) = (scene.ledger, scene.campaign);
    let rounds = ledger.rounds(row.id)?;
    core.own.join(shared::learned(ledger, row.id)?);
    core.spare =
        core.spare.saturating_sub(rounds.iter().map(|round| Duration::from_nanos(round.waited_ns)).sum());
    let mut campaign = RunningCampaign {
        prepared,
        placements,
        scene,
        failed: failed_cells(prepared, ledger, row.id)?,
        open: OpenCells::all(prepared),
        inputs: ledger.campaign_inputs(row.id)?,
        visit_seconds: 0.0,
        round: rounds.last().map_or(0, |round| round.round + 1),
        measured_seconds: rounds.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum(),
        rotations: rounds.iter().flat_map(|round| &round.rotations).copied().collect(),
        added: None,
        core,
        examined_in,
    };
    let levels = plan_levels(prepared);
    let looks = ledger.looks(row.id)?;
    let mut done = DoneSoFar { looks, measured_seconds: campaign.measured_seconds, ..DoneSoFar::default() };
    done.rounds_at_level = rounds_at(&rounds, &levels, looks as usize).len() as u32;
    if looks > 0 {
        let judged =
            judge::judge(prepared, ledger, row.id, LookOfPlan { look: looks, looks: levels.len() as u32 })?;
        done.undecided = Some(judged.undecided());
        campaign.open = OpenCells::after(prepared, &judged);
    }
    let mut limits = StepLimits {
        levels,
        rounds_per_level: 1,
        budget_seconds: prepared.experiment.budget_seconds,
        round_seconds: 0.0,
    };
    if let Some(first) = rounds_at(&rounds, &limits.levels, looks as usize).first() {
        // In the middle of a level: it goes on to where its first round said that it would go.
        campaign.added = Some(first.rotations.len() as u32);
        let before = rounds.iter().filter(|round| round.round < first.round).map(seconds).sum();
        learn(&mut limits, looks as usize, before, first.busy_seconds());
    }
    campaign.walk_levels(&mut limits, &mut done)
}

/// Takes over what a round of a level takes, with `spent_seconds` measured before it.
fn learn(limits: &mut StepLimits, level: usize, spent_seconds: f64, round_seconds: f64) {
    let last = level + 1 >= limits.levels.len();
    limits.round_seconds = round_seconds;
    limits.rounds_per_level =
        steps::rounds_per_level(limits.budget_seconds - spent_seconds, round_seconds, last);
}

/// Rotations at each look.
pub fn plan_levels(prepared: &PreparedExperiment) -> Vec<u32> {
    let placement = &prepared.experiment.placement;
    steps::looks(placement.rotations, placement.max_rotations)
}

/// Finished rounds at the level that comes after `looks` looks.
fn rounds_at<'a>(rounds: &'a [Round], levels: &[u32], looks: usize) -> Vec<&'a Round> {
    let Some(&until) = levels.get(looks) else { return Vec::new() };
    let from = if looks == 0 { 0 } else { levels[looks - 1] };
    let inside = |round: &&Round| round.rotations.iter().any(|rotation| (from..until).contains(rotation));
    rounds.iter().filter(inside).collect()
}

/// What a round took, seconds.
fn seconds(round: &Round) -> f64 {
    round.elapsed_ns as f64 / 1e9
}

impl RunningCampaign<'_, '_> {
    fn walk_levels(&mut self, limits: &mut StepLimits, done: &mut DoneSoFar) -> Result<Stopped> {
        let mut level: Option<MeasuredLevel> = None;
        loop {
            if assay_linux::interrupt::asked() {
                return Ok(Stopped::Interrupted);
            }
            match steps::next(done, limits) {
                CampaignStep::Stop(why) => return Ok(why),
                CampaignStep::Look => {
                    let looks = done.looks + 1;
                    let (ledger, id) = (self.scene.ledger, self.scene.campaign.id);
                    let look = LookOfPlan { look: looks, looks: limits.levels.len() as u32 };
                    let judged = judge::judge(self.prepared, ledger, id, look)?;
                    if steps::measures_again(done, limits, judged.lacks_rotations(), steps::MOST_ROUNDS) {
                        if let Some(stopped) =
                            self.one_round(done.looks as usize, &mut level, limits, done)?
                        {
                            return Ok(stopped);
                        }
                        continue;
                    }
                    let (undecided, contrasts) = (judged.undecided(), judged.contrasts());
                    let rotations = self.rotations.len() as u32;
                    ledger.put_look(id, rotations, contrasts - undecided, contrasts)?;
                    self.scene.tell(Event::Look {
                        rotations,
                        decided: (contrasts - undecided) as u64,
                        contrasts: contrasts as u64,
                    });
                    *done =
                        DoneSoFar { looks, undecided: Some(undecided), rounds_at_level: 0, ..done.clone() };
                    limits.round_seconds = self.plan_next_level(limits, looks as usize, judged.open_cells());
                    self.open = OpenCells::after(self.prepared, &judged);
                    end(level.take(), self.scene);
                }
                CampaignStep::Round { level: index } => {
                    if let Some(stopped) = self.one_round(index, &mut level, limits, done)? {
                        return Ok(stopped);
                    }
                }
            }
        }
    }

    /// One more round of a level, which is begun first where it isn't; and why that was not possible.
    fn one_round(
        &mut self,
        index: usize,
        level: &mut Option<MeasuredLevel>,
        limits: &mut StepLimits,
        done: &mut DoneSoFar,
    ) -> Result<Option<Stopped>> {
        if level.as_ref().is_none_or(|level| level.index != index) {
            let Some(begun) = self.begin_level(index, limits, done)? else {
                return Ok(Some(Stopped::Interrupted));
            };
            *level = Some(begun);
            // What a round takes is known better now: it may be too long for what is left.
            if done.rounds_at_level == 0 && !matches!(steps::next(done, limits), CampaignStep::Round { .. }) {
                return Ok(None);
            }
        }
        let current = level.as_mut().expect("begun above");
        if self.is_all_out(current) {
            return Ok(Some(Stopped::Nothing));
        }
        let Some(round) = self.walk_round(current, limits)? else {
            return Ok(Some(Stopped::Interrupted));
        };
        if done.rounds_at_level == 0 {
            // The first round tells what one takes better than the tuning did; what it waited for, others need not.
            learn(limits, index, done.measured_seconds, round.busy_seconds());
        }
        done.rounds_at_level += 1;
        done.measured_seconds = self.measured_seconds;
        Ok(None)
    }

    /// Links, launches, proves and (the first time) tunes what a level needs. None: asked to stop meanwhile.
    fn begin_level(
        &mut self,
        index: usize,
        limits: &mut StepLimits,
        done: &DoneSoFar,
    ) -> Result<Option<MeasuredLevel>> {
        let from = if index == 0 { 0 } else { limits.levels[index - 1] };
        let planned = limits.levels[index] - from;
        let rotations: Vec<u32> = (from..from + self.added.unwrap_or(planned).min(planned)).collect();
        let open = &self.open;
        let groups: Vec<BuildGroup> =
            self.placements.groups().into_iter().filter(|group| open.has_group(*group)).collect();
        self.scene.phase("link");
        let placed = self.placements.link(&groups, &rotations, index == 0, self.scene)?;
        if index == 0 {
            inlined::tell(self.prepared, &placed, self.scene)?;
        }
        self.scene.phase("start");
        self.scene.doing("starting the programs");
        let subjects = self.placements.subjects(&placed, &self.prepared.runnable);
        let subjects: Vec<_> = subjects
            .into_iter()
            .filter(|subject| {
                open.has_variant(
                    BuildGroup { compiler: subject.compiler, flags: subject.flags },
                    subject.variant,
                )
            })
            .collect();
        assay_linux::process::raise_file_limit();
        let loaded = self.prepared.inputs.iter().enumerate().map(|(id, input)| input.loaded(id)).collect();
        let lineup =
            Lineup::new(Conditions { cpu: Some(self.scene.cpu), patience: self.scene.patience }, loaded);
        let mut started =
            start::launch(self.prepared, self.scene, lineup, subjects, index == 0, &mut self.failed)?;
        if index == 0 {
            unoptimised::refuse(self.prepared, self.scene, &started, &mut self.failed)?;
        }
        prove::prove(self.prepared, self.scene, &mut started, &mut self.failed)?;
        start::compare_code(self.prepared, &started, &placed, self.scene.ledger)?;
        if index == 0 {
            count::follow(self.prepared, &started, &placed, self.scene)?;
        }
        if let Some(store) = self.examined_in.filter(|_| index == 0) {
            examination::examine(self.prepared, self.placements, &placed, self.scene, store)?;
        }
        if assay_linux::interrupt::asked() {
            return Ok(None);
        }
        self.scene.phase("measure");
        self.scene.doing("choosing calls per sample");
        let estimated = self.visit_seconds > 0.0 || done.rounds_at_level > 0;
        if (self.inputs.len() < self.prepared.inputs.len() || !estimated) && !self.tune(&mut started)? {
            return Ok(None);
        }
        let blocks = blocks(self.prepared, &started, &self.open, &self.failed);
        if done.rounds_at_level == 0 {
            let visits: usize = blocks.iter().map(|block| block.subjects.len()).sum();
            learn(limits, index, done.measured_seconds, visits as f64 * self.visit_seconds);
        }
        Ok(Some(MeasuredLevel { index, rotations, started, blocks }))
    }

    /// Chooses the rotations of the next level; returns what a round of it should take: fewer cells, over other rotations.
    fn plan_next_level(&mut self, limits: &StepLimits, level: usize, cells: usize) -> f64 {
        let Some(&until) = limits.levels.get(level) else { return 0.0 };
        let placements = self.prepared.experiment.placement.phases.len();
        let rotation_seconds = (cells * placements) as f64 * self.visit_seconds;
        let share = steps::share_of_budget(level + 1 >= limits.levels.len());
        let seconds = (limits.budget_seconds - self.measured_seconds) * share;
        let added = steps::added(until - limits.levels[level - 1], seconds, rotation_seconds);
        self.added = Some(added);
        f64::from(added) * rotation_seconds
    }

    /// Has every cell of a level failed?
    fn is_all_out(&self, level: &MeasuredLevel) -> bool {
        let mut cells = level.blocks.iter().flat_map(|block| {
            block.subjects.iter().map(|&subject| level.started.lineup.cell(subject, block.input))
        });
        cells.all(|cell| self.failed.contains(&cell))
    }

    /// Finds calls per sample and warm-up of every input, or takes those of the campaign that goes on. False: asked
    /// to stop meanwhile.
    fn tune(&mut self, started: &mut StartedPrograms) -> Result<bool> {
        let Some(_turn) = self.take_turn()? else { return Ok(false) };
        let known = self.inputs.len() == self.prepared.inputs.len();
        let subjects = tuning_subjects(&started.lineup);
        let mut visit_ns = 0.0;
        for (number, ready) in self.prepared.inputs.iter().enumerate() {
            if assay_linux::interrupt::asked() {
                return Ok(false);
            }
            let windows = ready.windows.len() as u64;
            let alive: Vec<usize> = subjects
                .iter()
                .copied()
                .filter(|&subject| !self.failed.contains(&started.lineup.cell(subject, number)))
                .collect();
            let wanted = self.wanted(number);
            let tuned = tune::input(&mut started.lineup, number, windows, &wanted, &alive, SAMPLES);
            visit_ns += tuned.visit_ns;
            for (subject, fault) in &tuned.faults {
                let cell = started.lineup.cell(*subject, number);
                if self.failed.insert(cell) {
                    let program = Some(started.lineup.subject(*subject).program.as_path());
                    let met = Met { fault, cell, everywhere: false, program };
                    start::keep_fault(self.prepared, self.scene, met)?;
                }
            }
            if known {
                continue;
            }
            if tuned.unsettled {
                self.scene.warn(format!(
                    "input {}: still getting faster after {} warm-up samples; if the predictor is memorising it, use a longer input",
                    ready.name, tuned.plan.warmup
                ));
            }
            if let Some(bytes) = tuned.state_bytes {
                let (states, all) = (tuned.plan.iterations, tuned.plan.iterations * bytes);
                self.scene.warn(format!(
                    "input {}: fresh variants make {} ahead of each sample, {} of memory",
                    ready.name,
                    words::plural(states, "state"),
                    words::bytes(all)
                ));
            }
            self.inputs.push(CampaignInput {
                name: ready.name.clone(),
                digest: ready.row.digest.clone(),
                windows,
                iterations: tuned.plan.iterations,
                warmup: tuned.plan.warmup,
                samples: tuned.plan.samples,
            });
        }
        if !known {
            self.scene.ledger.put_campaign_inputs(self.scene.campaign.id, &self.inputs)?;
        }
        self.visit_seconds =
            visit_ns / 1e9 / self.prepared.inputs.len().max(1) as f64 + BESIDE_SAMPLES_SECONDS;
        Ok(true)
    }

    /// What programs are asked for so that an input is used as the experiment wants it.
    fn wanted(&self, number: usize) -> tune::CallLimits {
        let (spec, ready) = (&self.prepared.experiment.inputs[number], &self.prepared.inputs[number]);
        let last_level = usage::last_level_bytes(&self.prepared.machine.caches);
        let limits = usage::wanted(spec.usage, ready.row.bytes, &ready.windows, last_level);
        usage::with_fresh(limits, self.prepared.experiment.fresh_memory, &self.prepared.machine.caches)
    }

    /// One round, kept as a whole. None: asked to stop, nothing of it is kept.
    fn walk_round(&mut self, level: &mut MeasuredLevel, limits: &StepLimits) -> Result<Option<Round>> {
        let Some(_turn) = self.take_turn()? else { return Ok(None) };
        let plans: Vec<InputPlan> = self
            .inputs
            .iter()
            .enumerate()
            .map(|(number, input)| InputPlan {
                usage: self.wanted(number).usage,
                windows: input.windows,
                iterations: input.iterations,
                warmup: input.warmup,
                samples: input.samples,
            })
            .collect();
        let begun = SystemTime::now();
        let (round, seed, before) = (self.round, self.prepared.experiment.seed, self.measured_seconds);
        let cpu = self.scene.cpu;
        let on = &mut *self.scene.on;
        let outcome = round::walk(
            &mut level.started.lineup,
            &level.blocks,
            &plans,
            RoundDraw { seed, round },
            &mut self.failed,
            self.core,
            &mut |step| {
                on(match step {
                    round::RoundProgress::Visited { done: visits_done, total: visits_total } => {
                        Event::Round {
                            round,
                            visits_done,
                            visits_total,
                            measured_seconds: before
                                + begun.elapsed().map_or(0.0, |elapsed| elapsed.as_secs_f64()),
                            budget_seconds: limits.budget_seconds,
                        }
                    }
                    round::RoundProgress::Waits { visits, waited } => {
                        Event::Waiting { wait: Wait::Core { cpu, visits }, seconds: waited.as_secs_f64() }
                    }
                });
                !assay_linux::interrupt::asked()
            },
        );
        for (cell, fault) in &outcome.faults {
            let program = level.started.program_of(*cell);
            let met = Met { fault, cell: *cell, everywhere: false, program };
            start::keep_fault(self.prepared, self.scene, met)?;
        }
        if !outcome.complete {
            return Ok(None);
        }
        self.keep_round(level, begun, &outcome).map(Some)
    }

    fn keep_round(
        &mut self,
        level: &MeasuredLevel,
        begun: SystemTime,
        outcome: &RoundOutcome,
    ) -> Result<Round> {
        let names: Vec<Arc<str>> = self.inputs.iter().map(|input| input.name.as_str().into()).collect();
        let samples: Vec<NewSample> = outcome
            .taken
            .iter()
            .map(|taken| NewSample {
                taken: SampleRow {
                    round: self.round,
                    process: level.started.processes[taken.subject],
                    input: Arc::clone(&names[taken.input]),
                    position: taken.position,
                    warmup: taken.raw.warmup,
                    wall_ns: taken.raw.wall_ns,
                    cpu_ns: taken.raw.cpu_ns,
                    units: taken.raw.units,
                    pulses: taken.raw.pulses,
                    flagged: taken.flagged,
                },
                start_window: taken.start_window,
                switches: taken.raw.switches,
                at: taken.at,
            })
            .collect();
        let round = Round {
            round: self.round,
            rotations: level.rotations.clone(),
            started_at: begun.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
            elapsed_ns: outcome.elapsed.as_nanos() as u64,
            waited_ns: if self.core.is_charged { outcome.waited.as_nanos() as u64 } else { 0 },
        };
        self.scene.ledger.put_round(self.scene.campaign.id, &round, &samples)?;
        self.rotations.extend(&level.rotations);
        self.round += 1;
        self.measured_seconds += outcome.elapsed.as_secs_f64();
        let visits: usize = level.blocks.iter().map(|block| block.subjects.len()).sum();
        self.visit_seconds = round.busy_seconds() / visits.max(1) as f64;
        Ok(round)
    }

    /// None: asked to stop while waiting.
    fn take_turn(&mut self) -> Result<Option<turn::Turn>> {
        turn::take(self.scene.cpu, self.scene.on)
    }
}

/// Ends a level's programs; one that does not leave properly is told of, but what it measured stands.
fn end(level: Option<MeasuredLevel>, scene: &mut Scene<'_>) {
    let Some(mut level) = level else { return };
    for (variant, bytes) in level.started.lineup.printed() {
        if bytes > MUCH_OUTPUT {
            scene.warn(format!(
                "{variant}: the program printed {bytes} bytes while it was measured, which is part of its time; print nothing in the measured code"
            ));
        }
    }
    for (subject, fault) in level.started.lineup.stop() {
        scene.warn(format!("{}: {fault}", subject.variant_name));
    }
}
