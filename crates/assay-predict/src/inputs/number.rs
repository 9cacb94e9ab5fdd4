//! Numbers of a fixed width, lowest byte first, as an array of a program on this machine has them.
//!
//! Each is mapped to a 64-bit key of the same order, so that counting, comparing and sorting have one form for all types.
//! Checked: the order of keys against that of the numbers themselves; ends of each type.

/// The type of the numbers of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// 8 bits without a sign.
    U8,
    /// 16 bits without a sign.
    U16,
    /// 32 bits without a sign.
    U32,
    /// 64 bits without a sign.
    U64,
    /// 32 bits with a sign.
    I32,
    /// 64 bits with a sign.
    I64,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl NumberType {
    /// All of them.
    pub const ALL: [NumberType; 8] = [
        NumberType::U8,
        NumberType::U16,
        NumberType::U32,
        NumberType::U64,
        NumberType::I32,
        NumberType::I64,
        NumberType::F32,
        NumberType::F64,
    ];

    /// As files and commands name it.
    pub fn word(self) -> &'static str {
        match self {
            NumberType::U8 => "u8",
            NumberType::U16 => "u16",
            NumberType::U32 => "u32",
            NumberType::U64 => "u64",
            NumberType::I32 => "i32",
            NumberType::I64 => "i64",
            NumberType::F32 => "f32",
            NumberType::F64 => "f64",
        }
    }

    /// Bytes of one number.
    pub fn width(self) -> usize {
        match self {
            NumberType::U8 => 1,
            NumberType::U16 => 2,
            NumberType::U32 | NumberType::I32 | NumberType::F32 => 4,
            NumberType::U64 | NumberType::I64 | NumberType::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, NumberType::F32 | NumberType::F64)
    }

    fn is_signed(self) -> bool {
        matches!(self, NumberType::I32 | NumberType::I64)
    }

    /// The least and the greatest integer of the type; of floating-point types, the range in which all integers are exact.
    pub fn range(self) -> (i128, i128) {
        match self {
            NumberType::F32 => (-(1 << 24), 1 << 24),
            NumberType::F64 => (-(1 << 53), 1 << 53),
            _ if self.is_signed() => {
                let half = 1i128 << (8 * self.width() - 1);
                (-half, half - 1)
            }
            _ => (0, (1i128 << (8 * self.width())) - 1),
        }
    }

    /// The bits of one number, from its bytes.
    fn bits(self, bytes: &[u8]) -> u64 {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(whole)
    }

    /// Where a number stands in the order of its type; `None` for what is not a number. Both zeros are one.
    fn key_of_bits(self, bits: u64) -> Option<u64> {
        match self {
            NumberType::U8 | NumberType::U16 | NumberType::U32 | NumberType::U64 => Some(bits),
            NumberType::I32 => Some((i64::from(bits as u32 as i32) as u64) ^ 1 << 63),
            NumberType::I64 => Some(bits ^ 1 << 63),
            NumberType::F32 => key_of_float(f64::from(f32::from_bits(bits as u32))),
            NumberType::F64 => key_of_float(f64::from_bits(bits)),
        }
    }

    /// The keys of all numbers, in order; bytes behind the last whole number are left out.
    pub(super) fn keys(self, bytes: &[u8]) -> impl Iterator<Item = Option<u64>> + '_ {
        bytes.chunks_exact(self.width()).map(move |number| self.key_of_bits(self.bits(number)))
    }

    /// The number of a key.
    pub fn value(self, key: u64) -> f64 {
        match self {
            NumberType::I32 | NumberType::I64 => (key ^ 1 << 63) as i64 as f64,
            NumberType::F32 | NumberType::F64 => {
                f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
            }
            _ => key as f64,
        }
    }

    /// The number of a key as a person reads it.
    pub fn show(self, key: u64) -> String {
        match self {
            NumberType::I32 | NumberType::I64 => ((key ^ 1 << 63) as i64).to_string(),
            NumberType::F32 | NumberType::F64 => format!("{}", self.value(key)),
            _ => key.to_string(),
        }
    }
}

/// Positive numbers get their sign bit set, negative ones have all bits turned: then the order of bits is that of numbers.
fn key_of_float(value: f64) -> Option<u64> {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    (!value.is_nan()).then_some(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits })
}

/// The bytes of `units` integers, each taken from `next` as the bits of its type: of negative ones the two's complement.
pub(super) fn integers(number: NumberType, units: u64, mut next: impl FnMut() -> u64) -> Vec<u8> {
    let mut bytes = vec![0; units as usize * number.width()];
    // A loop for each width: the width is then known while it runs.
    match number.width() {
        1 => bytes.iter_mut().for_each(|place| *place = next() as u8),
        2 => fill::<2>(&mut bytes, next),
        4 => fill::<4>(&mut bytes, next),
        _ => fill::<8>(&mut bytes, next),
    }
    bytes
}

fn fill<const WIDTH: usize>(bytes: &mut [u8], mut next: impl FnMut() -> u64) {
    let (places, _) = bytes.as_chunks_mut::<WIDTH>();
    for place in places {
        place.copy_from_slice(&next().to_le_bytes()[..WIDTH]);
    }
}

/// The bytes of `units` floating-point numbers.
pub(super) fn floats(number: NumberType, units: u64, mut next: impl FnMut() -> f64) -> Vec<u8> {
    match number {
        NumberType::F32 => integers(number, units, || u64::from((next() as f32).to_bits())),
        _ => integers(number, units, || next().to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_the_numbers_of_each_type() {
        let ordered: [(NumberType, Vec<u8>); 4] = [
            (NumberType::U16, [0u16, 1, 255, 256, 65_535].iter().flat_map(|v| v.to_le_bytes()).collect()),
            (
                NumberType::I32,
                [i32::MIN, -2, -1, 0, 1, i32::MAX].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            (NumberType::I64, [i64::MIN, -1, 0, 1, i64::MAX].iter().flat_map(|v| v.to_le_bytes()).collect()),
            (
                NumberType::F64,
                [f64::NEG_INFINITY, -1.5, -1e-310, 0.0, 5e-324, 1.0, f64::INFINITY]
                    .iter()
                    .flat_map(|v| v.to_le_bytes())
                    .collect(),
            ),
        ];
        for (number, bytes) in ordered {
            let keys: Vec<u64> = number.keys(&bytes).map(|key| key.expect("a number")).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{number:?}: {keys:?}");
        }
    }

    #[test]
    fn a_key_gives_its_number_back() {
        for (number, value) in [
            (NumberType::I32, -7.0),
            (NumberType::F64, -2.5),
            (NumberType::F64, 3e-9),
            (NumberType::U64, 9.0),
        ] {
            let bytes = match number {
                NumberType::I32 => (value as i32).to_le_bytes().to_vec(),
                NumberType::F64 => f64::to_le_bytes(value).to_vec(),
                _ => (value as u64).to_le_bytes().to_vec(),
            };
            let key = number.keys(&bytes).next().flatten().expect("a number");
            assert_eq!(number.value(key), value, "{number:?}");
        }
        assert_eq!(
            NumberType::I64.show(NumberType::I64.keys(&(-5i64).to_le_bytes()).next().flatten().unwrap()),
            "-5"
        );
    }

    #[test]
    fn both_zeros_are_one_and_what_is_no_number_has_no_place() {
        let bytes: Vec<u8> = [0.0f32, -0.0, f32::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
        let keys: Vec<Option<u64>> = NumberType::F32.keys(&bytes).collect();
        assert_eq!((keys[0], keys[2]), (keys[1], None));
    }

    #[test]
    fn integers_are_written_lowest_byte_first() {
        let mut value = 0x0102_0304_0506_0707u64;
        let mut next = || {
            value += 1;
            value
        };
        assert_eq!(integers(NumberType::U16, 2, &mut next), [8, 7, 9, 7]);
        assert_eq!(integers(NumberType::U64, 1, &mut next), [10, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(integers(NumberType::I32, 1, || (-2i64) as u64), (-2i32).to_le_bytes());
        assert_eq!(floats(NumberType::F32, 1, || 0.5), 0.5f32.to_le_bytes());
    }
}
