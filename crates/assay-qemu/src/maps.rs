//! Which file does code come from? The kernel's list of mappings, read when code lies outside of those known.

use crate::session;
use assay_predict::trace::channel::process;
use std::sync::atomic::Ordering;

/// The mappings that code was found in.
#[derive(Default)]
pub(crate) struct Maps {
    known: Vec<(u64, u64)>,
}

impl Maps {
    /// Code at the program's address `pc`, ours `host`.
    pub(crate) fn see(&mut self, pc: u64, host: u64) {
        if self.known.iter().any(|(start, end)| (*start..*end).contains(&pc)) {
            return;
        }
        let Some((start, end, file_offset, path)) = mapping(host) else {
            return;
        };
        let distance = host.wrapping_sub(pc);
        let (start, end) = (start.wrapping_sub(distance), end.wrapping_sub(distance));
        self.known.push((start, end));
        publish(start, end, file_offset, &path);
    }

    /// The program has unmapped or replaced this range.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        self.known.retain(|known| known.1 <= address || end <= known.0);
    }
}

/// The mapping around a host address: start, end, offset in the file, path (empty without a file).
fn mapping(host: u64) -> Option<(u64, u64, u64, Vec<u8>)> {
    let list = std::fs::read("/proc/self/maps").ok()?;
    list.split(|byte| *byte == b'\n').find_map(|line| {
        let parsed = parse(line)?;
        (parsed.0..parsed.1).contains(&host).then_some(parsed)
    })
}

/// One line: `start-end rwxp offset device inode   path`.
fn parse(line: &[u8]) -> Option<(u64, u64, u64, Vec<u8>)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let (start, end) = words.next()?.split_once('-')?;
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let offset = hexadecimal(words.nth(1)?)?;
    let path = line.iter().position(|byte| *byte == b'/').map_or(&[][..], |at| &line[at..]);
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    Some((start, end, offset, path.to_vec()))
}

fn publish(start: u64, end: u64, file_offset: u64, path: &[u8]) {
    let own = &session::get().own;
    let used = own.u32(process::MODULES_USED).load(Ordering::Relaxed) as usize;
    let size = 32 + path.len().next_multiple_of(8);
    if used + size > process::MODULES_SIZE {
        return;
    }
    let place = process::MODULES + used;
    own.u64(place).store(start, Ordering::Relaxed);
    own.u64(place + 8).store(end, Ordering::Relaxed);
    own.u64(place + 16).store(file_offset, Ordering::Relaxed);
    own.u32(place + 24).store(path.len() as u32, Ordering::Relaxed);
    own.write(place + 32, path);
    own.u32(process::MODULES_USED).store((used + size) as u32, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read_with_and_without_a_path() {
        let line = b"55d0-55e0 r-xp 00001000 fe:01 1234    /usr/bin/some program";
        assert_eq!(parse(line), Some((0x55d0, 0x55e0, 0x1000, b"/usr/bin/some program".to_vec())));
        let line = b"7f00-7f10 rwxp 00000000 00:00 0 ";
        assert_eq!(parse(line), Some((0x7f00, 0x7f10, 0, Vec::new())));
        assert_eq!(
            parse(b"7f00-7f10 rw-p 00000000 00:00 0    [stack]").map(|found| found.3),
            Some(Vec::new())
        );
        let gone = b"1-2 r-xp 0 fe:01 1 /tmp/x (deleted)";
        assert_eq!(parse(gone).map(|found| found.3), Some(b"/tmp/x".to_vec()));
        assert_eq!(parse(b""), None);
    }
}
