//! From curves over working sets to one figure per level of the memory.
//!
//! Method: a level's bandwidth is the best of all ways to move bytes at the working sets that lie well inside it: at least twice the
//! level before, at most three quarters of its own size, and for the memory at least twice the last cache; where no size lies so, the
//! one nearest to that (by its logarithm). Its latency is the middle one there. Where the latency really leaves a level is read off the curve: at the geometric mean of
//! what it is inside and beyond.
//! Known limits: sizes are what the kernel says; a guest may share a cache with others, and then its level ends earlier.
//! Checked: by synthetic curves.

use super::{LimitFigure, Limits, MemoryLevel, Rate};
use crate::stats::quantile::median;
use serde::{Deserialize, Serialize};

impl Limits {
    /// The same without the curves of slower ways: what binding needs, small enough to be kept with each campaign.
    pub fn compact(&self) -> Limits {
        Limits { bandwidth: fastest(&self.bandwidth), ..self.clone() }
    }
}

/// A cache that holds data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataCache {
    /// "L1", "L2", "L3".
    pub name: String,
    /// Bytes.
    pub bytes: u64,
}

/// A way of moving bytes, over working sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// "read", "write" or "copy".
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["read", "write", "copy"])))]
    pub operation: String,
    /// By which loop: "8-byte", "32-byte", "64-byte", "library", "non-temporal".
    pub by: String,
    /// Bytes touched over and over (source and target together), and bytes per nanosecond; a copied byte counts once.
    pub points: Vec<CurvePoint>,
}

/// Pages of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageSize {
    /// 4 KiB (or the architecture's base size) and no larger ones.
    Small,
    /// The kernel's transparent huge pages.
    Huge,
}

impl PageSize {
    /// As a word of a sentence.
    pub fn word(self) -> &'static str {
        match self {
            PageSize::Small => "small",
            PageSize::Huge => "huge",
        }
    }
}

/// Loads that wait for each other, over working sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChaseCurve {
    /// The pages that they are on.
    pub pages: PageSize,
    /// Bytes touched in random order, and nanoseconds per load.
    pub points: Vec<CurvePoint>,
}

/// A figure at a working set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// Bytes.
    pub bytes: u64,
    /// What was measured there.
    pub figure: LimitFigure,
}

/// The caches that hold data, by growing size, from the kernel's words ("L1d 32K", "L2 1024K", "L3 32M").
///
/// Instruction caches and what cannot be read are left out; so is one that is not larger than the one before.
pub fn cache_sizes(words: &[String]) -> Vec<DataCache> {
    let mut found: Vec<DataCache> = Vec::new();
    for word in words {
        let Some((name, size)) = word.split_once(' ') else { continue };
        let digits = size.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let factor = match &size[digits.len()..] {
            "" => 1,
            "K" => 1 << 10,
            "M" => 1 << 20,
            "G" => 1 << 30,
            _ => continue,
        };
        let Ok(count) = digits.parse::<u64>() else { continue };
        if name.ends_with('i') || count == 0 {
            continue;
        }
        found.push(DataCache { name: name.trim_end_matches('d').to_owned(), bytes: count * factor });
    }
    found.sort_by_key(|cache| cache.bytes);
    found.dedup_by_key(|cache| cache.bytes);
    found
}

/// One row per cache and one for the memory.
pub fn levels(caches: &[DataCache], bandwidth: &[Moved], latency: &[ChaseCurve]) -> Vec<MemoryLevel> {
    let on = |pages| latency.iter().find(|curve| curve.pages == pages).map(|curve| curve.points.as_slice());
    let (small, huge) = (on(PageSize::Small), on(PageSize::Huge));
    let stretch = |at: usize| inside(caches, at);
    let figure = |points: Option<&[CurvePoint]>, at: usize| Some(median_point(points?, stretch(at))?.figure);
    (0..=caches.len())
        .map(|at| MemoryLevel {
            name: caches.get(at).map_or("memory", |cache| &cache.name).to_owned(),
            bytes: caches.get(at).map(|cache| cache.bytes),
            read: rate(bandwidth, "read", stretch(at)),
            write: rate(bandwidth, "write", stretch(at)),
            copy: rate(bandwidth, "copy", stretch(at)),
            latency_ns: figure(small, at),
            latency_huge_ns: figure(huge, at),
            // Huge pages, where there are any, show the caches without the cost of looking pages up.
            ends_at_bytes: huge.or(small).and_then(|points| step(points, stretch(at), stretch(at + 1))),
        })
        .collect()
}

/// The working sets well inside a level: from, to. Beyond the memory nothing is.
fn inside(caches: &[DataCache], at: usize) -> (f64, f64) {
    let bytes = |at: usize| caches[at].bytes as f64;
    match at {
        at if at > caches.len() => (f64::INFINITY, f64::INFINITY),
        at if at == caches.len() => (at.checked_sub(1).map_or(0.0, |last| 2.0 * bytes(last)), f64::INFINITY),
        0 => (0.0, 0.75 * bytes(0)),
        at => (2.0 * bytes(at - 1), 0.75 * bytes(at)),
    }
}

/// The points of a stretch, or the one nearest to it on a scale of ratios.
fn within(points: &[CurvePoint], (from, to): (f64, f64)) -> Vec<CurvePoint> {
    let away = |point: &CurvePoint| {
        let bytes = point.bytes as f64;
        (from / bytes).ln().max((bytes / to).ln()).max(0.0)
    };
    let own: Vec<CurvePoint> = points.iter().copied().filter(|point| away(point) == 0.0).collect();
    if !own.is_empty() || from.is_infinite() {
        return own;
    }
    points.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b))).into_iter().collect()
}

/// The point whose figure is the middle one of a stretch (the upper of two).
fn median_point(points: &[CurvePoint], stretch: (f64, f64)) -> Option<CurvePoint> {
    let mut own = within(points, stretch);
    own.sort_by(|a, b| a.figure.median.total_cmp(&b.figure.median));
    own.get(own.len() / 2).copied()
}

/// The fastest point of any way in a stretch.
fn rate(bandwidth: &[Moved], operation: &str, stretch: (f64, f64)) -> Option<Rate> {
    let own = bandwidth.iter().filter(|curve| curve.operation == operation);
    let rates = own.flat_map(|curve| {
        let points = within(&curve.points, stretch).into_iter();
        points.map(|point| Rate { bytes_per_ns: point.figure, by: curve.by.clone() })
    });
    rates.max_by(|a, b| a.bytes_per_ns.median.total_cmp(&b.bytes_per_ns.median))
}

/// Where a curve passes the geometric mean of what it is in two stretches, between points on a scale of ratios.
///
/// Nothing where the second is not at least a fifth above the first.
fn step(points: &[CurvePoint], inner: (f64, f64), outer: (f64, f64)) -> Option<u64> {
    const LEAST_STEP: f64 = 1.2;
    let plateau = |stretch| {
        let own: Vec<f64> = within(points, stretch).iter().map(|point| point.figure.median).collect();
        median(&own)
    };
    let (low, high) = (plateau(inner)?, plateau(outer)?);
    if high < LEAST_STEP * low {
        return None;
    }
    let middle = (low * high).sqrt();
    let after = points
        .iter()
        .position(|point| point.bytes as f64 >= inner.0 && point.figure.median >= middle)
        .filter(|after| *after > 0)?;
    let (a, b) = (&points[after - 1], &points[after]);
    if a.figure.median >= middle {
        return Some(a.bytes);
    }
    let way = (middle / a.figure.median).ln() / (b.figure.median / a.figure.median).ln();
    let bytes = (a.bytes as f64).ln() + way * (b.bytes as f64 / a.bytes as f64).ln();
    Some(bytes.exp().round() as u64)
}

/// Per operation one curve: at each working set the fastest way, with that way's name where one is fastest everywhere.
pub(super) fn fastest(curves: &[Moved]) -> Vec<Moved> {
    let mut found: Vec<Moved> = Vec::new();
    for curve in curves {
        match found.iter_mut().find(|best| best.operation == curve.operation) {
            None => found.push(Moved { by: "fastest".to_owned(), ..curve.clone() }),
            Some(best) => best.points = faster(&best.points, &curve.points),
        }
    }
    found
}

/// The upper envelope of two curves.
fn faster(a: &[CurvePoint], b: &[CurvePoint]) -> Vec<CurvePoint> {
    let mut all: Vec<CurvePoint> = a.iter().chain(b).copied().collect();
    all.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(b.figure.median.total_cmp(&a.figure.median)));
    all.dedup_by_key(|point| point.bytes);
    all
}

/// The figure of a curve at a working set, between its points on a scale of ratios; beyond its ends that of the end.
pub(super) fn at(points: &[CurvePoint], bytes: f64) -> Option<f64> {
    let after = points.iter().position(|point| point.bytes as f64 >= bytes);
    let (a, b) = match after {
        None => return points.last().map(|point| point.figure.median),
        Some(0) => return points.first().map(|point| point.figure.median),
        Some(after) => (&points[after - 1], &points[after]),
    };
    let way = (bytes / a.bytes as f64).ln() / (b.bytes as f64 / a.bytes as f64).ln();
    Some((a.figure.median.ln() + way * (b.figure.median / a.figure.median).ln()).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn caches() -> Vec<DataCache> {
        cache_sizes(&words(&["L1d 32K", "L1i 32K", "L2 1024K", "L3 32768K"]))
    }

    fn point(bytes: u64, value: f64) -> CurvePoint {
        CurvePoint { bytes, figure: LimitFigure { median: value, lower: value, upper: value, repeats: 9 } }
    }

    /// Powers of two from 4 KiB to 256 MiB.
    fn sizes() -> impl Iterator<Item = u64> {
        (12..=28).map(|power| 1u64 << power)
    }

    /// A curve that steps where the caches end.
    fn stepped(ends: [u64; 3], values: [f64; 4]) -> Vec<CurvePoint> {
        sizes().map(|bytes| point(bytes, values[ends.iter().filter(|end| bytes > **end).count()])).collect()
    }

    fn moved(operation: &str, by: &str, points: Vec<CurvePoint>) -> Moved {
        Moved { operation: operation.to_owned(), by: by.to_owned(), points }
    }

    const ENDS: [u64; 3] = [32 << 10, 1 << 20, 32 << 20];

    #[test]
    fn caches_are_read_by_size_without_those_for_instructions() {
        let names: Vec<(String, u64)> = caches().into_iter().map(|cache| (cache.name, cache.bytes)).collect();
        let expected = [("L1", 32 << 10), ("L2", 1 << 20), ("L3", 32 << 20)];
        assert_eq!(names, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
        let odd = cache_sizes(&words(&["L2 2M", "L1d 48K", "L1d", "L3 x", "L4 7Q", "L3 0K", "L3 96"]));
        let names: Vec<(&str, u64)> = odd.iter().map(|cache| (cache.name.as_str(), cache.bytes)).collect();
        assert_eq!(names, [("L3", 96), ("L1", 48 << 10), ("L2", 2 << 20)]);
        assert_eq!(cache_sizes(&[]), []);
    }

    #[test]
    fn each_level_has_the_figures_of_its_own_stretch_and_of_the_fastest_way() {
        let bandwidth = [
            moved("read", "8-byte", stepped(ENDS, [80.0, 40.0, 30.0, 21.0])),
            moved("read", "64-byte", stepped(ENDS, [230.0, 90.0, 50.0, 20.0])),
            moved("copy", "library", stepped(ENDS, [100.0, 60.0, 25.0, 9.0])),
        ];
        let latency = [ChaseCurve { pages: PageSize::Small, points: stepped(ENDS, [1.1, 3.8, 14.0, 120.0]) }];
        let found = levels(&caches(), &bandwidth, &latency);
        let of = |name: &str| found.iter().find(|level| level.name == name).unwrap();
        let read = |name: &str| {
            let rate = of(name).read.clone().unwrap();
            (rate.bytes_per_ns.median, rate.by)
        };
        assert_eq!(read("L1"), (230.0, "64-byte".to_owned()));
        assert_eq!(read("L2"), (90.0, "64-byte".to_owned()));
        assert_eq!(read("L3"), (50.0, "64-byte".to_owned()));
        assert_eq!(read("memory"), (21.0, "8-byte".to_owned()));
        assert_eq!(of("L2").copy.as_ref().unwrap().bytes_per_ns.median, 60.0);
        assert_eq!(of("L3").write, None);
        let latencies: Vec<f64> = found.iter().map(|level| level.latency_ns.unwrap().median).collect();
        assert_eq!(latencies, [1.1, 3.8, 14.0, 120.0]);
        assert!(found.iter().all(|level| level.latency_huge_ns.is_none()));
        assert_eq!((of("L3").bytes, of("memory").bytes), (Some(32 << 20), None));
    }

    #[test]
    fn the_stretch_of_a_level_keeps_clear_of_both_steps() {
        // Just past 32 KiB half of the loads still hit, at 1 MiB some already miss: 48 KiB and 1 MiB must not count for L2.
        let points = vec![
            point(16 << 10, 1.0),
            point(48 << 10, 2.0),
            point(64 << 10, 4.0),
            point(512 << 10, 4.2),
            point(1 << 20, 9.0),
            point(16 << 20, 14.0),
        ];
        let latency = [ChaseCurve { pages: PageSize::Small, points: points.clone() }];
        let found = levels(&caches(), &[moved("read", "a", points)], &latency);
        let waits: Vec<f64> = found.iter().map(|level| level.latency_ns.unwrap().median).collect();
        assert_eq!(waits, [1.0, 4.2, 14.0, 14.0], "of two the upper is the middle one");
        let read: Vec<f64> =
            found.iter().map(|level| level.read.as_ref().unwrap().bytes_per_ns.median).collect();
        // Of two in a stretch the faster; no size lies beyond twice the L3: the nearest one stands in.
        assert_eq!(read, [1.0, 4.2, 14.0, 14.0]);
    }

    #[test]
    fn where_a_level_ends_is_read_off_the_curve() {
        // The L3 is shared: it ends at 10 MiB though the kernel says 32.
        let huge = stepped([32 << 10, 1 << 20, 10 << 20], [1.0, 4.0, 16.0, 100.0]);
        let found = levels(&caches(), &[], &[ChaseCurve { pages: PageSize::Huge, points: huge }]);
        let ends: Vec<Option<u64>> = found.iter().map(|level| level.ends_at_bytes).collect();
        // From 1 at 32 KiB to 4 at 64 KiB the mean 2 lies halfway: 2^15.5. Likewise at 2^20.5.
        assert_eq!(ends[0], Some(46_341));
        assert_eq!(ends[1], Some(1_482_910));
        // Inside by the kernel's size are 2, 4, 8 and 16 MiB: the median is that of the first three. From 16 at 8 MiB to 100 at 16.
        assert_eq!(ends[2], Some(11_863_283));
        assert_eq!(ends[3], None);
    }

    #[test]
    fn a_curve_that_does_not_rise_has_no_step() {
        let flat = stepped(ENDS, [10.0, 11.0, 11.5, 50.0]);
        let found = levels(&caches(), &[], &[ChaseCurve { pages: PageSize::Small, points: flat }]);
        assert_eq!((found[0].ends_at_bytes, found[1].ends_at_bytes), (None, None));
        assert!(found[2].ends_at_bytes.is_some());
        let none = levels(&caches(), &[], &[]);
        assert_eq!(none.len(), 4);
        assert!(none.iter().all(|level| level.ends_at_bytes.is_none() && level.latency_ns.is_none()));
    }

    #[test]
    fn without_known_caches_all_is_memory() {
        let found = levels(&[], &[moved("write", "a", vec![point(4096, 7.0)])], &[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].bytes), ("memory", None));
        assert_eq!(found[0].write.as_ref().unwrap().bytes_per_ns.median, 7.0);
    }

    #[test]
    fn the_fastest_way_is_chosen_at_each_size() {
        let curves = [
            moved("copy", "a", vec![point(1, 5.0), point(2, 5.0), point(4, 5.0)]),
            moved("read", "b", vec![point(1, 9.0)]),
            moved("copy", "c", vec![point(1, 7.0), point(2, 3.0), point(8, 1.0)]),
        ];
        let found = fastest(&curves);
        assert_eq!(found.len(), 2);
        let copy: Vec<(u64, f64)> =
            found[0].points.iter().map(|point| (point.bytes, point.figure.median)).collect();
        assert_eq!(copy, [(1, 7.0), (2, 5.0), (4, 5.0), (8, 1.0)]);
        assert_eq!((found[0].operation.as_str(), found[0].by.as_str()), ("copy", "fastest"));
    }

    #[test]
    fn between_points_a_curve_is_read_on_a_scale_of_ratios() {
        let points = [point(1024, 10.0), point(4096, 40.0)];
        assert_eq!(at(&points, 100.0), Some(10.0));
        assert_eq!(at(&points, 1e9), Some(40.0));
        assert!((at(&points, 2048.0).unwrap() - 20.0).abs() < 1e-9);
        assert!((at(&points, 4096.0).unwrap() - 40.0).abs() < 1e-9);
        assert_eq!(at(&[], 1.0), None);
    }
}
