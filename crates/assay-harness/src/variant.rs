//! A registered function: its name, how it is called, why it cannot run here.

use crate::clock::Region;
use crate::fresh::FreshCalls;
use crate::state::{LoopRun, Pass};
use std::any::Any;

type Prepare = Box<dyn Fn(&'static [u8]) -> Box<dyn Any>>;

type TimePrepared = Box<dyn Fn(&dyn Any, u64, &mut u64) -> Region>;

type TimeListed = Box<dyn Fn(&[&dyn Any], CallManner, &mut u64) -> Region>;

type TracePrepared = Box<dyn Fn(&dyn Any, u64, &mut u64, Pass)>;

type RunLoop = Box<dyn Fn(&mut LoopRun, &[u8])>;

/// How a variant is called.
pub(crate) enum Body {
    Call(fn(&[u8]) -> u64),
    Prepared {
        prepare: Prepare,
        time: TimePrepared,
        time_listed: TimeListed,
        trace: TracePrepared,
    },
    /// Each call changes a state of its own.
    Fresh(FreshCalls),
    /// Runs the loop, timed or traced as its run says.
    Loop {
        run: RunLoop,
    },
}

/// One variant.
pub(crate) struct RegisteredVariant {
    pub(crate) name: String,
    pub(crate) body: Body,
    /// Its function, from the start of the program's image.
    pub(crate) entry: u64,
    /// Why it cannot run here, if so.
    pub(crate) unavailable: Option<String>,
}

impl RegisteredVariant {
    pub(crate) fn kind(&self) -> &'static str {
        match self.body {
            Body::Call(_) => "call",
            Body::Prepared { .. } => "prepared",
            Body::Fresh(_) => "fresh",
            Body::Loop { .. } => "loop",
        }
    }
}

/// Why the variants cannot be told apart, if so.
pub(crate) fn objection(variants: &[RegisteredVariant]) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:/+-".contains(&byte))
    };
    if variants.is_empty() {
        return Some("the program registers no variant".to_owned());
    }
    for (i, RegisteredVariant { name, .. }) in variants.iter().enumerate() {
        if !is_name(name) {
            return Some(format!(
                "the variant name {name:?} has other characters than letters, digits and _.:/+-"
            ));
        }
        if variants[..i].iter().any(|earlier| earlier.name == *name) {
            return Some(format!("two variants are named {name:?}"));
        }
    }
    None
}

/// How listed calls are made: waiting for each other or not, and doing nothing so that all around them gets warm.
#[derive(Clone, Copy)]
pub(crate) struct CallManner {
    pub(crate) dependent: bool,
    pub(crate) idle: bool,
}
