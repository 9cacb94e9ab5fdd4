//! A file of the session, mapped: words by their offset. Nothing is ever unmapped, and no descriptor stays open, so the
//! program may close all it finds.

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Mapped memory of the session.
#[derive(Clone, Copy)]
pub(crate) struct SharedSegment {
    base: *mut u8,
    size: usize,
}

// SAFETY: all access is atomic, or to parts that one side alone writes before it publishes them.
unsafe impl Send for SharedSegment {}
// SAFETY: as above.
unsafe impl Sync for SharedSegment {}

impl SharedSegment {
    /// Maps `size` bytes of a file that exists, or of a new one (`create`), at `place` or anywhere.
    pub(crate) fn map(
        path: &str,
        size: usize,
        create: bool,
        place: Option<*mut u8>,
        file_offset: usize,
    ) -> Result<SharedSegment, String> {
        let name = CString::new(path).map_err(|_| "a path with a zero byte".to_owned())?;
        let create_flags = if create { libc::O_CREAT } else { 0 };
        // SAFETY: a valid string; the descriptor is closed below.
        let file = unsafe { libc::open(name.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC | create_flags, 0o600) };
        if file < 0 {
            return Err(format!("opening {path}: {}", std::io::Error::last_os_error()));
        }
        let fixed = if place.is_some() { libc::MAP_FIXED } else { 0 };
        let place = place.unwrap_or(std::ptr::null_mut());
        // SAFETY: either anywhere, or over memory of this plugin's own (the caller's promise).
        let base = unsafe {
            if create && libc::ftruncate(file, (file_offset + size) as i64) != 0 {
                libc::MAP_FAILED
            } else {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                libc::mmap(place.cast(), size, access, libc::MAP_SHARED | fixed, file, file_offset as i64)
            }
        };
        let error = std::io::Error::last_os_error();
        // SAFETY: opened above.
        unsafe { libc::close(file) };
        if base == libc::MAP_FAILED {
            return Err(format!("mapping {path}: {error}"));
        }
        Ok(SharedSegment { base: base.cast(), size })
    }

    /// Replaces memory by nothing that anybody else sees, at the same place: for a process that is not traced.
    pub(crate) fn hide(base: *mut u8, size: usize) -> Option<SharedSegment> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: over memory of this plugin's own.
        let got = unsafe {
            libc::mmap(base.cast::<c_void>(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        (got != libc::MAP_FAILED).then_some(SharedSegment { base, size })
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Its size, bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The word at `offset`.
    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset + 4 <= self.size && offset.is_multiple_of(4));
        // SAFETY: offsets are the layout's, within the file and aligned.
        unsafe { AtomicU32::from_ptr(self.base.add(offset).cast()) }
    }

    /// The word at `offset`.
    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset + 8 <= self.size && offset.is_multiple_of(8));
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.base.add(offset).cast()) }
    }

    /// Copies bytes to `offset`.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset + bytes.len() <= self.size);
        // SAFETY: within the file; not yet published, so nobody reads it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(offset), bytes.len()) };
    }

    /// Asks the kernel for the memory now, so that too little of it is an answer and not a signal.
    pub(crate) fn populate(&self, offset: usize, size: usize) -> bool {
        let from = offset & !4095;
        let to = (offset + size + 4095) & !4095;
        // SAFETY: within the mapping.
        let result = unsafe {
            libc::madvise(self.base.add(from).cast(), to.min(self.size) - from, libc::MADV_POPULATE_WRITE)
        };
        // A kernel before 5.14 does not know the advice: then nothing is known.
        result == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
    }
}
