//! A few functions followed instruction by instruction: a digest of what their loops execute and reach.
//!
//! The lab asks whether two functions execute the same (`channel::followed`). Where an instruction is in the lab's table, executing
//! it is counted by its role; what a loop executes goes into the digest by its number, and each address that it reads or
//! writes too. What lies elsewhere, in a library that a loop calls, goes in by its address, as that is the same in both runs.

use crate::api::{Api, Block, GuestInstruction, PluginId};
use crate::segment::SharedSegment;
use assay_predict::trace::channel::followed::{self as file, Digest};
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Reads and writes.
const READ_WRITE: c_int = 3;
/// Register values are not read.
const NO_REGISTERS: c_int = 0;
/// Above all addresses: what an address and what a number is, is told apart.
const ADDRESS: u64 = 1 << 63;

type OnExecute = extern "C" fn(c_uint, *mut c_void);
type OnMemory = extern "C" fn(c_uint, c_uint, u64, *mut c_void);

/// What QEMU does for this alone.
struct FollowingApi {
    on_execute: unsafe extern "C" fn(*mut GuestInstruction, OnExecute, c_int, *mut c_void),
    on_memory: unsafe extern "C" fn(*mut GuestInstruction, OnMemory, c_int, c_int, *mut c_void),
    first_code: unsafe extern "C" fn() -> u64,
}

/// What is followed.
struct Followed {
    api: FollowingApi,
    own: SharedSegment,
    /// Roles by link-time address.
    roles: HashMap<u64, u64>,
    /// Link-time address of the first code.
    first_code: u64,
}

// SAFETY: function pointers and shared memory.
unsafe impl Send for Followed {}
// SAFETY: as above.
unsafe impl Sync for Followed {}

static FOLLOWED: OnceLock<Followed> = OnceLock::new();

/// Reads what the lab asks, and has QEMU call us.
pub(crate) fn install(id: PluginId, path: &str, api: Api) -> Result<(), String> {
    let head = SharedSegment::map(path, file::FIRST_ENTRY, false, None, 0)?;
    let word = |segment: &SharedSegment, at| segment.u64(at).load(Ordering::Acquire);
    if word(&head, file::MAGIC) != file::MAGIC_WORD {
        return Err(format!("{path} is not the lab's"));
    }
    let entries = word(&head, file::ENTRIES) as usize;
    let own = SharedSegment::map(path, file::size(entries), false, None, 0)?;
    let role = |entry: usize| {
        let at = file::FIRST_ENTRY + entry * file::ENTRY_SIZE;
        (word(&own, at), word(&own, at + 8))
    };
    // SAFETY: each has the type that QEMU's documentation gives it.
    let following = unsafe {
        FollowingApi {
            on_execute: crate::api::function(c"qemu_plugin_register_vcpu_insn_exec_cb")?,
            on_memory: crate::api::function(c"qemu_plugin_register_vcpu_mem_cb")?,
            first_code: crate::api::function(c"qemu_plugin_start_code")?,
        }
    };
    let first_code = word(&own, file::FIRST_CODE);
    let followed = Followed { api: following, own, roles: (0..entries).map(role).collect(), first_code };
    own.u64(file::LOADED).store(1, Ordering::Release);
    FOLLOWED.set(followed).map_err(|_| "the plugin was installed twice".to_owned())?;
    // SAFETY: QEMU's own id, a function of the right type.
    unsafe { (api.on_translate)(id, translated) };
    Api::keep(api);
    Ok(())
}

extern "C" fn translated(_: PluginId, block: *mut Block) {
    let (Some(api), Some(followed)) = (Api::get(), FOLLOWED.get()) else { return };
    // SAFETY: QEMU's block, valid during this callback; the callbacks have the right types.
    unsafe {
        let moved = (followed.api.first_code)().wrapping_sub(followed.first_code);
        for at in 0..(api.block_length)(block) {
            let instruction = (api.instruction)(block, at);
            let address = (api.instruction_address)(instruction);
            let role = followed.roles.get(&address.wrapping_sub(moved)).copied();
            let (executed, word): (OnExecute, u64) = match role {
                Some(file::ROLE_AROUND) => (around, 0),
                Some(file::ROLE_LEAVES) => (leaves, 0),
                Some(looping) => (looped, looping),
                None => (elsewhere, address | ADDRESS),
            };
            let on_execute = followed.api.on_execute;
            on_execute(instruction, executed, NO_REGISTERS, word as *mut c_void);
            if !matches!(role, Some(file::ROLE_AROUND | file::ROLE_LEAVES)) {
                let on_memory = followed.api.on_memory;
                on_memory(instruction, reached, NO_REGISTERS, READ_WRITE, std::ptr::null_mut());
            }
        }
    }
}

/// One more of what a word counts; one thread alone writes it.
fn count(offset: usize) {
    let Some(followed) = FOLLOWED.get() else { return };
    let word = followed.own.u64(offset);
    word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn take(word: u64) {
    let Some(followed) = FOLLOWED.get() else { return };
    let halves = [file::DIGEST, file::SECOND_DIGEST].map(|offset| followed.own.u64(offset));
    let mut digest = Digest { halves: halves.map(|half| half.load(Ordering::Relaxed)) };
    digest.take(word);
    halves.iter().zip(digest.halves).for_each(|(half, value)| half.store(value, Ordering::Relaxed));
}

/// The last instruction of the table that was executed is in a loop, or isn't.
fn inside(is: bool) {
    if let Some(followed) = FOLLOWED.get() {
        followed.own.u64(file::INSIDE).store(u64::from(is), Ordering::Relaxed);
    }
}

fn is_inside() -> bool {
    FOLLOWED.get().is_some_and(|followed| followed.own.u64(file::INSIDE).load(Ordering::Relaxed) != 0)
}

/// Only the first thread is followed; that another one came here, too, is told.
fn is_first(cpu: c_uint) -> bool {
    if cpu != 0 {
        count(file::THREADS);
    }
    cpu == 0
}

extern "C" fn looped(cpu: c_uint, word: *mut c_void) {
    if is_first(cpu) {
        inside(true);
        count(file::LOOPED);
        take(word as u64);
    }
}

extern "C" fn around(cpu: c_uint, _: *mut c_void) {
    if is_first(cpu) {
        inside(false);
        count(file::AROUND);
    }
}

extern "C" fn leaves(cpu: c_uint, _: *mut c_void) {
    if is_first(cpu) {
        inside(false);
        count(file::LEFT);
    }
}

extern "C" fn elsewhere(cpu: c_uint, word: *mut c_void) {
    if cpu == 0 && is_inside() {
        count(file::LOOPED);
        take(word as u64);
    }
}

extern "C" fn reached(cpu: c_uint, access: c_uint, address: u64, _: *mut c_void) {
    if cpu == 0 && is_inside() {
        take(address ^ u64::from(access) << 48);
    }
}
