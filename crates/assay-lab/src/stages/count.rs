//! What each command executes: exact branches under the emulator, mispredictions by a named predictor, components.
//!
//! A command runs by `sh -c`, as it does when it is timed; what the shell itself executes is left out. It is traced once
//! with the predictors and once for counts alone: where the two differ the counts are not exact, and it is said so.

use super::first::Runnable;
use super::hardware::{self, Hardware};
use crate::compare::executed::{ExecutedCommand, words};
use crate::store::{DiaryCount, TaskName};
use assay_pure::predict::Zoo;
use assay_pure::stages::file::Component;
use assay_pure::verdict::CountSource;
use assay_trace::sites::components::{self, BudgetSums, ComponentBudget, ComponentSpecs};
use assay_trace::sites::{SimulatedPredictor, Watch};
use assay_trace::{self, Observer, ProcessTrace, Trace, TraceDetail, TraceOptions, TracedExit};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// How counting is done.
pub struct CountingSetup<'a> {
    /// Predictors, the one of the table first.
    pub models: &'a [SimulatedPredictor],
    /// Functions by component.
    pub components: &'a [Component],
    /// The plugin, where it is not the lab's own.
    pub plugin: Option<PathBuf>,
    /// How long one command may take under the emulator.
    pub patience: Duration,
    /// The kernel grants the processor's counters: then they say how many branches are really mispredicted.
    pub hardware: bool,
}

impl CountingSetup<'_> {
    /// What must be equal for counts to be used again, beside the program.
    pub fn method(&self, command: &str, empty: Option<&str>) -> String {
        let models: Vec<Value> =
            self.models.iter().map(|model| json!([model.name, model.definition])).collect();
        json!(["traced", self.hardware, command, empty, models, self.components]).to_string()
    }

    /// Counts a task.
    pub fn count(&self, task: &Runnable, empty: Option<&str>) -> CommandCounts {
        let hardware = self.hardware.then(|| hardware::count(task, empty, self.patience));
        let mut counted = self
            .try_count(task, empty)
            .unwrap_or_else(|why| CommandCounts { failed: Some(why), ..CommandCounts::default() });
        match hardware {
            Some(Ok(found)) => {
                counted.hardware = Some(found);
                // What cannot be traced is counted all the same.
                counted.notes.extend(counted.failed.take().map(|why| format!("it was not traced: {why}")));
            }
            Some(Err(why)) => counted.notes.push(format!("not counted by the processor: {why}")),
            None => {}
        }
        counted
    }

    fn try_count(&self, task: &Runnable, empty: Option<&str>) -> Result<CommandCounts, String> {
        let (budget, mut notes) = self.traced(task, &task.bench.command)?;
        let start = empty.map(|empty| self.traced(task, empty)).transpose();
        let start = start.map_err(|why| format!("the empty command: {why}"))?.map(|(budget, _)| budget);
        let again = self.again(task)?;
        if !budget.idle.is_empty() {
            notes.push(format!("it executes no function that matches {}", budget.idle.join(", ")));
        }
        Ok(CommandCounts {
            budget: Some(budget),
            start,
            again: Some(again),
            notes,
            ..CommandCounts::default()
        })
    }

    fn traced(&self, task: &Runnable, command: &str) -> Result<(ComponentBudget, Vec<String>), String> {
        let names: Vec<String> = self.models.iter().map(|model| model.name.clone()).collect();
        let watch = move || Watch::new(Zoo::new(&names).expect("the names were looked up before"));
        let mut trace = self.trace(task, command, TraceDetail::Branches, watch)?;
        let notes = leave_the_shell_out(&mut trace)?;
        let globs = self.components.iter().map(|component| (&component.name, component.functions.clone()));
        let spec = ComponentSpecs::new(globs).map_err(|error| error.to_string())?;
        Ok((components::of_trace(&trace, &spec), notes))
    }

    /// Branches of another execution.
    fn again(&self, task: &Runnable) -> Result<u64, String> {
        let mut trace = self.trace(task, &task.bench.command, TraceDetail::Counts, || ())?;
        leave_the_shell_out(&mut trace)?;
        let threads = trace.processes.iter().flat_map(|process| &process.threads);
        Ok(threads.map(|thread| thread.counts.branches()).sum())
    }

    fn trace<O: Observer>(
        &self,
        task: &Runnable,
        command: &str,
        detail: TraceDetail,
        observer: impl FnMut() -> O + Send + 'static,
    ) -> Result<Trace<O>, String> {
        let looked =
            ExecutedCommand { command, folder: &task.bench.folder, environment: &task.bench.environment };
        let options = TraceOptions {
            detail,
            follow: true,
            plugin: self.plugin.clone(),
            time_limit: Some(self.patience),
        };
        assay_trace::command(&words(&looked), &options, observer).map_err(|refusal| refusal.to_string())
    }
}

/// What a command executes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandCounts {
    budget: Option<ComponentBudget>,
    start: Option<ComponentBudget>,
    again: Option<u64>,
    hardware: Option<Hardware>,
    notes: Vec<String>,
    failed: Option<String>,
}

impl CommandCounts {
    /// As the ledger keeps it, start-up subtracted.
    pub fn row(
        &self,
        of: TaskName<'_>,
        artifact: Option<&str>,
        method: String,
        models: &[SimulatedPredictor],
    ) -> DiaryCount {
        let less = |own: &dyn Fn(&BudgetSums) -> u64| {
            let of = |budget: &Option<ComponentBudget>| budget.as_ref().map(|budget| own(&budget.total));
            of(&self.budget).map(|count| count.saturating_sub(of(&self.start).unwrap_or(0)))
        };
        let simulated = models.iter().enumerate().filter_map(|(at, model)| {
            let missed = less(&|sums| sums.missed.get(at).copied().unwrap_or(0))?;
            Some((model.name.clone(), missed))
        });
        // What really happened comes before what models say.
        let misses = self
            .hardware
            .map(|found| (CountSource::Counted.word().to_owned(), found.misses))
            .into_iter()
            .chain(simulated);
        let source = if self.budget.is_some() { CountSource::Traced } else { CountSource::Counted };
        let counted = |figure: fn(&Hardware) -> u64| self.hardware.as_ref().map(figure);
        DiaryCount {
            entrant: of.entrant.into(),
            role: of.role.into(),
            artifact: artifact.map(str::to_owned),
            method,
            source,
            instructions: less(&|sums| sums.instructions).or(counted(|found| found.instructions)),
            branches: less(&|sums| sums.branches).or(counted(|found| found.branches)),
            conditional: less(&|sums| sums.conditional),
            misses: misses.collect(),
            start: self.start.as_ref().map(|start| {
                json!({"instructions": start.total.instructions, "branches": start.total.branches, "misses": start.total.missed})
            }),
            again: self.again.map(|again| again.saturating_sub(self.start.as_ref().map_or(0, |start| start.total.branches))),
            components: self.components(),
            notes: self.notes.clone(),
            failed: self.failed.clone(),
        }
    }
}

impl CommandCounts {
    /// What each component executes; start-up subtracted where the same component is in it.
    fn components(&self) -> Value {
        let Some(budget) = &self.budget else { return json!([]) };
        let of = |row: &components::BudgetRow| {
            let start =
                self.start.as_ref().and_then(|start| start.rows.iter().find(|other| other.name == row.name));
            let less = |figure: &dyn Fn(&components::BudgetRow) -> u64| {
                figure(row).saturating_sub(start.map_or(0, figure))
            };
            json!({
                "name": row.name,
                "branches": less(&|row| row.sums.branches),
                "instructions": less(&|row| row.sums.instructions),
                "misses": less(&|row| row.sums.missed.first().copied().unwrap_or(0)),
                "called": less(&|row| row.called),
            })
        };
        budget.rows.iter().map(of).collect()
    }
}

/// Drops what is ours: `env`, which changes the folder, the shell that it becomes, and the shell's copies of itself that
/// become the command. Returns the notes on the rest.
fn leave_the_shell_out<O>(trace: &mut Trace<O>) -> Result<Vec<String>, String> {
    let Some(ours) = trace.processes.first().map(|process| process.pid) else {
        return Err("nothing was executed".into());
    };
    let of_ours = || trace.processes.iter().filter(|process| process.pid == ours);
    let shell = of_ours().nth(1).map(|process| process.program.clone());
    if trace.processes.iter().any(|process| process.ended == TracedExit::TimeLimit) {
        return Err("it did not finish in time under the emulator; --trace-limit allows more".into());
    }
    // A shell that started the command ends as that did.
    match of_ours().next_back().map(|process| process.ended) {
        Some(TracedExit::Exited(0)) => {}
        Some(TracedExit::Exited(code)) => {
            return Err(format!("it ended with exit code {code} under the emulator"));
        }
        Some(TracedExit::Signalled(signal)) => {
            return Err(format!("it was ended by signal {signal} under the emulator"));
        }
        _ => return Err("it ended in an unknown way under the emulator".into()),
    }
    let mut place = 0;
    trace.processes.retain(|process: &ProcessTrace<O>| {
        let is_first = process.pid == ours && {
            place += 1;
            place <= 2
        };
        let is_copy = process.ended == TracedExit::Replaced && Some(&process.program) == shell.as_ref();
        !(is_first || is_copy)
    });
    let mut notes = Vec::new();
    for process in &trace.processes {
        let program = process.program.file_name().unwrap_or_default().to_string_lossy();
        notes.extend(process.notes.iter().map(|note| format!("{program}: {note}")));
    }
    if trace.processes.is_empty() {
        return Err("the command ran only shell builtins".into());
    }
    notes.dedup();
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, program: &str, ended: TracedExit) -> ProcessTrace<()> {
        ProcessTrace {
            pid,
            parent: None,
            program: program.into(),
            threads: Vec::new(),
            sites: Vec::new(),
            blocks: Vec::new(),
            modules: Vec::new(),
            regions: Vec::new(),
            ended,
            notes: Vec::new(),
        }
    }

    fn left(processes: Vec<ProcessTrace<()>>) -> Result<Vec<String>, String> {
        let mut trace = Trace { processes, emulator: String::new() };
        leave_the_shell_out(&mut trace)?;
        Ok(trace.processes.iter().map(|process| process.program.display().to_string()).collect())
    }

    #[test]
    fn the_shell_that_becomes_the_command_is_left_out() {
        let (env, sh) =
            (process(7, "/bin/env", TracedExit::Replaced), process(7, "/bin/dash", TracedExit::Replaced));
        assert_eq!(left(vec![env, sh, process(7, "/p", TracedExit::Exited(0))]).unwrap(), ["/p"]);
    }

    #[test]
    fn a_shell_that_starts_the_command_is_left_out_with_its_copies() {
        let processes = vec![
            process(7, "/bin/env", TracedExit::Replaced),
            process(7, "/bin/dash", TracedExit::Exited(0)),
            process(8, "/bin/dash", TracedExit::Replaced),
            process(8, "/p", TracedExit::Exited(0)),
            process(9, "/bin/dash", TracedExit::Exited(0)),
        ];
        assert_eq!(
            left(processes).unwrap(),
            ["/p", "/bin/dash"],
            "a script that the command runs is its own"
        );
    }

    #[test]
    fn a_command_that_fails_under_the_emulator_is_not_counted() {
        let with = |ended| {
            left(vec![
                process(7, "/bin/env", TracedExit::Replaced),
                process(7, "/bin/dash", TracedExit::Replaced),
                process(7, "/p", ended),
            ])
        };
        assert!(with(TracedExit::Exited(3)).unwrap_err().contains("exit code 3"));
        assert!(with(TracedExit::Signalled(11)).unwrap_err().contains("signal 11"));
        assert!(with(TracedExit::TimeLimit).unwrap_err().contains("--trace-limit"));
        let nothing = vec![
            process(7, "/bin/env", TracedExit::Replaced),
            process(7, "/bin/dash", TracedExit::Exited(0)),
        ];
        assert!(left(nothing).unwrap_err().contains("only shell builtins"));
    }
}
