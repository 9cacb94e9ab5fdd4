//! Apache Parquet, as far as a table of samples needs it: flat columns, one page each per row group, PLAIN values, zstd.
//!
//! The crates that write it bring Arrow, Thrift and a minute of compiling; this part of the format is small. Nullable columns
//! have definition levels of one bit. The footer and the page headers are Thrift's compact protocol.
//! Source: github.com/apache/parquet-format (README, Encodings.md, parquet.thrift), Thrift's compact protocol.
//! Limits: no dictionary, no statistics, no nesting; fewer than 2^31 bytes per page.
//! Checked by: pyarrow and DuckDB read what is written (fixtures/history/README.md); the bytes are pinned in the tests.

use std::sync::Arc;

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ParquetColumn {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Whole numbers that may be missing.
    MaybeIntegers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Texts, most of which are repeated.
    Texts(Vec<Arc<str>>),
    /// Texts that may be missing.
    MaybeTexts(Vec<Option<&'static str>>),
    /// Yes or no.
    Flags(Vec<bool>),
}

const MAGIC: &[u8] = b"PAR1";
/// Rows of a row group.
const ROWS: usize = 1 << 18;
const LEVEL: i32 = 3;

impl ParquetColumn {
    fn len(&self) -> usize {
        match self {
            ParquetColumn::Integers(values) => values.len(),
            ParquetColumn::MaybeIntegers(values) => values.len(),
            ParquetColumn::Numbers(values) => values.len(),
            ParquetColumn::Texts(values) => values.len(),
            ParquetColumn::MaybeTexts(values) => values.len(),
            ParquetColumn::Flags(values) => values.len(),
        }
    }

    /// The physical type's number.
    fn kind(&self) -> i64 {
        match self {
            ParquetColumn::Flags(_) => 0,
            ParquetColumn::Integers(_) | ParquetColumn::MaybeIntegers(_) => 2,
            ParquetColumn::Numbers(_) => 5,
            ParquetColumn::Texts(_) | ParquetColumn::MaybeTexts(_) => 6,
        }
    }

    fn is_optional(&self) -> bool {
        matches!(self, ParquetColumn::MaybeIntegers(_) | ParquetColumn::MaybeTexts(_))
    }

    fn is_text(&self) -> bool {
        matches!(self, ParquetColumn::Texts(_) | ParquetColumn::MaybeTexts(_))
    }

    /// A page's bytes: levels where values may be missing, then the values there are.
    fn page(&self, from: usize, to: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        match self {
            ParquetColumn::Integers(values) => {
                bytes.extend(values[from..to].iter().flat_map(|value| value.to_le_bytes()))
            }
            ParquetColumn::Numbers(values) => {
                bytes.extend(values[from..to].iter().flat_map(|value| value.to_le_bytes()))
            }
            ParquetColumn::Texts(values) => values[from..to].iter().for_each(|value| text(&mut bytes, value)),
            ParquetColumn::Flags(values) => bytes.extend(bits(values[from..to].iter().copied())),
            ParquetColumn::MaybeIntegers(values) => {
                bytes.extend(levels(values[from..to].iter().map(Option::is_some)));
                bytes.extend(values[from..to].iter().flatten().flat_map(|value| value.to_le_bytes()));
            }
            ParquetColumn::MaybeTexts(values) => {
                bytes.extend(levels(values[from..to].iter().map(Option::is_some)));
                values[from..to].iter().flatten().for_each(|value| text(&mut bytes, value));
            }
        }
        bytes
    }
}

/// Bits, the lowest first.
fn bits(values: impl Iterator<Item = bool>) -> Vec<u8> {
    let values: Vec<bool> = values.collect();
    let byte =
        |eight: &[bool]| eight.iter().enumerate().fold(0_u8, |byte, (at, &bit)| byte | u8::from(bit) << at);
    values.chunks(8).map(byte).collect()
}

/// Definition levels: the length, then one bit-packed run.
fn levels(there: impl Iterator<Item = bool>) -> Vec<u8> {
    let packed = bits(there);
    let mut run = Vec::new();
    varint(&mut run, (packed.len() as u64) << 1 | 1);
    run.extend(packed);
    let mut bytes = (run.len() as u32).to_le_bytes().to_vec();
    bytes.extend(run);
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// A structure in Thrift's compact protocol.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, number: u8, kind: u8) {
        // Fields ascend by less than 16.
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn zigzag(&mut self, value: i64) {
        varint(&mut self.bytes, ((value << 1) ^ (value >> 63)) as u64);
    }

    fn small(mut self, number: u8, value: i64) -> Self {
        self.field(number, 5);
        self.zigzag(value);
        self
    }

    fn large(mut self, number: u8, value: i64) -> Self {
        self.field(number, 6);
        self.zigzag(value);
        self
    }

    fn text(mut self, number: u8, text: &str) -> Self {
        self.field(number, 8);
        self.raw_text(text);
        self
    }

    fn raw_text(&mut self, text: &str) {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn inner(mut self, number: u8, inner: Thrift) -> Self {
        self.field(number, 12);
        self.bytes.extend(inner.end());
        self
    }

    fn list(&mut self, number: u8, kind: u8, count: usize) {
        self.field(number, 9);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, count as u64);
        }
    }

    fn structures(mut self, number: u8, all: Vec<Thrift>) -> Self {
        self.list(number, 12, all.len());
        all.into_iter().for_each(|one| self.bytes.extend(one.end()));
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// A table as a file.
///
/// Input: columns of one length. Cost: the table once in memory, compressed.
pub fn write(columns: &[(&str, ParquetColumn)]) -> Vec<u8> {
    // "application version X (build Y)": readers look for faults of old writers by it.
    written(columns, &format!("assay version {} (build 0)", env!("CARGO_PKG_VERSION")))
}

fn written(columns: &[(&str, ParquetColumn)], writer: &str) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    assert!(columns.iter().all(|(_, column)| column.len() == rows), "columns of a table are of one length");
    let mut file = MAGIC.to_vec();
    let mut groups = Vec::new();
    for from in (0..rows).step_by(ROWS) {
        let to = rows.min(from + ROWS);
        let (chunks, sizes): (Vec<Thrift>, Vec<i64>) =
            columns.iter().map(|column| chunk(&mut file, column, from, to)).unzip();
        // total_byte_size: uncompressed.
        let size = sizes.iter().sum();
        groups.push(Thrift::default().structures(1, chunks).large(2, size).large(3, (to - from) as i64));
    }
    let root = Thrift::default().text(4, "samples").small(5, columns.len() as i64);
    let described = columns.iter().map(|(name, column)| {
        let repetition = i64::from(column.is_optional());
        let described = Thrift::default().small(1, column.kind()).small(3, repetition).text(4, name);
        if column.is_text() { described.small(6, 0) } else { described }
    });
    let schema: Vec<Thrift> = std::iter::once(root).chain(described).collect();
    let footer =
        Thrift::default().small(1, 1).structures(2, schema).large(3, rows as i64).structures(4, groups);
    let footer = footer.text(6, writer).end();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

/// Writes a column's page of a row group. Returns what describes it, and its size before it was compressed.
fn chunk(
    file: &mut Vec<u8>,
    (name, column): &(&str, ParquetColumn),
    from: usize,
    to: usize,
) -> (Thrift, i64) {
    const ZSTD: i64 = 6;
    let (plain, rle) = (0, 3);
    let offset = file.len() as i64;
    let page = column.page(from, to);
    let packed = zstd::bulk::compress(&page, LEVEL).expect("zstd compresses what is in memory");
    let values = (to - from) as i64;
    let data = Thrift::default().small(1, values).small(2, plain).small(3, rle).small(4, rle);
    let header = Thrift::default()
        .small(1, 0)
        .small(2, page.len() as i64)
        .small(3, packed.len() as i64)
        .inner(5, data)
        .end();
    file.extend(&header);
    file.extend(&packed);
    let uncompressed = (header.len() + page.len()) as i64;
    let mut facts = Thrift::default().small(1, column.kind());
    facts.list(2, 5, 2);
    facts.zigzag(plain);
    facts.zigzag(rle);
    facts.list(3, 8, 1);
    facts.raw_text(name);
    let facts = facts
        .small(4, ZSTD)
        .large(5, values)
        .large(6, uncompressed)
        .large(7, (header.len() + packed.len()) as i64)
        .large(9, offset);
    (Thrift::default().large(2, offset).inner(3, facts), uncompressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length and SHA-256 of the file of three rows.
    const PINNED: (usize, &str) = (577, "b26678b1c788d9d3b2a86b24b7c63bc2e1da6039f0c87994f00175d9ffcc975c");

    #[test]
    fn parts_are_those_of_the_specification() {
        // Encodings.md: a bit-packed run of n groups begins with n << 1 | 1.
        assert_eq!(levels([true, false, true].into_iter()), [2, 0, 0, 0, 3, 0b101]);
        // The compact protocol's own example of a varint and of a zigzag.
        let mut bytes = Vec::new();
        varint(&mut bytes, 50399);
        assert_eq!(bytes, [0xdf, 0x89, 0x03]);
        let mut thrift = Thrift::default();
        thrift.zigzag(-1);
        assert_eq!(thrift.bytes, [1]);
    }

    #[test]
    fn a_file_is_framed_and_names_its_columns() {
        let columns = [
            ("wall_ns", ParquetColumn::Integers(vec![3, 4])),
            ("flagged", ParquetColumn::MaybeTexts(vec![None, Some("preempted")])),
        ];
        let file = write(&columns);
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let length = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        let footer = &file[file.len() - 8 - length..file.len() - 8];
        for name in ["wall_ns", "flagged"] {
            assert!(footer.windows(name.len()).any(|window| window == name.as_bytes()));
        }
    }

    #[test]
    fn a_small_file_is_the_one_that_pyarrow_and_duckdb_read() {
        let columns = [
            ("n", ParquetColumn::Integers(vec![1, -2, 3])),
            ("rotation", ParquetColumn::MaybeIntegers(vec![None, Some(7), None])),
            ("ns", ParquetColumn::Numbers(vec![0.5, 1.5, -2.5])),
            ("variant", ParquetColumn::Texts(vec!["a".into(), "b".into(), "a".into()])),
            ("flagged", ParquetColumn::MaybeTexts(vec![None, Some("preempted"), None])),
            ("warmup", ParquetColumn::Flags(vec![true, false, false])),
        ];
        let file = written(&columns, "assay version 0 (build 0)");
        assert_eq!((file.len(), crate::inputs::digest::digest(&file).as_str()), (PINNED.0, PINNED.1));
    }
}
