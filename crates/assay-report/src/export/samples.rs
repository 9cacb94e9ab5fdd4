//! Every raw sample as a row, for whoever computes by themselves.

use crate::csv::{END, field};
use assay_pure::parquet::{ParquetColumn, write};
use std::fmt::Write as _;
use std::sync::Arc;

/// One sample. Names are shared: a million samples have a dozen of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleLine {
    /// Number of the campaign.
    pub campaign: i64,
    /// The round.
    pub round: u32,
    /// The process that took it.
    pub process: i64,
    /// Variant.
    pub variant: Arc<str>,
    /// Input.
    pub input: Arc<str>,
    /// Compiler.
    pub compiler: Arc<str>,
    /// Flag set.
    pub flags: Arc<str>,
    /// The shuffle; none as built.
    pub rotation: Option<u32>,
    /// Padding ahead of all code; none as built.
    pub phase_bytes: Option<u32>,
    /// The entry's offset in its 64-byte line.
    pub offset: u64,
    /// Number within the visit.
    pub position: u32,
    /// Ahead of the visit, not used.
    pub warmup: bool,
    /// Wall time, the region's own cost subtracted.
    pub wall_ns: f64,
    /// The same of the thread's CPU time.
    pub cpu_ns: f64,
    /// Units in it.
    pub units: u64,
    /// Why it is left out; none: it is used.
    pub flagged: Option<&'static str>,
}

/// As CSV with a line of names (RFC 4180).
pub fn csv(samples: &[SampleLine]) -> String {
    let mut text = String::from(
        "campaign,round,process,variant,input,compiler,flags,rotation,phase_bytes,offset,position,warmup,wall_ns,cpu_ns,\
         units,flagged",
    );
    text += END;
    let maybe = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    for sample in samples {
        let names = [&sample.variant, &sample.input, &sample.compiler, &sample.flags].map(|name| field(name));
        let _ = write!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{}{END}",
            sample.campaign,
            sample.round,
            sample.process,
            names.join(","),
            maybe(sample.rotation),
            maybe(sample.phase_bytes),
            sample.offset,
            sample.position,
            u8::from(sample.warmup),
            sample.wall_ns,
            sample.cpu_ns,
            sample.units,
            sample.flagged.unwrap_or_default()
        );
    }
    text
}

/// As Parquet.
pub fn parquet(samples: &[SampleLine]) -> Vec<u8> {
    let whole = |of: fn(&SampleLine) -> i64| ParquetColumn::Integers(samples.iter().map(of).collect());
    let text = |of: fn(&SampleLine) -> &Arc<str>| {
        ParquetColumn::Texts(samples.iter().map(|sample| Arc::clone(of(sample))).collect())
    };
    let maybe = |of: fn(&SampleLine) -> Option<u32>| {
        ParquetColumn::MaybeIntegers(samples.iter().map(|sample| of(sample).map(i64::from)).collect())
    };
    write(&[
        ("campaign", whole(|sample| sample.campaign)),
        ("round", whole(|sample| i64::from(sample.round))),
        ("process", whole(|sample| sample.process)),
        ("variant", text(|sample| &sample.variant)),
        ("input", text(|sample| &sample.input)),
        ("compiler", text(|sample| &sample.compiler)),
        ("flags", text(|sample| &sample.flags)),
        ("rotation", maybe(|sample| sample.rotation)),
        ("phase_bytes", maybe(|sample| sample.phase_bytes)),
        ("offset", whole(|sample| sample.offset as i64)),
        ("position", whole(|sample| i64::from(sample.position))),
        ("warmup", ParquetColumn::Flags(samples.iter().map(|sample| sample.warmup).collect())),
        ("wall_ns", ParquetColumn::Numbers(samples.iter().map(|sample| sample.wall_ns).collect())),
        ("cpu_ns", ParquetColumn::Numbers(samples.iter().map(|sample| sample.cpu_ns).collect())),
        ("units", whole(|sample| sample.units as i64)),
        ("flagged", ParquetColumn::MaybeTexts(samples.iter().map(|sample| sample.flagged).collect())),
    ])
}
