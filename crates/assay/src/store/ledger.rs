//! Opening the file and writing facts. A round and its samples are one transaction, so that a kill at any moment
//! loses at most the round in flight; writers wait for each other, so that campaigns share a ledger.

use super::rows::{
    Answer, ArtifactRow, BranchTimingRow, CampaignInput, CountRow, Failure, Identity, InputRow, NewCampaign,
    ProcessRow, Round, SampleRow,
};
use anyhow::{Result, anyhow};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The format this program writes: `user_version` of the file.
pub const FORMAT: i64 = 7;

/// What brings a file of format n, counted from 1, to format n + 1.
const MIGRATIONS: [&str; FORMAT as usize - 1] = [
    include_str!("format-2.sql"),
    include_str!("format-3.sql"),
    include_str!("format-4.sql"),
    include_str!("format-5.sql"),
    include_str!("format-6.sql"),
    include_str!("format-7.sql"),
];

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file that cannot serve as a ledger: of another format, damaged, not to be written. Shown as it is.
#[derive(Debug)]
pub struct Unusable(pub String);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens the ledger, making it and its folder where there is none.
    ///
    /// # Errors
    /// The file cannot be made or read, is no ledger, or was written by a newer assay.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| {
                let folder = folder.display();
                Unusable(format!(
                    "cannot make the ledger's folder {folder}: {error}; choose another with --ledger FILE"
                ))
            })?;
        }
        let connection = Connection::open(path).map_err(|error| explain(path, error))?;
        let ledger = Self { connection, path: path.to_owned() };
        ledger.connection.busy_timeout(PATIENCE)?;
        // Before anything is written: a file that is not ours stays as it is, to its last byte.
        let format = ledger.format()?;
        ledger.set_up()?;
        if format == 0 {
            ledger.make_tables()?;
        } else if format < FORMAT {
            ledger.migrate()?;
        }
        Ok(ledger)
    }

    /// The format of the file, 0 if it is empty.
    fn format(&self) -> Result<i64> {
        // One statement, so that it cannot see the file before and after another assay made its tables.
        let sql = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version";
        let (found, tables): (i64, i64) = self
            .connection
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|error| self.explain(error))?;
        let path = self.path.display();
        if found == 0 {
            if tables > 0 {
                let text =
                    format!("{path} is an SQLite file of something else; choose another with --ledger FILE");
                return Err(Unusable(text).into());
            }
        } else if !(1..=FORMAT).contains(&found) {
            let text = format!(
                "the ledger {path} has format {found}, made by a newer assay; this one knows formats up to {FORMAT}. \
                 Use that newer assay, or keep this campaign elsewhere with --ledger FILE. Nothing was changed."
            );
            return Err(Unusable(text).into());
        }
        Ok(found)
    }

    fn set_up(&self) -> Result<()> {
        // WAL: readers and a writer do not wait for each other. FULL is not needed: after a loss of power the last
        // rounds may be missing, but the file is whole, and a killed process loses nothing that was committed.
        let set_journal = || self.connection.pragma_update(None, "journal_mode", "WAL");
        let deadline = Instant::now() + PATIENCE;
        // Two that make the same file at once: SQLite does not wait here by itself, since each holds what the other
        // needs, but refuses one of them.
        while let Err(error) = set_journal() {
            if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || Instant::now() >= deadline {
                return Err(self.explain(error));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let set = |name, value| self.connection.pragma_update(None, name, value);
        set("synchronous", "NORMAL")
            .and_then(|()| set("foreign_keys", "ON"))
            .map_err(|error| self.explain(error))
    }

    fn make_tables(&self) -> Result<()> {
        // An immediate transaction: two campaigns that start at once must not both create the tables.
        self.transaction(|connection| {
            if connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? == 0 {
                connection.execute_batch(include_str!("schema.sql"))?;
                connection.pragma_update(None, "user_version", FORMAT)?;
            }
            Ok(())
        })
    }

    /// Brings an older file up to date, all steps or none.
    fn migrate(&self) -> Result<()> {
        self.transaction(|connection| {
            // Another assay may have done it while this one waited.
            let found = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
            for step in MIGRATIONS.iter().skip(found as usize - 1) {
                connection.execute_batch(step)?;
            }
            connection.pragma_update(None, "user_version", FORMAT)
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn explain(&self, error: rusqlite::Error) -> anyhow::Error {
        explain(&self.path, error)
    }

    /// Begins a campaign and returns its number.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn begin(&self, new: &NewCampaign<'_>) -> Result<i64> {
        self.write(
            "INSERT INTO campaign (experiment, experiment_digest, experiment_text, spec, machine, pinned_cpu, \
             assay_version, started_at) VALUES (?,?,?,?,?,?,?,?)",
            params![
                new.experiment,
                new.experiment_digest,
                new.experiment_text,
                new.spec.to_string(),
                new.machine.to_string(),
                new.pinned_cpu.map(|cpu| cpu as i64),
                env!("CARGO_PKG_VERSION"),
                now()
            ],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Ends a campaign, or marks an interrupted one as going on again with `None`.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn finish(&self, campaign: i64, because: Option<&str>) -> Result<()> {
        self.write(
            "UPDATE campaign SET finished_at = ?, stopped_because = ? WHERE id = ?",
            params![because.map(|_| now()), because, campaign],
        )
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

    /// Keeps proven answers as (artifact, variant, input digest, windows, answer), all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_answers(&self, answers: &[(String, String, String, u64, Answer)]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO answer (artifact, variant, input, windows, whole, by_window) \
                 VALUES (?,?,?,?,?,?)",
            )?;
            for (artifact, variant, input, windows, answer) in answers {
                insert.execute(params![
                    artifact,
                    variant,
                    input,
                    *windows as i64,
                    answer.whole,
                    answer.by_window
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
    pub fn put_round(&self, campaign: i64, round: &Round, samples: &[SampleRow]) -> Result<()> {
        self.transaction(|connection| {
            connection.execute(
                "INSERT INTO round (campaign, round, rotations, started_at, elapsed_ns) VALUES (?,?,?,?,?)",
                params![
                    campaign,
                    round.round,
                    serde_json::json!(round.rotations).to_string(),
                    round.started_at,
                    round.elapsed_ns as i64
                ],
            )?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO sample (campaign, round, process, input, start_window, position, warmup, wall_ns, \
                 cpu_ns, units, switches, flagged, at, chain_before_ns, wide_before_ns, chain_after_ns, wide_after_ns) \
                 VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for sample in samples {
                let pulse = |which: usize| sample.pulses.map(|pulses| pulses[which]);
                insert.execute(params![
                    campaign,
                    sample.round,
                    sample.process,
                    sample.input,
                    sample.start_window as i64,
                    sample.position,
                    sample.warmup,
                    sample.wall_ns as i64,
                    sample.cpu_ns as i64,
                    sample.units as i64,
                    sample.switches as i64,
                    sample.flagged,
                    sample.at,
                    pulse(0).map(|pulse| pulse.chain_ns as i64),
                    pulse(0).map(|pulse| pulse.wide_ns as i64),
                    pulse(1).map(|pulse| pulse.chain_ns as i64),
                    pulse(1).map(|pulse| pulse.wide_ns as i64)
                ])?;
            }
            Ok(())
        })
    }

    /// Flags what was kept as used before anybody knew that the core was shared: samples with a pulse beside them whose wide
    /// loop took more than `limit` times the chain, whatever a clock's grain of so many nanoseconds made of both.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn flag_shared(&self, campaign: i64, (limit, grain_ns): (f64, u64)) -> Result<()> {
        self.write(
            "UPDATE sample SET flagged = 'shared' WHERE campaign = ?1 AND flagged IS NULL AND \
             (wide_before_ns - ?3 > ?2 * (nullif(chain_before_ns, 0) + ?3) OR \
              wide_after_ns - ?3 > ?2 * (nullif(chain_after_ns, 0) + ?3))",
            params![campaign, limit, grain_ns as i64],
        )
    }

    /// Keeps a failure.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_failure(&self, campaign: i64, failure: &Failure) -> Result<()> {
        self.write(
            "INSERT INTO failure (campaign, stage, variant, input, compiler, flags, reason, at) \
             VALUES (?,?,?,?,?,?,?,?)",
            params![
                campaign,
                failure.stage,
                failure.variant,
                failure.input,
                failure.compiler,
                failure.flags,
                failure.reason,
                now()
            ],
        )
    }

    /// Keeps counts, all in one transaction.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_counts(&self, campaign: i64, counts: &[CountRow]) -> Result<()> {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO count (campaign, artifact, executed, variant, input, windows, method, source, walk, \
                 units, instructions, branches, conditional, cycles, misses, note, at) \
                 VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
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
                    count.source,
                    count.walk,
                    count.units as i64,
                    count.instructions as i64,
                    count.branches as i64,
                    count.conditional.map(|conditional| conditional as i64),
                    count.cycles.map(|cycles| cycles as i64),
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
    pub fn put_identity(&self, artifact: &str, first: &str, second: &str, found: &Identity) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO identity (artifact, first, second, verdict, evidence) VALUES (?,?,?,?,?)",
            params![artifact, first, second, found.verdict, found.evidence],
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

    pub(super) fn write(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        self.connection.execute(sql, values).map(|_| ()).map_err(|error| self.explain(error))
    }

    pub(super) fn transaction(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(|error| self.explain(error))?;
        work(&transaction).map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }
}

/// Says what an SQLite error means for the user: what is safe, and what to do.
fn explain(path: &Path, error: rusqlite::Error) -> anyhow::Error {
    let path = path.display();
    let unusable = |text: String| Unusable(text).into();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => anyhow!(
            "the disk that holds the ledger {path} is full. All finished rounds are safe in it; free some space and go \
             on with --resume, or use --ledger FILE on another disk"
        ),
        Some(ErrorCode::SystemIoFailure) => anyhow!(
            "the ledger {path} could not be read or written ({error}); is its disk full or gone? All finished rounds \
             are safe in it; go on with --resume, or use --ledger FILE on another disk"
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            anyhow!("the ledger {path} was locked by another program for more than {} s", PATIENCE.as_secs())
        }
        Some(ErrorCode::DatabaseCorrupt) => unusable(format!(
            "the ledger {path} is damaged ({error}). `sqlite3 {path} .recover` may save what is left; keep new \
             campaigns elsewhere with --ledger FILE"
        )),
        Some(ErrorCode::ReadOnly) => {
            unusable(format!("the ledger {path} cannot be written; choose another with --ledger FILE"))
        }
        Some(ErrorCode::CannotOpen) => unusable(format!(
            "the ledger {path} cannot be opened: it is no file, or its folder does not let a file be made; choose \
             another with --ledger FILE"
        )),
        Some(ErrorCode::NotADatabase) => unusable(format!(
            "{path} is not a ledger: it is no SQLite file; choose another with --ledger FILE. Nothing was changed."
        )),
        _ => anyhow::Error::new(error).context(format!("the ledger {path}")),
    }
}

/// Unix seconds.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |elapsed| elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::pulse::{OwnCore, Pulse};
    use serde_json::json;

    /// A ledger with a campaign and one process of it.
    fn campaign(folder: &Path) -> (Ledger, i64, i64) {
        let ledger = Ledger::open(&folder.join("ledger.db")).expect("a new ledger");
        let (spec, machine) = (json!({}), json!({}));
        let new = NewCampaign {
            experiment: "pulses",
            experiment_digest: "",
            experiment_text: "",
            spec: &spec,
            machine: &machine,
            pinned_cpu: None,
        };
        let campaign = ledger.begin(&new).expect("a campaign");
        let artifact = "INSERT INTO artifact VALUES ('a', '{}', '[]', '{}', '[]', '[]', 0)";
        ledger.write(artifact, []).expect("an artifact");
        let mut process = ProcessRow {
            id: 0,
            artifact: "a".into(),
            compiler: "gcc".into(),
            flags: "O2".into(),
            variant: "v".into(),
            rotation: Some(0),
            phase_bytes: Some(0),
            entry_address: 0,
            environment_bytes: 0,
            region_wall_ns: 0.0,
            region_cpu_ns: 0.0,
            wall_read_ns: 0.0,
            cpu_read_ns: 0.0,
        };
        ledger.put_processes(campaign, &mut [&mut process]).expect("a process");
        (ledger, campaign, process.id)
    }

    #[test]
    fn what_a_later_round_teaches_flags_the_samples_that_it_would_have_flagged() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ledger, campaign, process) = campaign(folder.path());
        let pulse = |chain_ns, wide_ns| Pulse { chain_ns, wide_ns };
        // Around the limit from both sides, at either end of a sample; pulses that say nothing; none at all.
        let mut pulses: Vec<Option<[Pulse; 2]>> = (1600..1800)
            .flat_map(|wide| [[pulse(1000, wide), pulse(1000, 1600)], [pulse(1010, 1600), pulse(990, wide)]])
            .map(Some)
            .collect();
        pulses.extend([None, Some([pulse(0, 9000); 2]), Some([pulse(1000, 0), pulse(0, 0)])]);
        let sample = |(position, pulses): (usize, &Option<[Pulse; 2]>)| SampleRow {
            round: 0,
            process,
            input: "bytes".into(),
            start_window: 0,
            position: position as u32,
            warmup: false,
            wall_ns: 1000,
            cpu_ns: 1000,
            units: 10,
            switches: 0,
            pulses: *pulses,
            flagged: (position == 7).then(|| "preempted".to_owned()),
            at: 0.0,
        };
        let samples: Vec<SampleRow> = pulses.iter().enumerate().map(sample).collect();
        let round = Round { round: 0, rotations: vec![0], started_at: 0.0, elapsed_ns: 1 };
        ledger.put_round(campaign, &round, &samples).expect("a round");
        let kept = ledger.samples(campaign).expect("samples");
        assert!(kept.iter().zip(&samples).all(|(kept, put)| kept.pulses == put.pulses), "they come back");

        let mut own_core = OwnCore::default();
        own_core.learn((0..40).map(|at| [pulse(1000, 1600), pulse(1000 + at % 2 * 10, 1600)]));
        ledger.flag_shared(campaign, own_core.limit().expect("learned")).expect("flags");
        let (mut flagged, mut left) = (0, 0);
        for (sample, position) in ledger.samples(campaign).expect("samples").iter().zip(0..) {
            let expected = match (position, own_core.is_shared(sample.pulses)) {
                (7, _) => Some("preempted"),
                (_, true) => Some("shared"),
                (_, false) => None,
            };
            assert_eq!(sample.flagged.as_deref(), expected, "{:?}", sample.pulses);
            flagged += u32::from(expected == Some("shared"));
            left += u32::from(expected.is_none());
        }
        assert!(flagged > 50 && left > 50, "{flagged} flagged, {left} left");
    }
}
