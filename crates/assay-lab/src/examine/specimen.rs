//! Pieces of an input that a variant is tried on: its beginning, half of that, and other bytes of the same kind.
//!
//! Method: other bytes are what the generator makes with another seed; of recorded varints each value with its lowest bit
//! turned, which keeps all lengths. Nothing else is altered, since a program may rely on what its input is.
//! Known limits: of recorded lines and bytes there is no other, and a file that is one unit has no half.

use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::inputs::{Format, Window};

/// Units of the beginning.
const PIECE: u64 = 8192;
/// Units that calls of the experiment's own size are tried on.
const PROBE: u64 = 262_144;
/// Any seed but the experiment's.
const TURNED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes with the stretches that calls get.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPiece {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Stretches.
    pub windows: Vec<Window>,
    /// Units.
    pub units: u64,
}

/// An input in pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Specimen {
    /// Its beginning, in one stretch.
    pub whole: InputPiece,
    /// The first half of that.
    pub half: Option<InputPiece>,
    /// Other bytes of the same kind.
    pub other: Option<InputPiece>,
    /// A longer beginning, cut as the experiment cuts it.
    pub probe: InputPiece,
    /// The first unit alone.
    pub one: Option<InputPiece>,
}

impl Specimen {
    /// The pieces of an input whose bytes are `bytes`, or its beginning. None of an input without bytes.
    ///
    /// # Errors
    /// Bytes that are not of the input's format.
    pub fn of(spec: &InputSpec, bytes: &[u8]) -> Result<Option<Specimen>, String> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if matches!(spec.source, InputSource::Settings { .. }) {
            return settings(spec, bytes).map(Some);
        }
        // A variant that is called for each unit need not look at a second one.
        let piece = if spec.window_units == 1 { 1 } else { PIECE };
        let whole = beginning(spec.format, bytes, piece)?;
        let half_units = whole.units / 2;
        let half =
            if half_units > 0 { Some(beginning(spec.format, &whole.bytes, half_units)?) } else { None };
        let other = other(spec, &whole).filter(|other| *other != whole.bytes);
        let other = other.map(|bytes| beginning(spec.format, &bytes, whole.units)).transpose()?;
        let probe = beginning(spec.format, bytes, PROBE)?;
        let windows = spec.windows(&probe.bytes).map_err(|error| error.to_string())?;
        let probe = InputPiece { windows, ..probe };
        let one = Some(beginning(spec.format, &whole.bytes, 1)?);
        Ok(Some(Specimen { whole, half, other, probe, one }))
    }
}

/// Numbers for a program that makes its own work can be neither cut nor altered.
fn settings(spec: &InputSpec, bytes: &[u8]) -> Result<Specimen, String> {
    let windows = spec.windows(bytes).map_err(|error| error.to_string())?;
    let units = windows.iter().map(|window| window.units).sum();
    let whole = InputPiece { bytes: bytes.to_vec(), windows, units };
    Ok(Specimen { probe: whole.clone(), whole, half: None, other: None, one: None })
}

/// The first so many units, in one stretch.
fn beginning(format: Format, bytes: &[u8], units: u64) -> Result<InputPiece, String> {
    let windows = format.windows(bytes, units).map_err(|error| error.to_string())?;
    let first = *windows.first().ok_or("the input is empty")?;
    let bytes = bytes[..first.size as usize].to_vec();
    Ok(InputPiece { bytes, units: first.units, windows: vec![first] })
}

fn other(spec: &InputSpec, whole: &InputPiece) -> Option<Vec<u8>> {
    match &spec.source {
        InputSource::Generated { .. } | InputSource::Keys { .. } => made(spec, whole.units, TURNED),
        InputSource::Recorded { .. } | InputSource::Command { .. } if spec.format == Format::Varint => {
            Some(turned(&whole.bytes))
        }
        InputSource::Recorded { .. }
        | InputSource::Command { .. }
        | InputSource::Settings { .. }
        | InputSource::Empty => None,
    }
}

/// The first so many units that the input's generator makes, with its seed turned by `turn`; none of any other input.
pub fn made(spec: &InputSpec, units: u64, turn: u64) -> Option<Vec<u8>> {
    let mut source = spec.source.clone();
    if let InputSource::Keys { units: all, seed, .. } = &mut source {
        *all = units.min(*all);
        *seed ^= turn;
        return source.bytes();
    }
    let InputSource::Generated { units: all, seed, distinct_units, .. } = &mut source else { return None };
    *all = units.min(*all);
    *seed ^= turn;
    *distinct_units = distinct_units.map(|distinct| distinct.min(*all));
    source.bytes()
}

/// Varints with the lowest bit of each value turned.
fn turned(bytes: &[u8]) -> Vec<u8> {
    let mut is_first = true;
    let turn = |byte: &u8| {
        let turned = byte ^ u8::from(is_first);
        is_first = byte & 0x80 == 0;
        turned
    };
    bytes.iter().map(turn).collect()
}

/// The beginning of an input that all pieces are cut from.
pub fn probe_units(units: u64) -> u64 {
    units.min(PROBE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::experiment::Experiment;

    fn spec(keys: &str) -> InputSpec {
        let text = format!(
            "question = \"?\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n[program]\nsources = [\"x.c\"]\n[inputs.x]\n{keys}\n"
        );
        let parsed = Experiment::from_toml(&text, "x/x.toml").expect("a good file");
        parsed.experiment.inputs.into_iter().next().expect("one input")
    }

    fn pieces(spec: &InputSpec) -> Specimen {
        let bytes = made(spec, probe_units(u64::MAX), 0).expect("generated");
        Specimen::of(spec, &bytes).expect("of its format").expect("not empty")
    }

    #[test]
    fn a_long_input_is_cut_at_borders_of_units() {
        let spec = spec("generator = \"log_uniform\"\nunits = 20_000\nwindow_units = 4096");
        let found = pieces(&spec);
        let half = found.half.expect("there are two units");
        assert_eq!((found.whole.units, half.units, found.probe.units), (8192, 4096, 20_000));
        assert_eq!(found.whole.bytes[..half.bytes.len()], half.bytes);
        assert_eq!(found.probe.windows.len(), 5);
        let other = found.other.expect("another seed makes other bytes");
        assert_eq!(other.units, 8192);
        assert_ne!(other.bytes, found.whole.bytes);
    }

    #[test]
    fn one_unit_has_no_half_and_one_value_no_other_bytes() {
        let found = pieces(&spec("generator = \"uniform_value\"\nmin = 7\nmax = 7\nunits = 1"));
        assert_eq!((found.half, found.other), (None, None));
    }

    #[test]
    fn an_input_of_one_unit_a_call_is_tried_one_unit_at_a_time() {
        let found = pieces(&spec("generator = \"log_uniform\"\nunits = 20_000\nwindow_units = 1"));
        assert_eq!((found.whole.units, found.half), (1, None));
        assert_eq!((found.probe.units, found.probe.windows.len()), (20_000, 20_000));
        assert_ne!(found.other.expect("another value").bytes, found.whole.bytes);
    }

    #[test]
    fn a_recorded_varint_keeps_its_length_and_changes_its_value() {
        assert_eq!(turned(&[0x05, 0x81, 0x01, 0x80, 0x80, 0x02]), [0x04, 0x80, 0x01, 0x81, 0x80, 0x02]);
        let spec = spec("path = \"x\"\nformat = \"varint\"");
        let found = Specimen::of(&spec, &[0x05, 0x81, 0x01]).unwrap().unwrap();
        assert_eq!(found.other.unwrap().bytes, [0x04, 0x80, 0x01]);
        assert_eq!(Specimen::of(&spec, &[]).unwrap(), None);
    }

    #[test]
    fn settings_are_neither_cut_nor_altered() {
        let spec =
            spec("generator = \"settings\"\nsettings = { loss = 0.05 }\nunits = 500\nformat = \"whole\"");
        let found = Specimen::of(&spec, &spec.source.bytes().unwrap()).unwrap().unwrap();
        assert_eq!((found.whole.units, found.half, found.other), (500, None, None));
    }

    #[test]
    fn recorded_lines_have_no_other_bytes() {
        let spec = spec("path = \"x\"\nformat = \"lines\"");
        let found = Specimen::of(&spec, b"a\nb\nc\n").unwrap().unwrap();
        assert_eq!((found.other, found.half.unwrap().bytes), (None, b"a\n".to_vec()));
    }
}
