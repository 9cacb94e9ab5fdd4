//! Where the debug information of a file is, if it was split off.
//!
//! The places and their order are those of the GDB manual, "Debugging Information in Separate Files": by build id below
//! `/usr/lib/debug/.build-id`, then by the name in `.gnu_debuglink`, beside the file, in `.debug` beside it, and at its path
//! below `/usr/lib/debug`. A file found is used only if its build id, or else its checksum, is the right one.

use object::{Object as _, ObjectSection as _};
use std::path::{Path, PathBuf};

/// The folder where distributions put debug files.
const GLOBAL: &str = "/usr/lib/debug";

/// Whether a file carries line information itself.
pub fn has_lines(file: &object::File<'_>) -> bool {
    let has = |name: &str| file.section_by_name(name).is_some_and(|section| section.size() > 0);
    // Split DWARF leaves `.debug_line` and a skeleton of `.debug_info` in the program.
    has(".debug_info") || has(".debug_line")
}

/// The debug file of `path`, where it has one and it fits.
pub fn find(path: &Path, file: &object::File<'_>) -> Option<PathBuf> {
    let build_id = file.build_id().ok().flatten();
    let by_id = build_id.and_then(build_id_path).filter(|candidate| fits(candidate, build_id, None));
    by_id.or_else(|| by_link(path, file, build_id))
}

/// The supplementary file (dwz) that a debug file refers to.
pub fn supplement(path: &Path) -> Option<PathBuf> {
    let data = std::fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let (name, id) = file.gnu_debugaltlink().ok().flatten()?;
    let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
    let beside = path.parent().map(|folder| folder.join(&name));
    let by_id = build_id_path(id);
    [beside, by_id].into_iter().flatten().find(|candidate| fits(candidate, Some(id), None))
}

fn build_id_path(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(GLOBAL).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

fn by_link(path: &Path, file: &object::File<'_>, build_id: Option<&[u8]>) -> Option<PathBuf> {
    let (name, checksum) = file.gnu_debuglink().ok().flatten()?;
    let name = String::from_utf8_lossy(name).into_owned();
    let folder = path.parent()?;
    let below_global = folder.strip_prefix("/").ok().map(|folder| Path::new(GLOBAL).join(folder).join(&name));
    let places = [Some(folder.join(&name)), Some(folder.join(".debug").join(&name)), below_global];
    places
        .into_iter()
        .flatten()
        .find(|candidate| candidate != path && fits(candidate, build_id, Some(checksum)))
}

/// Whether a debug file is that of the program with this build id, or of the link with this checksum.
fn fits(candidate: &Path, build_id: Option<&[u8]>, checksum: Option<u32>) -> bool {
    let Ok(data) = std::fs::read(candidate) else { return false };
    let Ok(file) = object::File::parse(&*data) else { return false };
    match (build_id, file.build_id().ok().flatten()) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => checksum == Some(crc32(&data)),
    }
}

/// The checksum of `.gnu_debuglink`: CRC-32 as in zlib, polynomial 0xedb88320.
fn crc32(data: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (index, entry) in table.iter_mut().enumerate() {
        *entry =
            (0..8).fold(index as u32, |value, _| value >> 1 ^ (0xedb8_8320 & (value & 1).wrapping_neg()));
    }
    !data.iter().fold(!0_u32, |value, byte| value >> 8 ^ table[(value as u8 ^ byte) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn a_build_id_names_a_file_by_its_first_byte_and_the_rest() {
        let path = build_id_path(&[0xab, 0x01, 0xcd]).expect("an id");
        assert_eq!(path, Path::new("/usr/lib/debug/.build-id/ab/01cd.debug"));
        assert_eq!(build_id_path(&[]), None);
    }
}
