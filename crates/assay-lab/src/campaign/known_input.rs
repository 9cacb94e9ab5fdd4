//! An input that a campaign used.

use assay_pure::experiment::spec::InputSpec;
use assay_pure::inputs::Description;
use assay_report::page;

/// An input with what its description says, parsed.
pub struct KnownInput {
    /// As the file has it.
    pub spec: InputSpec,
    /// As the page shows it.
    pub shown: page::PageInput,
    /// What was found in it; none where that was not kept.
    pub description: Option<Description>,
}
