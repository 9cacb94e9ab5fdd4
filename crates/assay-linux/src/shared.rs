//! Memory shared with a process that is not ours: words by offset, each accessed atomically, and waiting on one.
//!
//! What the other side writes is never trusted: offsets are checked here, values by whoever reads them. A file that the
//! other side makes shorter ends this process with SIGBUS; only processes of the same user can.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A file mapped for reading and writing; unmapped when dropped.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: all access is through atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Makes a new file of `size` bytes, all zero and none of them there until touched, and maps it.
    ///
    /// # Errors
    /// The file exists already, cannot be made or mapped; the message names it.
    pub fn create(path: &Path, size: usize) -> io::Result<SharedMemory> {
        let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).clone();
        SharedMemory::with(path, size, options, true)
    }

    /// Maps `size` bytes of a file that another process has made.
    ///
    /// # Errors
    /// The file is missing or shorter; the message names it.
    pub fn open(path: &Path, size: usize) -> io::Result<SharedMemory> {
        SharedMemory::with(path, size, OpenOptions::new().read(true).write(true).clone(), false)
    }

    fn with(path: &Path, size: usize, options: OpenOptions, resize: bool) -> io::Result<SharedMemory> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("mapping {}: {error}", path.display()));
        let file = options.open(path).map_err(named)?;
        if resize {
            file.set_len(size as u64).map_err(named)?;
        } else if file.metadata().map_err(named)?.len() < size as u64 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("mapping {}: it is shorter than {size} bytes", path.display()),
            ));
        }
        // SAFETY: a new mapping anywhere; the file is open.
        let base = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return Err(named(io::Error::last_os_error()));
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| named(io::Error::other("mapped at address 0")))?;
        Ok(SharedMemory { base, size })
    }

    fn at<T>(&self, offset: usize, count: usize) -> *mut T {
        let end = count.checked_mul(size_of::<T>()).and_then(|bytes| offset.checked_add(bytes));
        assert!(
            end.is_some_and(|end| end <= self.size) && offset.is_multiple_of(align_of::<T>()),
            "{count} words at {offset} are not in {} bytes",
            self.size
        );
        // SAFETY: within the mapping, as just checked.
        unsafe { self.base.as_ptr().add(offset).cast() }
    }

    /// The word at `offset`, a multiple of 4 within the file; panics otherwise, as the others do.
    pub fn u32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: within the mapping and aligned; the mapping lives as long as self.
        unsafe { AtomicU32::from_ptr(self.at(offset, 1)) }
    }

    /// The word at `offset`, a multiple of 8.
    pub fn u64(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.at(offset, 1)) }
    }

    /// `count` words from `offset`, a multiple of 4.
    pub fn u32s(&self, offset: usize, count: usize) -> &[AtomicU32] {
        // SAFETY: as above; atomics may be shared with other processes.
        unsafe { std::slice::from_raw_parts(self.at::<AtomicU32>(offset, count), count) }
    }

    /// `count` words from `offset`, a multiple of 8.
    pub fn u64s(&self, offset: usize, count: usize) -> &[AtomicU64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.at::<AtomicU64>(offset, count), count) }
    }

    /// A copy of `count` bytes from `offset`.
    pub fn bytes(&self, offset: usize, count: usize) -> Vec<u8> {
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(self.at::<AtomicU8>(offset, count), count) };
        bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and borrows of it cannot outlive self.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.size) };
    }
}

/// Sleeps while `word` is `seen`, at most `timeout`; may wake early.
pub fn wait(word: &AtomicU32, seen: u32, timeout: Duration) {
    let timeout =
        libc::timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
    // SAFETY: the word and the time outlive the call; without the private flag other processes are woken and wake.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const timeout) };
}

/// Wakes all that sleep on `word`, in any process.
pub fn wake(word: &AtomicU32) {
    // SAFETY: the word outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// A folder for shared files that is memory and has at least `bytes` free, or else the folder for temporary files.
pub fn folder(bytes: u64) -> std::path::PathBuf {
    let memory = Path::new("/dev/shm");
    let mut facts: libc::statvfs = unsafe_zeroed();
    // SAFETY: a valid string and a struct to fill.
    let known = unsafe { libc::statvfs(c"/dev/shm".as_ptr(), &raw mut facts) } == 0;
    if known && facts.f_bavail.saturating_mul(facts.f_frsize) >= bytes {
        return memory.to_owned();
    }
    std::env::temp_dir()
}

fn unsafe_zeroed() -> libc::statvfs {
    // SAFETY: a struct of plain numbers.
    unsafe { std::mem::zeroed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_maps_of_a_file_show_the_same_words() {
        let path = folder(0).join(format!("assay-shared-test-{}", std::process::id()));
        let ours = SharedMemory::create(&path, 1 << 20).expect("a new file");
        let theirs = SharedMemory::open(&path, 1 << 20).expect("the same file");
        let too_long = SharedMemory::open(&path, 1 << 21);
        let again = SharedMemory::create(&path, 4096);
        std::fs::remove_file(&path).expect("removed");
        ours.u64(8).store(0x0102_0304_0506_0708, Ordering::Relaxed);
        assert_eq!(theirs.u32(8).load(Ordering::Relaxed), 0x0506_0708);
        assert_eq!(theirs.bytes(8, 3), [8, 7, 6]);
        assert_eq!(theirs.u32s(8, 2)[1].load(Ordering::Relaxed), 0x0102_0304);
        assert_eq!(theirs.u64s(0, 2)[0].load(Ordering::Relaxed), 0);
        assert_eq!(too_long.map_err(|error| error.kind()).err(), Some(io::ErrorKind::UnexpectedEof));
        assert_eq!(again.map_err(|error| error.kind()).err(), Some(io::ErrorKind::AlreadyExists));
    }

    #[test]
    #[should_panic(expected = "are not in 4096 bytes")]
    fn a_word_outside_of_the_file_is_refused() {
        let path = folder(0).join(format!("assay-shared-outside-{}", std::process::id()));
        let shared = SharedMemory::create(&path, 4096).expect("a new file");
        std::fs::remove_file(&path).expect("removed");
        shared.u64(4092);
    }

    #[test]
    fn a_waiter_is_woken_by_another_map() {
        let path = folder(0).join(format!("assay-shared-wake-{}", std::process::id()));
        let ours = SharedMemory::create(&path, 4096).expect("a new file");
        let theirs = SharedMemory::open(&path, 4096).expect("the same file");
        std::fs::remove_file(&path).expect("removed");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                theirs.u32(0).store(1, Ordering::SeqCst);
                wake(theirs.u32(0));
            });
            while ours.u32(0).load(Ordering::SeqCst) == 0 {
                wait(ours.u32(0), 0, Duration::from_secs(10));
            }
        });
    }
}
