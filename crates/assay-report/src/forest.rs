//! Effects as bars in a column of a table, in the spirit of a forest plot: each row's interval around its estimate, beside no
//! difference, the margin, and what the plain link showed.
//!
//! Method: the axis is the logarithm of the ratio, so that half and double the time lie equally far from none. It reaches over all
//! estimates, and over the ends of intervals up to twice as far; what lies beyond ends in an arrow. One cell is one letter, so a bar
//! tells order and overlap; the figures stand beside it.

use crate::page::RatioInterval;
use assay_pure::stats::margin::Margin;
use assay_pure::words;

/// The code effect.
const ESTIMATE: char = '●';
/// The plain link's effect.
const BUILT: char = '○';
const LINE: char = '─';
const ZERO: char = '│';
const MARGIN: char = '┊';
const BEYOND: [char; 2] = ['‹', '›'];
/// The axis goes on so much behind the outermost estimate, and at least over so many margins.
const ROOM: (f64, f64) = (1.1, 2.5);
/// Columns of a bar: at least, well readable, at most.
pub(crate) const LEAST: usize = 11;
pub(crate) const GOOD: usize = 21;
pub(crate) const MOST: usize = 31;

/// What a bar shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForestBar {
    /// The code effect with its interval.
    pub(crate) code: Option<RatioInterval>,
    /// The plain link's ratio.
    pub(crate) as_built: Option<f64>,
}

/// The axis that all bars of a table share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForestColumn {
    low: f64,
    high: f64,
    margin: f64,
    columns: usize,
}

impl ForestColumn {
    /// The axis over some effects, in so many columns; none where there is nothing to show.
    ///
    /// Input: `margin`, the minimum effect, a fraction.
    pub(crate) fn over(effects: &[ForestBar], margin: f64, columns: usize) -> Option<Self> {
        let known = |value: &f64| value.is_finite();
        let points = effects.iter().flat_map(|effect| {
            [effect.code.map(|code| code.ratio.ln()), effect.as_built.map(f64::ln)].into_iter().flatten()
        });
        let points: Vec<f64> = points.filter(known).collect();
        if points.is_empty() {
            return None;
        }
        let margin = Margin::of(margin).ln();
        let least = ROOM.1 * margin;
        let low = points.iter().fold(-least, |low, &point| low.min(ROOM.0 * point));
        let high = points.iter().fold(least, |high, &point| high.max(ROOM.0 * point));
        let ends = || effects.iter().filter_map(|effect| effect.code);
        let lower = ends().map(|code| code.lower.ln()).filter(known).fold(low, f64::min);
        let upper = ends().map(|code| code.upper.ln()).filter(known).fold(high, f64::max);
        Some(Self { low: lower.max(2.0 * low), high: upper.min(2.0 * high), margin, columns })
    }

    /// What the letters mean, for a legend.
    pub(crate) fn legend(margin: f64) -> String {
        format!(
            "Bars: {ESTIMATE} code effect with its interval {LINE}, {BUILT} as built, {ZERO} no difference, {MARGIN} ±{}; left of it \
             takes less time.",
            words::asked(margin)
        )
    }

    /// Counted from no difference, so that what hardly differs stands on it and the margin on both its sides.
    fn cell(&self, value: f64) -> usize {
        let last = (self.columns - 1) as f64;
        let step = (self.high - self.low) / last;
        let zero = (-self.low / step).round();
        (zero + (value / step).round()).clamp(0.0, last) as usize
    }

    /// The ends of the axis, as the title of the column.
    pub(crate) fn title(&self) -> String {
        let [left, right] = [self.low, self.high].map(|end| words::change(end.exp()));
        let room = self.columns.saturating_sub(left.chars().count() + right.chars().count());
        if room < 1 {
            return "effect".into();
        }
        let mut title: Vec<char> = format!("{left}{}{right}", " ".repeat(room)).chars().collect();
        let zero = self.cell(0.0);
        let is_free = |at: usize| title.get(at).is_none_or(|letter| *letter == ' ');
        if zero > 0 && (zero - 1..=zero + 1).all(is_free) && zero < title.len() {
            title[zero] = '0';
        }
        title.into_iter().collect()
    }

    /// One bar, as wide as the column.
    pub(crate) fn bar(&self, effect: ForestBar) -> String {
        let mut letters = vec![' '; self.columns];
        for end in [-self.margin, self.margin] {
            letters[self.cell(end)] = MARGIN;
        }
        letters[self.cell(0.0)] = ZERO;
        if let Some(code) = effect.code {
            let (lower, upper) = (code.lower.ln(), code.upper.ln());
            let (from, to) = (self.cell(lower), self.cell(upper));
            letters[from..=to].fill(LINE);
            if lower < self.low {
                letters[0] = BEYOND[0];
            }
            if upper > self.high {
                letters[self.columns - 1] = BEYOND[1];
            }
        }
        if let Some(built) = effect.as_built.map(f64::ln).filter(|built| built.is_finite()) {
            letters[self.cell(built)] = BUILT;
        }
        if let Some(code) = effect.code {
            letters[self.cell(code.ratio.ln())] = ESTIMATE;
        }
        letters.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(ratio: f64, half: f64, as_built: Option<f64>) -> ForestBar {
        let (lower, upper) = (ratio * (1.0 - half), ratio * (1.0 + half));
        ForestBar { code: Some(RatioInterval { ratio, lower, upper }), as_built }
    }

    #[test]
    fn a_bar_has_its_estimate_in_its_interval_and_no_difference_where_it_is() {
        let effects = [effect(0.8, 0.05, None), effect(1.25, 0.05, Some(0.9)), effect(1.0, 0.004, None)];
        let forest = ForestColumn::over(&effects, 0.05, 21).unwrap();
        let bars = effects.map(|effect| forest.bar(effect));
        assert_eq!(bars[0], "──●──   ┊ │ ┊        ");
        assert_eq!(bars[1], "      ○ ┊ │ ┊   ──●──");
        assert_eq!(bars[2], "        ┊ ● ┊        ");
        assert_eq!(forest.title(), "-24.0 %   0   +31.2 %");
        assert!(bars.iter().all(|bar| bar.chars().count() == 21));
    }

    #[test]
    fn what_reaches_beyond_the_axis_ends_in_an_arrow() {
        let wide =
            ForestBar { code: Some(RatioInterval { ratio: 1.02, lower: 0.5, upper: 2.5 }), as_built: None };
        let forest = ForestColumn::over(&[wide], 0.01, 13).unwrap();
        let bar = forest.bar(wide);
        assert!(bar.starts_with('‹') && bar.ends_with('›') && bar.contains('●'), "{bar}");
    }

    #[test]
    fn nothing_measured_has_no_bars() {
        assert!(ForestColumn::over(&[ForestBar { code: None, as_built: None }], 0.01, 21).is_none());
        let blank = ForestColumn::over(&[effect(1.1, 0.01, None)], 0.01, 21).unwrap();
        assert!(!blank.bar(ForestBar { code: None, as_built: None }).contains(ESTIMATE));
    }
}
