//! Pages as JSON, for other programs.

use serde::Serialize;

/// A page's JSON, with a newline at its end.
pub(crate) fn written(page: &impl Serialize) -> String {
    serde_json::to_string_pretty(page).expect("a page has only string keys") + "\n"
}
