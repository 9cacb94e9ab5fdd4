//! Campaigns take turns: two that measure at the same moment would measure each other.
//!
//! A round holds an advisory lock that all assays of this user on this machine share; between rounds it is free. A
//! lab that is killed frees it with its descriptors. Different users do not take turns: a lock that another user can open
//! is one that another user can hold for ever. The lock lies where only this user can write ([`assay_linux::lock`]).

use super::cpu::keep_off;
use anyhow::{Context, Result};
use assay_linux::lock;
use assay_pure::event::{Event, Wait};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The right to measure, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _locked: File,
}

/// How often one who waits looks whether the turn is free.
const LOOK: Duration = Duration::from_millis(2);

/// Between two words of one who waits.
const TOLD: Duration = Duration::from_secs(1);

/// Waits for the turn, and says for whom. None if somebody asks to stop meanwhile.
///
/// # Errors
/// The lock files cannot be made.
pub fn take(cpu: usize, on: &mut dyn FnMut(Event)) -> Result<Option<Turn>> {
    let (mut has_waited, mut holder) = (false, None);
    let mut waiting = |waited: Duration, measuring: &Path| {
        if !std::mem::replace(&mut has_waited, true) {
            holder = lock::holder(measuring).map(named);
        }
        let wait = Wait::Turn { cpu, holder: holder.clone() };
        on(Event::Waiting { wait, seconds: waited.as_secs_f64() });
    };
    let turn = take_unless(cpu, &mut waiting, &assay_linux::interrupt::asked)?;
    if has_waited {
        on(Event::WaitOver);
    }
    if turn.is_some() {
        keep_off(cpu)?;
    }
    Ok(turn)
}

/// Whether another lab measures on a processor at this moment.
///
/// # Errors
/// The lock files cannot be made.
pub fn is_taken(cpu: usize) -> Result<bool> {
    let folder = lock::runtime_folder().context("cannot take turns with other campaigns")?;
    let path = folder.join(lock_file(cpu, "measuring"));
    Ok(matches!(opened(&path)?.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The process that measures on a processor now, as far as the kernel tells.
pub fn holder(cpu: usize) -> Option<u32> {
    lock::holder(&lock::runtime_folder().ok()?.join(lock_file(cpu, "measuring")))
}

/// A process with its command: "process 4711, assay run sums.toml".
pub fn named(process: u32) -> String {
    match lock::command_of(process) {
        Some(command) => format!("process {process}, {command}"),
        None => format!("process {process}"),
    }
}

/// Waits for the turn; `waiting` is told at once and then every second for how long, and whose lock it is. None if
/// `asked_to_stop` meanwhile.
///
/// One who waits stands in a queue of one, which all pass through: a campaign that goes from round to round would
/// otherwise take the turn again before the other has woken up, round after round.
///
/// # Errors
/// The lock files cannot be made.
fn take_unless(
    cpu: usize,
    waiting: &mut dyn FnMut(Duration, &Path),
    asked_to_stop: &dyn Fn() -> bool,
) -> Result<Option<Turn>> {
    let (began, mut told) = (Instant::now(), None::<Instant>);
    let folder = lock::runtime_folder().context("cannot take turns with other campaigns")?;
    let path = |what| folder.join(lock_file(cpu, what));
    let measuring = path("measuring");
    let mut waiting = || {
        if told.is_none_or(|told| told.elapsed() >= TOLD) {
            told = Some(Instant::now());
            waiting(began.elapsed(), &measuring);
        }
    };
    let mut one = |path: &Path| -> Result<Option<File>> {
        let file = opened(path)?;
        locked(file, &mut waiting, asked_to_stop).with_context(|| format!("cannot lock {}", path.display()))
    };
    let Some(_next) = one(&path("next"))? else { return Ok(None) };
    Ok(one(&measuring)?.map(|locked| Turn { _locked: locked }))
}

fn opened(path: &Path) -> Result<File> {
    lock::open_own(path).context("cannot open the lock file by which campaigns take turns")
}

/// Locks a file; `waiting` is called again and again while another process has it. None if `asked_to_stop` meanwhile.
///
/// # Errors
/// The kernel refuses.
pub fn locked(
    file: File,
    waiting: &mut dyn FnMut(),
    asked_to_stop: &dyn Fn() -> bool,
) -> io::Result<Option<File>> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => waiting(),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if asked_to_stop() {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// One per processor: campaigns on different processors do not share a core, and may run side by side if the user
/// says so with --cpu.
fn lock_file(cpu: usize, what: &str) -> String {
    format!("assay-{what}-cpu{cpu}.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no() -> bool {
        false
    }

    #[test]
    fn lets_the_second_wait_until_the_first_is_done() {
        let first = take_unless(9_999, &mut |_, _| panic!("nobody else has it"), &no).unwrap();
        let second = std::thread::spawn(|| {
            let mut waited = 0;
            assert!(take_unless(9_999, &mut |_, _| waited += 1, &no).unwrap().is_some());
            waited
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(first);
        assert_eq!(second.join().unwrap(), 1, "told once, as it took less than a second");
    }

    #[test]
    fn is_not_overtaken_by_one_who_has_just_had_it() {
        let first = take_unless(9_998, &mut |_, _| {}, &no).unwrap();
        let (order, done) = std::sync::mpsc::channel();
        let (waits, has_waited) = std::sync::mpsc::channel();
        let second = order.clone();
        let waiter = std::thread::spawn(move || {
            let _turn = take_unless(9_998, &mut |_, _| waits.send(()).unwrap(), &no).unwrap();
            second.send("waiter").unwrap();
        });
        has_waited.recv().unwrap();
        drop(first);
        let _again = take_unless(9_998, &mut |_, _| {}, &no).unwrap();
        order.send("again").unwrap();
        waiter.join().unwrap();
        assert_eq!(done.try_iter().collect::<Vec<_>>(), ["waiter", "again"]);
    }

    #[test]
    fn one_who_waits_says_which_process_it_waits_for() {
        let first = take_unless(9_996, &mut |_, _| {}, &no).unwrap();
        let (said, heard) = std::sync::mpsc::channel();
        let second = std::thread::spawn(move || {
            take(9_996, &mut |event| said.send(event).unwrap()).unwrap().unwrap();
        });
        let event = heard.recv().unwrap();
        drop(first);
        second.join().unwrap();
        let Event::Waiting { wait: Wait::Turn { cpu: 9_996, holder }, .. } = event else {
            panic!("{event:?}");
        };
        // A kernel that hides other processes' locks tells nothing.
        let own = format!("process {}, ", std::process::id());
        assert!(holder.is_none_or(|holder| holder.starts_with(&own)), "this very process holds it");
        assert_eq!(heard.iter().last(), Some(Event::WaitOver));
    }

    #[test]
    fn gives_up_waiting_when_asked_to_stop() {
        let _first = take_unless(9_997, &mut |_, _| {}, &no).unwrap();
        assert!(take_unless(9_997, &mut |_, _| {}, &|| true).unwrap().is_none());
    }
}
