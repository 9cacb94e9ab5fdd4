//! Does `assay trace` say what it promises, of good files and of bad ones? The real binary, on the golden streams.

use crate::trace_fixtures;
use serde_json::Value;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(name)
}

fn assay(verb: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["trace", verb]);
    arguments.iter().for_each(|argument| {
        command.arg(argument);
    });
    command.output().expect("the binary of this build starts")
}

fn done(verb: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let output = assay(verb, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(verb: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Value {
    let mut all = arguments.to_vec();
    all.push(&"--json");
    serde_json::from_str(&done(verb, &all)).expect("JSON")
}

/// Exit code and words of a refusal.
fn refused(verb: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> (i32, String) {
    let output = assay(verb, arguments);
    let code = output.status.code().expect("it ends by itself");
    (code, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn gshare(file: &Path) -> u64 {
    let found = json("simulate", &[&file, &"--predictor", &"gshare-32k"]);
    let trace = &found["traces"][0];
    assert_eq!(trace["predicted"][0], 493_313);
    trace["mispredicted"][0].as_u64().expect("a number")
}

const GOLDEN: u64 = 30_826;

#[test]
fn the_golden_stream_has_its_golden_count_whichever_way_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let records = fixture("cbp-ng_gcc_test_trace.gz");
    assert_eq!(gshare(&fixture("cbp-ng_gcc.sbbt.zst")), GOLDEN);
    assert_eq!(gshare(&records), GOLDEN);
    let ours = folder.path().join("gcc.assaytrace");
    let converted = json("convert", &[&records, &ours]);
    assert_eq!((converted["from"].as_str(), converted["to"].as_str()), (Some("cbp"), Some("assay")));
    assert_eq!(converted["branches"], 594_405);
    assert_eq!(converted["instructions"], 3_005_000);
    assert_eq!(gshare(&ours), GOLDEN);
    for name in ["gcc.bt9.gz", "gcc.sbbt.zst", "gcc.champsim"] {
        let other = folder.path().join(name);
        done("convert", &[&ours, &other]);
        assert_eq!(gshare(&other), GOLDEN, "{name}");
    }
}

#[test]
fn a_compact_file_is_smaller_and_holds_the_same_branches() {
    let folder = tempfile::tempdir().unwrap();
    let (columns, compact) = (folder.path().join("a.assaytrace"), folder.path().join("b.assaytrace"));
    done("convert", &[&fixture("cbp-ng_gcc.sbbt.zst"), &columns]);
    done("convert", &[&"--compact", &columns, &compact]);
    let [first, second] = [&columns, &compact].map(|file| json("info", &[file]));
    assert_eq!((first["coding"].as_str(), second["coding"].as_str()), (Some("columns"), Some("compact")));
    assert!(second["bytes"].as_u64() < first["bytes"].as_u64(), "{} {}", second["bytes"], first["bytes"]);
    assert_eq!(first["streams"], second["streams"]);
    assert_eq!((gshare(&columns), gshare(&compact)), (GOLDEN, GOLDEN));
    assert!(done("info", &[&compact]).contains(": assay, compact, "));
    assert!(
        done("info", &[&columns]).contains(": assay, ")
            && json("info", &[&fixture("cbp-ng_gcc.sbbt.zst")])["coding"].is_null()
    );
    let (code, said) = refused("convert", &[&"--compact", &columns, &folder.path().join("c.sbbt")]);
    assert!(code == 2 && said.contains("--compact is for the format assay"), "{said}");
}

#[test]
fn info_counts_a_stream_and_finds_it_sound() {
    let found = json("info", &[&fixture("cbp-ng_gcc.sbbt.zst")]);
    assert_eq!((found["format"].as_str(), found["branches"].as_u64()), (Some("sbbt"), Some(594_405)));
    assert_eq!(found["bytes"], 44_004);
    let stream = &found["streams"][0];
    assert_eq!(stream["classes"]["conditional jump"]["executed"], 493_313);
    assert_eq!(stream["reachable"]["checked"], 594_404);
    // A call into a stub of the linker, whose jump the original lacks, too.
    assert_eq!(
        (&stream["reachable"]["broken"], &stream["reachable"]["first_broken"]),
        (&1.into(), &146_445.into())
    );
    assert_eq!((&stream["warning"], &found["broken"]), (&Value::Null, &Value::Null));
    let text = done("info", &[&fixture("cbp-ng_gcc.sbbt.zst")]);
    for part in [
        "43.0 KiB, 0.59 bits per branch",
        "594,405 branches",
        "conditional jump",
        "1 of 594,404 branches cannot be reached",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

/// A little SBBT file of a loop, field by field.
pub fn sbbt(promised: u64, flags: impl Fn(u64) -> u64, count: u64) -> Vec<u8> {
    let mut bytes = b"SBBT\n\x01\x00\x00".to_vec();
    bytes.extend((count * 5).to_le_bytes().iter().chain(&promised.to_le_bytes()));
    for branch in 0..count {
        bytes.extend((0x40_1010u64 << 12 | flags(branch)).to_le_bytes());
        bytes.extend((0x40_1000u64 << 12 | 5).to_le_bytes());
    }
    bytes
}

#[test]
fn bad_files_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    let packed = std::fs::read(fixture("cbp-ng_gcc_test_trace.gz")).unwrap();
    let loop_of = |promised| sbbt(promised, |_| 1 << 11 | 1, 100);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "the file is empty"),
        ("nothing known", b"hello, world\n".repeat(9), "--from can name one"),
        ("zeros", vec![0; 20_000], "--from can name one"),
        (
            "a program",
            std::fs::read(env!("CARGO_BIN_EXE_assay")).unwrap()[..9000].to_vec(),
            "--from can name one",
        ),
        ("cut gzip", packed[..packed.len() / 2].to_vec(), "byte"),
        (
            "a bomb's promise",
            loop_of(1 << 60),
            "byte 1624: the file ends after 100 of 1152921504606846976 branches",
        ),
        ("more than promised", loop_of(99), "byte 1608: the file continues after its end"),
        ("a wrong class", sbbt(2, |branch| 1 | (branch * 14), 2), "byte 40: the class cannot be 0xf"),
        (
            "a wrong line",
            b"BT9_SPA_TRACE_FORMAT\nBT9_NODES\nNODE x\n".to_vec(),
            "line 3: expected the number of a node",
        ),
        ("another version", b"assaytr\x07".to_vec(), "byte 0: unknown format version 7"),
        ("nothing in zstd", zstd::encode_all(&b""[..], 3).unwrap(), "the file is empty"),
    ];
    for (what, bytes, expected) in cases {
        std::fs::write(&file, bytes).unwrap();
        for verb in ["info", "simulate"] {
            let (code, said) = refused(verb, &[&file]);
            assert!(code == 2 && said.contains(expected), "{what}, {verb}: {code}, {said}");
            assert!(said.contains(&file.display().to_string()), "{said}");
        }
        let output = folder.path().join("out.sbbt");
        let (code, said) = refused("convert", &[&file, &output]);
        assert!(code == 2 && said.contains(expected), "{what}: {code}, {said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{what}: something is left behind");
    }
    let (code, said) = refused("info", &[&folder.path().join("none")]);
    assert!(code == 2 && said.contains("cannot be opened"), "{said}");
}

#[test]
fn what_is_whole_of_a_cut_trace_can_be_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole.assaytrace"), folder.path().join("cut.assaytrace"));
    done("convert", &[&fixture("cbp-ng_gcc.sbbt.zst"), &whole]);
    let bytes = std::fs::read(&whole).unwrap();
    // Most sites are in the first block, which is more than half of the file.
    std::fs::write(&cut, &bytes[..bytes.len() * 3 / 4]).unwrap();
    let output = folder.path().join("saved.sbbt");
    let (code, said) = refused("convert", &[&cut, &output]);
    assert!(code == 2 && said.contains("block") && said.contains("--salvage"), "{said}");
    let saved = json("convert", &[&cut, &output, &"--salvage"]);
    let branches = saved["branches"].as_u64().unwrap();
    assert!(branches > 65_536 && branches.is_multiple_of(65_536), "{branches}");
    assert_eq!(json("info", &[&output])["branches"], branches);
}

#[test]
fn sbbt_of_before_2023_is_refused_until_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.sbbt");
    std::fs::write(&file, sbbt(100, |branch| 0x400 | u64::from(branch != 99), 100)).unwrap();
    let (code, said) = refused("info", &[&file]);
    assert!(code == 2 && said.contains("before 2023") && said.contains("sbbt-stale"), "{said}");
    let found = json("info", &[&file, &"--from", &"sbbt-stale"]);
    assert_eq!(found["streams"][0]["classes"]["conditional jump"]["taken"], 99);
    assert_eq!(found["streams"][0]["reachable"]["broken"], 0);
}

#[test]
fn a_stream_that_makes_no_sense_is_said_to_make_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nonsense.sbbt");
    // Targets far from where the stream goes on: as if a field lay elsewhere.
    let mut bytes = sbbt(100, |_| 1 << 11 | 1, 100);
    bytes[24..].chunks_exact_mut(16).for_each(|record| record[12] = 7);
    std::fs::write(&file, bytes).unwrap();
    let found = json("info", &[&file]);
    assert_eq!(found["streams"][0]["reachable"]["broken"], 99);
    assert!(found["streams"][0]["warning"].as_str().unwrap().starts_with("only 0 %"));
    let output = assay("simulate", &[&file, &"--predictor", &"bimodal"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("can be reached"));
}

/// A frame of zstd (RFC 8878, 3.1.1) that is unpacked to so many zeros: each block says 128 KiB of them in four bytes.
fn zeros_in_zstd(count: u32) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const REPEATED: u32 = 1 << 1;
    // The magic number; no size, checksum or dictionary; a window of 1 MiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 10 << 3];
    for block in 1..=count / BLOCK {
        let last = u32::from(block == count / BLOCK);
        frame.extend_from_slice(&(last | REPEATED | BLOCK << 3).to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_bomb_of_zeros_is_refused_without_being_unpacked_to_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bomb.zst");
    std::fs::write(&file, zeros_in_zstd(160 << 20)).unwrap();
    let mut unpacked = zstd::Decoder::new(std::fs::File::open(&file).unwrap()).unwrap();
    let mut begin = [1; 4096];
    std::io::Read::read_exact(&mut unpacked, &mut begin).unwrap();
    assert_eq!(begin, [0; 4096], "it is what the test is about");
    for format in ["bt9", "sbbt", "cbp", "assay"] {
        let limited = format!(
            "ulimit -v 150000; exec {} trace info --from {format} {}",
            env!("CARGO_BIN_EXE_assay"),
            file.display()
        );
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{format}: {said}");
    }
}

#[test]
fn misuse_is_said_and_changes_nothing() {
    let gcc = fixture("cbp-ng_gcc.sbbt.zst");
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    let (code, said) = refused("simulate", &[&gcc, &"--predictor", &"gshare-32"]);
    assert!(code == 2 && said.contains("did you mean `gshare-32k`"), "{said}");
    let (code, said) = refused("simulate", &[&gcc, &"--stream", &"3"]);
    assert!(code == 2 && said.contains("has no stream 3"), "{said}");
    let (code, said) = refused("convert", &[&gcc, &here("gcc.txt")]);
    assert!(code == 2 && said.contains("the format of "), "{said}");
    let (code, said) = refused("convert", &[&gcc, &here("gcc.cbp"), &"--to", &"cbp"]);
    assert!(code == 2 && said.contains("can be read but not written"), "{said}");
    let (code, said) = refused("convert", &[&gcc, &here("none/gcc.sbbt")]);
    assert!(code == 2 && said.contains("no folder"), "{said}");
    let (code, said) = refused("info", &[&gcc, &"--from", &"elf"]);
    assert!(code == 2 && said.contains("the formats are assay, bt9"), "{said}");
    let (code, said) = refused("record", &[&"-o", &here("x.assaytrace"), &"--", &here("none")]);
    assert!(code == 2 && said.contains("there is no file"), "{said}");
    let (code, said) = refused("record", &[&"--time-limit", &"-1", &"-o", &here("x"), &"--", &"true"]);
    assert!(code == 2, "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_command_that_cannot_be_traced_leaves_the_recording_of_that_name_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.assaytrace");
    std::fs::write(&kept, "an hour's work").unwrap();
    // Two programs: one that is none, and one for 32 bits, which is the machine's lack, not the user's mistake.
    let mut narrow = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    narrow.resize(64, 0);
    for (bytes, expected, part) in
        [(&b"no program"[..], 2, "neither ELF nor a script"), (&narrow, 3, "is a 32-bit program")]
    {
        let program = folder.path().join("program");
        std::fs::write(&program, bytes).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (code, said) = refused("record", &[&"-o", &kept, &"--", &program]);
        assert!(code == expected && said.contains(part), "{code}: {said}");
        assert_eq!(std::fs::read(&kept).unwrap(), b"an hour's work");
    }
}

#[test]
fn help_gives_examples() {
    for verb in ["record", "info", "convert", "simulate"] {
        assert!(done(verb, &[&"--help"]).contains(&format!("assay trace {verb} ")));
    }
    assert!(done("simulate", &[&"none", &"--predictor", &"list"]).contains("gshare-32k"));
}

#[test]
fn a_recorded_command_is_read_back_to_the_branch() {
    let Some((folder, program)) = trace_fixtures::build("switch", trace_fixtures::Target::X86_64, &[]) else {
        return;
    };
    // Beside the binary of this build.
    trace_fixtures::plugin();
    let file = folder.path().join("switch.assaytrace");
    let said = done("record", &[&"-o", &file, &"--", &program]);
    assert!(said.contains("exited with 0"), "{said}");
    let found = json("info", &[&file]);
    let mut classes = String::new();
    for (class, counts) in found["streams"][0]["classes"].as_object().unwrap() {
        write!(classes, "{class} {}, ", counts["executed"]).unwrap();
    }
    assert_eq!(classes, "conditional jump 4000, indirect jump 4000, jump 3000, ");
    assert_eq!(found["streams"][0]["instructions"], 31_002, "all but the last three, which end the program");
    assert_eq!(found["streams"][0]["reachable"]["broken"], 0);
    assert!(found["source"].as_str().unwrap().starts_with("qemu "));
    assert_eq!(found["processes"][0]["ended"], "exited with 0");
    let compact = folder.path().join("compact.assaytrace");
    done("record", &[&"--compact", &"-o", &compact, &"--", &program]);
    let again = json("info", &[&compact]);
    assert_eq!((found["coding"].as_str(), again["coding"].as_str()), (Some("columns"), Some("compact")));
    assert_eq!(found["streams"][0]["classes"], again["streams"][0]["classes"]);
}

#[test]
fn converting_harms_neither_its_input_nor_drafts_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let (input, link) = (folder.path().join("y.draft"), folder.path().join("link.sbbt.zst"));
    std::fs::copy(fixture("synthetic_200k.sbbt.zst"), &input).unwrap();
    std::os::unix::fs::symlink("y.draft", &link).unwrap();
    let before = std::fs::read(&input).unwrap();
    done("convert", &[&input, &folder.path().join("y.bt9")]);
    for output in [&input, &link] {
        let (code, said) = refused("convert", &[&input, output, &"--to", &"sbbt"]);
        assert!(code == 2 && said.contains("this command reads it; name another file"), "{code}: {said}");
    }
    assert!(std::fs::read(&input).unwrap() == before, "the input was changed");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no draft is left");
}
