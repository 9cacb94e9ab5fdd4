//! A table that fits its margin: it leaves out what it may, wraps what it can, and else goes on in a second block.
//! In Markdown, which has no margin, it shows everything.
//!
//! The order of concessions: optional columns go (the highest `optional` first), the wrapping column narrows to
//! 16 columns, the columns after the keys continue in further blocks with the keys repeated, and at last entries are
//! shortened with "…". So no line is ever wider than asked.

use unicode_width::UnicodeWidthStr;

use super::forest;
use super::ink::{Ink, Palette};
use super::link::SourcePlace;
use super::prose;

/// Columns between two columns.
const GAP: usize = 2;
/// Columns before the first column.
const INDENT: usize = 2;
/// The narrowest that a wrapping column becomes before a table is split.
const WRAP_MINIMUM: usize = 16;

/// Which side of its column a text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names and sentences.
    Left,
    /// Numbers.
    Right,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    align: Align,
    wraps: bool,
    optional: u8,
}

impl Column {
    /// Names and words.
    pub fn left(title: &str) -> Self {
        Self { title: title.to_owned(), align: Align::Left, wraps: false, optional: 0 }
    }

    /// Numbers.
    pub fn right(title: &str) -> Self {
        Self { align: Align::Right, ..Self::left(title) }
    }

    /// Its entries may take several lines. At most one column of a table.
    pub fn wrapping(self) -> Self {
        Self { wraps: true, ..self }
    }

    /// Left out where the table is too wide; the highest rank goes first, rank 0 stays.
    pub fn optional(self, rank: u8) -> Self {
        Self { optional: rank, ..self }
    }
}

/// One entry.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The text, without colour.
    pub text: String,
    /// Its colour.
    pub ink: Ink,
    /// The place in a source file that it names.
    pub place: Option<SourcePlace>,
}

impl<S: Into<String>> From<S> for Entry {
    fn from(text: S) -> Self {
        Self::inked(text, Ink::Plain)
    }
}

impl Entry {
    /// A text in a colour.
    pub fn inked(text: impl Into<String>, ink: Ink) -> Self {
        Self { text: text.into(), ink, place: None }
    }

    /// The same as a link to a place, where links are used.
    #[must_use]
    pub fn at(self, place: Option<SourcePlace>) -> Self {
        Self { place, ..self }
    }
}

/// Columns and rows.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    /// Leading columns that say what a row is; repeated in each block.
    keys: usize,
    rows: Vec<Vec<Entry>>,
}

impl Table {
    /// A table whose first `keys` columns name a row.
    pub fn new(columns: Vec<Column>, keys: usize) -> Self {
        Self { columns, keys, rows: Vec::new() }
    }

    /// Adds a row, one entry per column.
    pub fn row(&mut self, entries: Vec<Entry>) {
        assert_eq!(entries.len(), self.columns.len(), "a row has one entry per column");
        self.rows.push(entries);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, each at most `width` columns, the last without a newline of its own.
    pub fn render(&self, width: usize, palette: Palette) -> Vec<String> {
        let mut widths = self.natural_widths();
        let shown = self.choose_columns(&mut widths, width);
        let mut lines = Vec::new();
        for block in blocks(&shown, &widths, self.keys, width) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            self.render_block(&block, &fitted(&block, &widths, width), palette, &mut lines);
        }
        lines
    }

    /// The table in GitHub-flavoured Markdown with all columns that hold something, and an empty line after it.
    pub fn markdown(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let shown: Vec<usize> = (0..self.columns.len()).filter(|&at| self.is_filled(at)).collect();
        let line = |texts: Vec<String>| format!("| {} |\n", texts.join(" | "));
        let of = |text: &dyn Fn(usize) -> String| line(shown.iter().map(|&at| text(at)).collect());
        let mut text = of(&|at| prose::escape(&self.columns[at].title));
        text += &of(&|at| if self.columns[at].align == Align::Left { "---" } else { "--:" }.to_owned());
        for row in &self.rows {
            text += &of(&|at| prose::escape(&row[at].text));
        }
        text + "\n"
    }

    /// An optional column is left out where it has no entry.
    fn is_filled(&self, at: usize) -> bool {
        self.columns[at].optional == 0 || self.rows.iter().any(|row| !row[at].text.is_empty())
    }

    /// Columns for a column of bars: as many optional columns as possible stay beside well readable bars, then beside the least.
    pub(crate) fn room_for_bars(&self, width: usize) -> Option<usize> {
        let widths = self.natural_widths();
        let mut ranks: Vec<u8> = self.columns.iter().map(|column| column.optional).collect();
        ranks.sort_unstable_by(|one, other| other.cmp(one));
        ranks.dedup();
        let room = |rank: u8| {
            let shown: Vec<usize> = (0..self.columns.len())
                .filter(|&at| self.is_filled(at) && self.columns[at].optional <= rank)
                .collect();
            width.saturating_sub(total(&shown, &widths) + GAP)
        };
        // What the first optional column says, bars say too; but its words they do not.
        let beside =
            ranks.iter().filter(|rank| **rank > 0).map(|&rank| room(rank)).find(|&room| room >= forest::GOOD);
        let least = || ranks.iter().map(|&rank| room(rank)).find(|&room| room >= forest::LEAST);
        beside.or_else(least).map(|room| room.min(forest::MOST))
    }

    fn natural_widths(&self) -> Vec<usize> {
        let entry_width = |row: &Vec<Entry>, at: usize| row[at].text.width();
        (0..self.columns.len())
            .map(|at| {
                let widest = self.rows.iter().map(|row| entry_width(row, at)).max().unwrap_or(0);
                widest.max(self.columns[at].title.width())
            })
            .collect()
    }

    /// The columns to show, after optional ones were left out and the wrapping one narrowed.
    fn choose_columns(&self, widths: &mut [usize], width: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|&at| self.is_filled(at)).collect();
        let wrapping = self.columns.iter().position(|column| column.wraps);
        let least = |shown: &[usize], widths: &[usize]| {
            let spare = wrapping
                .filter(|at| shown.contains(at))
                .map_or(0, |at| widths[at].saturating_sub(WRAP_MINIMUM));
            total(shown, widths) - spare
        };
        while least(&shown, widths) > width {
            let rank = |at: usize| self.columns[at].optional;
            let Some(dropped) = shown.iter().copied().filter(|&at| rank(at) > 0).max_by_key(|&at| rank(at))
            else {
                break;
            };
            shown.retain(|&at| at != dropped);
        }
        if let Some(at) = wrapping.filter(|at| shown.contains(at)) {
            let excess = total(&shown, widths).saturating_sub(width);
            widths[at] = widths[at].saturating_sub(excess).max(widths[at].min(WRAP_MINIMUM));
        }
        shown
    }

    fn render_block(&self, block: &[usize], widths: &[usize], palette: Palette, lines: &mut Vec<String>) {
        let title = |at: usize| Entry::inked(self.columns[at].title.clone(), Ink::Dim);
        lines.extend(self.render_row(block, widths, palette, title));
        let rule = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        lines.push(format!("{}{}", " ".repeat(INDENT), palette.paint(Ink::Dim, &"─".repeat(rule))));
        for row in &self.rows {
            lines.extend(self.render_row(block, widths, palette, |at| row[at].clone()));
        }
    }

    /// One row, of several lines where an entry wraps.
    fn render_row(
        &self,
        block: &[usize],
        widths: &[usize],
        palette: Palette,
        entry: impl Fn(usize) -> Entry,
    ) -> Vec<String> {
        let texts: Vec<(Entry, Vec<String>)> = block
            .iter()
            .zip(widths)
            .map(|(&at, &width)| {
                let entry = entry(at);
                let lines = if self.columns[at].wraps {
                    prose::wrap(&entry.text, width, "", "")
                } else {
                    vec![prose::shorten(&entry.text, width)]
                };
                (entry, lines)
            })
            .collect();
        let height = texts.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        (0..height).map(|index| self.render_line(block, widths, palette, &texts, index)).collect()
    }

    fn render_line(
        &self,
        block: &[usize],
        widths: &[usize],
        palette: Palette,
        texts: &[(Entry, Vec<String>)],
        index: usize,
    ) -> String {
        let mut line = " ".repeat(INDENT);
        for (position, ((&at, &width), (entry, lines))) in block.iter().zip(widths).zip(texts).enumerate() {
            let text = lines.get(index).map_or("", String::as_str);
            let space = " ".repeat(width.saturating_sub(text.width()));
            if position > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let painted = palette.paint_place(entry.ink, text, entry.place.as_ref());
            match self.columns[at].align {
                Align::Left => line.extend([painted, space]),
                Align::Right => line.extend([space, painted]),
            }
        }
        line.truncate(line.trim_end_matches(' ').len());
        line
    }
}

fn total(shown: &[usize], widths: &[usize]) -> usize {
    INDENT + shown.iter().map(|&at| widths[at]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// Cuts the columns after the keys into stretches that fit; each starts with the keys.
fn blocks(shown: &[usize], widths: &[usize], keys: usize, width: usize) -> Vec<Vec<usize>> {
    let (keys, rest): (Vec<usize>, Vec<usize>) = shown.iter().partition(|&&at| at < keys);
    let mut blocks = Vec::new();
    let mut block = keys.clone();
    for at in rest {
        block.push(at);
        if total(&block, widths) > width && block.len() > keys.len() + 1 {
            block.pop();
            blocks.push(std::mem::replace(&mut block, keys.clone()));
            block.push(at);
        }
    }
    blocks.push(block);
    blocks
}

/// The widths of a block, the widest column shortened until the block fits.
fn fitted(block: &[usize], widths: &[usize], width: usize) -> Vec<usize> {
    let mut fitted: Vec<usize> = block.iter().map(|&at| widths[at]).collect();
    let frame = INDENT + GAP * fitted.len().saturating_sub(1);
    while frame + fitted.iter().sum::<usize>() > width {
        match fitted.iter_mut().max() {
            Some(widest) if *widest > 1 => *widest -= 1,
            _ => break,
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Palette = Palette { colour: false, bars: false, links: None };

    fn sample() -> Table {
        let columns = vec![
            Column::left("input"),
            Column::right("ns"),
            Column::right("rotations").optional(2),
            Column::right("placement").optional(1),
            Column::left("why").wrapping(),
        ];
        let mut table = Table::new(columns, 1);
        table.row(vec![
            "all-1".into(),
            "0.713".into(),
            "8".into(),
            "+20.6 %".into(),
            "the entry lies at another offset".into(),
        ]);
        table.row(vec![
            "log-uniform".into(),
            "5.604".into(),
            "8".into(),
            "+0.1 %".into(),
            Entry::inked("work", Ink::Bad),
        ]);
        table
    }

    #[test]
    fn leaves_out_the_highest_rank_first_then_wraps() {
        let wide = sample().render(100, PLAIN).join("\n");
        assert!(wide.contains("rotations") && wide.contains("placement"), "{wide}");
        let middle = sample().render(52, PLAIN).join("\n");
        assert!(!middle.contains("rotations") && middle.contains("placement"), "{middle}");
        let narrow = sample().render(40, PLAIN).join("\n");
        assert!(!narrow.contains("placement") && narrow.contains("the entry lies"), "{narrow}");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for width in 12..120 {
            for line in sample().render(width, PLAIN) {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }

    #[test]
    fn continues_in_a_second_block_with_the_keys_repeated() {
        let names = ["branch", "table", "hinted", "bmi2"];
        let columns =
            std::iter::once(Column::left("input")).chain(names.iter().map(|name| Column::right(name)));
        let mut table = Table::new(columns.collect(), 1);
        table.row(["p80", "1.234", "2.345", "3.456", "4.567"].map(Entry::from).to_vec());
        let lines = table.render(24, PLAIN);
        assert_eq!(lines.iter().filter(|line| line.contains("input")).count(), 2);
        for figure in ["1.234", "2.345", "3.456", "4.567"] {
            assert!(lines.iter().any(|line| line.contains(figure)), "{figure}: {lines:?}");
        }
    }

    #[test]
    fn colour_does_not_move_a_column() {
        let strip =
            |line: &String| line.replace("\x1b[31m", "").replace("\x1b[2m", "").replace("\x1b[0m", "");
        let coloured: Vec<String> = sample().render(60, Palette::from(true)).iter().map(strip).collect();
        let trimmed: Vec<String> = coloured.iter().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(trimmed, sample().render(60, PLAIN));
    }

    #[test]
    fn markdown_has_every_filled_column_and_takes_names_literally() {
        let columns = vec![Column::left("input"), Column::right("ns"), Column::left("note").optional(1)];
        let mut table = Table::new(columns, 1);
        assert_eq!(table.markdown(), "");
        table.row(vec!["a|b".into(), "0.713".into(), "".into()]);
        assert_eq!(table.markdown(), "| input | ns |\n| --- | --: |\n| a\\|b | 0.713 |\n\n");
    }

    #[test]
    fn an_optional_column_without_an_entry_is_not_shown() {
        let mut table = Table::new(vec![Column::left("input"), Column::left("note").optional(1)], 1);
        table.row(vec!["p80".into(), "".into()]);
        assert!(!table.render(80, PLAIN).join("\n").contains("note"));
    }
}
