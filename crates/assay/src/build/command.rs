//! Running a compiler driver and keeping what it said.

use super::failure::BuildFailure;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many compiler drivers were started: none in a campaign whose artifacts are all kept.
#[derive(Debug, Default)]
pub struct Started(AtomicUsize);

impl Started {
    /// So far.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One more.
    pub fn note(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a driver in a folder.
///
/// # Errors
/// It cannot be started or does not exit with 0.
pub fn run(
    driver: &Path,
    arguments: &[String],
    folder: &Path,
    (stage, subject): (&'static str, &str),
    started: &Started,
) -> Result<String, BuildFailure> {
    started.note();
    let shown = shell_line(driver, arguments);
    let failure = |ended: String, complaint: String| BuildFailure {
        stage,
        subject: subject.to_owned(),
        command: format!("cd {} && {shown}", quoted(&folder.to_string_lossy())),
        ended,
        complaint,
    };
    let output = Command::new(driver)
        .args(arguments)
        .current_dir(folder)
        // Messages are parsed by people in one language, and quoted in reports.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            failure(format!("{} cannot be started: {error}", driver.display()), String::new())
        })?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(failure(output.status.to_string(), complaint));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command as a shell would be given it.
pub fn shell_line(driver: &Path, arguments: &[String]) -> String {
    let mut words = vec![quoted(&driver.to_string_lossy())];
    words.extend(arguments.iter().map(|argument| quoted(argument)));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_a_shell_would_take_apart() {
        let arguments = ["-O2", "-DNAME=a b", "it's", ""].map(str::to_owned);
        assert_eq!(
            shell_line(Path::new("/usr/bin/gcc"), &arguments),
            r"/usr/bin/gcc -O2 '-DNAME=a b' 'it'\''s' ''"
        );
    }

    #[test]
    fn tells_what_a_failing_command_said_and_how_to_repeat_it() {
        let started = Started::default();
        let arguments = ["-c", "echo wrong >&2; exit 3"].map(str::to_owned);
        let failed =
            run(Path::new("/bin/sh"), &arguments, Path::new("/"), ("compile", "x"), &started).unwrap_err();
        let text = failed.to_string();
        assert!(
            text.contains("wrong") && text.contains("exit status: 3") && text.contains("cd / && /bin/sh"),
            "{text}"
        );
        assert_eq!(started.count(), 1);
    }
}
