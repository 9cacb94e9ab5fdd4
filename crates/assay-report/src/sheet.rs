//! A text under construction that keeps its margin: headings, paragraphs, labelled lines and tables.

use unicode_width::UnicodeWidthStr;

use super::ink::{Ink, Palette};
use super::link::SourcePlace;
use super::prose;
use super::table::Table;

/// The narrowest margin; a terminal that claims less is treated as this wide.
const NARROWEST: usize = 40;

/// Warnings, then what a measurement cannot tell.
pub fn doubts<'a>(warnings: &'a [String], limits: &'a [String]) -> impl Iterator<Item = String> + 'a {
    warnings.iter().cloned().chain(limits.iter().map(|limit| format!("Cannot tell {limit}.")))
}

/// Lines so far, with the margin and the colours they were made for.
#[derive(Debug)]
pub struct Sheet {
    width: usize,
    palette: Palette,
    lines: Vec<String>,
}

impl Sheet {
    /// An empty sheet `width` columns wide, at least 40.
    pub fn new(width: usize, palette: impl Into<Palette>) -> Self {
        Self { width: width.max(NARROWEST), palette: palette.into(), lines: Vec::new() }
    }

    /// Columns for bars beside a table that has the rest of the width, where bars are used and there is room.
    pub(crate) fn bar_columns(&self, table: &Table) -> Option<usize> {
        self.palette.bars.then(|| table.room_for_bars(self.width)).flatten()
    }

    /// Whether bars are used.
    pub(crate) fn has_bars(&self) -> bool {
        self.palette.bars
    }

    /// The whole text, with a newline at its end.
    pub fn into_text(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// Whether a label and a text take one line.
    pub fn fits(&self, label: &str, text: &str) -> bool {
        label.width() + text.width() <= self.width
    }

    /// An empty line, never two, never the first.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// What every page begins with: the answer, then what to do about it.
    pub fn answer(&mut self, answer: &str, next: Option<&str>) {
        self.paragraph(Ink::Bold, "", answer);
        if let Some(next) = next {
            self.labelled(Ink::Plain, "next  ", next);
        }
    }

    /// What could make the answer wrong, before anything that rests on it.
    pub fn warnings(&mut self, warnings: impl IntoIterator<Item = impl AsRef<str>>) {
        for (at, warning) in warnings.into_iter().enumerate() {
            if at == 0 {
                self.gap();
            }
            self.labelled(Ink::Doubt, "! ", warning.as_ref());
        }
    }

    /// A heading after a gap.
    pub fn heading(&mut self, title: &str) {
        self.gap();
        self.paragraph(Ink::Bold, "", title);
    }

    /// A text in one ink, each of its lines behind `indent`.
    pub fn paragraph(&mut self, ink: Ink, indent: &str, text: &str) {
        for line in prose::wrap(text, self.width, indent, indent) {
            self.lines.push(self.palette.paint(ink, &line));
        }
    }

    /// A paragraph that is a link to a place, where links are used.
    pub fn place(&mut self, ink: Ink, indent: &str, text: &str, place: Option<&SourcePlace>) {
        for line in prose::wrap(text, self.width, indent, indent) {
            let (blank, line) = line.split_at(indent.len().min(line.len()));
            self.lines.push(blank.to_owned() + &self.palette.paint_place(ink, line, place));
        }
    }

    /// A label in its ink, then a text that keeps to the right of it.
    pub fn labelled(&mut self, ink: Ink, label: &str, text: &str) {
        let indent = " ".repeat(label.width());
        for (index, line) in prose::wrap(text, self.width, label, &indent).into_iter().enumerate() {
            let (label, line) = if index == 0 { line.split_at(label.len()) } else { ("", line.as_str()) };
            self.lines.push(self.palette.paint(ink, label) + &prose::clean(line));
        }
    }

    /// [`Self::labelled`], where the text begins with what is a link to a place, as far as its first line has it.
    pub fn labelled_at(
        &mut self,
        ink: Ink,
        label: &str,
        text: &str,
        linked: &str,
        place: Option<&SourcePlace>,
    ) {
        let first = self.lines.len();
        self.labelled(ink, label, text);
        let Some(line) = self.lines.get_mut(first) else { return };
        let painted = self.palette.paint(ink, label);
        if let Some(rest) = line.strip_prefix(&painted) {
            let linked = prose::clean(linked);
            // One that is longer than the line ends with it.
            let end = rest.bytes().zip(linked.bytes()).take_while(|(one, other)| one == other).count();
            let end = (0..=end).rev().find(|&end| rest.is_char_boundary(end)).unwrap_or(0);
            let (linked, rest) = rest.split_at(end);
            *line = painted + &self.palette.paint_place(Ink::Plain, linked, place) + rest;
        }
    }

    /// A line as it is, cut at the margin: for what points at columns.
    pub fn verbatim(&mut self, ink: Ink, indent: &str, text: &str) {
        let room = self.width.saturating_sub(indent.width());
        let mut used = 0;
        let cut: String = prose::on_one_line(text)
            .chars()
            .take_while(|&c| {
                used += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
                used <= room
            })
            .collect();
        self.lines.push(indent.to_owned() + &self.palette.paint(ink, cut.trim_end()));
    }

    /// Lines as they are, each broken at the margin where it is longer: for the words of others, of which none may be lost.
    pub fn quoted(&mut self, ink: Ink, indent: &str, text: &str) {
        let room = self.width.saturating_sub(indent.width()).max(20);
        let line = prose::on_one_line(text);
        let (mut piece, mut used) = (String::new(), 0);
        for c in line.trim_end().chars() {
            let columns = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            if used + columns > room {
                self.lines.push(indent.to_owned() + &self.palette.paint(ink, &piece));
                (piece, used) = (String::new(), 0);
            }
            piece.push(c);
            used += columns;
        }
        self.lines.push(indent.to_owned() + &self.palette.paint(ink, &piece));
    }

    /// A table at the present position.
    pub fn table(&mut self, table: &Table) {
        self.lines.extend(table.render(self.width, self.palette));
    }
}
