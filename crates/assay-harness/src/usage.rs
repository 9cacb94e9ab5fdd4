//! How the calls of a request are made: what it may ask for, and what it cannot have.

use crate::fields::RequestFields;
use crate::inputs::MappedInput;
use crate::variant::Body;
use crate::{cool, fresh};

/// Calls of one sample that can be listed.
const LISTED_MAX: u64 = 16_777_216;
/// Copies of one input.
const COPIES_MAX: u64 = 1_048_576;
/// Walked over to empty the caches, unless the lab says more.
const EVICT_BYTES: u64 = 67_108_864;

/// What is cold when a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheTemperature {
    Hot,
    Rotating,
    ColdData,
    ColdCode,
}

/// How the calls of a request are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestUsage {
    pub(crate) state: CacheTemperature,
    /// Each call waits for the last one's answer.
    pub(crate) dependent: bool,
    pub(crate) copies: usize,
    /// From one call's window to the next one's.
    pub(crate) step: u64,
    pub(crate) evict_bytes: usize,
    /// That fresh states may take.
    pub(crate) fresh_bytes: u64,
}

/// The fields of `ready` that say what can be asked for.
pub(crate) fn abilities() -> String {
    let code = if cool::FLUSHES { ",cold_code" } else { "" };
    let declared = cool::declared().len();
    format!("states=hot,rotating,cold_data{code} measures=throughput,latency declared={declared}")
}

impl RequestUsage {
    /// Reads the optional fields of `measure`.
    pub(crate) fn read(fields: &RequestFields<'_>) -> Result<Self, String> {
        let states = [
            ("hot", CacheTemperature::Hot),
            ("rotating", CacheTemperature::Rotating),
            ("cold_data", CacheTemperature::ColdData),
            ("cold_code", CacheTemperature::ColdCode),
        ];
        let number = |key, least, most, absent| match fields.optional(key) {
            None => Ok(absent),
            Some(_) => fields.number(key, least, most),
        };
        let evict = number("evict", 0, u64::MAX / 4, 0)?;
        let fresh_bytes = number("fresh", 0, u64::MAX / 4, 0)?;
        Ok(Self {
            state: word(fields, "state", &states)?,
            dependent: word(fields, "measure", &[("throughput", false), ("latency", true)])?,
            copies: number("copies", 0, COPIES_MAX, 0)? as usize,
            step: number("step", 1, u64::MAX, 1)?,
            evict_bytes: if evict == 0 { EVICT_BYTES } else { evict } as usize,
            fresh_bytes: if fresh_bytes == 0 { fresh::memory() } else { fresh_bytes },
        })
    }

    /// What is measured where nothing else is asked for.
    pub(crate) fn plain() -> Self {
        Self {
            state: CacheTemperature::Hot,
            dependent: false,
            copies: 0,
            step: 1,
            evict_bytes: EVICT_BYTES as usize,
            fresh_bytes: fresh::memory(),
        }
    }

    /// Hot and independent, window after window: nothing is listed.
    pub(crate) fn is_plain(&self) -> bool {
        self.state == CacheTemperature::Hot && !self.dependent && self.step == 1
    }

    /// What the request asks for and cannot have; otherwise its copies are made.
    pub(crate) fn begin(&self, body: &Body, input: &mut MappedInput, iterations: u64) -> Result<(), String> {
        if self.is_plain() {
            return Ok(());
        }
        let prepare = match body {
            Body::Call(_) | Body::Fresh(_) => None,
            Body::Prepared { prepare, .. } => Some(prepare.as_ref()),
            Body::Loop { .. } => {
                return Err(
                    "a loop of the program's own reads its input itself, so only its hot throughput can be \
                     measured (register the function instead, by `variant` or `prepared`)"
                        .to_owned(),
                );
            }
        };
        if iterations > LISTED_MAX {
            return Err("more calls in a sample than can be listed".to_owned());
        }
        if let (Body::Fresh(_), Some(why)) =
            (body, fresh::objection(self, iterations, input.windows.len() as u64))
        {
            return Err(why.to_owned());
        }
        match self.state {
            CacheTemperature::Hot => {}
            CacheTemperature::Rotating => input.make_copies(self.copies, prepare)?,
            CacheTemperature::ColdCode if !cool::FLUSHES => {
                return Err("this CPU has no instruction that evicts code from the caches".to_owned());
            }
            CacheTemperature::ColdCode if iterations != 1 || self.dependent => {
                return Err("state=cold_code takes one call per sample and cannot measure latency".to_owned());
            }
            CacheTemperature::ColdData
                if iterations > if prepare.is_some() { 1 } else { input.windows.len() as u64 } =>
            {
                return Err(
                    "state=cold_data would visit a window twice in a sample, the second time warm".to_owned()
                );
            }
            CacheTemperature::ColdData if iterations > 1 && !cool::declared().is_empty() => {
                return Err("every call reads the memory that the program declared, so state=cold_data takes one call per \
                            sample"
                    .to_owned());
            }
            CacheTemperature::ColdCode | CacheTemperature::ColdData => {}
        }
        Ok(())
    }
}

/// Gives back what a request was given.
pub(crate) fn end(input: &mut MappedInput) {
    input.drop_copies();
    cool::release();
}

/// One of some words; the first where the field is absent.
fn word<T: Copy>(fields: &RequestFields<'_>, key: &str, words: &[(&str, T)]) -> Result<T, String> {
    let Some(value) = fields.optional(key) else { return Ok(words[0].1) };
    let found = words.iter().find(|(word, _)| *word == value);
    found
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| format!("{key}={value:.100} is not known to this harness"))
}
