//! Campaigns: writing what they were asked, made and measured. A round and its samples are one transaction, so that a kill at any
//! moment loses at most the round in flight.

use super::Ledger;
use super::ledger::now;
use super::rows::{
    AllocationRow, ArtifactRow, BranchTimingRow, CampaignInput, CountRow, ExecutionRow, FailureRow,
    IdentityRow, InputRow, NewCampaign, NewSample, ProcessRow, ProvenAnswer, Round,
};
use anyhow::Result;
use assay_pure::ledger::Flag;
use assay_pure::placement::same_execution::RULES;
use rusqlite::params;

impl Ledger {
    /// Begins a campaign and returns its number.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn begin(&self, new: &NewCampaign<'_>) -> Result<i64> {
        self.write(
            "INSERT INTO campaign (experiment, question, experiment_text, spec, machine, pinned_cpu, \
             assay_version, started_at, sources) VALUES (?,?,?,?,?,?,?,?,?)",
            params![
                new.experiment,
                new.question,
                new.experiment_text,
                new.spec.to_string(),
                new.machine.to_string(),
                new.pinned_cpu.map(|cpu| cpu as i64),
                env!("CARGO_PKG_VERSION"),
                now(),
                new.sources.map(serde_json::Value::to_string)
            ],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Takes the name of its machine from a campaign that another machine of the kind goes on with: its times are of both.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn forget_host(&self, campaign: i64) -> Result<()> {
        self.write("UPDATE campaign SET machine = json_set(machine, '$.host', NULL) WHERE id = ?", [campaign])
    }

    /// Keeps an input.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_input(&self, input: &InputRow) -> Result<()> {
        self.write(
            "INSERT OR IGNORE INTO input (digest, bytes, recipe, format, description) VALUES (?,?,?,?,?)",
            params![
                input.digest,
                input.bytes as i64,
                input.recipe.to_string(),
                input.format,
                input.description.to_string()
            ],
        )
    }

    /// Keeps how a campaign uses its inputs: all of them or none, so that one that goes on finds them whole.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_campaign_inputs(&self, campaign: i64, inputs: &[CampaignInput]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO campaign_input (campaign, name, digest, windows, iterations, warmup, samples) \
                 VALUES (?,?,?,?,?,?,?)",
            )?;
            for input in inputs {
                insert.execute(params![
                    campaign,
                    input.name,
                    input.digest,
                    input.windows as i64,
                    input.iterations as i64,
                    input.warmup as i64,
                    input.samples as i64
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps artifacts, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_artifacts(&self, artifacts: &[ArtifactRow]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR IGNORE INTO artifact (hash, compiler, flags, link, command, functions, text_bytes) \
                 VALUES (?,?,?,?,?,?,?)",
            )?;
            for artifact in artifacts {
                insert.execute(params![
                    artifact.hash,
                    artifact.compiler.to_string(),
                    artifact.flags.to_string(),
                    artifact.link.to_string(),
                    artifact.command.to_string(),
                    artifact.functions.to_string(),
                    artifact.text_bytes as i64
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps proven answers, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_answers(&self, answers: &[ProvenAnswer]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO answer (artifact, variant, input, windows, whole, by_window) \
                 VALUES (?,?,?,?,?,?)",
            )?;
            for proven in answers {
                insert.execute(params![
                    proven.artifact,
                    proven.variant,
                    proven.input,
                    proven.windows as i64,
                    proven.answer.whole,
                    proven.answer.by_window
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps launches and gives them their numbers, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_processes(&self, campaign: i64, processes: &mut [&mut ProcessRow]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO process (campaign, artifact, compiler, flags, variant, rotation, phase_bytes, \
                 entry_address, environment_bytes, region_wall_ns, region_cpu_ns, wall_read_ns, cpu_read_ns, \
                 started_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for process in processes.iter_mut() {
                insert.execute(params![
                    campaign,
                    process.artifact,
                    process.compiler,
                    process.flags,
                    process.variant,
                    process.rotation,
                    process.phase_bytes,
                    process.entry_address as i64,
                    process.environment_bytes as i64,
                    process.region_wall_ns,
                    process.region_cpu_ns,
                    process.wall_read_ns,
                    process.cpu_read_ns,
                    now()
                ])?;
                process.id = connection.last_insert_rowid();
            }
            Ok(())
        })
    }

    /// Keeps a round with all its samples: all of it or none.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_round(&self, campaign: i64, round: &Round, samples: &[NewSample]) -> Result<()> {
        self.transaction(|connection| {
            connection.execute(
                "INSERT INTO round (campaign, round, rotations, started_at, elapsed_ns, waited_ns) VALUES (?,?,?,?,?,?)",
                params![
                    campaign,
                    round.round,
                    serde_json::json!(round.rotations).to_string(),
                    round.started_at,
                    round.elapsed_ns as i64,
                    round.waited_ns as i64,
                ],
            )?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO sample (campaign, round, process, input, start_window, position, warmup, wall_ns, \
                 cpu_ns, units, switches, flagged, at, chain_before_ns, wide_before_ns, chain_after_ns, wide_after_ns, \
                 jumps_before_ns, jumps_after_ns) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for NewSample { taken: sample, start_window, switches, at } in samples {
                let pulse = |which: usize| sample.pulses.map(|pulses| pulses[which]);
                insert.execute(params![
                    campaign,
                    sample.round,
                    sample.process,
                    &*sample.input,
                    *start_window as i64,
                    sample.position,
                    sample.warmup,
                    sample.wall_ns as i64,
                    sample.cpu_ns as i64,
                    sample.units as i64,
                    *switches as i64,
                    sample.flagged.map(Flag::word),
                    at,
                    pulse(0).map(|pulse| pulse.chain_ns as i64),
                    pulse(0).map(|pulse| pulse.wide_ns as i64),
                    pulse(1).map(|pulse| pulse.chain_ns as i64),
                    pulse(1).map(|pulse| pulse.wide_ns as i64),
                    pulse(0).and_then(|pulse| pulse.jumps_ns).map(|ns| ns as i64),
                    pulse(1).and_then(|pulse| pulse.jumps_ns).map(|ns| ns as i64)
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps a failure.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_failure(&self, campaign: i64, failure: &FailureRow) -> Result<()> {
        self.write(
            "INSERT INTO failure (campaign, stage, variant, input, compiler, flags, reason, at) \
             VALUES (?,?,?,?,?,?,?,?)",
            params![
                campaign,
                failure.stage.word(),
                failure.variant,
                failure.input,
                failure.compiler,
                failure.flags,
                failure.reason,
                now()
            ],
        )
    }

    /// Keeps what a reader should know of how the programs were built; told again when a campaign goes on.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_build_warning(&self, campaign: i64, warning: &str) -> Result<()> {
        self.write(
            "INSERT OR IGNORE INTO build_warning (campaign, warning) VALUES (?,?)",
            params![campaign, warning],
        )
    }

    /// Keeps what was allocated, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_allocations(&self, campaign: i64, rows: &[AllocationRow]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO allocation (campaign, artifact, variant, input, windows, calls, units, allocations, bytes, \
                 peak_bytes, at, method) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for row in rows {
                insert.execute(params![
                    campaign,
                    row.artifact,
                    row.variant,
                    row.input,
                    row.windows as i64,
                    row.calls as i64,
                    row.units as i64,
                    row.allocations as i64,
                    row.bytes as i64,
                    row.peak_bytes as i64,
                    now(),
                    row.method
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps counts, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_counts(&self, campaign: i64, counts: &[CountRow]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO count (campaign, artifact, executed, variant, input, windows, method, source, walk, \
                 units, instructions, branches, conditional, cycles, front_end, misses, note, at) \
                 VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for count in counts {
                insert.execute(params![
                    campaign,
                    count.artifact,
                    count.executed,
                    count.variant,
                    count.input,
                    count.windows as i64,
                    count.method,
                    count.source.word(),
                    count.walk.word(),
                    count.units as i64,
                    count.instructions as i64,
                    count.branches as i64,
                    count.conditional.map(|conditional| conditional as i64),
                    count.cycles.map(|cycles| cycles as i64),
                    (!count.front_end.is_empty()).then(|| serde_json::json!(count.front_end).to_string()),
                    serde_json::json!(count.misses).to_string(),
                    count.note,
                    now()
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps what a misprediction costs on a machine.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_branch_timing(&self, campaign: i64, timing: &BranchTimingRow) -> Result<()> {
        self.write(
            "INSERT INTO branch_timing (campaign, machine, penalty_ns, lower_ns, upper_ns, fresh_ns, learned_ns, \
             series, learned_outcomes, unlearned_outcomes, sweep, windows, interrupted, at) \
             VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            params![
                campaign,
                timing.machine.to_string(),
                timing.penalty_ns,
                timing.lower_ns,
                timing.upper_ns,
                timing.fresh_ns,
                timing.learned_ns,
                timing.series as i64,
                timing.learned_outcomes.map(|outcomes| outcomes as i64),
                timing.unlearned_outcomes.map(|outcomes| outcomes as i64),
                timing.sweep.to_string(),
                timing.windows as i64,
                timing.interrupted as i64,
                now()
            ],
        )
    }

    /// Keeps whether two variants of an artifact are the same code.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_identity(&self, artifact: &str, first: &str, second: &str, found: &IdentityRow) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO identity (artifact, first, second, verdict, evidence) VALUES (?,?,?,?,?)",
            params![artifact, first, second, found.verdict.word(), found.evidence],
        )
    }

    /// Keeps what two variants with the same loops execute on an input.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_execution(&self, row: &ExecutionRow) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO execution (artifact, first, second, input, windows, window_units, rules, same, \
             looped, around) VALUES (?,?,?,?,?,?,?,?,?,?)",
            params![
                row.artifact,
                row.first,
                row.second,
                row.input,
                row.windows as i64,
                row.window_units as i64,
                RULES,
                row.same,
                row.looped as i64,
                row.around as i64
            ],
        )
    }

    /// Keeps what was seen of the variants before they were measured.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_examined(&self, campaign: i64, facts: &serde_json::Value) -> Result<()> {
        self.write(
            "INSERT OR IGNORE INTO examination (campaign, facts, at) VALUES (?,?,?)",
            params![campaign, facts.to_string(), now()],
        )
    }

    /// Keeps that the verdicts were looked at.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_look(&self, campaign: i64, rotations: u32, decided: usize, contrasts: usize) -> Result<()> {
        self.write(
            "INSERT INTO look (campaign, look, rotations, decided, contrasts, at) VALUES \
             (?1, (SELECT coalesce(max(look), 0) + 1 FROM look WHERE campaign = ?1), ?2, ?3, ?4, ?5)",
            params![campaign, rotations, decided as i64, contrasts as i64, now()],
        )
    }
}
