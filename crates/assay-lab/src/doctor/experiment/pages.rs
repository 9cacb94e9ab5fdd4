//! Which pages of an input did a program read? Asked of the kernel, so that a load that never happened is known for certain.
//!
//! Method: the kernel's notes on which pages were accessed are cleared (`clear_refs`), the program makes its calls, and the
//! notes of the input's mapping are read (`Referenced` in `smaps`). A processor that still has a page's translation at hand
//! makes no note, so translations are dropped too: the kernel does that only where it is told to forget which pages were written.
//! Known limits: a page is 4 KiB or more, and a processor may note a page that it read ahead of what was executed. So none
//! read is proof that nothing was loaded; all read is not proof that everything was. Kernels without notes of written pages
//! (most of AArch64) tell nothing.
//! Checked: by a mapping that is read in part, in the tests.

use std::path::Path;

/// Forgets which pages were accessed. False where the kernel refuses.
pub fn forget(pid: u32) -> bool {
    let file = format!("/proc/{pid}/clear_refs");
    // Notes of accesses; then notes of writes, with which all translations go.
    ["1", "4"].iter().all(|what| std::fs::write(&file, what).is_ok())
}

/// Bytes of a file's mappings that were accessed since, and bytes in all; none where the kernel does not tell.
pub fn referenced(pid: u32, file: &Path) -> Option<(u64, u64)> {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    read(&smaps, &file.display().to_string())
}

fn read(smaps: &str, file: &str) -> Option<(u64, u64)> {
    let mut found: Option<(u64, u64)> = None;
    let mut is_it = false;
    for line in smaps.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        // A mapping's own line has blanks ahead of its first colon, or none at all in its address.
        if key.contains(' ') || key.contains('-') {
            is_it = line.ends_with(file) && line.contains(&format!(" {file}"));
            continue;
        }
        let kib = || value.trim().strip_suffix(" kB").and_then(|kib| kib.trim().parse::<u64>().ok());
        let sum = found.get_or_insert((0, 0));
        match key {
            "Referenced" if is_it => sum.0 += kib()? * 1024,
            "Size" if is_it => sum.1 += kib()? * 1024,
            _ => {}
        }
    }
    found.filter(|(_, all)| *all > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0-55d1 r-xp 00000000 fe:00 12 /opt/program
Size:                  8 kB
Referenced:            8 kB
7f00-7f40 r--p 00000000 fe:00 99                         /store/inputs/ab
Size:                 40 kB
KernelPageSize:        4 kB
Referenced:            8 kB
VmFlags: rd mr mw me
7f40-7f41 rw-p 00000000 00:00 0
Size:                  4 kB
Referenced:            4 kB
";

    #[test]
    fn only_the_mapping_of_the_file_counts() {
        assert_eq!(read(SMAPS, "/store/inputs/ab"), Some((8192, 40_960)));
        assert_eq!(read(SMAPS, "/store/inputs/abc"), None);
        assert_eq!(read(SMAPS, "inputs/ab"), None);
        assert_eq!(read("", "/x"), None);
    }

    #[test]
    fn a_process_that_is_gone_tells_nothing() {
        assert_eq!((forget(0), referenced(0, Path::new("/x"))), (false, None));
    }
}
