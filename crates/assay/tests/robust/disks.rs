//! Disks that are full. A small file system of its own is mounted for each test, which takes root.

use super::lab::{self, Lab};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk, unmounted when dropped.
struct Disk {
    at: PathBuf,
}

impl Disk {
    /// None where the machine does not let us mount.
    fn mount(at: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        let options = format!("size={bytes},mode=777");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { at }),
            Ok(output) => {
                eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: mount: {error}");
                None
            }
        }
    }

    /// Fills what is free, and returns the file that does.
    fn fill(&self) -> PathBuf {
        let path = self.at.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        while std::io::Write::write_all(&mut file, &[0; 512]).is_ok() {}
        path
    }

    fn remount_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.at).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: something may still have a file open, and a mount must never be left behind.
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}

fn dump(ledger: &Path) -> Vec<String> {
    let ledger = rusqlite::Connection::open(ledger).unwrap();
    let mut query = ledger
        .prepare("SELECT round || ' ' || id || ' ' || process || ' ' || wall_ns || ' ' || cpu_ns FROM sample ORDER BY id")
        .unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_full_disk_loses_the_round_in_flight_and_no_other() {
    // Beside a busy neighbour a round that is made again keeps tens of thousands of samples.
    const ROOM: u64 = 32 << 20;
    let mut disk = None;
    let filled = lab::stopped_in_the_middle(|| {
        let mut lab = Lab::slow()?;
        let mounted = disk.insert(Disk::mount(lab.file("disk"), ROOM)?);
        lab.keep_ledger_in(lab.file("disk/ledger.db"));
        let mut running = lab.start(&["--store", "store"]);
        lab.wait_until(&mut running, "SELECT count(*) FROM round");
        let filler = mounted.fill();
        let said = running.wait();
        std::fs::remove_file(filler).unwrap();
        Some((lab, said))
    });
    let Some((lab, said)) = filled else { return };
    said.assert_code(1);
    said.assert_errors(&[
        "the disk that holds the ledger",
        "is full",
        "All finished rounds are safe",
        "--resume",
    ]);
    let before = dump(lab.ledger_path());
    assert!(!before.is_empty());
    let rounds = lab.count("SELECT count(*) FROM round");
    lab.assert_ledger_is_whole();
    lab.run(&["--store", "store", "--resume"]).assert_code(0);
    assert_eq!(dump(lab.ledger_path())[..before.len()], before, "what was kept is kept");
    assert!(lab.count("SELECT count(*) FROM round") > rounds, "it went on");
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
    lab.assert_ledger_is_whole();
}

#[test]
fn a_disk_with_no_room_for_a_ledger_is_told_as_full() {
    let Some(mut lab) = Lab::with_fault("good") else { return };
    let Some(_disk) = Disk::mount(lab.file("disk"), 8 << 10) else { return };
    lab.keep_ledger_in(lab.file("disk/ledger.db"));
    let said = lab.run(&[]);
    said.assert_code(1);
    said.assert_errors(&["ledger", "full", "--ledger FILE"]);
}

#[test]
fn a_disk_that_is_read_only_is_told_as_such() {
    let Some(mut lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    let Some(disk) = Disk::mount(lab.file("disk"), 4 << 20) else { return };
    lab.keep_ledger_in(lab.file("disk/ledger.db"));
    disk.remount_read_only();
    let said = lab.run(&[]);
    said.assert_code(2);
    said.assert_errors(&["the ledger", "--ledger FILE"]);
}

#[test]
fn a_full_store_is_told_and_measuring_begins_when_there_is_room() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    let Some(disk) = Disk::mount(lab.file("disk"), 4 << 20) else { return };
    let filler = disk.fill();
    let store = lab.file("disk/store").display().to_string();
    let said = lab.run(&["--store", &store]);
    said.assert_code(1);
    said.assert_errors(&["cannot write the input", "disk full", "No space left on device"]);
    std::fs::remove_file(filler).unwrap();
    lab.run(&["--store", &store]).assert_code(0);
}

#[test]
fn a_store_with_room_for_inputs_only_fails_the_builds() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    // The input, what is compiled against, and an object or two, but not six binaries.
    let room = 48 * 1024 + include_bytes!("../../../../harness/assay.h").len() as u64;
    let Some(disk) = Disk::mount(lab.file("disk"), room) else { return };
    let store = lab.file("disk/store").display().to_string();
    let said = lab.run(&["--store", &store]);
    said.assert_code(3);
    let reason = &lab.column("SELECT reason FROM failure ORDER BY id")[0];
    assert!(reason.contains("No space left on device") || reason.contains("the disk is full"), "{reason}");
    said.assert_page(&["nothing could be measured"]);
    drop(disk);
}
