//! The plugin that user-mode QEMU loads: what a program executes, written to memory that the lab reads.
//!
//! It only produces: an id per executed block, or a counter per block, and a record of each block as it was translated.
//! What the blocks mean (branches, outcomes, sites) is the lab's affair. The interface to QEMU is written by hand after its
//! documentation ("QEMU TCG Plugins") and found by name at run time, so one file serves the versions from 7.2 on.
//!
//! Everything runs inside the emulator's process, beside the program that is traced: nothing here may block for ever,
//! print, keep a descriptor open or trust that the lab is still there.

mod api;
mod blocks;
mod calls;
mod execute;
mod followed;
mod fork;
mod futex;
mod heads;
mod log;
mod maps;
mod memory;
mod notes;
mod segment;
mod session;
mod threads;

use api::{Api, Info, PluginId};
use std::ffi::{CStr, c_char, c_int};

/// Said to the lab before it loads the plugin: the digits are `channel::VERSION`.
#[used]
#[unsafe(no_mangle)]
pub static ASSAY_PLUGIN_VERSION: [u8; 24] = *b"assay-plugin-version=002";

/// The version of QEMU's interface that this plugin speaks; QEMU reads it after loading and before anything else.
///
/// A QEMU accepts a range. The oldest that has per-thread counters begins at 2; those before end at 1.
#[unsafe(no_mangle)]
pub static mut qemu_plugin_version: c_int = 1;

/// Runs when the plugin is loaded, before QEMU looks at [`qemu_plugin_version`].
#[used]
#[unsafe(link_section = ".init_array")]
static CHOOSE_VERSION: extern "C" fn() = choose_version;

extern "C" fn choose_version() {
    if api::has_scoreboards() {
        // SAFETY: the loader runs this alone, before anybody else can read the word.
        unsafe { qemu_plugin_version = api::newest_version() };
    }
}

/// Called by QEMU once, before the program is loaded.
///
/// # Safety
/// QEMU's: `info` and `argv` are valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes valid pointers (its documentation of install).
    let (target, version, arguments) = unsafe {
        let target = CStr::from_ptr((*info).target_name).to_string_lossy().into_owned();
        let arguments: Vec<String> = (0..argc.max(0) as usize)
            .map(|at| CStr::from_ptr(*argv.add(at)).to_string_lossy().into_owned())
            .collect();
        (target, (*info).version_current, arguments)
    };
    match install(id, &target, version, &arguments) {
        Ok(()) => 0,
        Err(reason) => {
            eprintln!("assay's plugin: {reason}");
            1
        }
    }
}

fn install(id: PluginId, target: &str, version: c_int, arguments: &[String]) -> Result<(), String> {
    let given = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let api = Api::find(version)?;
    if let Some(file) = given("followed=") {
        return followed::install(id, file, api);
    }
    let folder = given("session=").ok_or("the argument session=FOLDER is missing")?;
    session::open(folder, target)?;
    fork::watch();
    blocks::choose(&api, watch);
    Api::keep(api);
    watch(id);
    Ok(())
}

/// Asks QEMU to call us. Also called when it has forgotten all callbacks and all translations, to begin anew.
extern "C" fn watch(id: PluginId) {
    if let Some(api) = Api::get() {
        blocks::watch(api, id);
        threads::watch(api, id);
        calls::watch(api, id);
    }
}
