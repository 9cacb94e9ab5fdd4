//! QEMU's interface for plugins, by hand: the functions that are used, found by name in the running emulator.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What QEMU calls a loaded plugin by.
pub(crate) type PluginId = u64;

/// The beginning of what QEMU says about itself; more follows.
#[repr(C)]
pub struct Info {
    pub(crate) target_name: *const c_char,
    pub(crate) version_minimum: c_int,
    pub(crate) version_current: c_int,
}

/// A block that is being translated.
#[repr(C)]
pub(crate) struct Block {
    _opaque: [u8; 0],
}

/// An instruction of such a block.
#[repr(C)]
pub(crate) struct GuestInstruction {
    _opaque: [u8; 0],
}

pub(crate) type OnThread = extern "C" fn(PluginId, c_uint);
pub(crate) type OnTranslate = extern "C" fn(PluginId, *mut Block);
pub(crate) type OnExecute = extern "C" fn(c_uint, *mut c_void);
#[rustfmt::skip]
pub(crate) type OnCall = extern "C" fn(PluginId, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
pub(crate) type OnReset = extern "C" fn(PluginId);

type Register<F> = unsafe extern "C" fn(PluginId, F);

/// The functions; which of them exist depends on QEMU's version.
pub(crate) struct Api {
    version: c_int,
    pub(crate) on_thread_start: Register<OnThread>,
    pub(crate) on_thread_end: Register<OnThread>,
    pub(crate) on_translate: Register<OnTranslate>,
    pub(crate) on_call: Register<OnCall>,
    pub(crate) on_execute: unsafe extern "C" fn(*mut Block, OnExecute, c_int, *mut c_void),
    /// Adds to a word; not safe where threads share the word. Gone since interface 2.
    pub(crate) add_inline: Option<unsafe extern "C" fn(*mut Block, c_int, *mut c_void, u64)>,
    pub(crate) block_length: unsafe extern "C" fn(*const Block) -> usize,
    pub(crate) block_address: unsafe extern "C" fn(*const Block) -> u64,
    pub(crate) instruction: unsafe extern "C" fn(*const Block, usize) -> *mut GuestInstruction,
    pub(crate) instruction_size: unsafe extern "C" fn(*const GuestInstruction) -> usize,
    pub(crate) instruction_address: unsafe extern "C" fn(*const GuestInstruction) -> u64,
    pub(crate) instruction_host: unsafe extern "C" fn(*const GuestInstruction) -> *const c_void,
    data: *const c_void,
    pub(crate) reset: unsafe extern "C" fn(PluginId, OnReset),
}

// SAFETY: function pointers and a number.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

static API: OnceLock<Api> = OnceLock::new();

fn symbol(name: &CStr) -> *const c_void {
    // SAFETY: dlsym on the global scope; the emulator exports its interface there.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

fn need(name: &CStr) -> Result<*const c_void, String> {
    let found = symbol(name);
    if found.is_null() {
        return Err(format!("this emulator has no {}", name.to_string_lossy()));
    }
    Ok(found)
}

/// Whether this is a QEMU with per-thread counters, 9.0 and later.
pub(crate) fn has_scoreboards() -> bool {
    !symbol(c"qemu_plugin_scoreboard_new").is_null()
}

/// The newest version of the interface that a QEMU with scoreboards surely speaks, told from what it exports.
pub(crate) fn newest_version() -> c_int {
    if !symbol(c"qemu_plugin_write_memory_vaddr").is_null() { 5 } else { 2 }
}

/// A function by its name, as the type that QEMU's documentation gives it for the versions that export the name.
///
/// # Safety
/// `F` is that type, a function pointer.
pub(crate) unsafe fn function<F: Copy>(name: &CStr) -> Result<F, String> {
    let found = need(name)?;
    assert_eq!(size_of::<F>(), size_of_val(&found), "a function pointer");
    // SAFETY: the caller's; the sizes are the same.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

impl Api {
    /// Looks every function up.
    pub(crate) fn find(version: c_int) -> Result<Api, String> {
        let inline = c"qemu_plugin_register_vcpu_tb_exec_inline";
        // SAFETY: each field has the type of the function that is named for it.
        let api = unsafe {
            Api {
                version,
                on_thread_start: function(c"qemu_plugin_register_vcpu_init_cb")?,
                on_thread_end: function(c"qemu_plugin_register_vcpu_exit_cb")?,
                on_translate: function(c"qemu_plugin_register_vcpu_tb_trans_cb")?,
                on_call: function(c"qemu_plugin_register_vcpu_syscall_cb")?,
                on_execute: function(c"qemu_plugin_register_vcpu_tb_exec_cb")?,
                add_inline: if symbol(inline).is_null() { None } else { Some(function(inline)?) },
                block_length: function(c"qemu_plugin_tb_n_insns")?,
                block_address: function(c"qemu_plugin_tb_vaddr")?,
                instruction: function(c"qemu_plugin_tb_get_insn")?,
                instruction_size: function(c"qemu_plugin_insn_size")?,
                instruction_address: function(c"qemu_plugin_insn_vaddr")?,
                instruction_host: function(c"qemu_plugin_insn_haddr")?,
                data: need(c"qemu_plugin_insn_data")?,
                reset: function(c"qemu_plugin_reset")?,
            }
        };
        Ok(api)
    }

    /// Makes it findable by [`Api::get`].
    pub(crate) fn keep(api: Api) {
        let _ = API.set(api);
    }

    /// The functions, after installing.
    pub(crate) fn get() -> Option<&'static Api> {
        API.get()
    }

    /// Says the program's absolute path, once: known to QEMU when it has loaded it.
    pub(crate) fn say_program(&self, say: fn(&[u8])) {
        static SAID: AtomicBool = AtomicBool::new(false);
        if SAID.swap(true, Ordering::Relaxed) {
            return;
        }
        let found = symbol(c"qemu_plugin_path_to_binary");
        if found.is_null() {
            return;
        }
        // SAFETY: QEMU gives a string of the caller's own, or null; it is said once, so it is left to the process's end.
        unsafe {
            let path: extern "C" fn() -> *const c_char = std::mem::transmute(found);
            let path = path();
            if !path.is_null() {
                let path = CStr::from_ptr(path).to_bytes();
                let whole = std::fs::canonicalize(OsStr::from_bytes(path));
                say(whole.as_ref().map_or(path, |whole| whole.as_os_str().as_bytes()));
            }
        }
    }

    /// Copies an instruction's bytes to the end of `bytes`.
    ///
    /// # Safety
    /// `instruction` is one of the block that is being translated.
    pub(crate) unsafe fn append_bytes(&self, instruction: *const GuestInstruction, bytes: &mut Vec<u8>) {
        // SAFETY: since interface 3 the bytes are copied to the caller's buffer, before that a pointer was given.
        unsafe {
            let size = (self.instruction_size)(instruction);
            let from = bytes.len();
            if self.version >= 3 {
                type CopyData = unsafe extern "C" fn(*const GuestInstruction, *mut c_void, usize) -> usize;
                let copy: CopyData = std::mem::transmute(self.data);
                bytes.resize(from + size, 0);
                let copied = copy(instruction, bytes.as_mut_ptr().add(from).cast(), size);
                bytes.truncate(from + copied.min(size));
            } else {
                type PointToData = unsafe extern "C" fn(*const GuestInstruction) -> *const c_void;
                let point: PointToData = std::mem::transmute(self.data);
                let data = point(instruction);
                if !data.is_null() {
                    bytes.extend_from_slice(std::slice::from_raw_parts(data.cast(), size));
                }
            }
        }
    }
}
