//! The first document's `likely!` in Rust: a value of one byte ahead of the loop over bytes, with a hint that is right, with
//! none, with one that is wrong. The hint is `cold_path` on the other side (stable since Rust 1.95).

use assay_harness::Bench;
use std::hint::{black_box, cold_path};
use std::process::ExitCode;

/// The rest of a value whose first byte says that more follow, and how many bytes it has. What a stream lacks is zero.
#[inline(always)]
fn rest(data: &[u8], first: u64) -> (u64, usize) {
    let (mut value, mut at) = (first & 0x7f, 1);
    loop {
        let byte = data.get(at).copied().unwrap_or(0);
        value |= u64::from(byte & 0x7f) << (7 * at as u32 & 63);
        at += 1;
        if byte & 0x80 == 0 {
            return (value, at);
        }
    }
}

/// The sum of all values, with their number mixed in; what is said where one byte was read, and where more were. Its
/// name keeps each apart: without it the compiler takes the three for one function, hints and all.
macro_rules! decoder {
    ($name:ident, $one:expr, $more:expr) => {
        #[inline(never)]
        fn $name(data: &[u8]) -> u64 {
            black_box(stringify!($name));
            let (mut sum, mut count, mut left) = (0_u64, 0_u64, data);
            while let Some(&byte) = left.first() {
                let value = u64::from(byte);
                count += 1;
                let size = if value < 0x80 {
                    $one;
                    sum = sum.wrapping_add(value);
                    1
                } else {
                    $more;
                    let (value, size) = rest(left, value);
                    sum = sum.wrapping_add(value);
                    size
                };
                left = left.get(size..).unwrap_or_default();
            }
            sum.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }
    };
}

decoder!(plain, (), ());
decoder!(likely, (), cold_path());
decoder!(unlikely, cold_path(), ());

fn main() -> ExitCode {
    Bench::new().variant("plain", plain).variant("likely", likely).variant("unlikely", unlikely).main()
}

#[cfg(test)]
mod tests {
    use super::{likely, plain, unlikely};

    #[test]
    fn all_read_the_same_values() {
        // 1, 127, 128, 300, 2^35, and one that is cut off.
        let data = [1, 127, 0x80, 1, 0xac, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0x85];
        let values = 1 + 127 + 128 + 300 + (1_u64 << 35) + 5;
        let wanted = values.wrapping_add(6_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for decode in [plain, likely, unlikely] {
            assert_eq!(decode(&data), wanted);
            assert_eq!(decode(&[]), 0);
        }
    }
}
