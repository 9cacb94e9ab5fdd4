//! Another program is executed in place of this one: under the emulator too.
//!
//! QEMU would hand the call to the kernel, and the new program would run natively. So the emulator is executed first, with
//! the arguments that it got itself; where that fails the call goes its usual way, and a note says so.

mod image;

use crate::{memory, notes, session};
use assay_predict::trace::channel::{NoteCode, process};
use image::Image;
use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::Ordering;

/// `AT_EMPTY_PATH`: the descriptor itself is meant.
const EMPTY_PATH: i32 = 0x1000;

/// `execve` or `execveat`: addresses are the program's.
pub(crate) struct ExecCall {
    pub(crate) folder: Option<i32>,
    pub(crate) path: u64,
    pub(crate) arguments: u64,
    pub(crate) environment: u64,
    pub(crate) flags: i32,
}

/// Goes on as the emulator of the other program, or comes back and leaves the call to QEMU.
pub(crate) fn execute(call: &ExecCall) {
    let Some(path) = memory::text(call.path).and_then(|path| path_of(call, &path)) else {
        return;
    };
    // SAFETY: a valid string.
    if unsafe { libc::access(path.as_ptr(), libc::X_OK) } != 0 {
        return;
    }
    let reason = match image::look_at(&path, session::get().architecture) {
        // The kernel will refuse it; a shell then reads it itself.
        Image::None => return,
        Image::Other => NoteCode::OtherArchitecture,
        _ if !session::get().follow => NoteCode::NotAsked,
        Image::Program { interpreter } => {
            announce();
            emulate(call, &path, interpreter);
            NoteCode::NotFollowed
        }
    };
    announce();
    notes::add(reason, path.as_bytes());
}

fn announce() {
    session::get().own.u32(process::STATE).store(process::REPLACED, Ordering::Release);
}

/// The file that is meant, by a path that this process can open.
fn path_of(call: &ExecCall, path: &CStr) -> Option<CString> {
    let bytes = path.to_bytes();
    if bytes == b"/proc/self/exe" {
        return program();
    }
    match call.folder {
        Some(folder) if bytes.is_empty() && call.flags & EMPTY_PATH != 0 => {
            CString::new(format!("/proc/self/fd/{folder}")).ok()
        }
        Some(folder) if folder != libc::AT_FDCWD && !bytes.starts_with(b"/") => {
            let mut whole = format!("/proc/self/fd/{folder}/").into_bytes();
            whole.extend_from_slice(bytes);
            CString::new(whole).ok()
        }
        _ => (!bytes.is_empty()).then(|| path.to_owned()),
    }
}

/// For the program /proc/self/exe is itself; for this process it would be the emulator.
fn program() -> Option<CString> {
    let own = &session::get().own;
    let length = own.u32(process::PROGRAM).load(Ordering::Acquire) as usize;
    let bytes: Vec<u8> = (0..length.min(process::PROGRAM_SIZE))
        .map(|at| {
            let word = own.u32(process::PROGRAM + 4 + (at & !3)).load(Ordering::Relaxed);
            word.to_le_bytes()[at & 3]
        })
        .collect();
    (!bytes.is_empty()).then(|| CString::new(bytes).ok()).flatten()
}

/// Returns only when it has failed.
fn emulate(call: &ExecCall, path: &CStr, interpreter: Vec<CString>) {
    let prefix: Option<Vec<CString>> =
        session::get().prefix.iter().map(|word| CString::new(word.as_slice()).ok()).collect();
    let (Some(mut words), Some(arguments), Some(environment)) =
        (prefix, memory::texts(call.arguments), memory::texts(call.environment))
    else {
        return;
    };
    if interpreter.is_empty() {
        // The name that the program is called by need not be its path.
        words.push(c"-0".to_owned());
        words.push(arguments.first().cloned().unwrap_or_default());
    }
    words.extend(interpreter);
    words.push(path.to_owned());
    words.extend(arguments.into_iter().skip(1));
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (word_pointers, environment_pointers) = (pointers(&words), pointers(&environment));
    // SAFETY: lists of valid strings that end in null.
    unsafe { libc::execve(words[0].as_ptr(), word_pointers.as_ptr(), environment_pointers.as_ptr()) };
}
