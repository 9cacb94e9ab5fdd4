//! The speed of light of this machine: measured once, kept, and compared with what campaigns measure.
//!
//! What is executed is in assay-linux (`limits`), what follows from it in assay-pure (`limits`); here is when, how often, and where
//! it is kept.

pub mod kept;
pub mod measure;
mod plan;
pub mod watched;
mod window;

use assay_linux::machine::Machine as Facts;
use assay_pure::limits::MeasuredMachine;
use serde_json::Value;

/// The facts that limits depend on, of those of a machine.
pub fn machine_of(facts: &Facts) -> MeasuredMachine {
    MeasuredMachine {
        cpu: facts.cpu.clone(),
        cpu_id: facts.cpu_id.clone(),
        microcode: facts.microcode.clone(),
        virtual_machine: facts.virtual_machine,
        caches: facts.caches.clone(),
        kernel: facts.kernel.clone(),
        governor: facts.governor.clone(),
    }
}

/// The same, of those kept with a campaign; nothing where they were kept by another form of assay.
pub fn machine_of_campaign(machine: &Value) -> Option<MeasuredMachine> {
    serde_json::from_value(machine.clone()).ok()
}
