//! Where is measured, and where the lab itself keeps to.

use super::{Misuse, turn};
use anyhow::{Context, Result};
use assay_linux::pin;
use assay_pure::words;
use std::sync::OnceLock;

/// The processors that the lab was given. Asked for once, for it takes the measuring one from itself.
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(|| pin::allowed_cpus().unwrap_or_default())
}

/// The processor measured programs run on: the last one allowed, since interrupts and daemons favour the first.
///
/// The lab itself keeps to the others from its first turn on, or at once if another one measures there now. Until then its
/// compilers have all: on two processors a program is built in half of the time.
pub fn measuring_cpu(wish: Option<usize>) -> Result<usize> {
    let allowed = allowed();
    let cpu = match wish {
        Some(cpu) if allowed.contains(&cpu) => cpu,
        Some(cpu) => {
            let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            let message = format!("this process may not use CPU {cpu}; it may use {}", words::list(&list));
            return Err(Misuse(message).into());
        }
        None => *allowed.last().context("this process may not use any CPU")?,
    };
    if turn::is_taken(cpu)? {
        keep_off(cpu)?;
    }
    Ok(cpu)
}

/// Leaves a processor's core to what is measured there, if the lab has any other; else the processor alone.
pub fn keep_off(cpu: usize) -> Result<()> {
    for left in [pin::threads_of_core(cpu), vec![cpu]] {
        let others: Vec<usize> = allowed().iter().copied().filter(|other| !left.contains(other)).collect();
        if !others.is_empty() {
            return Ok(pin::keep_to(&others)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_leaves_the_measured_processor_once_it_has_its_turn() {
        // In a thread of its own: it cannot have the processor back.
        std::thread::spawn(|| {
            let cpu = *allowed().last().unwrap();
            let _turn = turn::take(cpu, &mut |_| ()).unwrap();
            let left = pin::allowed_cpus().unwrap();
            assert!(allowed().len() == 1 || !left.contains(&cpu), "{left:?}");
        })
        .join()
        .unwrap();
    }
}
