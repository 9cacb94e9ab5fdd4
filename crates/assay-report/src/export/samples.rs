//! Every raw sample as a row, for whoever computes by themselves.

use assay_pure::parquet::{Column, write};
use std::fmt::Write as _;

/// One sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleLine {
    /// Number of the campaign.
    pub campaign: i64,
    /// The round.
    pub round: u32,
    /// The process that took it.
    pub process: i64,
    /// Variant.
    pub variant: String,
    /// Input.
    pub input: String,
    /// Compiler.
    pub compiler: String,
    /// Flag set.
    pub flags: String,
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
    pub flagged: Option<String>,
}

/// As CSV with a line of names (RFC 4180).
pub fn csv(samples: &[SampleLine]) -> String {
    let mut text = String::from(
        "campaign,round,process,variant,input,compiler,flags,rotation,phase_bytes,offset,position,warmup,wall_ns,cpu_ns,\
         units,flagged\n",
    );
    let maybe = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    for sample in samples {
        let names =
            [&sample.variant, &sample.input, &sample.compiler, &sample.flags].map(|name| quoted(name));
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{}",
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
            sample.flagged.as_deref().unwrap_or_default()
        );
    }
    text
}

/// A name that may hold commas, quotes or line ends.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// As Parquet.
pub fn parquet(samples: &[SampleLine]) -> Vec<u8> {
    let whole = |of: fn(&SampleLine) -> i64| Column::Integers(samples.iter().map(of).collect());
    let text = |of: fn(&SampleLine) -> &String| {
        Column::Texts(samples.iter().map(|sample| of(sample).clone()).collect())
    };
    let maybe = |of: fn(&SampleLine) -> Option<u32>| {
        Column::MaybeIntegers(samples.iter().map(|sample| of(sample).map(i64::from)).collect())
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
        ("warmup", Column::Flags(samples.iter().map(|sample| sample.warmup).collect())),
        ("wall_ns", Column::Numbers(samples.iter().map(|sample| sample.wall_ns).collect())),
        ("cpu_ns", Column::Numbers(samples.iter().map(|sample| sample.cpu_ns).collect())),
        ("units", whole(|sample| sample.units as i64)),
        ("flagged", Column::MaybeTexts(samples.iter().map(|sample| sample.flagged.clone()).collect())),
    ])
}
