//! Compilers and assemblers that are called again.

use std::process::{Command, Stdio};

/// Runs one to its end.
///
/// # Errors
/// It cannot be started, or else the first error that it tells.
pub fn run(command: &mut Command) -> Result<(), String> {
    said(command).map(drop)
}

/// The same; what it says beside what it makes.
///
/// # Errors
/// As of [`run`].
pub fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(said.lines().find(|line| is_error(line)).unwrap_or("it says nothing").to_owned())
}

/// `error[E0425]: ...` of rustc, `main.s:3: Error: ...` of GNU's assembler, `main.c:3:1: error: ...` of clang.
fn is_error(line: &str) -> bool {
    line.starts_with("error") || line.contains("error:") || line.contains("Error:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(said: &str) -> String {
        run(Command::new("sh").args(["-c", "printf '%s' \"$1\" >&2; exit 1", "sh", said]))
            .expect_err("it ends with 1")
    }

    #[test]
    fn the_first_error_is_told_whoever_says_it() {
        assert_eq!(refused("warning: x\nerror[E0425]: y\nerror: z"), "error[E0425]: y");
        assert_eq!(refused("m.s: Assembler messages:\nm.s:3: Error: no such"), "m.s:3: Error: no such");
        assert_eq!(refused("main.c:3:1: error: expected"), "main.c:3:1: error: expected");
        assert_eq!(refused(""), "it says nothing");
    }

    #[test]
    fn who_is_not_there_is_named() {
        let why = run(&mut Command::new("/nowhere/clang")).expect_err("it is not there");
        assert!(why.starts_with("/nowhere/clang cannot be started: "), "{why}");
    }
}
