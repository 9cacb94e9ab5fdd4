//! `assay trace info`: what is in a stored trace, and whether it makes sense.

use super::parse_format;
use super::walk::{TraceRange, WalkNotes, walk};
use crate::cli::help::OUTPUT;
use crate::cli::{DONE, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_pure::trace::stored::BlockCoding;
use assay_pure::trace::{Branch, BranchClass, BranchSite, Continuity, TraceFormat};
use assay_pure::words;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Say what is in a trace: streams, branches by class, sites, size, and whether each branch follows from the one before
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/info.txt"))]
pub struct InfoArguments {
    /// Trace file
    file: PathBuf,
    /// Format of the trace if it is not recognised: assay, bt9, sbbt, sbbt-stale, champsim, cbp, jiegec
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<TraceFormat>,
    /// Print JSON instead of the report
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// What was counted of the branches of one class.
struct ClassExecutions {
    class: BranchClass,
    executed: u64,
    taken: u64,
}

/// What was counted of one stream.
#[derive(Default)]
pub struct StreamSummary {
    pub branches: u64,
    pub instructions: u64,
    pub sites: usize,
    /// By the class's bits: executed, taken.
    classes: [(u64, u64); 12],
    pub continuity: Continuity,
}

impl StreamSummary {
    pub fn observe(&mut self, sites: &[BranchSite], branches: &[Branch], longest_gap: u32) {
        for branch in branches {
            self.instructions += u64::from(branch.instructions());
            let (executed, taken) = &mut self.classes[usize::from(branch.class().bits())];
            *executed += 1;
            *taken += u64::from(branch.taken());
        }
        self.branches += branches.len() as u64;
        self.sites = sites.len();
        self.continuity.observe(sites, branches, longest_gap);
    }

    fn classes(&self) -> impl Iterator<Item = ClassExecutions> {
        let all = (0..12).filter_map(BranchClass::from_bits);
        all.zip(self.classes)
            .map(|(class, (executed, taken))| ClassExecutions { class, executed, taken })
            .filter(|counts| counts.executed > 0)
    }
}

/// The warning that a stream makes no sense, if it makes none.
pub fn nonsense(continuity: &Continuity) -> Option<String> {
    let holds = continuity.holds().filter(|_| continuity.is_nonsense())?;
    Some(format!(
        "only {} of the branches can be reached from the branch before them: the file is in another format, or the stream was \
         put together from pieces",
        words::rate(holds)
    ))
}

/// Runs the verb.
///
/// # Errors
/// The file is no trace, or is damaged; what is whole is described first.
pub fn run(arguments: &InfoArguments) -> Result<u8> {
    let asked = TraceRange { path: &arguments.file, from: arguments.from, stream: None };
    let mut streams: BTreeMap<u32, StreamSummary> = BTreeMap::new();
    let walked = walk::<Misuse>(asked, |stored, batch, sites| {
        if !batch.branches.is_empty() {
            let summary = streams.entry(batch.stream).or_default();
            summary.observe(sites, &batch.branches, stored.format.longest_gap());
        }
        Ok(())
    })?;
    if arguments.json {
        let value = as_json(arguments, &walked, &streams);
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&value)?));
    } else {
        screen::print(&as_text(arguments, &walked, &streams));
    }
    match walked.broken {
        Some(misuse) => Err(misuse.into()),
        None => Ok(DONE),
    }
}

fn bits_per_branch(walked: &WalkNotes, branches: u64) -> Option<f64> {
    (branches > 0).then(|| walked.bytes as f64 * 8.0 / branches as f64)
}

fn as_text(arguments: &InfoArguments, walked: &WalkNotes, streams: &BTreeMap<u32, StreamSummary>) -> String {
    let sum = |of: fn(&StreamSummary) -> u64| streams.values().map(of).sum::<u64>();
    let branches = sum(|stream| stream.branches);
    let compact = if walked.coding == Some(BlockCoding::Compact) { ", compact" } else { "" };
    let (file, format) = (arguments.file.display(), walked.format);
    let mut text = format!("{file}: {format}{compact}, {}", words::bytes(walked.bytes));
    if let Some(bits) = bits_per_branch(walked, branches) {
        text.push_str(&format!(", {} bits per branch", words::short(bits)));
    }
    text.push('\n');
    if let Some(directory) = &walked.directory {
        text.push_str(&format!("from {}\n", directory.source));
    }
    let instructions = match sum(|stream| stream.instructions) {
        0 => "instructions not recorded".to_owned(),
        instructions => format!("{} instructions", words::count(instructions)),
    };
    let sites = sum(|stream| stream.sites as u64);
    text.push_str(&format!(
        "{} branches at {} sites, {instructions}\n",
        words::count(branches),
        words::count(sites)
    ));
    for process in walked.directory.iter().flat_map(|directory| &directory.processes) {
        let (pid, ended) = (process.pid, &process.ended);
        // Recordings of the first plugins lack it.
        let program = if process.program.is_empty() { "a program without a name" } else { &process.program };
        text.push_str(&format!(
            "\nprocess {pid}: {program}, {ended}, {}\n",
            words::plural(process.modules.len() as u64, "module")
        ));
        process.notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    }
    for (number, stream) in streams {
        text.push_str(&format!("\nstream {number}{}: ", owner(walked, *number)));
        text.push_str(&stream_text(stream));
    }
    text
}

/// The thread that a stream is of, where the file says.
fn owner(walked: &WalkNotes, stream: u32) -> String {
    let found = walked.directory.as_ref().and_then(|directory| {
        let totals = directory.streams.get(stream as usize)?;
        let process = directory.processes.get(totals.process as usize)?;
        Some(format!(" (process {}, thread {})", process.pid, totals.thread))
    });
    found.unwrap_or_default()
}

fn stream_text(stream: &StreamSummary) -> String {
    let mut text =
        format!("{} branches at {} sites", words::count(stream.branches), words::count(stream.sites as u64));
    if stream.instructions > 0 {
        text.push_str(&format!(", {} instructions", words::count(stream.instructions)));
    }
    text.push_str(&format!("\n  {:<26} {:>15} {:>9}\n", "class", "executed", "taken"));
    for ClassExecutions { class, executed, taken } in stream.classes() {
        let share = words::rate(taken as f64 / executed as f64);
        text.push_str(&format!("  {:<26} {:>15} {share:>9}\n", class.to_string(), words::count(executed)));
    }
    let continuity = &stream.continuity;
    match (continuity.holds(), continuity.first_broken) {
        (None, _) => text.push_str("  whether each branch follows from the one before cannot be checked\n"),
        (Some(_), None) => {
            let checked = words::count(continuity.checked);
            text.push_str(&format!("  each branch can be reached from the one before ({checked} checked)\n"));
        }
        (Some(_), Some(first)) => {
            let (broken, checked) = (words::count(continuity.broken), words::count(continuity.checked));
            text.push_str(&format!(
                "  {broken} of {checked} branches cannot be reached from the one before; the first is branch {first}\n"
            ));
        }
    }
    if let Some(warning) = nonsense(continuity) {
        text.push_str(&format!("  {warning}\n"));
    }
    text
}

fn as_json(arguments: &InfoArguments, walked: &WalkNotes, streams: &BTreeMap<u32, StreamSummary>) -> Value {
    let branches: u64 = streams.values().map(|stream| stream.branches).sum();
    let streams: Vec<Value> =
        streams.iter().map(|(number, stream)| stream_json(walked, *number, stream)).collect();
    let processes = walked.directory.iter().flat_map(|directory| &directory.processes).map(|process| {
        let modules = process.modules.iter().map(|module| {
            json!({"start": module.start, "end": module.end, "file_offset": module.file_offset, "path": module.path})
        });
        json!({
            "pid": process.pid, "parent": process.parent, "program": process.program, "ended": process.ended,
            "modules": modules.collect::<Vec<_>>(), "notes": process.notes,
        })
    });
    json!({
        "schema": "assay.trace-info/1",
        "file": arguments.file.display().to_string(),
        "format": walked.format.name(),
        "coding": walked.coding.map(|coding| match coding {
            BlockCoding::Compact => "compact",
            BlockCoding::Columns => "columns",
        }),
        "source": walked.directory.as_ref().map(|directory| &directory.source),
        "bytes": walked.bytes,
        "bits_per_branch": bits_per_branch(walked, branches),
        "branches": branches,
        "processes": processes.collect::<Vec<_>>(),
        "streams": streams,
        "broken": walked.broken.as_ref().map(|misuse| &misuse.0),
    })
}

fn stream_json(walked: &WalkNotes, number: u32, stream: &StreamSummary) -> Value {
    let totals = walked.directory.as_ref().and_then(|directory| directory.streams.get(number as usize));
    let process = walked
        .directory
        .as_ref()
        .and_then(|directory| directory.processes.get(totals?.process as usize).map(|process| process.pid));
    let classes: serde_json::Map<String, Value> = stream
        .classes()
        .map(|ClassExecutions { class, executed, taken }| {
            (class.to_string(), json!({"executed": executed, "taken": taken}))
        })
        .collect();
    let continuity = &stream.continuity;
    json!({
        "stream": number,
        "process": process,
        "thread": totals.filter(|_| process.is_some()).map(|totals| totals.thread),
        "branches": stream.branches,
        "sites": stream.sites,
        "instructions": (stream.instructions > 0).then_some(stream.instructions),
        "classes": classes,
        "reachable": {
            "checked": continuity.checked, "broken": continuity.broken, "first_broken": continuity.first_broken,
        },
        "warning": nonsense(continuity),
    })
}
