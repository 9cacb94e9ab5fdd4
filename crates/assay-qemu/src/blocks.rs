//! Blocks: each is recorded once, when it is translated, and told to count or log itself.
//!
//! One thread: the generated code adds to a counter per block. Several threads would lose additions, so from the second
//! one on, and where the order matters, it calls [`log::executed`]. QEMU 7.2 drops all translations when the second thread
//! comes, before either runs again, so no block of the first kind is executed by two.

mod repeats;
mod shadow;

use crate::api::{Api, Block, GuestInstruction, PluginId};
use crate::maps::Maps;
use crate::{log, session};
use assay_predict::trace::channel::{BlockRecord, MAX_BLOCKS, process};
use assay_predict::trace::classify::{self, Flow, InstructionSet};
use shadow::Shadow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Register values are not read by our callbacks, so none need to be saved.
const NO_REGISTERS: i32 = 0;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// The most that QEMU reads of an instruction at once, bytes.
const READ: u64 = 8;
/// Add a number to a word.
const ADD: i32 = 0;

/// Every block from now on is logged, not counted.
static LOGGING: AtomicBool = AtomicBool::new(false);
/// Host address minus the program's address; the same for all of its memory.
static DISTANCE: AtomicI64 = AtomicI64::new(0);
/// Blocks recorded; the lab reads the published copy.
static RECORDED: AtomicU32 = AtomicU32::new(0);
static LENGTHS_USED: AtomicU32 = AtomicU32::new(0);

/// What is known of the code so far.
pub(crate) struct RecordedCode {
    known: HashMap<(u64, u32, u64), u32>,
    shadow: Shadow,
    pub(crate) maps: Maps,
    bytes: Vec<u8>,
    lengths: Vec<u8>,
}

static AGAIN: OnceLock<extern "C" fn(PluginId)> = OnceLock::new();
static CODE: Mutex<Option<RecordedCode>> = Mutex::new(None);

/// The code, locked; made at first use.
pub(crate) fn code() -> MutexGuard<'static, Option<RecordedCode>> {
    let mut guard = CODE.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_with(|| RecordedCode {
        known: HashMap::new(),
        shadow: Shadow::default(),
        maps: Maps::default(),
        bytes: Vec::new(),
        lengths: Vec::new(),
    });
    guard
}

/// Decides how blocks are treated at first.
///
/// `again` asks QEMU for all callbacks, for when it has forgotten them.
pub(crate) fn choose(api: &Api, again: extern "C" fn(PluginId)) {
    let _ = AGAIN.set(again);
    let logging = session::get().detailed || api.add_inline.is_none();
    LOGGING.store(logging, Ordering::Relaxed);
    session::get().own.u32(process::COUNTING).store(u32::from(!logging), Ordering::Relaxed);
}

pub(crate) fn watch(api: &Api, id: PluginId) {
    // SAFETY: QEMU's own id, a function of the right type.
    unsafe { (api.on_translate)(id, translated) };
}

/// Whether blocks are logged, so that events can be placed between them.
pub(crate) fn logging() -> bool {
    LOGGING.load(Ordering::Relaxed)
}

/// A second thread is about to run.
pub(crate) fn several_threads() {
    LOGGING.store(true, Ordering::SeqCst);
    session::get().own.u32(process::COUNTING).store(0, Ordering::Relaxed);
}

/// Blocks are to be logged though there is one thread: QEMU forgets its translations before the program goes on.
pub(crate) fn log_from_now_on(id: PluginId) {
    if !LOGGING.swap(true, Ordering::SeqCst) {
        session::get().own.u32(process::COUNTING).store(0, Ordering::Relaxed);
        if let (Some(api), Some(&again)) = (Api::get(), AGAIN.get()) {
            // SAFETY: called from a callback, as QEMU asks for.
            unsafe { (api.reset)(id, again) };
        }
    }
}

/// Blocks recorded so far.
pub(crate) fn recorded() -> u32 {
    RECORDED.load(Ordering::Acquire)
}

/// Bytes of instruction lengths so far.
pub(crate) fn lengths_used() -> usize {
    LENGTHS_USED.load(Ordering::Acquire) as usize
}

/// Where the program's memory at `address` lies for us.
pub(crate) fn host(address: u64) -> u64 {
    address.wrapping_add_signed(DISTANCE.load(Ordering::Relaxed))
}

/// The program has unmapped or replaced this range: other code there is no code that changed.
pub(crate) fn forget(address: u64, size: u64) {
    if let Some(code) = code().as_mut() {
        code.shadow.forget(address, size);
        code.maps.forget(address, size);
    }
}

extern "C" fn translated(_: PluginId, block: *mut Block) {
    let Some(api) = Api::get() else {
        return;
    };
    if session::muted() {
        return;
    }
    api.say_program(session::name);
    let mut guard = code();
    let Some(code) = guard.as_mut() else {
        return;
    };
    // SAFETY: QEMU's block, valid during this callback.
    let (record, host_pc, flow) = unsafe { code.read(api, block) };
    let Some(record) = record else {
        return;
    };
    DISTANCE.store(host_pc.wrapping_sub(record.pc) as i64, Ordering::Relaxed);
    if let Some(at) = code.shadow.changed(record.pc, &code.bytes) {
        changed(at);
    }
    code.maps.see(record.pc, host_pc);
    let Some(id) = code.number(record) else {
        session::get().own.u32(process::LOST_BLOCKS).store(1, Ordering::Relaxed);
        return;
    };
    // SAFETY: as above.
    unsafe { instrument(api, block, id, &record, host_pc, flow) };
}

fn changed(at: u64) {
    let own = &session::get().own;
    if own.u32(process::CHANGED).fetch_add(1, Ordering::AcqRel) == 0 {
        own.u64(process::CHANGED_AT).store(at, Ordering::Release);
    }
}

/// # Safety
/// `block` is being translated.
unsafe fn instrument(api: &Api, block: *mut Block, id: u32, record: &BlockRecord, host_pc: u64, flow: Flow) {
    // SAFETY: the block is QEMU's; the counter lies in memory that stays mapped at this place as long as the process lives.
    unsafe {
        let udata = id as usize as *mut std::ffi::c_void;
        match api.add_inline {
            Some(add_inline) if !logging() => {
                let x86 = session::get().architecture == process::X86_64;
                if let Some(callback) = x86.then(|| repeats::callback(record, host_pc, flow)).flatten() {
                    (api.on_execute)(block, callback, NO_REGISTERS, udata);
                }
                if !(flow == Flow::Repeat && record.pc == record.last) {
                    let counter = session::get().own.base().add(process::COUNTERS + 8 * id as usize);
                    add_inline(block, ADD, counter.cast(), 1);
                }
            }
            _ if flow == Flow::Repeat && record.pc == record.last => {
                (api.on_execute)(block, log::repeated, NO_REGISTERS, udata);
            }
            _ => (api.on_execute)(block, log::executed, NO_REGISTERS, udata),
        }
    }
}

impl RecordedCode {
    /// Reads a block that is being translated: its record (the place of its lengths still open), its place in our memory and
    /// what its last instruction does. The bytes and lengths stay in the buffers.
    ///
    /// # Safety
    /// `block` is being translated.
    unsafe fn read(&mut self, api: &Api, block: *const Block) -> (Option<BlockRecord>, u64, Flow) {
        self.bytes.clear();
        self.lengths.clear();
        // SAFETY: QEMU's block and its instructions, valid during the callback.
        unsafe {
            let mut count = (api.block_length)(block);
            if count == 0 {
                return (None, 0, Flow::Unknown);
            }
            for at in 0..count {
                let from = self.bytes.len();
                api.append_bytes((api.instruction)(block, at), &mut self.bytes);
                self.lengths.push((self.bytes.len() - from).min(255) as u8);
            }
            let architecture = match session::get().architecture {
                process::X86_64 => InstructionSet::X86_64,
                _ => InstructionSet::Aarch64,
            };
            // An instruction that goes on behind the end of the page begins the next block. QEMU 7.2 names what it has read
            // of it as the last of this one, too. Elsewhere such a part is of an instruction that QEMU does not know.
            let last_from = self.bytes.len() - usize::from(*self.lengths.last().unwrap_or(&0));
            let end = (api.block_address)(block).wrapping_add(self.bytes.len() as u64);
            let ends_near = end.wrapping_neg() % PAGE < READ;
            if count > 1 && ends_near && !classify::whole(architecture, &self.bytes[last_from..]) {
                self.bytes.truncate(last_from);
                self.lengths.pop();
                count -= 1;
            }
            let first: *const GuestInstruction = (api.instruction)(block, 0);
            let last: *const GuestInstruction = (api.instruction)(block, count - 1);
            let (pc, last_pc) = ((api.block_address)(block), (api.instruction_address)(last));
            let last_length = usize::from(*self.lengths.last().unwrap_or(&0)).min(15);
            let mut tail = [0_u8; 15];
            tail[..last_length].copy_from_slice(&self.bytes[self.bytes.len() - last_length..]);
            let record = BlockRecord {
                pc,
                last: last_pc,
                bytes: self.bytes.len() as u32,
                instructions: count as u32,
                tail,
                tail_length: last_length as u8,
                lengths: u32::MAX,
            };
            let flow = classify::flow(architecture, last_pc, record.last_bytes());
            (Some(record), (api.instruction_host)(first) as u64, flow)
        }
    }

    /// The number of this block: that of an earlier translation of the same code, or a new one.
    fn number(&mut self, mut record: BlockRecord) -> Option<u32> {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.bytes);
        let key = (record.pc, record.instructions, hasher.finish());
        if let Some(id) = self.known.get(&key) {
            return Some(*id);
        }
        let own = &session::get().own;
        let id = recorded();
        if id >= MAX_BLOCKS {
            return None;
        }
        let place = process::RECORDS + id as usize * BlockRecord::SIZE;
        // Every 64th record asks for the memory of the next 64, every 512th for their counters.
        if id.is_multiple_of(64) && !own.populate(place, 64 * BlockRecord::SIZE) {
            return None;
        }
        if id.is_multiple_of(512) && !own.populate(process::COUNTERS + 8 * id as usize, 4096) {
            return None;
        }
        record.lengths = self.keep_lengths();
        for (at, word) in record.to_words().into_iter().enumerate() {
            own.u64(place + 8 * at).store(word, Ordering::Relaxed);
        }
        self.known.insert(key, id);
        RECORDED.store(id + 1, Ordering::Release);
        own.u32(process::BLOCKS).store(id + 1, Ordering::Release);
        Some(id)
    }

    /// Instruction lengths are kept where they differ, so that a block cut short can be counted.
    fn keep_lengths(&self) -> u32 {
        if session::get().architecture != process::X86_64 {
            return u32::MAX;
        }
        let from = lengths_used();
        if from + self.lengths.len() > process::LENGTHS_SIZE {
            return u32::MAX;
        }
        let own = &session::get().own;
        if !own.populate(process::LENGTHS + from, self.lengths.len()) {
            return u32::MAX;
        }
        own.write(process::LENGTHS + from, &self.lengths);
        LENGTHS_USED.store((from + self.lengths.len()) as u32, Ordering::Release);
        from as u32
    }
}
