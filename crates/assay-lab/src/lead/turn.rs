//! Campaigns take turns: two that measure at the same moment would measure each other.
//!
//! A round holds an advisory lock that all assays of this user on this machine share; between rounds it is free. A
//! lab that is killed frees it with its descriptors.

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
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
    let Some(_next) = lock(&lock_file(cpu, "next"), &mut waiting, asked_to_stop)? else { return Ok(None) };
    let turn = lock(&lock_file(cpu, "measuring"), &mut waiting, asked_to_stop)?;
    Ok(turn.map(|locked| Turn { _locked: locked }))
}

fn lock(path: &Path, waiting: &mut dyn FnMut(), asked_to_stop: &dyn Fn() -> bool) -> Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).with_context(|| {
        format!("cannot open {}, the lock file by which campaigns take turns", path.display())
    })?;
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
fn lock_file(cpu: usize, what: &str) -> PathBuf {
    let user = std::env::var("USER").unwrap_or_else(|_| "user".into());
    let user: String = user.chars().filter(char::is_ascii_alphanumeric).collect();
    std::env::temp_dir().join(format!("assay-{what}-{user}-cpu{cpu}.lock"))
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
