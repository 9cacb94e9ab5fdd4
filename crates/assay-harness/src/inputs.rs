//! Loaded inputs: mapped bytes, their windows, and what variants prepared from them.

use crate::system;
use std::any::Any;
use std::fs::File;

/// A stretch of an input for one call.
pub(crate) struct Window {
    pub(crate) data: &'static [u8],
    pub(crate) units: u64,
}

/// One input.
pub(crate) struct Input {
    pub(crate) id: u32,
    pub(crate) data: &'static [u8],
    pub(crate) units: u64,
    pub(crate) windows: Vec<Window>,
    /// What each variant prepared from it, made on the first request.
    pub(crate) prepared: Vec<Option<Box<dyn Any>>>,
}

impl Input {
    /// An input of `variants` variants without windows.
    pub(crate) fn new(id: u32, data: &'static [u8], units: u64, variants: usize) -> Self {
        // Touches every page, so that no sample pays for the first access.
        data.iter().step_by(system::page_bytes()).for_each(|&byte| crate::use_value(byte));
        Self { id, data, units, windows: Vec::new(), prepared: (0..variants).map(|_| None).collect() }
    }

    /// Adds a window; false where it reaches past the end.
    pub(crate) fn add_window(&mut self, offset: u64, size: u64, units: u64) -> bool {
        let stretch = || {
            let from = usize::try_from(offset).ok()?;
            let to = from.checked_add(usize::try_from(size).ok()?)?;
            self.data.get(from..to)
        };
        let Some(data) = stretch() else { return false };
        self.windows.push(Window { data, units });
        true
    }
}

/// Maps a regular file of exactly `size` bytes, or of any size where `size` is `None`.
pub(crate) fn map_file(path: &str, size: Option<u64>) -> Result<&'static [u8], String> {
    let file = File::open(path).map_err(|error| format!("cannot open {path}: {error}"))?;
    let facts = file.metadata().map_err(|error| format!("cannot read the size of {path}: {error}"))?;
    if !facts.is_file() {
        return Err(format!("{path} is not a regular file"));
    }
    if let Some(size) = size.filter(|size| *size != facts.len()) {
        return Err(format!("{path} has {} bytes, not {size}", facts.len()));
    }
    let size = usize::try_from(facts.len()).map_err(|_| format!("{path} is too large"))?;
    system::map(Some(&file), size).map_err(|error| format!("cannot map {path}: {error}"))
}
