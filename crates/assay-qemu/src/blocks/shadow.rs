//! Has code changed while it was mapped? A copy of every byte that was translated, by page.

use std::collections::HashMap;

const PAGE: u64 = 4096;

struct CodePage {
    bytes: [u8; PAGE as usize],
    known: [u64; PAGE as usize / 64],
}

/// The code as it was when it was last translated.
#[derive(Default)]
pub(super) struct Shadow {
    pages: HashMap<u64, Box<CodePage>>,
}

impl Shadow {
    /// Compares with what was seen before, keeps the new. Returns the first address with another byte than before.
    pub(super) fn changed(&mut self, address: u64, bytes: &[u8]) -> Option<u64> {
        let mut first = None;
        for (at, byte) in bytes.iter().enumerate() {
            let address = address.wrapping_add(at as u64);
            let page = self.pages.entry(address / PAGE).or_insert_with(|| {
                Box::new(CodePage { bytes: [0; PAGE as usize], known: [0; PAGE as usize / 64] })
            });
            let within = (address % PAGE) as usize;
            let bit = 1_u64 << (within % 64);
            if page.known[within / 64] & bit != 0 && page.bytes[within] != *byte {
                first = first.or(Some(address));
            }
            page.known[within / 64] |= bit;
            page.bytes[within] = *byte;
        }
        first
    }

    /// Forgets the pages of a range that was unmapped or mapped anew.
    pub(super) fn forget(&mut self, address: u64, size: u64) {
        let (first, last) = (address / PAGE, address.saturating_add(size.saturating_sub(1)) / PAGE);
        if last - first < self.pages.len() as u64 {
            for page in first..=last {
                self.pages.remove(&page);
            }
        } else {
            self.pages.retain(|page, _| !(first..=last).contains(page));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_again_are_no_change_and_others_are_found_by_address() {
        let mut shadow = Shadow::default();
        assert_eq!(shadow.changed(0xffe, &[1, 2, 3, 4]), None);
        assert_eq!(shadow.changed(0x1000, &[3, 4, 5]), None);
        assert_eq!(shadow.changed(0xfff, &[2, 3, 9]), Some(0x1001));
        assert_eq!(shadow.changed(0xfff, &[2, 3, 9]), None);
    }

    #[test]
    fn what_was_unmapped_may_come_back_different() {
        let mut shadow = Shadow::default();
        shadow.changed(0x1000, &[1]);
        shadow.changed(0x2fff, &[1]);
        shadow.changed(0x3000, &[1]);
        shadow.forget(0x1000, 0x2000);
        assert_eq!(shadow.changed(0x1000, &[2]), None);
        assert_eq!(shadow.changed(0x2fff, &[2]), None);
        assert_eq!(shadow.changed(0x3000, &[2]), Some(0x3000));
        shadow.forget(0, u64::MAX);
        assert_eq!(shadow.changed(0x3000, &[3]), None);
    }
}
