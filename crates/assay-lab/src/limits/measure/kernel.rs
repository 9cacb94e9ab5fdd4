//! What the kernel and its clocks cost.

use super::LimitsSession;
use anyhow::{Context, Result};
use assay_linux::limits::system::{self, PingPong, Untouched};
use assay_pure::limits::{Cost, LimitFigure, cost};
use std::cell::RefCell;

/// Pages in a window of first touches.
const PAGES: usize = 64;
/// Hand-overs in a window, there and back.
const HANDS: u64 = 50;
/// A window of hand-overs in which both threads ran less than this share of the time was interrupted; switching itself
/// is accounted to nobody in part.
const RAN: f64 = 0.9;

/// All costs of the kernel.
pub fn costs(session: &mut LimitsSession) -> Result<()> {
    calls(session)?;
    pages(session)?;
    switches(session)
}

fn put(session: &mut LimitsSession, name: &str, ns: &[f64], how: &str) {
    if let Some(ns) = LimitFigure::of(ns) {
        session.limits.costs.push(Cost { name: name.to_owned(), ns, how: how.to_owned() });
    }
}

fn calls(session: &mut LimitsSession) -> Result<()> {
    let counter = || {
        system::read_counter();
    };
    let calls: [(&str, fn(), &str); 4] = [
        (cost::SYSTEM_CALL, system::system_call, "getppid, called directly"),
        (cost::CLOCK, system::read_monotonic, "clock_gettime(CLOCK_MONOTONIC)"),
        (cost::THREAD_CLOCK, system::read_thread_clock, "clock_gettime(CLOCK_THREAD_CPUTIME_ID)"),
        (cost::COUNTER, counter, "one instruction"),
    ];
    for (at, (name, call, how)) in calls.into_iter().enumerate() {
        session.tell(name, at as f64 / 6.0)?;
        if name == cost::COUNTER && !system::read_counter() {
            continue;
        }
        let repeated = |times: u64| (0..times).for_each(|_| call());
        let times = session.meter.enough(repeated);
        let ns = session.meter.repeat(times as f64, || repeated(times));
        put(session, name, &ns, how);
    }
    Ok(())
}

fn pages(session: &mut LimitsSession) -> Result<()> {
    session.tell(cost::PAGE_FAULT, 4.0 / 6.0)?;
    // What was touched is given back ahead of the next window, not in it.
    let touched = RefCell::new(None);
    let fresh = |_| {
        touched.replace(None);
        Untouched::new(PAGES).ok()
    };
    let ns = session.meter.repeat_prepared(PAGES as f64, fresh, |fresh| {
        touched.replace(fresh.map(|mut fresh| {
            fresh.touch();
            fresh
        }));
    });
    let ns = session.meter.settle(ns);
    put(session, cost::PAGE_FAULT, &ns, "the first write to each of 64 fresh small pages");
    Ok(())
}

fn switches(session: &mut LimitsSession) -> Result<()> {
    session.tell(cost::SWITCH, 5.0 / 6.0)?;
    let mut pair = PingPong::new(session.cpu).context("two threads on one processor")?;
    let mut ns = Vec::new();
    for _ in 0..session.effort.windows {
        let before = (system::monotonic_ns(), system::process_cpu_ns());
        pair.hand(HANDS).context("handing a byte to the other thread")?;
        let wall = system::monotonic_ns() - before.0;
        session.meter.watched.clocks.windows.timed += 1;
        if system::process_cpu_ns() - before.1 < RAN * wall {
            session.meter.watched.clocks.windows.interrupted += 1;
            continue;
        }
        ns.push(wall / (2 * HANDS) as f64);
    }
    pair.end();
    put(session, cost::SWITCH, &ns, "a byte through a pipe to another thread on the same processor");
    Ok(())
}
