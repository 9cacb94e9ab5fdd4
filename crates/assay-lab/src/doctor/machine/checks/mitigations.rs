//! What does the kernel do against weaknesses of the processor? Only said: whoever wants production's times wants these too.

use super::Looked;
use crate::doctor::machine::facts::{Kernel, Measured};

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    if kernel.mitigations.is_empty() {
        return Looked::Well("none is told".to_owned());
    }
    let each: Vec<String> = kernel.mitigations.iter().map(|(name, how)| format!("{name} by {how}")).collect();
    Looked::Well(format!("calls of the system and indirect branches may be slower: {}", each.join("; ")))
}
