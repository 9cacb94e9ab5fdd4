//! What is read soon is asked for now.
#![allow(unsafe_code, reason = "the instruction takes an address")]

/// Has the CPU bring an element's line into the first-level cache; a hint, so there need not be such an element.
#[inline(always)]
pub fn prefetch<T>(of: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(of.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (of, at);
}
