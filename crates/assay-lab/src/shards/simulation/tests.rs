use super::super::cluster::{Cluster, ClusterJob, JobState, Sight};
use super::super::wait::{self, Waited};
use super::super::{kept, script, script::ScriptFor};
use super::*;
use assay_pure::simulation::{SimulationTask, TaskOutcome, TraceCounts, WholeTrace, share_out};
use assay_report::status::ShardState;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;

/// Takes arrays of at most 300 and runs none of them: what jobs leave is written by the test.
#[derive(Default)]
struct Paper {
    arrays: Rc<RefCell<Vec<Vec<usize>>>>,
}

impl Cluster for Paper {
    fn hand_in(&self, _: &ClusterJob<'_>) -> Result<String> {
        anyhow::bail!("only arrays are handed in")
    }

    fn array_size(&self) -> Option<usize> {
        Some(300)
    }

    fn hand_in_array(&self, job: &ClusterJob<'_>, numbers: &[usize]) -> Result<Vec<String>> {
        assert!(
            !job.alone && job.log.ends_with(format!("{}-%a.log", self.arrays.borrow().len() % 4)),
            "{:?}",
            job.log
        );
        self.arrays.borrow_mut().push(numbers.to_vec());
        let array = self.arrays.borrow().len();
        Ok(numbers.iter().map(|number| format!("{array}_{number}")).collect())
    }

    fn look(&self, _: &[&str]) -> BTreeMap<String, JobState> {
        BTreeMap::new()
    }

    fn cancel(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

fn plan(traces: usize, shards: usize) -> SimulationPlan {
    SimulationPlan {
        version: "assay 1\ncommit: x".into(),
        traces: (0..traces).map(|trace| format!("{trace}.sbbt")).collect(),
        from: None,
        stream: None,
        predictors: vec!["tage".into(), "gshare".into()],
        shards: share_out(&vec![1000; traces], 2, shards),
    }
}

/// A question of so many shards in a folder of its own.
fn question(folder: &Path, plan: &SimulationPlan) -> ShardedQuestion {
    let shard = |at: usize| Shard {
        feature: String::new(),
        part: None,
        job: String::new(),
        stem: format!("{}-{}", at / 300, at % 300),
        folder: PathBuf::new(),
    };
    let mut question = ShardedQuestion {
        verb: SIMULATE.into(),
        name: "simulation".into(),
        words: vec!["a.sbbt".into()],
        folder: folder.to_owned(),
        ledger: folder.join(TABLE),
        budget: None,
        version: plan.version.clone(),
        cluster: ClusterName::Slurm,
        array: Some(300),
        shards: (0..plan.shards.len()).map(shard).collect(),
        place: PathBuf::new(),
    };
    question.move_to(new_folder(folder, "simulation").unwrap());
    output::write(&question.place.join(TASKS), &serde_json::to_vec(plan).unwrap()).unwrap();
    question
}

fn outcome(task: SimulationTask) -> (SimulationTask, TaskOutcome) {
    let counts = TraceCounts {
        format: "sbbt".into(),
        branches: 1000 + task.trace as u64,
        instructions: 9000,
        predicted: [900, 0, 0],
        mispredicted: vec![[task.trace as u64, 0, 0], [7, 0, 0]],
        warning: None,
    };
    (task, TaskOutcome::Simulated(counts))
}

/// What the job of a shard leaves, and perhaps that of another: the tasks of `also` are done by it, too.
fn leave(question: &ShardedQuestion, plan: &SimulationPlan, at: usize, also: Option<usize>) {
    let tasks = plan.shards[at].iter().chain(also.into_iter().flat_map(|other| &plan.shards[other]));
    let result =
        ShardResult { version: plan.version.clone(), outcomes: tasks.map(|task| outcome(*task)).collect() };
    write_result(&question.shards[at].file(RESULT), &result).unwrap();
    std::fs::write(question.shards[at].file("end"), "0\n").unwrap();
}

fn assert_each_once(collected: &Collected) {
    assert_eq!(collected.gathered.missing(), 0);
    for trace in 0..collected.plan.traces.len() {
        let WholeTrace::Simulated(counts) = collected.gathered.trace(trace) else {
            panic!("{trace} is not whole")
        };
        assert_eq!(counts.mispredicted, [[trace as u64, 0, 0], [7, 0, 0]]);
    }
}

#[test]
fn a_thousand_files_of_results_are_collected_exactly_once_whatever_is_lost_repeated_or_late() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(3000, 1000);
    let mut question = question(&folder.path().canonicalize().unwrap(), &plan);
    let paper = Paper::default();
    let arrays = Rc::clone(&paper.arrays);
    hand_all_in(&mut question, &paper, &mut |_| ()).unwrap();
    assert_eq!(arrays.borrow().iter().map(Vec::len).collect::<Vec<_>>(), [300, 300, 300, 100]);
    assert_eq!((question.shards[299].job.as_str(), question.shards[300].job.as_str()), ("1_299", "2_0"));
    // Of ten shards one is gone, one has done its neighbour's tasks, too, and a torn draft of one lies about.
    let is_gone = |at: usize| at % 10 == 3;
    for at in 0..1000 {
        match at {
            _ if is_gone(at) => std::fs::write(question.shards[at].file("cancelled"), "").unwrap(),
            _ => leave(&question, &plan, at, (at % 10 == 5).then(|| at - 1)),
        }
    }
    std::fs::write(question.place.join("0-3.result.draft"), "{\"vers").unwrap();
    let handed = HandedIn { question, cluster: Box::new(paper) };
    let mut collected = Collected::new(&handed.question).unwrap();
    let mut told = Vec::new();
    let add = &mut |shard: &Shard, _: &mut dyn FnMut(&str)| collected.add(shard);
    let ends: Vec<Waited> = wait::wait(&handed, add, &mut |text| told.push(text.to_owned()));
    let cancelled = ends.iter().filter(|one| one.state == ShardState::Cancelled).count();
    assert!(cancelled == 100 && ends.iter().all(|one| one.unmerged.is_none()));
    assert!(told.len() < 10, "not a line for each of a thousand: {told:?}");
    let tasks = |is_so: &dyn Fn(usize) -> bool| -> usize {
        (0..1000).filter(|at| is_so(*at)).map(|at| plan.shards[at].len()).sum()
    };
    assert_eq!(collected.gathered.missing(), tasks(&is_gone));
    let repeated = tasks(&|at| at % 10 == 4) as u64;
    assert_eq!(collected.gathered.repeated(), repeated);
    // Half of the lost ones come late; nothing is added twice, however often it is looked.
    (0..1000).filter(|at| at % 20 == 3).for_each(|at| leave(&handed.question, &plan, at, None));
    collected.add_late(&handed.question);
    collected.add_late(&handed.question);
    assert_eq!(
        (collected.gathered.missing(), collected.gathered.repeated()),
        (tasks(&|at| at % 20 == 13), repeated)
    );
    // Only what is missing is handed in again, in the same arrays.
    handed.question.keep().unwrap();
    let found = resume(&handed.question, folder.path(), handed.cluster.as_ref(), &mut |_| ()).unwrap();
    let again: Vec<Vec<usize>> = arrays.borrow()[4..].to_vec();
    assert_eq!(again.concat().len(), 50);
    assert!(
        again
            .iter()
            .enumerate()
            .all(|(array, numbers)| numbers.iter().all(|number| (array * 300 + number) % 20 == 13))
    );
    (0..1000).filter(|at| at % 20 == 13).for_each(|at| leave(&found, &plan, at, Some(at)));
    collected.add_late(&found);
    assert_each_once(&collected);
    // Who comes later and reads all anew finds the same.
    let mut anew = Collected::new(&kept::newest(folder.path()).unwrap()).unwrap();
    anew.add_late(&found);
    assert_each_once(&anew);
}

#[test]
fn results_of_another_version_or_of_another_simulation_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(3, 3);
    let question = question(folder.path(), &plan);
    (0..3).for_each(|at| leave(&question, &plan, at, None));
    let mut collected = Collected::new(&question).unwrap();
    let mut other = ShardResult { version: "assay 2\ncommit: y".into(), outcomes: Vec::new() };
    write_result(&question.shards[0].file(RESULT), &other).unwrap();
    let refused = collected.add(&question.shards[0]).unwrap();
    assert!(
        refused.is_foreign
            && refused.why == "it was simulated by assay 2, commit: y, not by assay 1, commit: x"
    );
    other.version.clone_from(&plan.version);
    other.outcomes.push(outcome(SimulationTask { trace: 3, group: 0 }));
    write_result(&question.shards[1].file(RESULT), &other).unwrap();
    assert!(collected.add(&question.shards[1]).unwrap().why.contains("of another simulation"));
    std::fs::write(question.shards[2].file(RESULT), "{\"vers").unwrap();
    assert!(collected.add(&question.shards[2]).unwrap().why.contains("cannot be read"));
    assert_eq!(collected.gathered.missing(), 3);
    leave(&question, &plan, 2, None);
    assert_eq!(collected.add(&question.shards[2]), None);
    assert_eq!(collected.gathered.missing(), 2);
}

#[test]
fn a_job_of_an_array_does_the_tasks_of_its_number_and_one_alone_waits_for_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let mut question = question(&at, &plan(900, 900));
    let program = at.join("it's assay");
    let text =
        "#!/bin/sh\n[ \"$1\" = --version ] && { printf 'assay 1\\ncommit: x\\n'; exit; }\necho \"$@\"\n";
    std::fs::write(&program, text).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let run = |question: &ShardedQuestion, job: ScriptFor| {
        let script = script::script(question, job, &program, &Sight::default());
        let ran = Command::new("sh").args(["-c", &script]).env("SLURM_ARRAY_TASK_ID", "17").output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let place = question.place.display().to_string();
    let asked = format!("trace simulate --quiet --tasks {place}/tasks.json --shard");
    let said = run(&question, ScriptFor::Array(600));
    assert_eq!(said, format!("{asked} 617 --threads 1 --result {place}/2-17.result\n"));
    assert_eq!((question.shards[617].ended(), question.shards[17].ended()), (Some(0), None));
    question.array = None;
    let said = run(&question, ScriptFor::One(3));
    assert_eq!(said, format!("{asked} 3 --turn --result {place}/0-3.result\n"));
}
