//! An experiment that was asked for and could not be measured, where others were: it must not vanish from what is written.
//!
//! The JSON is an interface (schema "assay.unmeasured/1", `schema/unmeasured-1.schema.json`, generated from the type).

use crate::prose::escape;
use serde::{Deserialize, Serialize};

/// The value of `schema`.
pub const UNMEASURED_SCHEMA: &str = "assay.unmeasured/1";

/// An experiment without a campaign; it stands in the list of campaigns that `assay run` writes of several files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unmeasured {
    /// Name and version of this format.
    pub schema: String,
    /// The experiment file.
    pub file: String,
    /// Why there is no campaign.
    pub error: String,
}

impl Unmeasured {
    /// Of this file, for this reason.
    pub fn new(file: String, error: String) -> Self {
        Self { schema: UNMEASURED_SCHEMA.into(), file, error }
    }

    /// The entry as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// The same for a pull request.
    pub fn markdown(&self) -> String {
        let why: Vec<String> = self.error.lines().map(|line| format!("> {}", escape(line))).collect();
        format!(
            "### assay run: {}\n\n**Not measured**, for this reason:\n\n{}\n",
            escape(&self.file),
            why.join("\n")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_heading_and_its_reason() {
        let found = Unmeasured::new("b/x.toml".into(), "cannot read it:\nno <such> file".into());
        let text = found.markdown();
        assert!(text.starts_with("### assay run: b/x.toml\n\n**Not measured**"), "{text}");
        assert!(text.contains("> cannot read it:\n> ") && !text.contains("<such>"), "{text}");
    }
}
