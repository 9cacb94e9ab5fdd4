//! Bandwidth and latency over working sets.

use super::LimitsSession;
use crate::limits::plan;
use anyhow::{Context, Result};
use assay_linux::limits::buffer::Buffer;
use assay_linux::limits::chase::Chase;
use assay_linux::limits::stream::{self, By, Operation, StreamKernel};
use assay_linux::window::WindowValues;
use assay_pure::limits::{ChaseCurve, CurvePoint, LimitFigure, Moved, PageSize};
use assay_pure::words;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A larger working set is walked through in stretches of this size, one per window.
const STRETCH: usize = 1 << 20;
/// Both halves of a copy start at pages, so that no store hides a load of the same place in another page.
const PAGE: usize = 4096;
/// Steps that warm a walk through more than the caches hold: there is nothing to bring in, only page tables.
const WARM_STEPS: u64 = 1 << 16;

/// Single windows by working set.
type Windows = BTreeMap<u64, WindowValues<f64>>;

/// All curves, in rounds, so that the windows of a point are taken at times far apart.
pub fn curves(session: &mut LimitsSession) -> Result<()> {
    let kernels = stream::kernels();
    let mut latency = [PageSize::Small, PageSize::Huge].map(|pages| (pages, Windows::new()));
    let mut bandwidth: Vec<(StreamKernel, Windows)> =
        kernels.into_iter().map(|kernel| (kernel, Windows::new())).collect();
    let rounds = session.effort.rounds;
    for round in 0..rounds {
        if round > 0 && session.meter.late() {
            break;
        }
        let part = |within: f64| (round as f64 + within) / rounds as f64;
        for (at, (pages, windows)) in latency.iter_mut().enumerate() {
            chase(session, *pages, windows, (part(0.3 * at as f64), part(0.3 * (at + 1) as f64)))?;
        }
        stream_all(session, &mut bandwidth, (part(0.6), part(1.0)))?;
    }
    for (pages, windows) in latency.into_iter().filter(|(_, windows)| !windows.is_empty()) {
        let points = points(session, windows, |ns| ns);
        session.limits.latency.push(ChaseCurve { pages, points });
    }
    for (kernel, windows) in bandwidth {
        let points = points(session, windows, |ns_per_byte| ns_per_byte.rate(1.0));
        session.limits.bandwidth.push(Moved {
            operation: operation(kernel).to_owned(),
            by: kernel.by.to_string(),
            points,
        });
    }
    Ok(())
}

fn points(
    session: &mut LimitsSession,
    windows: Windows,
    figure: fn(LimitFigure) -> LimitFigure,
) -> Vec<CurvePoint> {
    let point = |(bytes, found)| {
        Some(CurvePoint { bytes, figure: figure(LimitFigure::of(&session.meter.settle(found))?) })
    };
    windows.into_iter().filter_map(point).collect()
}

fn operation(kernel: StreamKernel) -> &'static str {
    match kernel.operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Copy => "copy",
    }
}

/// One round of a walk in random order over every working set.
fn chase(
    session: &mut LimitsSession,
    pages: PageSize,
    windows: &mut Windows,
    (from, to): (f64, f64),
) -> Result<()> {
    let mut chase = Chase::new(session.largest as usize, Some(pages)).context("memory to measure in")?;
    // Most of it must lie on them, or the curve is of neither.
    if pages == PageSize::Huge && chase.huge_bytes().is_none_or(|huge| huge < session.largest / 10 * 9) {
        return Ok(());
    }
    let sizes = plan::sizes(session.largest, session.effort.between);
    for (at, &bytes) in sizes.iter().enumerate() {
        // The last sizes take most of the time.
        let part = from + (to - from) * (at as f64 / sizes.len() as f64).powi(2);
        session.tell(&format!("load latency, {} pages, {}", pages.word(), words::bytes(bytes)), part)?;
        chase.lay(bytes as usize);
        let may_fit = bytes <= 2 * session.last_cache;
        chase.walk(if may_fit { chase.lines() } else { WARM_STEPS });
        let chase = RefCell::new(&mut chase);
        let steps = session.meter.enough(|steps| {
            chase.borrow_mut().walk(steps);
        });
        let steps = chase.borrow_mut().walk(steps);
        let near = |disturbed: bool| {
            if disturbed && may_fit {
                chase.borrow().read();
            }
        };
        let ns = session.meter.repeat_prepared(steps as f64, near, |()| {
            chase.borrow_mut().walk(steps);
        });
        windows.entry(bytes).or_default().extend(ns);
    }
    Ok(())
}

/// One round of every way of moving bytes over every working set.
fn stream_all(
    session: &mut LimitsSession,
    curves: &mut [(StreamKernel, Windows)],
    (from, to): (f64, f64),
) -> Result<()> {
    let mut buffer =
        Buffer::new(session.largest as usize + 2 * PAGE, None).context("memory to measure in")?;
    let sizes = plan::sizes(session.largest, session.effort.between);
    let of = curves.len() * sizes.len();
    for (nth, (kernel, windows)) in curves.iter_mut().enumerate() {
        for (at, &bytes) in sizes.iter().enumerate() {
            let part = from + (to - from) * (nth * sizes.len() + at) as f64 / of as f64;
            session.tell(
                &format!("bandwidth, {} ({}), {}", operation(*kernel), kernel.by, words::bytes(bytes)),
                part,
            )?;
            let ns_per_byte = point(session, *kernel, &mut buffer, bytes as usize);
            windows.entry(bytes).or_default().extend(ns_per_byte);
        }
    }
    Ok(())
}

/// Nanoseconds per byte of each window.
fn point(
    session: &mut LimitsSession,
    kernel: StreamKernel,
    buffer: &mut Buffer,
    bytes: usize,
) -> WindowValues<f64> {
    let (all, half) = (buffer.bytes_mut(), bytes / 2);
    // Of a copy each byte counts once, and source and target are the working set together.
    let (from, to, moved) = match kernel.operation {
        Operation::Read => (&all[..bytes], &mut [][..], bytes),
        Operation::Write => (&[][..], &mut all[..bytes], bytes),
        Operation::Copy => {
            let (from, to) = all.split_at_mut(half.next_multiple_of(PAGE));
            (&from[..half], &mut to[..half], half)
        }
    };
    let walk = RefCell::new(StreamWalk { kernel, from, to, moved, at: 0 });
    let whole = |times| walk.borrow_mut().whole(times);
    let may_fit = bytes as u64 <= 2 * session.last_cache;
    let near = |disturbed: bool| {
        if disturbed && may_fit {
            whole(1);
        }
    };
    // memset and memcpy choose their way by the size of one call: it is the whole.
    if kernel.by == By::Library {
        if session.meter.is_long(|| whole(1)) {
            return session.meter.repeat_long(moved as f64, || whole(1));
        }
    } else if moved > STRETCH {
        return session.meter.repeat_prepared(STRETCH as f64, near, |()| walk.borrow_mut().stretch());
    }
    let passes = session.meter.enough(whole);
    session.meter.repeat_prepared(passes as f64 * moved as f64, near, |()| whole(passes))
}

/// A working set, and how far it is walked through.
struct StreamWalk<'a> {
    kernel: StreamKernel,
    from: &'a [u8],
    to: &'a mut [u8],
    moved: usize,
    at: usize,
}

impl StreamWalk<'_> {
    fn whole(&mut self, times: u64) {
        self.kernel.run(self.from, self.to, times);
    }

    /// The next stretch; the last of a round is moved back so that it ends where the set does.
    fn stretch(&mut self) {
        let start = if self.at + STRETCH > self.moved { self.moved - STRETCH } else { self.at };
        let part = start..start + STRETCH;
        let from = self.from.get(part.clone()).unwrap_or_default();
        self.kernel.run(from, self.to.get_mut(part).unwrap_or_default(), 1);
        self.at = if start + STRETCH == self.moved { 0 } else { start + STRETCH };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_walk_through_all_of_the_set_and_begin_again() {
        let mut buffer = Buffer::new(4 * STRETCH, None).unwrap();
        buffer.bytes_mut().fill(0);
        let moved = 2 * STRETCH + STRETCH / 2;
        let kernel = StreamKernel { operation: Operation::Write, by: By::Bytes8 };
        let to = &mut buffer.bytes_mut()[..moved];
        let mut walk = StreamWalk { kernel, from: &[], to, moved, at: 0 };
        let mut places = Vec::new();
        for _ in 0..4 {
            walk.stretch();
            places.push(walk.at);
        }
        assert_eq!(places, [STRETCH, 2 * STRETCH, 0, STRETCH]);
        assert!(walk.to.iter().all(|&byte| byte == 1), "all of it was written");
        assert!(buffer.bytes()[moved..].iter().all(|&byte| byte == 0), "and nothing beyond");
    }
}
