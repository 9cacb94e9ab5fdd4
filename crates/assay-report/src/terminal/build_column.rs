//! The column that tells builds apart: compiler, flags or both; none where there is one build.

use super::build_name;
use crate::page::Page;
use crate::table::{Column, Entry};

/// What the builds of a page differ in.
pub(crate) struct BuildColumn {
    first: (String, String),
    compilers: bool,
    flags: bool,
}

impl BuildColumn {
    /// Of all cells of the page.
    pub(crate) fn of(page: &Page) -> Self {
        let first = page.cells.first();
        let first = first.map(|cell| (cell.compiler.clone(), cell.flags.clone())).unwrap_or_default();
        Self {
            compilers: page.cells.iter().any(|cell| cell.compiler != first.0),
            flags: page.cells.iter().any(|cell| cell.flags != first.1),
            first,
        }
    }

    /// The column, if it is needed.
    pub(super) fn column(&self) -> Option<Column> {
        Some(Column::left(self.title()?))
    }

    /// What the builds are called together: "compiler", "flags", "build".
    pub(crate) fn title(&self) -> Option<&'static str> {
        match (self.compilers, self.flags) {
            (true, true) => Some("build"),
            (true, false) => Some("compiler"),
            (false, true) => Some("flags"),
            (false, false) => None,
        }
    }

    /// A build's entry in the column, if there is one.
    pub(super) fn entry(&self, compiler: &str, flags: &str) -> Option<Entry> {
        self.title().map(|_| self.name(compiler, flags).into())
    }

    /// What tells a build from the others.
    pub(crate) fn name(&self, compiler: &str, flags: &str) -> String {
        match (self.compilers, self.flags) {
            (true, false) => compiler.to_owned(),
            (false, true) => flags.to_owned(),
            _ => build_name(compiler, flags),
        }
    }

    /// A heading, with the build where there is only one.
    pub(super) fn heading(&self, title: &str) -> String {
        match self.title() {
            None if !self.first.0.is_empty() => {
                format!("{title} ({})", build_name(&self.first.0, &self.first.1))
            }
            _ => title.to_owned(),
        }
    }
}
