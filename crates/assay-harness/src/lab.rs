//! Run by the lab: greets and serves requests until `bye` or until the lab is gone.

use crate::channel::{Channel, ChannelLine, LINE_MAX};
use crate::fields::{RequestFields, digits};
use crate::inputs::{MappedInput, map_file};
use crate::state::Pass;
use crate::usage::{self, RequestUsage};
use crate::variant::{RegisteredVariant, objection};
use crate::{beside, heap, listed, pulse, sample, trace};
use std::ffi::OsStr;
use std::process::ExitCode;

/// The environment variable that names the channel's descriptors.
pub(crate) const CHANNEL_VARIABLE: &str = "ASSAY_CHANNEL";

const PROTOCOL_VERSION: u32 = 1;
const WINDOWS_MAX: u64 = 16_777_216;
const SAMPLES_MAX: u64 = 1_000_000;

/// Serves the lab over the descriptors named.
pub(crate) fn main(descriptors: &OsStr, variants: &[RegisteredVariant]) -> ExitCode {
    let Some(channel) = descriptors.to_str().and_then(Channel::open) else {
        eprintln!(
            "assay-harness: {CHANNEL_VARIABLE}={descriptors:?} does not name two open descriptors as \"R,W\""
        );
        return ExitCode::from(2);
    };
    // SAFETY: `Bench::main` asks to be called before any other thread is started.
    unsafe { std::env::remove_var(CHANNEL_VARIABLE) };
    heap::find();
    let mut lab = Lab { channel, variants, inputs: Vec::new() };
    if let Some(why) = objection(variants) {
        lab.channel.say(&format!("error reason={why}"));
        lab.channel.flush();
        return ExitCode::from(2);
    }
    lab.greet();
    lab.channel.flush();
    let mut line = lab.channel.read_line();
    loop {
        let (more, next) = lab.serve(line);
        if !more {
            lab.channel.flush();
            return ExitCode::SUCCESS;
        }
        line = next.unwrap_or_else(|| {
            lab.channel.flush();
            lab.channel.read_line()
        });
    }
}

/// Who serves: the channel, the program's variants, and the inputs loaded so far.
struct Lab<'a> {
    channel: Channel,
    variants: &'a [RegisteredVariant],
    inputs: Vec<MappedInput>,
}

impl Lab<'_> {
    fn greet(&mut self) {
        let count = self.variants.len();
        self.channel.say(&format!("assay {PROTOCOL_VERSION} hello harness=rust variants={count}"));
        for (index, variant) in self.variants.iter().enumerate() {
            let RegisteredVariant { name, entry, unavailable, .. } = variant;
            let reason = unavailable.as_ref().map(|why| format!(" unavailable={why}")).unwrap_or_default();
            let kind = variant.kind();
            self.channel.say(&format!("variant {index} kind={kind} entry={entry} name={name}{reason}"));
        }
        let costs = sample::calibrate();
        self.channel.say(&format!(
            "ready wall_read_ns={:.2} cpu_read_ns={:.2} region_wall_ns={:.2} region_cpu_ns={:.2} {}",
            costs.wall_read_ns,
            costs.cpu_read_ns,
            costs.region_wall_ns,
            costs.region_cpu_ns,
            usage::abilities()
        ));
    }

    /// Serves one line. Returns whether to go on, and a line that was read too far and comes next.
    fn serve(&mut self, line: ChannelLine) -> (bool, Option<ChannelLine>) {
        let line = match line {
            ChannelLine::Text(line) => line,
            ChannelLine::TooLong => {
                self.channel.say(&format!("error reason=a request line has more than {LINE_MAX} bytes"));
                return (true, None);
            }
            ChannelLine::End => return (false, None),
        };
        let (word, rest) = line.split_once(' ').map_or((&*line, None), |(word, rest)| (word, Some(rest)));
        let fields = rest.map_or_else(|| Ok(RequestFields::default()), RequestFields::split);
        match word {
            "window" => {} // belongs to a load that was refused, and was answered there
            "load" => return (true, self.serve_load(fields)),
            "answer" => {
                let reply = fields.and_then(|fields| self.answer(&fields));
                self.reply("answer", reply);
            }
            "measure" => {
                let reply = fields.and_then(|fields| self.measure(&fields));
                self.reply("measure", reply);
            }
            "trace" => {
                let reply = fields.and_then(|fields| self.trace(&fields));
                self.reply("trace", reply);
            }
            "bye" if fields.is_ok() => {
                self.channel.say("bye");
                return (false, None);
            }
            _ => self.channel.say(&format!("error reason=unknown request {word:.100?}")),
        }
        (true, None)
    }

    /// Says the last reply of a request, or why there is none.
    fn reply(&mut self, request: &str, reply: Result<String, String>) {
        let line = reply.unwrap_or_else(|why| format!("error reason={request}: {why}"));
        self.channel.say(&line);
    }

    /// Serves `load` with its window lines; returns a line that came where a window was announced.
    fn serve_load(&mut self, fields: Result<RequestFields<'_>, String>) -> Option<ChannelLine> {
        let announced =
            fields.as_ref().map_or(Err(String::new()), |fields| fields.number("windows", 1, WINDOWS_MAX));
        let mut input = fields.and_then(|fields| {
            announced.clone()?;
            let id = fields.number("id", 0, u64::from(u32::MAX))?;
            let (size, units) =
                (fields.number("size", 0, u64::MAX - 1)?, fields.number("units", 0, u64::MAX)?);
            let path = fields.text("path")?;
            let data = map_file(path, Some(size))?;
            let mut input = MappedInput::new(id as u32, data, units, self.variants.len());
            input.path = Some(path.to_owned());
            Ok(input)
        });
        let mut instead = None;
        let announced = announced.unwrap_or(0);
        for i in 0..announced {
            let line = self.channel.read_line();
            let is_window = match &line {
                ChannelLine::Text(text) => text.starts_with("window "),
                ChannelLine::TooLong => true,
                ChannelLine::End => false,
            };
            if !is_window {
                input = Err(format!("{announced} windows were announced and {i} found"));
                instead = Some(line);
                break;
            }
            input = input.and_then(|mut input| match window(&line) {
                Some([offset, size, units]) if input.add_window(offset, size, units) => Ok(input),
                _ => Err(format!("window line {i} is malformed or reaches past the input's end")),
            });
        }
        let reply = input.map(|input| {
            let id = input.id;
            self.inputs.retain(|earlier| earlier.id != id);
            self.inputs.push(input);
            format!("loaded id={id}")
        });
        self.reply("load", reply);
        instead
    }

    /// The variant and input that a request names, as indices.
    fn named(&self, fields: &RequestFields<'_>) -> Result<(usize, usize), String> {
        let variant = fields.number("variant", 0, self.variants.len() as u64 - 1)? as usize;
        let id = fields.number("input", 0, u64::from(u32::MAX))?;
        let input = self.inputs.iter().position(|input| u64::from(input.id) == id);
        let input = input.ok_or_else(|| format!("input {id} is not loaded"))?;
        match &self.variants[variant].unavailable {
            Some(why) => Err(format!("the variant is unavailable here: {why}")),
            None => {
                beside::enter(self.inputs[input].path.as_deref());
                Ok((variant, input))
            }
        }
    }

    fn answer(&mut self, fields: &RequestFields<'_>) -> Result<String, String> {
        let (variant, input) = self.named(fields)?;
        let answers = sample::answers(&self.variants[variant], variant, &mut self.inputs[input])?;
        Ok(format!("answer whole={:016x} windows={:016x}", answers.whole, answers.windows))
    }

    fn measure(&mut self, fields: &RequestFields<'_>) -> Result<String, String> {
        let (variant, input) = self.named(fields)?;
        let input = &mut self.inputs[input];
        let mut at = fields.number("window", 0, input.windows.len() as u64 - 1)? as usize;
        let iterations = fields.number("iterations", 1, u64::MAX)?;
        let warmup = fields.number("warmup", 0, SAMPLES_MAX - 1)?;
        let samples = fields.number("samples", 1, SAMPLES_MAX - warmup)?;
        let usage = RequestUsage::read(fields)?;
        let measured = &self.variants[variant];
        let mut check = 0;
        let mut samples_of = |input: &mut MappedInput| {
            usage.begin(&measured.body, input, iterations)?;
            let mut before = pulse::take();
            for index in 0..warmup + samples {
                let sample = if usage.is_plain() {
                    sample::take(measured, variant, input, &mut at, iterations, &mut check)?
                } else {
                    listed::take(measured, variant, input, &usage, &mut at, iterations, &mut check)?
                };
                let (region, units, warm) = (sample.region, sample.units, u8::from(index < warmup));
                let after = pulse::take();
                let pulses = before.zip(after).map(|(before, after)| pulse::said(before, after));
                self.channel.say(&format!(
                    "sample index={index} warmup={warm} wall={} cpu={} units={units} switches={}{}",
                    region.wall_ns,
                    region.cpu_ns,
                    region.switches,
                    pulses.unwrap_or_default()
                ));
                before = after;
            }
            Ok(())
        };
        let taken: Result<(), String> = samples_of(input);
        if !usage.is_plain() {
            usage::end(input);
        }
        let costs = input.states[variant].map(|costs| format!(" state_bytes={}", costs.state_bytes));
        taken.map(|()| format!("measured check={check:016x}{}", costs.unwrap_or_default()))
    }

    fn trace(&mut self, fields: &RequestFields<'_>) -> Result<String, String> {
        let (variant, input) = self.named(fields)?;
        let input = &mut self.inputs[input];
        let at = fields.number("window", 0, input.windows.len() as u64 - 1)? as usize;
        let windows = fields.number("windows", 0, u64::MAX)?;
        let passes = fields.number("passes", 1, SAMPLES_MAX)?;
        let (mut check, mut units) = (0, 0);
        heap::reset();
        for pass in 0..passes {
            let pass = Pass { variant: variant as u64, input: u64::from(input.id), pass };
            units = trace::pass(&self.variants[variant], input, at, windows, &mut check, pass)?;
        }
        Ok(format!("traced units={units} check={check:016x}{}", heap::fields()))
    }
}

/// `window OFFSET SIZE UNITS`.
fn window(line: &ChannelLine) -> Option<[u64; 3]> {
    let ChannelLine::Text(line) = line else { return None };
    let mut words = line.strip_prefix("window ")?.split(' ').map(digits);
    let numbers = [words.next()??, words.next()??, words.next()??];
    if words.next().is_none() { Some(numbers) } else { None }
}
