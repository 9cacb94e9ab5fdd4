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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn a_program_in_zig_is_a_list_of_files_or_a_build_file() {
        let of = |program: &str| {
            let text = format!("question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n{program}\n");
            Experiment::from_toml(&text, "x.toml").map(|read| read.experiment).map_err(|problems| {
                problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ")
            })
        };
        let files = of("program.zig = [\"bench.zig\", \"old.c\"]").expect("a good file");
        let expected = OwnBuild::Zig { files: vec!["bench.zig".into(), "old.c".into()] };
        assert_eq!(files.program.build, Some(expected));
        assert_eq!(
            (files.flags[0].name.as_str(), &*files.flags[0].flags),
            ("ReleaseFast", &["-OReleaseFast".into()][..])
        );
        let build = of("program.zig = \"lib/build.zig\"\nprogram.bin = \"bench\"").expect("a good file");
        let expected = OwnBuild::ZigBuild { file: "lib/build.zig".into(), bin: Some("bench".into()) };
        assert_eq!((build.program.build, build.flags[0].flags.len()), (Some(expected), 0));
        assert!(of("program.zig = \".\"").is_ok(), "a folder has a build.zig");
        for (program, wrong) in [
            ("program.zig = []", "`program.zig` is empty"),
            ("program.zig = 1", "`program.zig` has the wrong type: an integer"),
            ("program.zig = \"bench.zig\"", "names a build.zig; bench.zig is a file to compile"),
            ("program.zig = [\"build.zig\"]", "build.zig is not compiled but run by `zig build`"),
            ("program.zig = [\"bench.rs\"]", "bench.rs is not in Zig, nor in C"),
            ("program.zig = [\"b.zig\"]\nprogram.bin = \"x\"", "a list of files makes one program"),
            (
                "program.zig = [\"b.zig\"]\nflags = [\"-ODebug\"]",
                "flag set `ODebug` is zig's mode Debug, which does not optimise",
            ),
            ("program.zig = [\"b.zig\"]\nflags = [\"-O Debug\"]", "zig's mode Debug"),
            ("program.zig = \"build.zig\"\nflags = [\"-Doptimize=Debug\"]", "zig's mode Debug"),
        ] {
            let said = of(program).expect_err(wrong);
            assert!(said.contains(wrong), "{program}: {said}");
        }
        assert!(of("allow_unoptimised = true\nflags = [\"-ODebug\"]\nprogram.zig = [\"b.zig\"]").is_ok());
        assert!(
            of("flags = [\"-ODebug\", \"-OReleaseSafe\"]\nprogram.zig = [\"b.zig\"]").is_ok(),
            "the last one counts"
        );
    }
}
