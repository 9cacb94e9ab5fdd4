//! Whether a recording is what its reader takes it for: bytes of many kinds happen to be varints too.
//!
//! Text is: each byte below 128 is a value of its own. So are records of a fixed size whose numbers are small. A fit of
//! either would be close and mean nothing, so they are told by what varints do not have: characters alone; how files of a
//! well-known kind begin; or a byte that is nearly always the same at one place of a record and not at the others, while a
//! high bit elsewhere comes and goes, which would move the places, were these varints.
//!
//! Known limits: records whose bytes are all alike in kind, compressed ones among them, are not told; most of them are no
//! stream of varints, or have padded ones, and are refused for it. Text in a code page of eight bits is told if three
//! quarters of it are ASCII. A file of nothing but zeros may be varints. Varints of which each happens to be a character are
//! taken for text, until their user says what they are. Checked: on planted data of every kind.

/// Bytes that are looked at.
const LOOKED_AT: usize = 1 << 16;

/// The largest record that is looked for, bytes.
const LARGEST: usize = 64;

/// Records that must be there for a place to be called constant.
const FEWEST: usize = 200;

/// How files of kinds that people have at hand begin, and what they are.
const BEGINNINGS: [(&[u8], &str); 12] = [
    (b"\x7fELF", "a program or library (ELF)"),
    (b"\x89PNG", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"\x1f\x8b\x08", "a compressed file (gzip)"),
    (b"\x28\xb5\x2f\xfd", "a compressed file (zstd)"),
    (b"\xfd7zXZ", "a compressed file (xz)"),
    (b"PK\x03\x04", "an archive (ZIP)"),
    (b"!<arch>", "an archive (ar)"),
    (b"%PDF-", "a document (PDF)"),
    (b"RIFF", "sound or video (RIFF)"),
    (b"SQLite format 3", "a database (SQLite)"),
    (b"PAR1", "a table (Parquet)"),
];

/// What a recording seems to be, if not varints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingKind {
    /// Lines of text, or text in one line.
    Text,
    /// A file of a well-known kind, which is named.
    Known(&'static str),
    /// Records of one size.
    Records {
        /// Bytes of a record.
        size: usize,
        /// The place within, from 0, whose byte is nearly always the same.
        place: usize,
        /// That byte.
        byte: u8,
    },
}

impl std::fmt::Display for RecordingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecordingKind::Text => f.write_str("text"),
            RecordingKind::Known(name) => f.write_str(name),
            RecordingKind::Records { size, place, byte } => {
                write!(f, "records of {size} bytes, as byte {} of each is {byte}", place + 1)
            }
        }
    }
}

/// What else than varints these bytes seem to be; `None` if nothing else.
///
/// Input: any bytes, of which the first 65,536 are looked at.
pub fn kind(bytes: &[u8]) -> Option<RecordingKind> {
    let looked_at = &bytes[..bytes.len().min(LOOKED_AT)];
    if let Some(&(_, name)) = BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        return Some(RecordingKind::Known(name));
    }
    if is_text(looked_at) {
        return Some(RecordingKind::Text);
    }
    (2..=LARGEST).find_map(|size| records(looked_at, size))
}

/// Characters alone, of UTF-8 or mostly of ASCII. Where there are lines, they may have what terminals and archives add:
/// colours, bells, and zeros up to the next block.
fn is_text(bytes: &[u8]) -> bool {
    let lines = bytes.contains(&b'\n');
    let added = |byte: u8| lines && matches!(byte, 0 | 7 | 8 | 0x0b | 0x0c | 0x1b);
    let control = |byte: u8| (byte < b' ' && !b"\t\n\r".contains(&byte)) || byte == 0x7f;
    let ascii = bytes.iter().filter(|byte| byte.is_ascii()).count();
    // Zeros alone are no text, nor is one value again and again.
    let differ = bytes.iter().any(|byte| *byte != bytes[0]);
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // A character that is cut off at the end is one all the same.
        Err(error) => error.error_len().is_none(),
    };
    let characters = utf8 || (lines && 4 * ascii >= 3 * bytes.len());
    differ && characters && bytes.iter().all(|&byte| !control(byte) || added(byte))
}

fn records(bytes: &[u8], size: usize) -> Option<RecordingKind> {
    let count = bytes.len() / size;
    if count < FEWEST {
        return None;
    }
    let column = |place: usize| bytes.chunks_exact(size).map(move |record| record[place]);
    let nearly = |hits: usize| 100 * hits >= 99 * count;
    let commonest = |place: usize| {
        let mut counts = [0usize; 256];
        column(place).for_each(|byte| counts[usize::from(byte)] += 1);
        (0..=255u8)
            .max_by_key(|&byte| counts[usize::from(byte)])
            .map(|byte| (byte, counts[usize::from(byte)]))
    };
    let high_bits = |place: usize| column(place).filter(|&byte| byte >= 0x80).count();
    let comes_and_goes =
        (0..size).any(|place| !nearly(high_bits(place)) && !nearly(count - high_bits(place)));
    (0..size).find_map(|place| {
        let (byte, hits) = commonest(place)?;
        let elsewhere = |other: usize| 2 * column(other).filter(|&found| found == byte).count() < count;
        // Small numbers of two, four or eight bytes, the lowest first or last: all high bits are 0, and so is the rest.
        let outer = place == 0 || place + 1 == size;
        let small = byte == 0 && size.is_power_of_two() && size <= 8 && outer;
        let constant = nearly(hits) && (0..size).any(elsewhere);
        (constant && (comes_and_goes || small)).then_some(RecordingKind::Records { size, place, byte })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Generator;

    fn scrambled(count: u32) -> impl Iterator<Item = u32> {
        let mut state = 1u32;
        (0..count).map(move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        })
    }

    #[test]
    fn text_is_told_in_any_language_in_lines_or_without() {
        for text in
            ["GET /a 200\nGET /b 404\n", "größer\tals\r\n", "1,2,17", "{\"a\": [1, 2]}", "größer", "ab"]
        {
            assert_eq!(kind(text.as_bytes()), Some(RecordingKind::Text), "{text}");
        }
        // One byte per character, of which 0xf6 and 0xdf are beyond ASCII.
        assert_eq!(kind(b"gr\xf6\xdfer als\n"), Some(RecordingKind::Text));
        assert_eq!(kind(b"gr\xf6\xdf\n"), None);
        // Cut within a character of two bytes.
        let long = "ä\n".repeat(LOOKED_AT);
        assert_eq!((kind(long.as_bytes()), kind(b"")), (Some(RecordingKind::Text), None));
    }

    #[test]
    fn what_terminals_and_archives_add_is_text_only_where_there_are_lines() {
        for byte in [0u8, 7, 8, 0x0b, 0x0c, 0x1b] {
            assert_eq!(kind(&[b'a', byte, b'\n']), Some(RecordingKind::Text), "{byte}");
            assert_eq!(kind(&[b'a', byte, b'b']), None, "{byte}");
        }
        for byte in [1u8, 6, 0x0e, 0x1f, 0x7f] {
            assert_eq!(kind(&[b'a', byte, b'\n']), None, "{byte}");
        }
        // One value again and again, whatever character it is.
        assert_eq!((kind(&[0; 500]), kind(&[b'd'; 500]), kind(b"\n\n")), (None, None, None));
    }

    #[test]
    fn files_of_well_known_kinds_are_told_by_how_they_begin() {
        for (beginning, name) in BEGINNINGS {
            let file = [beginning, &[1, 0x80, 5, 2]].concat();
            assert_eq!(kind(&file), Some(RecordingKind::Known(name)));
            assert_eq!(kind(&[&[1], &file[..]].concat()), None, "{name}");
        }
        let (elf, png) = (
            RecordingKind::Known(BEGINNINGS[0].1).to_string(),
            RecordingKind::Known(BEGINNINGS[1].1).to_string(),
        );
        assert!(elf.contains("ELF") && png.contains("PNG"), "{elf} {png}");
    }

    #[test]
    fn numbers_of_a_fixed_size_are_told() {
        let of = |size: usize, below: u32| -> Vec<u8> {
            scrambled(5000)
                .flat_map(|value| u64::from(value % below).to_le_bytes()[..size].to_vec())
                .collect()
        };
        for (size, below, place) in [(4, 1 << 24, 3), (4, 1000, 2), (8, 1 << 20, 3), (2, 100, 1)] {
            let expected = RecordingKind::Records { size, place, byte: 0 };
            assert_eq!(kind(&of(size, below)), Some(expected), "{size} bytes below {below}");
        }
        // A record of 7 bytes that begins with the same one.
        let tagged: Vec<u8> =
            scrambled(5000).flat_map(|v| [0xa5, v as u8, (v >> 8) as u8, 1, 2, v as u8, 9]).collect();
        assert_eq!(kind(&tagged), Some(RecordingKind::Records { size: 7, place: 0, byte: 0xa5 }));
        // Two bytes after the last, and a record of which one in 200 has another byte there.
        let expected = Some(RecordingKind::Records { size: 4, place: 3, byte: 0 });
        let mut some = of(4, 1 << 24);
        some.extend([7, 7]);
        (0..5000).step_by(200).for_each(|record| some[4 * record + 3] = 1);
        assert_eq!(kind(&some), expected);
        (0..5000).step_by(50).for_each(|record| some[4 * record + 3] = 1);
        assert_ne!(kind(&some), expected);
        // Just enough, and too few to say.
        assert_eq!(kind(&of(4, 1 << 24)[..4 * FEWEST]), expected);
        assert_eq!(kind(&of(4, 1 << 24)[..4 * FEWEST - 1]), None);
    }

    #[test]
    fn fields_in_turn_of_one_byte_each_are_varints() {
        // A number below 128 and a constant; zeros would be the upper bytes of small numbers.
        let fields = |constant: u8| -> Vec<u8> {
            scrambled(5000).flat_map(|value| [(value & 0x7f) as u8, constant]).collect()
        };
        assert_eq!(kind(&fields(5)), None);
        assert_eq!(kind(&fields(0)), Some(RecordingKind::Records { size: 2, place: 1, byte: 0 }));
        // The highest byte first.
        let numbers: Vec<u8> = scrambled(5000).flat_map(|value| [0, 0, 0, (value & 0x7f) as u8]).collect();
        assert!(matches!(kind(&numbers), Some(RecordingKind::Records { place: 0, byte: 0, .. })));
        // Three fields of which one is always zero, and sixteen, are no number.
        let three: Vec<u8> =
            scrambled(5000).flat_map(|v| [(v & 0x7f) as u8, (v >> 8 & 0x7f) as u8, 0]).collect();
        let sixteen: Vec<u8> = scrambled(5000)
            .flat_map(|v| (0..16).map(move |place| if place == 15 { 0 } else { (v >> place & 0x7f) as u8 }))
            .collect();
        assert_eq!((kind(&three), kind(&sixteen)), (None, None));
    }

    #[test]
    fn generated_varints_are_nothing_else() {
        let bursts = Generator::Bursts { weights: vec![80.0, 18.0, 2.0], mean_length: 32.0 };
        for generator in [
            Generator::Lengths { weights: vec![80.0, 18.0, 2.0] },
            Generator::Lengths { weights: vec![50.0, 50.0] },
            Generator::LogUniform { min_bits: 0, max_bits: 32 },
            Generator::UniformLength { min: 1, max: 5 },
            Generator::UniformValue { min: 0, max: u64::from(u32::MAX) },
            Generator::UniformValue { min: 0, max: u64::MAX },
            Generator::UniformValue { min: 0, max: 255 },
            Generator::UniformValue { min: 5, max: 5 },
            Generator::Constant { length: 1 },
            Generator::Constant { length: 5 },
            bursts,
        ] {
            for seed in 1..4 {
                assert_eq!(kind(&generator.generate(20_160, seed)), None, "{generator:?}");
            }
        }
        // Times: five bytes each, of which the last is always the same.
        let times: Vec<u8> = scrambled(5000).flat_map(|v| [v as u8 | 0x80, 0x91, 0xe2, 0x83, 6]).collect();
        assert_eq!(kind(&times), None);
    }
}
