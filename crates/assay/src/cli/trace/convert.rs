//! `assay trace convert`: one stream of a trace, in another format.

use super::info::{StreamSummary, nonsense};
use super::stored::Packing;
use super::walk::{TraceRange, WalkNotes, walk};
use super::{coding_of, parse_format};
use crate::cli::help::OUTPUT;
use crate::cli::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_linux::output::Output;
use assay_pure::trace::source::TraceFault;
use assay_pure::trace::stored::{self, Directory, StreamTotals, StreamWriter};
use assay_pure::trace::{Branch, BranchSite, TraceFormat, bt9, champsim, sbbt};
use assay_pure::words;
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write one stream of a trace in another format
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/convert.txt"))]
pub struct ConvertArguments {
    /// Trace file
    input: PathBuf,
    /// File to write
    output: PathBuf,
    /// Format of the trace if it is not recognised: assay, bt9, sbbt, sbbt-stale, champsim, cbp, jiegec
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<TraceFormat>,
    /// Format to write if the ending of OUTPUT does not give it: assay, bt9, sbbt, champsim
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    to: Option<TraceFormat>,
    /// Stream to convert; required if the trace has several
    #[arg(long, value_name = "N")]
    stream: Option<u32>,
    /// Write the readable part of a damaged trace
    #[arg(long)]
    salvage: bool,
    /// Write the smallest file of the format `assay`; it is read many times slower
    #[arg(long)]
    compact: bool,
    /// Print JSON instead of the report
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Runs the verb.
///
/// # Errors
/// Formats that are not known, a trace that is no whole one, several streams and none chosen, a file that cannot be written.
pub fn run(arguments: &ConvertArguments) -> Result<u8> {
    let to = target(arguments)?;
    screen::find_place(&arguments.output, std::slice::from_ref(&arguments.input))?;
    let passed = first_pass(arguments, to)?;
    let FirstPass { walked, totals, .. } = &passed;
    if walked.streams > 1 && arguments.stream.is_none() {
        let message = format!(
            "{} has {} streams, and {to} can store only one: choose it with --stream; `assay trace info` lists them",
            arguments.input.display(),
            walked.streams
        );
        return Err(Misuse(message).into());
    }
    if let Some(broken) = &walked.broken {
        if !arguments.salvage {
            let branches = words::count(totals.branches);
            return Err(
                Misuse(format!("{}; --salvage writes the {branches} branches before", broken.0)).into()
            );
        }
        screen::tell(&format!("assay: {}", broken.0));
    }
    if totals.branches == 0 {
        return Err(Misuse(format!("{}: there are no branches to write", arguments.input.display())).into());
    }
    if let Some(warning) = nonsense(&totals.continuity) {
        screen::tell(&format!("assay: {}: {warning}", arguments.input.display()));
    }
    let lost = second_pass(arguments, to, &passed)?;
    report(arguments, to, walked, totals, &lost)?;
    Ok(DONE)
}

/// The format to write, from `--to` or the name.
fn target(arguments: &ConvertArguments) -> Result<TraceFormat, Misuse> {
    let name =
        arguments.output.file_name().map_or(String::new(), |name| name.to_string_lossy().to_lowercase());
    let endings = [
        ("assaytrace", TraceFormat::Assay),
        ("bt9", TraceFormat::Bt9),
        ("sbbt", TraceFormat::Sbbt),
        ("champsim", TraceFormat::Champsim),
        ("champsimtrace", TraceFormat::Champsim),
    ];
    // The last word counts: `a.bt9.gz.sbbt.zst` was BT9 once.
    let format_of =
        |part: &str| endings.into_iter().find(|(ending, _)| part == *ending).map(|ending| ending.1);
    let by_name = || name.split('.').skip(1).filter_map(format_of).last();
    let to = arguments.to.or_else(by_name).ok_or_else(|| {
        let output = arguments.output.display();
        Misuse(format!(
            "the format of {output} is unknown: let its name end in .assaytrace, .bt9, .sbbt or .champsim, or \
             use --to"
        ))
    })?;
    if arguments.compact && to != TraceFormat::Assay {
        return Err(Misuse(format!("--compact is for the format assay, not for {to}")));
    }
    match to {
        TraceFormat::Assay | TraceFormat::Bt9 | TraceFormat::Sbbt | TraceFormat::Champsim => Ok(to),
        other => Err(Misuse(format!(
            "{other} can be read but not written; the formats to write are assay, bt9, \
                                sbbt and champsim"
        ))),
    }
}

fn asked(arguments: &ConvertArguments) -> TraceRange<'_> {
    TraceRange { path: &arguments.input, from: arguments.from, stream: arguments.stream }
}

/// What must be known of a stream before it is written.
struct FirstPass {
    walked: WalkNotes,
    /// SBBT puts them in front.
    totals: StreamSummary,
    /// Of BT9; else empty.
    tables: bt9::Bt9Tables,
}

fn first_pass(arguments: &ConvertArguments, to: TraceFormat) -> Result<FirstPass> {
    let (mut totals, mut tables) = (StreamSummary::default(), bt9::Bt9Tables::default());
    let mut first = None;
    let walked = walk::<Misuse>(asked(arguments), |stored, batch, sites| {
        if batch.branches.is_empty() || *first.get_or_insert(batch.stream) != batch.stream {
            return Ok(());
        }
        totals.observe(sites, &batch.branches, stored.format.longest_gap());
        if to == TraceFormat::Bt9 {
            tables.add(sites, &batch.branches).map_err(|error| Misuse(error.to_string()))?;
        }
        Ok(())
    })?;
    tables.close().map_err(|error| Misuse(error.to_string()))?;
    Ok(FirstPass { walked, totals, tables })
}

/// A format being written.
enum Sink<'a, W: Write> {
    Assay(stored::StoredWriter<W>, Box<StreamWriter>),
    Bt9(bt9::Bt9Writer<'a, W>),
    Sbbt(sbbt::SbbtWriter<W>),
    Champsim(champsim::ChampSimWriter<W>),
}

/// What could not be written, in whole sentences.
type Losses = Vec<String>;

fn second_pass(arguments: &ConvertArguments, to: TraceFormat, passed: &FirstPass) -> Result<Losses> {
    let cannot = || format!("cannot write {}", arguments.output.display());
    let place = |out: BufWriter<Output>| -> Result<()> {
        let out = out.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(cannot)?;
        out.finish().with_context(cannot)
    };
    let out = BufWriter::new(Output::create(&arguments.output).with_context(cannot)?);
    match packing(&arguments.output) {
        Packing::None => {
            let (out, lost) = fill(arguments, to, passed, out)?;
            place(out)?;
            Ok(lost)
        }
        Packing::Gzip => {
            let packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let (packed, lost) = fill(arguments, to, passed, packed)?;
            place(packed.finish().with_context(cannot)?)?;
            Ok(lost)
        }
        Packing::Xz => {
            let packed = liblzma::write::XzEncoder::new(out, 6);
            let (packed, lost) = fill(arguments, to, passed, packed)?;
            place(packed.finish().with_context(cannot)?)?;
            Ok(lost)
        }
        Packing::Zstd => {
            let packed = zstd::Encoder::new(out, 9).with_context(cannot)?;
            let (packed, lost) = fill(arguments, to, passed, packed)?;
            place(packed.finish().with_context(cannot)?)?;
            Ok(lost)
        }
    }
}

fn packing(output: &Path) -> Packing {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => Packing::Gzip,
        Some("xz") => Packing::Xz,
        Some("zst") => Packing::Zstd,
        _ => Packing::None,
    }
}

fn fill<W: Write>(
    arguments: &ConvertArguments,
    to: TraceFormat,
    passed: &FirstPass,
    out: W,
) -> Result<(W, Losses)> {
    let FirstPass { walked, totals, tables } = passed;
    let mut sink = match to {
        TraceFormat::Bt9 => Sink::Bt9(bt9::Bt9Writer::new(out, tables)?),
        TraceFormat::Sbbt => Sink::Sbbt(sbbt::SbbtWriter::new(out, totals.instructions, totals.branches)?),
        TraceFormat::Champsim => Sink::Champsim(champsim::ChampSimWriter::new(out)),
        _ => {
            let stream = StreamWriter::new(coding_of(arguments.compact));
            Sink::Assay(stored::StoredWriter::new(out)?, Box::new(stream))
        }
    };
    let mut first = None;
    walk::<anyhow::Error>(asked(arguments), |_, batch, sites| {
        if batch.branches.is_empty() || *first.get_or_insert(batch.stream) != batch.stream {
            return Ok(());
        }
        sink.write(sites, &batch.branches)
    })?;
    sink.finish(arguments, walked, first.unwrap_or(0))
}

/// A fault of a stream that is coded.
struct Uncodable(anyhow::Error);

impl From<TraceFault> for Uncodable {
    fn from(fault: TraceFault) -> Uncodable {
        Uncodable(Misuse(fault.to_string()).into())
    }
}

impl<W: Write> Sink<'_, W> {
    fn write(&mut self, sites: &[BranchSite], branches: &[Branch]) -> Result<()> {
        match self {
            Sink::Assay(writer, stream) => {
                let pushed = stream.push(sites, branches, |block| {
                    writer.write(0, &block).map_err(|error| Uncodable(error.into()))
                });
                pushed.map_err(|uncodable| uncodable.0)
            }
            Sink::Bt9(writer) => Ok(writer.write(sites, branches)?),
            Sink::Sbbt(writer) => writer.write(branches).map_err(|error| match error.kind() {
                std::io::ErrorKind::InvalidInput => Misuse(error.to_string()).into(),
                _ => error.into(),
            }),
            Sink::Champsim(writer) => Ok(writer.write(sites, branches)?),
        }
    }

    fn finish(self, arguments: &ConvertArguments, walked: &WalkNotes, chosen: u32) -> Result<(W, Losses)> {
        Ok(match self {
            Sink::Assay(mut writer, mut stream) => {
                if let Some(block) = stream.finish() {
                    writer.write(0, &block)?;
                }
                (writer.finish(&directory(arguments, walked, chosen, &stream))?, Losses::new())
            }
            Sink::Bt9(writer) => (writer.finish()?, Losses::new()),
            Sink::Sbbt(writer) => {
                let shortened = (writer.shortened > 0).then(|| {
                    let most = sbbt::MAX_INSTRUCTIONS;
                    format!(
                        "{} gaps of more than {most} instructions are stored as {most}",
                        words::count(writer.shortened)
                    )
                });
                (writer.finish()?, shortened.into_iter().collect())
            }
            Sink::Champsim(writer) => {
                let mut lost = vec!["the format has no targets of branches that are not taken".to_owned()];
                if writer.flattened > 0 {
                    let flattened = words::count(writer.flattened);
                    lost.push(format!("{flattened} conditional calls, returns or indirect jumps are written as conditional jumps"));
                }
                if writer.lost_targets > 0 {
                    let targets = words::count(writer.lost_targets);
                    lost.push(format!("{targets} targets are lost: the stream continues at another address"));
                }
                (writer.finish()?, lost)
            }
        })
    }
}

/// What a trace of ours knows besides the branches: what the trace before knew of this stream, or its format.
fn directory(
    arguments: &ConvertArguments,
    walked: &WalkNotes,
    chosen: u32,
    stream: &StreamWriter,
) -> Directory {
    let (branches, instructions) = (stream.branches(), stream.instructions());
    let totals = StreamTotals { branches, instructions, ..StreamTotals::default() };
    let known = walked.directory.as_ref().and_then(|before| {
        let chosen = *before.streams.get(chosen as usize)?;
        let process = before.processes.get(chosen.process as usize)?.clone();
        let streams = vec![StreamTotals { process: 0, thread: chosen.thread, ..totals }];
        Some(Directory {
            source: before.source.clone(),
            streams,
            processes: vec![process],
            without_instructions: false,
        })
    });
    known.unwrap_or_else(|| Directory {
        source: format!("{} of {}", walked.format, arguments.input.display()),
        streams: vec![totals],
        processes: Vec::new(),
        without_instructions: !walked.has_instructions,
    })
}

fn report(
    arguments: &ConvertArguments,
    to: TraceFormat,
    walked: &WalkNotes,
    totals: &StreamSummary,
    lost: &Losses,
) -> Result<()> {
    let bytes = std::fs::metadata(&arguments.output).map_or(0, |facts| facts.len());
    let bits = bytes as f64 * 8.0 / totals.branches as f64;
    if arguments.json {
        let value = json!({
            "schema": "assay.trace-convert/1",
            "input": arguments.input.display().to_string(),
            "from": walked.format.name(),
            "output": arguments.output.display().to_string(),
            "to": to.name(),
            "branches": totals.branches,
            "instructions": (totals.instructions > 0).then_some(totals.instructions),
            "bytes": bytes,
            "bits_per_branch": bits,
            "lost": lost,
            "salvaged": walked.broken.as_ref().map(|misuse| &misuse.0),
        });
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&value)?));
        return Ok(());
    }
    let mut text = format!(
        "{}: {to}, {} branches, {}, {} bits per branch\n",
        arguments.output.display(),
        words::count(totals.branches),
        words::bytes(bytes),
        words::short(bits)
    );
    lost.iter().for_each(|sentence| text.push_str(&format!("  {sentence}\n")));
    screen::print(&text);
    Ok(())
}
