//! Memory to measure in: mapped, touched, on pages of a known size as far as the kernel says.

use assay_pure::limits::PageSize;
use std::io;
use std::ptr::NonNull;

/// A huge page's size on the architectures with loops; alignment for all buffers, so that pages start alike.
const HUGE: usize = 2 << 20;

/// A private mapping, all of whose pages are there.
#[derive(Debug)]
pub struct Buffer {
    mapped: NonNull<u8>,
    mapped_bytes: usize,
    start: NonNull<u8>,
    bytes: usize,
}

impl Buffer {
    /// Maps and touches `bytes`, which start at a multiple of 2 MiB.
    ///
    /// # Errors
    /// The kernel has not got so much.
    pub fn new(bytes: usize, pages: Option<PageSize>) -> io::Result<Buffer> {
        let mapped_bytes = bytes + HUGE;
        let refused = |error: io::Error| {
            io::Error::new(error.kind(), format!("mapping {bytes} bytes of memory: {error}"))
        };
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(refused(io::Error::last_os_error()));
        }
        let mapped = NonNull::new(mapped.cast::<u8>()).expect("a mapping the kernel chose is not at 0");
        let skip = mapped.as_ptr().align_offset(HUGE);
        // SAFETY: at most HUGE bytes further, which were mapped beyond what is asked for.
        let start = unsafe { mapped.add(skip) };
        let mut buffer = Buffer { mapped, mapped_bytes, start, bytes };
        let advice = match pages {
            None => None,
            Some(PageSize::Small) => Some(libc::MADV_NOHUGEPAGE),
            Some(PageSize::Huge) => Some(libc::MADV_HUGEPAGE),
        };
        if let Some(advice) = advice {
            // A kernel without huge pages refuses, and then all pages are small: `huge_bytes` tells.
            // SAFETY: the range is the mapping's own.
            unsafe { libc::madvise(mapped.as_ptr().cast(), mapped_bytes, advice) };
        }
        buffer.bytes_mut().fill(1);
        Ok(buffer)
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped, initialised and ours for as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// All of it, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    /// Bytes of it that lie on huge pages; nothing where the kernel does not say.
    pub fn huge_bytes(&self) -> Option<u64> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        huge_bytes_at(&maps, self.start.as_ptr() as u64)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrowed from it outlives `self`.
        unsafe { libc::munmap(self.mapped.as_ptr().cast(), self.mapped_bytes) };
    }
}

/// The AnonHugePages of the mapping that holds an address, in the text of /proc/PID/smaps.
fn huge_bytes_at(maps: &str, address: u64) -> Option<u64> {
    let range = |line: &str| {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
    };
    let mut lines =
        maps.lines().skip_while(|line| !range(line).is_some_and(|(from, to)| (from..to).contains(&address)));
    lines.next()?;
    let own = lines.take_while(|line| range(line).is_none());
    let kib = own.filter_map(|line| line.strip_prefix("AnonHugePages:")).next()?;
    Some(kib.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_zero_nowhere_and_as_long_as_asked() {
        for pages in [None, Some(PageSize::Small), Some(PageSize::Huge)] {
            let buffer = Buffer::new(5 << 20, pages).unwrap();
            assert_eq!(buffer.bytes().len(), 5 << 20);
            assert_eq!(buffer.bytes().as_ptr() as usize % HUGE, 0);
            assert!(buffer.bytes().iter().all(|&byte| byte == 1));
            if pages == Some(PageSize::Small) {
                assert!(matches!(buffer.huge_bytes(), None | Some(0)));
            }
        }
    }

    #[test]
    fn the_mapping_that_holds_the_address_is_read_and_no_other() {
        let maps = "1000-2000 rw-p 0 0:0 0\nRss: 4 kB\nAnonHugePages:  2048 kB\n\
                    2000-9000 rw-p 0 0:0 0 [heap]\nAnonHugePages:  6144 kB\nVmFlags: rd\n\
                    9000-a000 rw-p 0 0:0 0\nVmFlags: rd\nb000-c000 rw-p 0 0:0 0\nAnonHugePages: 8 kB\n";
        assert_eq!(huge_bytes_at(maps, 0x1fff), Some(2 << 20));
        assert_eq!(huge_bytes_at(maps, 0x2000), Some(6 << 20));
        assert_eq!(huge_bytes_at(maps, 0x9000), None);
        assert_eq!(huge_bytes_at(maps, 0xa000), None);
    }
}
