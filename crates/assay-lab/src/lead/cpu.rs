//! Where is measured, and where the lab itself keeps to.

use super::Misuse;
use anyhow::{Context, Result};
use std::sync::OnceLock;

/// The processor measured programs run on: the last one allowed, since interrupts and daemons favour the first; the
/// lab itself keeps to the others.
pub fn measuring_cpu(wish: Option<usize>) -> Result<usize> {
    // Asked for once: this very function takes the measuring processor from the lab.
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    let allowed = ALLOWED.get_or_init(|| assay_linux::pin::allowed_cpus().unwrap_or_default()).clone();
    let cpu = match wish {
        Some(cpu) if allowed.contains(&cpu) => cpu,
        Some(cpu) => {
            let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            let message = format!("this process may not use CPU {cpu}; it may use {}", list.join(", "));
            return Err(Misuse(message).into());
        }
        None => *allowed.last().context("this process may not use any CPU")?,
    };
    let others: Vec<usize> = allowed.into_iter().filter(|&other| other != cpu).collect();
    if !others.is_empty() {
        assay_linux::pin::keep_to(&others)?;
    }
    Ok(cpu)
}
