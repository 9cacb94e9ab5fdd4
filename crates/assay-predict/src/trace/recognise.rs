//! Which format is this? Known by what a file holds, not by its name.
//!
//! Four formats begin with a name. ChampSim's and CBP2025's do not: they are known by whether their first records make
//! sense, which hardly anything else does by chance.

use super::source::TraceFault;
use super::{Batch, TraceSource, bt9, cbp, champsim, jiegec, sbbt, stored};
use std::fmt;

/// Bytes from the beginning of an unpacked file that are looked at.
pub const LOOK: usize = 8192;

/// A format of stored streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// Our own.
    Assay,
    /// BT9, of CBP-2016.
    Bt9,
    /// SBBT 1.0.0, of MBPlib.
    Sbbt,
    /// SBBT as written before 2023.
    SbbtStale,
    /// ChampSim's records.
    Champsim,
    /// The records of CBP2025 and CBP-NG.
    Cbp,
    /// jiegec/cbp-experiments.
    Jiegec,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [TraceFormat; 7] = [
        TraceFormat::Assay,
        TraceFormat::Bt9,
        TraceFormat::Sbbt,
        TraceFormat::SbbtStale,
        TraceFormat::Champsim,
        TraceFormat::Cbp,
        TraceFormat::Jiegec,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TraceFormat::Assay => "assay",
            TraceFormat::Bt9 => "bt9",
            TraceFormat::Sbbt => "sbbt",
            TraceFormat::SbbtStale => "sbbt-stale",
            TraceFormat::Champsim => "champsim",
            TraceFormat::Cbp => "cbp",
            TraceFormat::Jiegec => "jiegec",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<TraceFormat> {
        TraceFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The most instructions that a record can say; more are said as this many.
    pub fn longest_gap(self) -> u32 {
        match self {
            TraceFormat::Sbbt | TraceFormat::SbbtStale => sbbt::MAX_INSTRUCTIONS,
            _ => super::Branch::MAX_INSTRUCTIONS,
        }
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The format of an unpacked file that begins like this; `begin` holds [`LOOK`] bytes or the whole file.
pub fn recognise(begin: &[u8]) -> Option<TraceFormat> {
    let named = [
        (&stored::MAGIC[..7], TraceFormat::Assay),
        (bt9::MAGIC, TraceFormat::Bt9),
        (&sbbt::MAGIC[..5], TraceFormat::Sbbt),
        (&cbp::MAGIC[..], TraceFormat::Cbp),
        (&jiegec::MAGIC[..], TraceFormat::Jiegec),
    ];
    let by_name = named.into_iter().find(|(name, _)| begin.starts_with(name)).map(|(_, format)| format);
    by_name
        .or_else(|| is_champsim(begin).then_some(TraceFormat::Champsim))
        .or_else(|| is_cbp(begin).then_some(TraceFormat::Cbp))
}

/// Marks that are marks in every record, and at least one branch or one register.
fn is_champsim(begin: &[u8]) -> bool {
    let records = begin.chunks_exact(champsim::RECORD_BYTES);
    let whole = begin.len() == LOOK || records.remainder().is_empty();
    let marked = records.clone().all(|record| record[8] <= 1 && record[9] <= record[8]);
    whole
        && marked
        && records.clone().any(|record| record[8] == 1 || record[10..16].iter().any(|byte| *byte != 0))
}

/// Whole records with a branch among them, at most one record cut by the end of what is looked at.
fn is_cbp(begin: &[u8]) -> bool {
    let Ok(mut reader) = cbp::CbpReader::new(begin) else { return false };
    let mut batch = Batch::default();
    let is_whole = match reader.next(&mut batch) {
        Ok(_) => true,
        Err(error) => begin.len() == LOOK && matches!(error.fault, TraceFault::Cut { .. }),
    };
    is_whole && !batch.branches.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_formats() {
        for format in TraceFormat::ALL {
            assert_eq!(TraceFormat::named(format.name()), Some(format));
        }
        assert_eq!(TraceFormat::named("elf"), None);
    }

    #[test]
    fn formats_with_a_name_are_known_by_it_whatever_follows() {
        for (begin, format) in [
            (&b"assaytr\x63..."[..], TraceFormat::Assay),
            (b"BT9_SPA_TRACE_FORMAT\n", TraceFormat::Bt9),
            (b"SBBT\n\x01\x00\x00", TraceFormat::Sbbt),
            (b"CBPNGAmp", TraceFormat::Cbp),
            (b"CBPEXP!!", TraceFormat::Jiegec),
        ] {
            assert_eq!(recognise(begin), Some(format));
        }
    }

    #[test]
    fn formats_without_a_name_are_known_by_records_that_make_sense() {
        let mut record = [0; champsim::RECORD_BYTES];
        (record[0], record[8], record[9], record[10]) = (7, 1, 1, 26);
        assert_eq!(recognise(&record.repeat(3)), Some(TraceFormat::Champsim));
        assert_ne!(recognise(&record.repeat(3)[..100]), Some(TraceFormat::Champsim));
        record[9] = 2;
        assert_ne!(recognise(&record.repeat(3)), Some(TraceFormat::Champsim));
        let jump = [&[0, 16, 0, 0, 0, 0, 0, 0, 4, 1][..], &[0; 8], &[0, 0]].concat();
        assert_eq!(recognise(&jump), Some(TraceFormat::Cbp));
        assert_eq!(recognise(&jump.repeat(1000)[..LOOK]), Some(TraceFormat::Cbp));
        assert_eq!(recognise(&jump[..15]), None);
    }

    #[test]
    fn anything_else_is_none_of_them() {
        for other in
            [&b""[..], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0", b"hello, world, this is a text\n"]
        {
            assert_eq!(recognise(other), None);
        }
        assert_eq!(recognise(&[0; LOOK]), None, "zeros");
    }
}
