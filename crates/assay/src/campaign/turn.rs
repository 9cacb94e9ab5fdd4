//! Campaigns take turns: two that measure at the same moment would measure each other.
//!
//! A round holds an advisory lock that all assays of this user on this machine share; between rounds it is free. A
//! lab that is killed frees it with its descriptors.

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

/// The right to measure, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _locked: File,
}

/// Waits for the turn; `waiting` is told once if another campaign has it.
///
/// # Errors
/// The lock file cannot be made.
pub fn take(cpu: usize, waiting: &mut dyn FnMut()) -> Result<Turn> {
    let path = lock_file(cpu);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .with_context(|| format!("cannot open {}, by which campaigns take turns", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    Ok(Turn { _locked: file })
}

/// One per processor: campaigns on different processors do not share a core, and may run side by side if the user
/// says so with --cpu.
fn lock_file(cpu: usize) -> PathBuf {
    let user = std::env::var("USER").unwrap_or_else(|_| "user".into());
    let user: String = user.chars().filter(char::is_ascii_alphanumeric).collect();
    std::env::temp_dir().join(format!("assay-measuring-{user}-cpu{cpu}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lets_the_second_wait_until_the_first_is_done() {
        let first = take(9_999, &mut || panic!("nobody else has it")).unwrap();
        let second = std::thread::spawn(|| {
            let mut waited = false;
            let _turn = take(9_999, &mut || waited = true).unwrap();
            waited
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(first);
        assert!(second.join().unwrap());
    }
}
