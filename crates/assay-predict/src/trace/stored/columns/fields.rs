//! What an event says, field by field. Writing and reading go through the same trait, so that which fields there are is
//! decided in one place.

use super::super::super::source::TraceFault;
use super::content::{self, Bytes, COLUMNS, Column};
use zstd::bulk::Decompressor;

/// Writes a value and gives it back, or, when reading, ignores it and gives the one that was written.
pub trait Fields {
    /// One of the bytes of an event.
    fn byte(&mut self, value: u8) -> Result<u8, TraceFault>;
    /// A number.
    fn number(&mut self, value: u64) -> Result<u64, TraceFault>;
    /// A difference of addresses, small ones of either sign short.
    fn distance(&mut self, value: i64) -> Result<i64, TraceFault>;
}

/// The writing side.
#[derive(Default)]
pub struct ColumnsOut(pub Bytes);

impl ColumnsOut {
    pub fn column(&mut self, column: Column) -> &mut Vec<u8> {
        &mut self.0[column as usize]
    }

    pub fn bytes(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

impl Fields for ColumnsOut {
    fn byte(&mut self, value: u8) -> Result<u8, TraceFault> {
        self.column(Column::Events).push(value);
        Ok(value)
    }

    fn number(&mut self, value: u64) -> Result<u64, TraceFault> {
        content::append(self.column(Column::Numbers), value);
        Ok(value)
    }

    fn distance(&mut self, value: i64) -> Result<i64, TraceFault> {
        content::append(self.column(Column::Distances), (value << 1 ^ value >> 63) as u64);
        Ok(value)
    }
}

/// The reading side.
#[derive(Default)]
pub struct ColumnsIn {
    columns: Bytes,
    /// Bytes of each that were read.
    read: [usize; COLUMNS],
    /// Of the blocks before, as it is costly to make.
    unpacker: Option<Decompressor<'static>>,
}

impl ColumnsIn {
    /// Begins with the columns of another block.
    pub fn unpack(&mut self, content: &[u8]) -> Result<(), TraceFault> {
        self.read = [0; COLUMNS];
        content::unpack(content, &mut self.columns, &mut self.unpacker)
    }

    /// What was not read of a column.
    pub fn rest(&self, column: Column) -> &[u8] {
        &self.columns[column as usize][self.read[column as usize]..]
    }

    /// Goes over bytes that were looked at.
    pub fn skip(&mut self, column: Column, count: usize) {
        self.read[column as usize] += count;
    }

    /// Every column is at its end.
    pub fn is_read(&self) -> bool {
        self.columns.iter().zip(self.read).all(|(column, read)| column.len() == read)
    }

    pub fn next_byte(&mut self, column: Column) -> Result<u8, TraceFault> {
        let byte = *self.rest(column).first().ok_or_else(|| self.ended(column))?;
        self.skip(column, 1);
        Ok(byte)
    }

    fn next_number(&mut self, column: Column) -> Result<u64, TraceFault> {
        let mut rest = self.rest(column);
        let before = rest.len();
        let number = content::take(&mut rest);
        let read = before - rest.len();
        self.skip(column, read);
        number.ok_or_else(|| self.ended(column))
    }

    fn ended(&self, column: Column) -> TraceFault {
        content::wrong_length(self.columns[column as usize].len() as u64)
    }
}

impl Fields for ColumnsIn {
    fn byte(&mut self, _: u8) -> Result<u8, TraceFault> {
        self.next_byte(Column::Events)
    }

    fn number(&mut self, _: u64) -> Result<u64, TraceFault> {
        self.next_number(Column::Numbers)
    }

    fn distance(&mut self, _: i64) -> Result<i64, TraceFault> {
        let folded = self.next_number(Column::Distances)?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
}
