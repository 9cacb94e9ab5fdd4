//! An experiment together with where its keys stand.

use crate::experiment::diagnostic::Diagnostic;
use crate::experiment::spans::Spans;
use crate::experiment::spec::Experiment;

/// An experiment, and where each of its keys stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedExperiment {
    /// The experiment.
    pub experiment: Experiment,
    /// The places of its keys.
    pub spans: Spans,
}

impl ParsedExperiment {
    /// A complaint about a value that only the lab can check: a file that is not there, a compiler that was not found.
    ///
    /// Input: a dotted key as for [`Spans::locate`], one sentence that says what is wrong, the nearest value that would be
    /// right (see [`crate::experiment::diagnostic::nearest`]), a line to write instead. A key that the file leaves to its default is
    /// reported at the beginning of the file.
    pub fn diagnostic(
        &self,
        key: &str,
        message: impl Into<String>,
        nearest: Option<&str>,
        example: Option<&str>,
    ) -> Diagnostic {
        let place = self.spans.locate(key).unwrap_or_else(|| self.spans.beginning());
        let problem = Diagnostic::new(self.spans.file(), place, key, message).with_nearest(nearest);
        match example {
            Some(example) => problem.with_example(example),
            None => problem,
        }
    }
}
