//! `assay trace simulate`: a stored trace through predictors.

use super::info::nonsense;
use super::parse_format;
use super::walk::{TraceRange, WalkNotes, walk};
use crate::cli::help::OUTPUT;
use crate::cli::stat::predictors;
use crate::cli::{DONE, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_pure::predict::{PredictionKind, Tally, Zoo, zoo};
use assay_pure::trace::{Continuity, TraceFormat};
use assay_pure::words;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Simulate branch predictors on a trace and count their mispredictions
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/simulate.txt"))]
pub struct SimulateArguments {
    /// Trace file
    file: PathBuf,
    /// Predictors to simulate; `help` for a list
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "bimodal,gshare-32k,tage,ittage,return-stack-16"
    )]
    predictor: Vec<String>,
    /// Format of the trace if it is not recognised: assay, bt9, sbbt, sbbt-stale, champsim, cbp, jiegec
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<TraceFormat>,
    /// Only this stream
    #[arg(long, value_name = "N")]
    stream: Option<u32>,
    /// Print JSON instead of the report
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// What is kept of a stream that is being read.
struct Going {
    zoo: Zoo,
    tally: Tally,
    continuity: Continuity,
}

/// Sums over streams.
struct StreamSums {
    branches: u64,
    instructions: u64,
    judged: [u64; 3],
    missed: [Vec<u64>; 3],
    warning: Option<String>,
}

const KINDS: [(PredictionKind, &str); 3] = [
    (PredictionKind::Direction, "direction"),
    (PredictionKind::Target, "target"),
    (PredictionKind::Return, "return"),
];

impl StreamSums {
    fn new(members: usize) -> StreamSums {
        let missed = [(); 3].map(|()| vec![0; members]);
        StreamSums { branches: 0, instructions: 0, judged: [0; 3], missed, warning: None }
    }

    fn add(&mut self, going: &Going) {
        self.branches += going.tally.branches();
        self.instructions += going.tally.instructions;
        for (at, (kind, _)) in KINDS.iter().enumerate() {
            self.judged[at] += going.tally.judged(*kind);
            for (sum, missed) in self.missed[at].iter_mut().zip(going.tally.missed_of(*kind)) {
                *sum += missed;
            }
        }
        self.warning = self.warning.take().or_else(|| nonsense(&going.continuity));
    }
}

/// Runs the verb.
///
/// # Errors
/// An unknown predictor, a file that is no trace or is damaged; what was read before is not shown then.
pub fn run(arguments: &SimulateArguments) -> Result<u8> {
    // `list` is what it was called before.
    if predictors::is_list_asked(&arguments.predictor)
        || arguments.predictor.iter().any(|name| name == "list")
    {
        let lines = zoo::entries().map(|entry| format!("{:<18} {}\n", entry.name, entry.what));
        screen::print(&lines.collect::<String>());
        return Ok(DONE);
    }
    let names = &arguments.predictor;
    let fresh = || -> Result<Going, Misuse> {
        let zoo = Zoo::new(names)
            .map_err(|unknown| Misuse(format!("{unknown} (`--predictor help` lists them)")))?;
        Ok(Going { zoo, tally: Tally::new(names.len()), continuity: Continuity::default() })
    };
    fresh()?;
    let asked = TraceRange { path: &arguments.file, from: arguments.from, stream: arguments.stream };
    let mut found = StreamSums::new(names.len());
    let mut going: BTreeMap<u32, Going> = BTreeMap::new();
    let mut group = None;
    let walked = walk::<Misuse>(asked, |stored, batch, sites| {
        if batch.branches.is_empty() {
            return Ok(());
        }
        // Streams are read some at a time: those of the group before are complete.
        let now = batch.stream / assay_pure::trace::stored::LIVE;
        if group.replace(now).is_some_and(|before| before != now) {
            std::mem::take(&mut going).values().for_each(|going| found.add(going));
        }
        let stream = match going.entry(batch.stream) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => entry.insert(fresh()?),
        };
        stream.zoo.observe(&batch.branches, &mut stream.tally);
        stream.continuity.observe(sites, &batch.branches, stored.format.longest_gap());
        Ok(())
    })?;
    going.values().for_each(|going| found.add(going));
    if let Some(broken) = walked.broken {
        return Err(broken.into());
    }
    if let Some(warning) = &found.warning {
        screen::tell(&format!("assay: {}: {warning}", arguments.file.display()));
    }
    if arguments.json {
        let value = as_json(arguments, &walked, &found)?;
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&value)?));
    } else {
        screen::print(&as_text(arguments, &walked, &found));
    }
    Ok(DONE)
}

/// How often a predictor was wrong on branches of one kind.
struct PredictorSums<'a> {
    predictor: &'a str,
    /// The kind, in words.
    of: &'static str,
    judged: u64,
    missed: u64,
}

fn rows<'a>(
    arguments: &'a SimulateArguments,
    found: &'a StreamSums,
) -> impl Iterator<Item = PredictorSums<'a>> {
    arguments.predictor.iter().enumerate().flat_map(move |(member, name)| {
        let judges = zoo::entries().find(|entry| entry.name == name).map_or(&[][..], |entry| entry.judges);
        KINDS.iter().enumerate().filter(|(_, (kind, _))| judges.contains(kind)).map(move |(at, (_, word))| {
            PredictorSums {
                predictor: name,
                of: word,
                judged: found.judged[at],
                missed: found.missed[at][member],
            }
        })
    })
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn as_text(arguments: &SimulateArguments, walked: &WalkNotes, found: &StreamSums) -> String {
    let mut text = format!(
        "{}: {}, {} branches, simulated\n\n{:<18} {:<9} {:>15} {:>15} {:>9} {:>9}\n",
        arguments.file.display(),
        walked.format,
        words::count(found.branches),
        "predictor",
        "of",
        "predicted",
        "mispredicted",
        "share",
        "mpki"
    );
    for PredictorSums { predictor: name, of, judged, missed } in rows(arguments, found) {
        let rate = share(missed, judged).map_or("-".to_owned(), words::rate);
        let mpki =
            share(missed, found.instructions).map_or("-".to_owned(), |share| words::short(share * 1000.0));
        let (judged, missed) = (words::count(judged), words::count(missed));
        text.push_str(&format!("{name:<18} {of:<9} {judged:>15} {missed:>15} {rate:>9} {mpki:>9}\n"));
    }
    text
}

fn as_json(arguments: &SimulateArguments, walked: &WalkNotes, found: &StreamSums) -> Result<Value> {
    let mut predictors = Vec::new();
    for PredictorSums { predictor: name, of, judged, missed } in rows(arguments, found) {
        let definition = zoo::describe(name).map_err(|unknown| Misuse(unknown.to_string()))?.definition;
        predictors.push(json!({
            "predictor": name,
            "definition": format!("{definition:016x}"),
            "of": of,
            "predicted": judged,
            "mispredicted": missed,
            "mpki": share(missed, found.instructions).map(|share| share * 1000.0),
        }));
    }
    Ok(json!({
        "schema": "assay.trace-simulate/1",
        "file": arguments.file.display().to_string(),
        "format": walked.format.name(),
        "branches": found.branches,
        "instructions": (found.instructions > 0).then_some(found.instructions),
        "source": "simulated",
        "warning": found.warning,
        "predictors": predictors,
    }))
}
