//! Which instructions of two functions that differ have no counterpart: the longest common subsequence, of
//! instructions without what depends on where things lie.

use super::listing::{FunctionListing, ListedInstruction, masked_line};
use super::{ComparedFile, FileSide, a64, x86};
use crate::placement::layout::LayoutError;

/// Longer stretches that differ are told as a whole, to keep time and memory in bounds.
const CELLS: usize = 4_000_000;

/// Instructions without a counterpart in the other function, by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differing {
    /// In the old file.
    pub old: Vec<u64>,
    /// In the new file.
    pub new: Vec<u64>,
}

/// The instructions that differ in each pair of functions, given by their addresses in the two files.
///
/// Functions that cannot be decoded have none. Cost: the product of the lengths of what differs, up to a bound.
///
/// # Errors
/// One of the files is no ELF file, or there are no function symbols.
pub fn differing(
    old: ComparedFile,
    new: ComparedFile,
    pairs: &[(u64, u64)],
) -> Result<Vec<Differing>, LayoutError> {
    let sides = (FileSide::parse(old.elf, old.symbols)?, FileSide::parse(new.elf, new.symbols)?);
    let listing = |side: &FileSide, entry| match side.aarch64 {
        true => a64::listing(side, entry),
        false => x86::listing(&side.image, entry),
    };
    let one = |&(a, b): &(u64, u64)| match (listing(&sides.0, a), listing(&sides.1, b)) {
        (Ok(a), Ok(b)) => of_listings(&a, &b),
        _ => Differing::default(),
    };
    Ok(pairs.iter().map(one).collect())
}

fn of_listings(a: &FunctionListing, b: &FunctionListing) -> Differing {
    let keys = |listing: &FunctionListing| -> Vec<(Option<u32>, Vec<u8>)> {
        let key = |line: &ListedInstruction| match line.jump {
            Some(jump) => (Some(jump), Vec::new()),
            None => (None, masked_line(listing, line)),
        };
        listing.lines.iter().map(key).collect()
    };
    let (mine, theirs) = unmatched(&keys(a), &keys(b));
    let addresses = |listing: &FunctionListing, found: Vec<usize>| {
        found.into_iter().map(|index| listing.address + listing.lines[index].at).collect()
    };
    Differing { old: addresses(a, mine), new: addresses(b, theirs) }
}

/// Indices of what is in no longest common subsequence.
fn unmatched<Key: PartialEq>(a: &[Key], b: &[Key]) -> (Vec<usize>, Vec<usize>) {
    let ahead = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let behind = a[ahead..].iter().rev().zip(b[ahead..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&a[ahead..a.len() - behind], &b[ahead..b.len() - behind]);
    let all = |found: &[Key]| (ahead..ahead + found.len()).collect();
    if left.is_empty() || right.is_empty() || left.len().saturating_mul(right.len()) > CELLS {
        return (all(left), all(right));
    }
    // lengths[i][j]: of the longest common subsequence of what is behind i and j.
    let columns = right.len() + 1;
    let mut lengths = vec![0_u32; (left.len() + 1) * columns];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            lengths[i * columns + j] = match left[i] == right[j] {
                true => lengths[(i + 1) * columns + j + 1] + 1,
                false => lengths[(i + 1) * columns + j].max(lengths[i * columns + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    while i < left.len() || j < right.len() {
        let here = |i: usize, j: usize| lengths[i * columns + j];
        if i < left.len() && j < right.len() && left[i] == right[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && here(i + 1, j) >= here(i, j + 1)) {
            mine.push(ahead + i);
            i += 1;
        } else {
            theirs.push(ahead + j);
            j += 1;
        }
    }
    (mine, theirs)
}

#[cfg(test)]
mod tests {
    use super::unmatched;

    #[test]
    fn what_has_a_counterpart_is_not_told() {
        let of = |a: &str, b: &str| unmatched(a.as_bytes(), b.as_bytes());
        assert_eq!(of("abcdef", "abcdef"), (vec![], vec![]));
        assert_eq!(of("abcdef", "abXdef"), (vec![2], vec![2]));
        assert_eq!(of("abcdef", "abdef"), (vec![2], vec![]));
        assert_eq!(of("abdef", "abcdef"), (vec![], vec![2]));
        // "bd" is common to both; a, c and e are the one's, x and y the other's.
        assert_eq!(of("abcde", "xbyd"), (vec![0, 2, 4], vec![0, 2]));
        assert_eq!(of("", "ab"), (vec![], vec![0, 1]));
    }
}
