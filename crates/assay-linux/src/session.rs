//! Commands that Ctrl-C in the terminal does not reach.
//!
//! The terminal sends its signals to all of its foreground group: a command that hands in a job would be killed in the midst of it,
//! and whether there is a job would be unknown. In a session of its own it has no terminal. A group of its own would not do: a
//! command that then asks for a password is stopped, and waited for without end.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Has a command begin a session of its own. It can ask nobody.
pub fn apart(command: &mut Command) -> &mut Command {
    let begin = || {
        // SAFETY: a system call without arguments. It fails only for the leader of a group, which what was just forked is not.
        if unsafe { libc::setsid() } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only a system call is made.
    unsafe { command.pre_exec(begin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 6 of stat: the session. The program's name has no blanks.
    fn session(stat: &str) -> &str {
        stat.split_whitespace().nth(5).unwrap_or_default()
    }

    #[test]
    fn a_command_apart_is_in_another_session() {
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        let own = own.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().nth(3).unwrap().to_owned());
        let stat = |command: &mut Command| {
            String::from_utf8(command.arg("/proc/self/stat").output().unwrap().stdout).unwrap()
        };
        let (with_us, apart) = (stat(&mut Command::new("cat")), stat(apart(&mut Command::new("cat"))));
        assert_eq!(Some(session(&with_us)), own.as_deref());
        assert_ne!(session(&apart), session(&with_us));
    }
}
