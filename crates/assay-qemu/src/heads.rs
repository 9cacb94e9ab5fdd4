//! The heads of all threads, in the plugin's own data, where generated code reaches them by one instruction.

use assay_predict::trace::channel::{MAX_THREADS, head};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// The heads of all threads; the process's file is mapped over this.
pub(crate) static HEADS: Overlay<{ MAX_THREADS as usize * head::SIZE }> = Overlay::new();

/// Memory in the plugin's data that a file is mapped over.
#[repr(C, align(4096))]
pub(crate) struct Overlay<const SIZE: usize>(UnsafeCell<MaybeUninit<[u8; SIZE]>>);

// SAFETY: only its address is handed out.
unsafe impl<const SIZE: usize> Sync for Overlay<SIZE> {}

impl<const SIZE: usize> Overlay<SIZE> {
    pub(crate) const fn new() -> Self {
        Overlay(UnsafeCell::new(MaybeUninit::zeroed()))
    }

    pub(crate) fn place(&self) -> *mut u8 {
        self.0.get().cast()
    }
}
