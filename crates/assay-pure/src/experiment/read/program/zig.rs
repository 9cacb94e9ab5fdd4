//! `[program] zig`: a list of files, or a `build.zig`.

use super::super::reader::{TomlReader, TomlTable, WrongValue};
use super::convert;
use super::refuse_repeats;
use crate::experiment::spec::OwnBuild;

/// What `program.zig` asks for.
pub(super) fn read(reader: &mut TomlReader, program: &TomlTable) -> Option<OwnBuild> {
    let item = program.item("zig")?;
    if item.as_str().is_some() {
        return of_build(reader, program);
    }
    if item.as_array().is_none() {
        reader.complain_of(program, "zig", WrongValue::Type.sentence("program.zig", item));
        return None;
    }
    let files = reader.list(program, "zig", convert::line)?;
    if files.is_empty() {
        reader.complain_of(program, "zig", "`program.zig` is empty");
    }
    refuse_repeats(reader, "program.zig", &files);
    for (index, file) in files.iter().enumerate() {
        let message = if is_build_file(file) {
            format!("{file} is not compiled but run by `zig build`")
        } else if ending(file).is_none_or(|ending| !["zig", "c"].contains(&ending)) {
            format!("{file} is not in Zig, nor in C")
        } else {
            continue;
        };
        let problem = reader.complain(&format!("program.zig[{index}]"), message);
        if is_build_file(file) {
            problem.example = Some(format!("zig = \"{file}\""));
        }
    }
    if program.has("bin") {
        let message = "`program.bin` names a program of a build.zig; a list of files makes one program";
        reader.complain_of(program, "bin", message);
    }
    Some(OwnBuild::Zig { files })
}

fn of_build(reader: &mut TomlReader, program: &TomlTable) -> Option<OwnBuild> {
    let file = reader.read(program, "zig", convert::line)?;
    if !is_build_file(&file) && ending(&file) == Some("zig") {
        let message = format!("`program.zig` is text, which names a build.zig; {file} is a file to compile");
        reader.complain_of(program, "zig", message).example = Some(format!("zig = [\"{file}\"]"));
    }
    let bin = program.has("bin").then(|| reader.read(program, "bin", convert::line)).flatten();
    Some(OwnBuild::ZigBuild { file, bin })
}

fn is_build_file(file: &str) -> bool {
    file.rsplit('/').next() == Some("build.zig")
}

fn ending(file: &str) -> Option<&str> {
    file.rsplit('/').next()?.rsplit_once('.').map(|(_, ending)| ending)
}
