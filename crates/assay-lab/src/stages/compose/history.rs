//! All sessions of a diary, read once, and what is newest in them.

use crate::campaign::compose::{rfc3339, twin_of};
use crate::compare::compose::level;
use crate::compare::judge::seen_at;
use crate::compare::spec::Spec;
use crate::stages::judge::{self, DiaryQuestion, DiaryVerdicts};
use crate::store::{DiaryCount, DiaryEntrant, DiaryTask, Ledger, SessionRow, VisitRow};
use anyhow::{Context, Result};
use assay_pure::compare::Side;
use assay_pure::ledger::Stopped;
use assay_pure::stages::{CommandFigures, Diary};
use assay_pure::verdict::ContrastVerdict;
use assay_report::compare::SideFigure;
use assay_report::page::TwinVerdict;
use assay_report::stages::page::{DiarySession, SpoiltRuns};
use std::collections::BTreeMap;

/// One session with everything that the ledger has of it.
pub struct Past {
    /// Its number.
    pub id: i64,
    /// The session.
    pub row: SessionRow,
    /// As it was planned.
    pub spec: Spec,
    /// What was built, by the entrant's number in the diary; those that the diary has no more are left out.
    pub entrants: BTreeMap<usize, DiaryEntrant>,
    /// First runs, by entrant and role.
    pub tasks: BTreeMap<EntrantRole, DiaryTask>,
    /// Counts, by entrant and role.
    pub counts: BTreeMap<EntrantRole, DiaryCount>,
    /// All runs.
    pub visits: Vec<VisitRow>,
    /// The verdicts.
    pub judged: DiaryVerdicts,
}

/// An entrant in a role, by their numbers in the diary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntrantRole {
    /// The entrant's number.
    pub entrant: usize,
    /// The role's.
    pub role: usize,
}

/// A diary's sessions, oldest first.
pub struct History {
    /// By time.
    pub sessions: Vec<Past>,
    roles: Vec<String>,
}

impl History {
    /// Reads and judges all sessions.
    ///
    /// # Errors
    /// The ledger cannot be read, or was filled by another form of assay.
    pub fn read(ledger: &Ledger, diary: &Diary) -> Result<History> {
        let sessions = ledger.sessions(&diary.name)?;
        let read = sessions.into_iter().map(|row| Past::read(ledger, diary, row));
        let roles = diary.roles.iter().map(|role| role.name.clone()).collect();
        Ok(History { sessions: read.collect::<Result<_>>()?, roles })
    }

    /// The newest session.
    pub fn newest(&self) -> Option<&Past> {
        self.sessions.last()
    }

    /// What is known of an entrant: of the newest session that measured it, or else why the newest one did not.
    pub fn entrant(&self, number: usize) -> Option<(&Past, &DiaryEntrant)> {
        let all = || self.sessions.iter().rev().filter_map(|past| Some((past, past.entrants.get(&number)?)));
        let newest = all().next()?;
        // A stage that could be measured once and fails today says so.
        if newest.1.failed.is_some() {
            Some(newest)
        } else {
            all().find(|(_, row)| row.side.is_some()).or(Some(newest))
        }
    }

    /// The newest first run of an entrant in a role.
    pub fn task(&self, at: EntrantRole) -> Option<&DiaryTask> {
        self.sessions.iter().rev().find_map(|past| past.tasks.get(&at))
    }

    /// The newest count of an entrant in a role.
    pub fn count(&self, at: EntrantRole) -> Option<&DiaryCount> {
        self.sessions.iter().rev().find_map(|past| past.counts.get(&at))
    }

    /// The newest times of an entrant in a role: per placement, nanoseconds per unit.
    pub fn level(&self, at: EntrantRole) -> Option<SideFigure> {
        self.sessions.iter().rev().find_map(|past| past.level(at.entrant, &self.roles[at.role]))
    }

    /// All times of an entrant in a role, of the newest session that has some.
    pub fn times(&self, at: EntrantRole) -> Vec<f64> {
        let times = |past: &Past| past.times(at.entrant, &self.roles[at.role]);
        self.sessions.iter().rev().map(times).find(|times| !times.is_empty()).unwrap_or_default()
    }

    /// The most memory of each run of an entrant in a role, of the newest session that knows it.
    pub fn peaks(&self, at: EntrantRole) -> Vec<u64> {
        let peaks = |past: &Past| past.peaks(at.entrant, &self.roles[at.role]);
        self.sessions.iter().rev().map(peaks).find(|peaks| !peaks.is_empty()).unwrap_or_default()
    }

    /// Everything that is known of an entrant in a role.
    pub fn figures(&self, at: EntrantRole) -> CommandFigures {
        let count = self.count(at).filter(|count| count.failed.is_none());
        let units = self.task(at).and_then(|task| task.units).unwrap_or(0.0);
        CommandFigures {
            units,
            instructions: count.and_then(|count| count.instructions),
            branches: count.and_then(|count| count.branches),
            misses: count.and_then(|count| Some(count.misses.first()?.1)),
            time_ns: self.level(at).map(|level| level.median * units),
            text_bytes: self.entrant(at.entrant).and_then(|(_, row)| row.text_bytes),
        }
    }

    /// The newest verdict on a question in a role, with its session.
    pub fn verdict(&self, question: DiaryQuestion, role: usize) -> Option<(&Past, &ContrastVerdict)> {
        self.sessions.iter().rev().find_map(|past| {
            let at = past.judged.asked.iter().position(|asked| *asked == (question, role))?;
            Some((past, &past.judged.judgement.contrasts[at]))
        })
    }

    /// Whose mispredictions are shown.
    pub fn predictor(&self) -> Option<String> {
        let counts = self.sessions.iter().rev().flat_map(|past| past.counts.values());
        counts.filter_map(|count| count.misses.first()).map(|(name, _)| name.clone()).next()
    }
}

impl Past {
    fn read(ledger: &Ledger, diary: &Diary, row: SessionRow) -> Result<Past> {
        let id = row.comparison;
        let spec: Spec = serde_json::from_value(row.asked.clone())
            .with_context(|| format!("session {id} was made by an incompatible version of assay"))?;
        let numbered = |name: &str| diary.number(name);
        let at = |entrant: &str, role: &str| {
            Some(EntrantRole { entrant: diary.number(entrant)?, role: diary.role(role)? })
        };
        let entrants: BTreeMap<usize, DiaryEntrant> = ledger
            .diary_entrants(id)?
            .into_iter()
            .filter_map(|row| Some((numbered(&row.name)?, row)))
            .collect();
        let tasks =
            ledger.diary_tasks(id)?.into_iter().filter_map(|row| Some((at(&row.entrant, &row.role)?, row)));
        let counts =
            ledger.diary_counts(id)?.into_iter().filter_map(|row| Some((at(&row.entrant, &row.role)?, row)));
        let (tasks, counts) = (tasks.collect(), counts.collect());
        let judged = judge::session(ledger, id, diary, &spec)?;
        let visits = ledger.visits(id)?;
        Ok(Past { id, row, spec, entrants, tasks, counts, visits, judged })
    }

    fn side(&self, entrant: usize) -> Option<u32> {
        self.entrants.get(&entrant)?.side
    }

    fn level(&self, entrant: usize, role: &str) -> Option<SideFigure> {
        let side = self.side(entrant)?;
        let own: Vec<_> = self
            .visits
            .iter()
            .filter(|visit| visit.side == side)
            .map(|visit| seen_at(visit, Side::Baseline))
            .collect();
        level(&own, Side::Baseline, role)
    }

    fn times(&self, entrant: usize, role: &str) -> Vec<f64> {
        let Some(side) = self.side(entrant) else { return Vec::new() };
        let figures = self.visits.iter().filter(|visit| visit.side == side).flat_map(|visit| &visit.figures);
        figures.filter(|figure| figure.benchmark == role).map(|figure| figure.value).collect()
    }

    fn peaks(&self, entrant: usize, role: &str) -> Vec<u64> {
        let Some(side) = self.side(entrant) else { return Vec::new() };
        let memory = self.visits.iter().filter(|visit| visit.side == side).flat_map(|visit| &visit.memory);
        memory.filter(|memory| memory.role == role).map(|memory| memory.peak_bytes).collect()
    }

    /// For the page.
    pub fn page(&self) -> DiarySession {
        let text = |key: &str| self.row.machine[key].as_str().unwrap_or("unknown").to_owned();
        let measured = self.entrants.values().filter(|row| row.side.is_some());
        DiarySession {
            session: self.id,
            started: rfc3339(self.row.started_at),
            cpu: text("cpu"),
            kernel: text("kernel"),
            entrants: measured.map(|row| row.name.clone()).collect(),
            rounds: self.judged.rounds,
            rotations: self.spec.rotations,
            visits: self.visits.len() as u64,
            seconds: self.visits.iter().map(|visit| visit.elapsed_ns as f64 / 1e9).sum(),
            spoilt: self.spoilt(),
            twin_control: if self.judged.asked.is_empty() {
                TwinVerdict::Undecided
            } else {
                twin_of(&self.judged.judgement.twin).verdict
            },
            stopped_because: self.row.stopped.unwrap_or(Stopped::Interrupted),
        }
    }

    fn spoilt(&self) -> Vec<SpoiltRuns> {
        let mut found: Vec<SpoiltRuns> = Vec::new();
        for (visit, reason) in self.visits.iter().filter_map(|visit| Some((visit, visit.failed.as_ref()?))) {
            let whose = self.entrants.values().find(|row| row.side == Some(visit.side));
            let entrant = whose.map(|row| row.name.clone()).unwrap_or_default();
            match found.iter_mut().find(|known| known.entrant == entrant && known.reason == *reason) {
                Some(known) => known.visits += 1,
                None => found.push(SpoiltRuns { entrant, reason: reason.clone(), visits: 1 }),
            }
        }
        found
    }
}
