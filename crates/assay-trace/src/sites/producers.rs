//! Which compiler made which code, by the units of the debug information.

use addr2line::gimli::{self, AttributeValue, Dwarf, EndianSlice, RunTimeEndian, SectionId, Unit};
use object::{Object as _, ObjectSection as _};
use std::borrow::Cow;

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// Ranges of addresses with their compilers.
#[derive(Debug, Default)]
pub struct Producers {
    /// First address, address after the last, compiler.
    ranges: Vec<(u64, u64, String)>,
}

impl Producers {
    /// Those of an object file; none where it can't be read.
    pub fn of(data: &[u8]) -> Producers {
        let mut found = Producers::default();
        let Ok(file) = object::File::parse(data) else { return found };
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
            let section = file.section_by_name(id.name());
            Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
        };
        let Ok(sections) = gimli::DwarfSections::load(section) else { return found };
        let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Ok(unit) = dwarf.unit(header) {
                found.add(&dwarf, &unit);
            }
        }
        found.ranges.sort_unstable();
        found
    }

    fn add(&mut self, dwarf: &Dwarf<Bytes<'_>>, unit: &Unit<Bytes<'_>>) -> Option<()> {
        let mut entries = unit.entries();
        let root = entries.next_dfs().ok()??;
        let value: AttributeValue<Bytes<'_>> = root.attr_value(gimli::DW_AT_producer)?;
        let producer = dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned();
        let mut ranges = dwarf.unit_ranges(unit).ok()?;
        while let Ok(Some(range)) = ranges.next() {
            if range.begin < range.end && range.begin > 0 {
                self.ranges.push((range.begin, range.end, producer.clone()));
            }
        }
        Some(())
    }

    /// The compiler of the code at an address.
    pub fn at(&self, address: u64) -> Option<&str> {
        let after = self.ranges.partition_point(|(start, ..)| *start <= address);
        let (_, end, producer) = self.ranges.get(after.checked_sub(1)?)?;
        (address < *end).then_some(producer)
    }
}
