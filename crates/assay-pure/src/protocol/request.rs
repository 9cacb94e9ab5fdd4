//! What the lab asks of a measured program.

use super::error::{Problem, ProtocolError};
use super::fields::{Fields, digits};
use super::usage::CallUsage;
use crate::inputs::Window;
use std::fmt::Write as _;

/// One request; all but `Load` are one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Map a file and keep it under `id`; the same id again replaces it. Answered by [`super::Reply::Loaded`].
    Load {
        /// The number under which later requests name this input.
        id: u32,
        /// Bytes of the file.
        size: u64,
        /// Units in the whole input.
        units: u64,
        /// The stretches that single calls get, at least one.
        windows: Vec<Window>,
        /// Absolute path. A newline cannot be said in this protocol and is sent as `?`, so that the program answers
        /// that it cannot open the file.
        path: String,
    },
    /// Compute the answers without timing. Answered by [`super::Reply::Answer`].
    Answer {
        /// Variant, by its index in the hello.
        variant: u32,
        /// Input, by the id it was loaded under.
        input: u32,
    },
    /// Take samples. Answered by one [`super::Reply::Sample`] each, then [`super::Reply::Measured`].
    Measure {
        /// Variant, by its index in the hello.
        variant: u32,
        /// Input, by the id it was loaded under.
        input: u32,
        /// The window of the first call.
        window: u32,
        /// Calls per sample, at least 1.
        iterations: u64,
        /// Samples to take first and flag as warm-up.
        warmup: u32,
        /// Samples to take after them, at least 1.
        samples: u32,
        /// How the calls are made.
        usage: CallUsage,
    },
    /// Walk over windows, each pass between two marks that a tracer sees; nothing is timed. Answered by
    /// [`super::Reply::Traced`].
    Trace {
        /// Variant, by its index in the hello.
        variant: u32,
        /// Input, by the id it was loaded under.
        input: u32,
        /// The window of each pass's first call.
        window: u32,
        /// Calls per pass, on consecutive windows; other kinds than `call` take the whole input once, or nothing for 0.
        windows: u64,
        /// Passes, at least 1.
        passes: u32,
    },
    /// Stop. Answered by [`super::Reply::Bye`] and exit code 0.
    Bye,
}

impl Request {
    /// The request as it is sent, every line ended by a newline.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Load { id, size, units, windows, path } => {
                let path = path.replace(['\n', '\r'], "?");
                let count = windows.len();
                let mut text =
                    format!("load id={id} size={size} units={units} windows={count} path={path}\n");
                for Window { offset, size, units } in windows {
                    writeln!(text, "window {offset} {size} {units}").expect("a String takes every write");
                }
                text
            }
            Self::Answer { variant, input } => format!("answer variant={variant} input={input}\n"),
            Self::Measure { variant, input, window, iterations, warmup, samples, usage } => format!(
                "measure variant={variant} input={input} window={window} iterations={iterations} warmup={warmup} samples={samples}{}\n",
                usage.to_text()
            ),
            Self::Trace { variant, input, window, windows, passes } => format!(
                "trace variant={variant} input={input} window={window} windows={windows} passes={passes}\n"
            ),
            Self::Bye => "bye\n".to_owned(),
        }
    }

    /// Reads one request as sent by [`Self::to_text`], with or without its last newline.
    ///
    /// Errors: any line that is not of the protocol; a `load` with another number of windows than announced.
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        let line = lines.next().unwrap_or("");
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !matches!(word, "load" | "answer" | "measure" | "trace" | "bye") {
            return Err(ProtocolError::new(line, Problem::UnknownMessage));
        }
        let fields = Fields::split(line, rest)?;
        let request = match word {
            "load" => return load(&fields, line, lines),
            "answer" => Self::Answer { variant: fields.number("variant")?, input: fields.number("input")? },
            "measure" => Self::Measure {
                variant: fields.number("variant")?,
                input: fields.number("input")?,
                window: fields.number("window")?,
                iterations: fields.number("iterations")?,
                warmup: fields.number("warmup")?,
                samples: fields.number("samples")?,
                usage: CallUsage::read(&fields)?,
            },
            "trace" => Self::Trace {
                variant: fields.number("variant")?,
                input: fields.number("input")?,
                window: fields.number("window")?,
                windows: fields.number("windows")?,
                passes: fields.number("passes")?,
            },
            _ => Self::Bye,
        };
        match lines.next() {
            None => Ok(request),
            Some(extra) => Err(ProtocolError::new(extra, Problem::UnknownMessage)),
        }
    }
}

/// The rest of a `load`: its announced windows.
fn load<'a>(
    fields: &Fields<'_>,
    line: &str,
    lines: impl Iterator<Item = &'a str>,
) -> Result<Request, ProtocolError> {
    let announced: u64 = fields.number("windows")?;
    let windows = lines.map(window).collect::<Result<Vec<_>, _>>()?;
    let found = windows.len() as u64;
    if found != announced {
        return Err(ProtocolError::new(line, Problem::Windows { announced, found }));
    }
    Ok(Request::Load {
        id: fields.number("id")?,
        size: fields.number("size")?,
        units: fields.number("units")?,
        windows,
        path: fields.text("path")?.to_owned(),
    })
}

/// One `window OFFSET SIZE UNITS` line.
fn window(line: &str) -> Result<Window, ProtocolError> {
    let wrong = || {
        let part = super::error::printable(line);
        ProtocolError::new(line, Problem::NotAField { part })
    };
    let mut words = line.strip_prefix("window ").ok_or_else(wrong)?.split(' ');
    let mut number = || words.next().and_then(digits).ok_or_else(wrong);
    let window = Window { offset: number()?, size: number()?, units: number()? };
    if words.next().is_some() { Err(wrong()) } else { Ok(window) }
}
