//! Reading facts back.

use super::Ledger;
use super::ledger::{counted, unsigned, word};
use super::rows::{
    AllocationRow, Answer, ArtifactRow, BranchTimingRow, CampaignInput, CampaignRow, CountRow, ExecutionRow,
    FailureRow, IdentityRow, InputRow, ProcessRow, Round,
};
use anyhow::{Context, Result};
use assay_pure::ledger::{CodeFound, CountWalk, Stage, Stopped};
use assay_pure::placement::same_execution::RULES;
use assay_pure::verdict::CountSource;
use rusqlite::{Row, params};
use serde_json::Value;

const CAMPAIGN: &str = "SELECT id, experiment, question, experiment_text, spec, machine, pinned_cpu, \
                        started_at, finished_at, stopped_because, assay_version, sources FROM campaign";

impl Ledger {
    /// A campaign by number.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn campaign(&self, id: i64) -> Result<Option<CampaignRow>> {
        let sql = format!("{CAMPAIGN} WHERE id = ?");
        self.row("a campaign", &sql, [id], campaign_row)
    }

    /// All campaigns, newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn campaigns(&self) -> Result<Vec<CampaignRow>> {
        self.rows("the campaigns", &format!("{CAMPAIGN} ORDER BY id DESC"), [], campaign_row)
    }

    /// The campaigns of an experiment that are no steps of a sweep, the oldest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn campaigns_of(&self, experiment: &str) -> Result<Vec<CampaignRow>> {
        let sql = format!(
            "{CAMPAIGN} WHERE experiment = ? AND id NOT IN (SELECT campaign FROM sweep_step) ORDER BY started_at, id"
        );
        self.rows("an experiment's campaigns", &sql, [experiment], campaign_row)
    }

    /// An input by what made it.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn input_by_recipe(&self, recipe: &Value, format: &str) -> Result<Option<InputRow>> {
        let sql =
            "SELECT digest, bytes, recipe, format, description FROM input WHERE recipe = ? AND format = ?";
        self.row("an input", sql, params![recipe.to_string(), format], input_row)
    }

    /// An input by content.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn input(&self, digest: &str) -> Result<Option<InputRow>> {
        let sql = "SELECT digest, bytes, recipe, format, description FROM input WHERE digest = ?";
        self.row("an input", sql, [digest], input_row)
    }

    /// How a campaign uses its inputs.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn campaign_inputs(&self, campaign: i64) -> Result<Vec<CampaignInput>> {
        self.rows("the campaign's inputs", "SELECT name, digest, windows, iterations, warmup, samples FROM campaign_input WHERE campaign = ? \
             ORDER BY rowid", [campaign], |row| {
            Ok(CampaignInput {
                name: row.get(0)?,
                digest: row.get(1)?,
                windows: unsigned(row, 2)?,
                iterations: unsigned(row, 3)?,
                warmup: unsigned(row, 4)?,
                samples: unsigned(row, 5)?,
            })
        })
    }

    /// A proven answer.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn answer(&self, artifact: &str, variant: &str, input: &str, windows: u64) -> Result<Option<Answer>> {
        let sql = "SELECT whole, by_window FROM answer WHERE artifact = ? AND variant = ? AND input = ? AND windows = ?";
        self.row("an answer", sql, params![artifact, variant, input, windows as i64], |row| {
            Ok(Answer { whole: row.get(0)?, by_window: row.get(1)? })
        })
    }

    /// All launches of a campaign.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn processes(&self, campaign: i64) -> Result<Vec<ProcessRow>> {
        self.rows(
            "the campaign's processes",
            "SELECT id, artifact, compiler, flags, variant, rotation, phase_bytes, entry_address, \
             environment_bytes, region_wall_ns, region_cpu_ns, wall_read_ns, cpu_read_ns FROM process \
             WHERE campaign = ? ORDER BY id",
            [campaign],
            |row| {
                Ok(ProcessRow {
                    id: row.get(0)?,
                    artifact: row.get(1)?,
                    compiler: row.get(2)?,
                    flags: row.get(3)?,
                    variant: row.get(4)?,
                    rotation: row.get(5)?,
                    phase_bytes: row.get(6)?,
                    entry_address: unsigned(row, 7)?,
                    environment_bytes: unsigned(row, 8)?,
                    region_wall_ns: row.get(9)?,
                    region_cpu_ns: row.get(10)?,
                    wall_read_ns: row.get(11)?,
                    cpu_read_ns: row.get(12)?,
                })
            },
        )
    }

    /// The functions of an artifact, as JSON: name, address, size, offset of each.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn artifact_functions(&self, hash: &str) -> Result<Option<Value>> {
        let sql = "SELECT functions FROM artifact WHERE hash = ?";
        let text: Option<String> = self.row("an artifact", sql, [hash], |row| row.get(0))?;
        text.map(|text| serde_json::from_str(&text).context("reading an artifact's functions")).transpose()
    }

    /// All finished rounds of a campaign.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn rounds(&self, campaign: i64) -> Result<Vec<Round>> {
        self.rows(
            "the campaign's rounds",
            "SELECT round, rotations, started_at, elapsed_ns, coalesce(waited_ns, 0) FROM round WHERE campaign = ? ORDER BY round",
            [campaign],
            |row| {
                Ok(Round {
                    round: row.get(0)?,
                    rotations: serde_json::from_str(&row.get::<_, String>(1)?).unwrap_or_default(),
                    started_at: row.get(2)?,
                    elapsed_ns: unsigned(row, 3)?,
                    waited_ns: unsigned(row, 4)?,
                })
            },
        )
    }

    /// What is known of two variants' machine code.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn identity(&self, artifact: &str, first: &str, second: &str) -> Result<Option<IdentityRow>> {
        let sql = "SELECT verdict, evidence FROM identity WHERE artifact = ? AND first = ? AND second = ?";
        self.row("an identity", sql, params![artifact, first, second], |row| {
            Ok(IdentityRow {
                verdict: word(row, 0, CodeFound::of)?.expect("the schema wants one"),
                evidence: row.get(1)?,
            })
        })
    }

    /// What two variants with the same loops execute, by input, as far as it was followed by today's rules.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn executions(&self, artifact: &str, first: &str, second: &str) -> Result<Vec<ExecutionRow>> {
        let sql = "SELECT input, windows, window_units, same, looped, around FROM execution \
                   WHERE artifact = ? AND first = ? AND second = ? AND rules = ?";
        self.rows("what was executed", sql, params![artifact, first, second, RULES], |row| {
            Ok(ExecutionRow {
                artifact: artifact.to_owned(),
                first: first.to_owned(),
                second: second.to_owned(),
                input: row.get(0)?,
                windows: unsigned(row, 1)?,
                window_units: unsigned(row, 2)?,
                same: row.get(3)?,
                looped: unsigned(row, 4)?,
                around: unsigned(row, 5)?,
            })
        })
    }

    /// An artifact by its content hash.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn artifact(&self, hash: &str) -> Result<Option<ArtifactRow>> {
        let sql =
            "SELECT hash, compiler, flags, link, command, functions, text_bytes FROM artifact WHERE hash = ?";
        let read = |row: &Row<'_>| {
            Ok(ArtifactRow {
                hash: row.get(0)?,
                compiler: json(row, 1)?,
                flags: json(row, 2)?,
                link: json(row, 3)?,
                command: json(row, 4)?,
                functions: json(row, 5)?,
                text_bytes: unsigned(row, 6)?,
            })
        };
        self.row("an artifact", sql, [hash], read)
    }

    /// What was counted of an artifact's variants on all inputs, oldest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn counts(&self, artifact: &str) -> Result<Vec<CountRow>> {
        self.rows("counts", "SELECT artifact, executed, variant, input, windows, method, source, walk, units, instructions, branches, \
             conditional, misses, note, id, cycles, front_end FROM count WHERE artifact = ? ORDER BY id", [artifact], |row| {
            Ok(CountRow {
                artifact: row.get(0)?,
                executed: row.get(1)?,
                variant: row.get(2)?,
                input: row.get(3)?,
                windows: unsigned(row, 4)?,
                method: row.get(5)?,
                source: word(row, 6, CountSource::of)?.expect("the schema wants one"),
                walk: word(row, 7, CountWalk::of)?.expect("the schema wants one"),
                units: unsigned(row, 8)?,
                instructions: unsigned(row, 9)?,
                branches: unsigned(row, 10)?,
                conditional: counted(row, 11)?,
                misses: serde_json::from_str(&row.get::<_, String>(12)?).unwrap_or_default(),
                note: row.get(13)?,
                id: row.get(14)?,
                cycles: counted(row, 15)?,
                front_end: row
                    .get::<_, Option<String>>(16)?
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default(),
            })
        })
    }

    /// What variants of an artifact allocate, in the order in which it was found out.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn allocations(&self, artifact: &str) -> Result<Vec<AllocationRow>> {
        let sql = "SELECT artifact, variant, input, windows, calls, units, allocations, bytes, peak_bytes, method FROM \
                   allocation WHERE artifact = ? ORDER BY id";
        self.rows("allocations", sql, [artifact], |row| {
            Ok(AllocationRow {
                artifact: row.get(0)?,
                variant: row.get(1)?,
                input: row.get(2)?,
                windows: unsigned(row, 3)?,
                calls: unsigned(row, 4)?,
                units: unsigned(row, 5)?,
                allocations: unsigned(row, 6)?,
                bytes: unsigned(row, 7)?,
                peak_bytes: unsigned(row, 8)?,
                method: row.get(9)?,
            })
        })
    }

    /// The newest timing of branches on a machine with these facts.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn branch_timing(&self, machine: &Value) -> Result<Option<BranchTimingRow>> {
        let sql = "SELECT machine, penalty_ns, lower_ns, upper_ns, fresh_ns, learned_ns, series, learned_outcomes, \
                   unlearned_outcomes, sweep, windows, interrupted FROM branch_timing WHERE machine = ? \
                   ORDER BY id DESC LIMIT 1";
        self.row("how branches are timed", sql, [machine.to_string()], |row| {
            Ok(BranchTimingRow {
                machine: json(row, 0)?,
                penalty_ns: row.get(1)?,
                lower_ns: row.get(2)?,
                upper_ns: row.get(3)?,
                fresh_ns: row.get(4)?,
                learned_ns: row.get(5)?,
                series: unsigned(row, 6)?,
                learned_outcomes: counted(row, 7)?,
                unlearned_outcomes: counted(row, 8)?,
                sweep: json(row, 9)?,
                windows: unsigned(row, 10)?,
                interrupted: unsigned(row, 11)?,
            })
        })
    }

    /// What a reader should know of how a campaign's programs were built, sentences in alphabetic order.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn build_warnings(&self, campaign: i64) -> Result<Vec<String>> {
        let sql = "SELECT warning FROM build_warning WHERE campaign = ? ORDER BY warning";
        self.rows("the campaign's builds", sql, [campaign], |row| row.get(0))
    }

    /// All failures of a campaign.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn failures(&self, campaign: i64) -> Result<Vec<FailureRow>> {
        self.rows("the campaign's failures", "SELECT stage, variant, input, compiler, flags, reason FROM failure WHERE campaign = ? ORDER BY id", [campaign], |row| {
            Ok(FailureRow {
                stage: word(row, 0, Stage::of)?.expect("the schema wants one"),
                variant: row.get(1)?,
                input: row.get(2)?,
                compiler: row.get(3)?,
                flags: row.get(4)?,
                reason: row.get(5)?,
            })
        })
    }

    /// What was seen of a campaign's variants before they were measured; none where nothing was examined.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn examined(&self, campaign: i64) -> Result<Option<serde_json::Value>> {
        let sql = "SELECT facts FROM examination WHERE campaign = ?";
        let facts = self.row("an examination", sql, [campaign], |row| row.get::<_, String>(0))?;
        Ok(facts.map(|facts| serde_json::from_str(facts.as_str())).transpose()?)
    }

    /// How often the verdicts of a campaign were looked at.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn looks(&self, campaign: i64) -> Result<u32> {
        let sql = "SELECT count(*) FROM look WHERE campaign = ?";
        Ok(self.connection.query_row(sql, [campaign], |row| row.get(0))?)
    }
}

fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    Ok(serde_json::from_str(&row.get::<_, String>(column)?).unwrap_or(Value::Null))
}

fn campaign_row(row: &Row<'_>) -> rusqlite::Result<CampaignRow> {
    Ok(CampaignRow {
        id: row.get(0)?,
        experiment: row.get(1)?,
        question: row.get(2)?,
        experiment_text: row.get(3)?,
        spec: json(row, 4)?,
        machine: json(row, 5)?,
        pinned_cpu: row.get::<_, Option<u32>>(6)?.map(|cpu| cpu as usize),
        started_at: row.get(7)?,
        finished_at: row.get(8)?,
        stopped: word(row, 9, Stopped::of)?,
        assay_version: row.get(10)?,
        sources: row.get::<_, Option<String>>(11)?.and_then(|text| serde_json::from_str(&text).ok()),
    })
}

fn input_row(row: &Row<'_>) -> rusqlite::Result<InputRow> {
    Ok(InputRow {
        digest: row.get(0)?,
        bytes: unsigned(row, 1)?,
        recipe: json(row, 2)?,
        format: row.get(3)?,
        description: json(row, 4)?,
    })
}
