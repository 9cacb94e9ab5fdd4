//! Campaigns take turns: two that measure at the same moment would measure each other.
//!
//! A round holds an advisory lock that all assays of this user on this machine share; between rounds it is free. A
//! lab that is killed frees it with its descriptors. Different users do not take turns: a lock that another user can open
//! is one that another user can hold for ever. The lock lies where only this user can write ([`assay_linux::lock`]).

use anyhow::{Context, Result};
use assay_linux::lock;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// The right to measure, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _locked: File,
}

/// How often one who waits looks whether the turn is free.
const LOOK: Duration = Duration::from_millis(2);

/// Waits for the turn; `waiting` is told once if another campaign has it. None if `asked_to_stop` meanwhile.
///
/// One who waits stands in a queue of one, which all pass through: a campaign that goes from round to round would
/// otherwise take the turn again before the other has woken up, round after round.
///
/// # Errors
/// The lock files cannot be made.
pub fn take(cpu: usize, waiting: &mut dyn FnMut(), asked_to_stop: &dyn Fn() -> bool) -> Result<Option<Turn>> {
    let mut told = false;
    let mut waiting = || {
        if !std::mem::replace(&mut told, true) {
            waiting();
        }
    };
    let folder = lock::runtime_folder().context("cannot take turns with other campaigns")?;
    let path = |what| folder.join(lock_file(cpu, what));
    let Some(_next) = locked(&path("next"), &mut waiting, asked_to_stop)? else { return Ok(None) };
    let turn = locked(&path("measuring"), &mut waiting, asked_to_stop)?;
    Ok(turn.map(|locked| Turn { _locked: locked }))
}

fn locked(path: &Path, waiting: &mut dyn FnMut(), asked_to_stop: &dyn Fn() -> bool) -> Result<Option<File>> {
    let file = lock::open_own(path).context("cannot open the lock file by which campaigns take turns")?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => waiting(),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
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
        let first = take(9_999, &mut || panic!("nobody else has it"), &no).unwrap();
        let second = std::thread::spawn(|| {
            let mut waited = 0;
            assert!(take(9_999, &mut || waited += 1, &no).unwrap().is_some());
            waited
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(first);
        assert_eq!(second.join().unwrap(), 1, "told once");
    }

    #[test]
    fn is_not_overtaken_by_one_who_has_just_had_it() {
        let first = take(9_998, &mut || {}, &no).unwrap();
        let (order, done) = std::sync::mpsc::channel();
        let (waits, has_waited) = std::sync::mpsc::channel();
        let second = order.clone();
        let waiter = std::thread::spawn(move || {
            let _turn = take(9_998, &mut || waits.send(()).unwrap(), &no).unwrap();
            second.send("waiter").unwrap();
        });
        has_waited.recv().unwrap();
        drop(first);
        let _again = take(9_998, &mut || {}, &no).unwrap();
        order.send("again").unwrap();
        waiter.join().unwrap();
        assert_eq!(done.try_iter().collect::<Vec<_>>(), ["waiter", "again"]);
    }

    #[test]
    fn gives_up_waiting_when_asked_to_stop() {
        let _first = take(9_997, &mut || {}, &no).unwrap();
        assert!(take(9_997, &mut || {}, &|| true).unwrap().is_none());
    }
}
