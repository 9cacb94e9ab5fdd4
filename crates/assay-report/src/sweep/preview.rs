//! What a sweep would measure: the view of `assay sweep --plan`.

use super::page::PageSweepKey;
use super::value::value;
use crate::ink::Ink;
use crate::sheet::Sheet;
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// The points of the first step and what may follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPreview {
    /// What would be varied.
    pub key: PageSweepKey,
    /// The points of the first step, rising.
    pub points: Vec<f64>,
    /// Variants at each.
    pub variants: Vec<String>,
    /// Builds: compilers times flag sets.
    pub builds: u64,
    /// Inputs at each point: the input in each of its uses.
    pub inputs_per_point: u64,
    /// Rotations of each point.
    pub rotations: u32,
    /// Seconds of measuring for the first step.
    pub first_seconds: f64,
    /// Seconds of measuring at most.
    pub budget_seconds: f64,
    /// What the file wants counted at the ends of steps.
    pub events: Vec<String>,
}

/// The preview as text.
pub fn render_preview(preview: &SweepPreview, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    let key = &preview.key;
    let values: Vec<String> = preview.points.iter().map(|at| value(key, *at)).collect();
    let title = format!("{}: {} at {}", key.sweep, key.path, words::plural(values.len() as u64, "point"));
    sheet.paragraph(Ink::Bold, "", &title);
    if let Some(description) = &key.description {
        sheet.paragraph(Ink::Plain, "  ", description);
    }
    sheet.labelled(Ink::Plain, "  points: ", &values.join("; "));
    let more =
        format!("{} where variants cross or a time bends", words::plural(u64::from(key.refine), "point"));
    sheet.labelled(Ink::Plain, "  then at most: ", &more);
    sheet.labelled(Ink::Plain, "  variants: ", &preview.variants.join(" "));
    let cells = preview.variants.len() as u64 * preview.builds * preview.inputs_per_point;
    let cost = format!(
        "about {} for these points, at most {} in all ({} per point, {} each), and building",
        words::duration(preview.first_seconds),
        words::duration(preview.budget_seconds.max(preview.first_seconds)),
        words::plural(cells, "cell"),
        words::plural(u64::from(preview.rotations), "rotation")
    );
    sheet.labelled(Ink::Plain, "  measuring: ", &cost);
    if !preview.events.is_empty() {
        sheet.labelled(Ink::Plain, "  counted beside steps: ", &preview.events.join(", "));
    }
    sheet.into_text()
}
