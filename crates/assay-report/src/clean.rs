//! What `assay clean` removed from a store, and what stays: the page and its terminal view.
//!
//! The JSON is an interface (schema "assay.clean/1", `schema/clean-1.schema.json`, generated from the types).

use super::ink::Palette;
use super::table::{Column, Table};
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// The value of `schema`.
pub const CLEAN_SCHEMA: &str = "assay.clean/1";

/// What was removed from a store, and what stays in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CleanPage {
    /// Name and version of this format.
    pub schema: String,
    /// The store's folder.
    pub store: String,
    /// Nothing was removed; `removed` is what would be.
    pub dry_run: bool,
    /// What was removed: it is built again when it is needed.
    pub removed: Vec<CleanRow>,
    /// What stays.
    pub kept: Vec<CleanRow>,
    /// Bytes of what was removed.
    pub freed_bytes: u64,
}

/// One thing in a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CleanRow {
    /// What it is.
    pub what: String,
    /// Of a build of a revision: the commit.
    pub commit: Option<String>,
    /// Bytes on the disk.
    pub bytes: u64,
    /// When it was used last, seconds since 1970.
    pub used_at: f64,
}

impl CleanPage {
    /// Of a store of which nothing is known yet.
    pub fn new(store: String, dry_run: bool) -> Self {
        Self {
            schema: CLEAN_SCHEMA.into(),
            store,
            dry_run,
            removed: Vec::new(),
            kept: Vec::new(),
            freed_bytes: 0,
        }
    }

    /// Adds what was removed, or what stays.
    pub fn put(&mut self, row: CleanRow, removed: bool) {
        if removed {
            self.freed_bytes += row.bytes;
            self.removed.push(row);
        } else {
            self.kept.push(row);
        }
    }

    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}

/// The page for a terminal; `now` in seconds since 1970.
pub fn render_clean(page: &CleanPage, now: f64, width: usize, palette: impl Into<Palette>) -> String {
    let palette = palette.into();
    let size = words::bytes(page.freed_bytes);
    let mut text = match (page.removed.is_empty(), page.dry_run) {
        (true, _) => format!("Nothing to remove from {}.\n", page.store),
        (_, true) => format!("{size} would be freed in {}.\n", page.store),
        (_, false) => format!("{size} freed in {}. What is needed again is built again.\n", page.store),
    };
    for (title, rows) in [("removed", &page.removed), ("kept", &page.kept)] {
        if rows.is_empty() {
            continue;
        }
        let title = if title == "removed" && page.dry_run { "would be removed" } else { title };
        let columns = vec![
            Column::left(title).wrapping(),
            Column::left("commit").optional(1),
            Column::right("size"),
            Column::right("last used"),
        ];
        let mut table = Table::new(columns, 1);
        for row in rows {
            let commit = row.commit.as_deref().unwrap_or("");
            table.row(vec![
                row.what.clone().into(),
                commit.get(..12).unwrap_or(commit).to_owned().into(),
                words::bytes(row.bytes).into(),
                format!("{} ago", age(now - row.used_at)).into(),
            ]);
        }
        text.push('\n');
        text.extend(table.render(width, palette).into_iter().map(|line| line + "\n"));
    }
    text
}

/// A time that has passed, in one unit.
fn age(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    match seconds {
        0..60 => words::plural(seconds, "second"),
        60..3600 => words::plural(seconds / 60, "minute"),
        3600..172_800 => words::plural(seconds / 3600, "hour"),
        _ => words::plural(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> CleanPage {
        let mut page = CleanPage::new(".assay/store".into(), false);
        let row = |what: &str, commit: Option<&str>, bytes| CleanRow {
            what: what.into(),
            commit: commit.map(Into::into),
            bytes,
            used_at: 1000.0,
        };
        page.put(row("build of main", Some("0123456789abcdef"), 5 << 20), true);
        page.put(row("links of builds in place", None, 1 << 20), true);
        page.put(row("ledger.db", None, 2048), false);
        page
    }

    #[test]
    fn the_schema_is_that_of_the_page() {
        crate::schema::assert_published(CLEAN_SCHEMA, &[page()], &[CleanPage::new("s".into(), true)]);
    }

    #[test]
    fn the_first_line_says_how_much_was_freed_and_each_row_what_it_was() {
        let text = render_clean(&page(), 8200.0, 80, false);
        assert!(text.starts_with("6.00 MiB freed in .assay/store."), "{text}");
        for part in ["build of main", "0123456789ab ", "5.00 MiB", "2 hours ago", "ledger.db", "kept"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let nothing = render_clean(&CleanPage::new("s".into(), false), 0.0, 80, false);
        assert_eq!(nothing, "Nothing to remove from s.\n");
    }
}
