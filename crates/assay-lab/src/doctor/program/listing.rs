//! A function's instructions, and from which one control comes to the next where only one way leads there.

use assay_trace::sites::image::ModuleImage;
use assay_trace::sites::instruction::ModuleCode;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use std::collections::BTreeMap;

/// The longest function that is read, bytes.
const LONGEST: u64 = 1 << 20;

/// A function of x86-64, decoded.
pub struct Listing {
    /// In the order of their addresses.
    pub instructions: Vec<Instruction>,
    /// Where direct jumps of the function go, with the places of these jumps.
    targets: BTreeMap<u64, Vec<usize>>,
}

impl Listing {
    /// The function that holds an address; `None` without a symbol, and for code that is not read.
    pub fn of(image: &ModuleImage, address: u64) -> Option<Listing> {
        let function = image.function(address).filter(|_| image.architecture == ModuleCode::X86_64)?;
        let bytes = image.bytes(function.start);
        let length = usize::try_from((function.end - function.start).min(LONGEST)).ok()?;
        Some(Listing::new(&bytes[..length.min(bytes.len())], function.start))
    }

    /// From bytes; what is no instruction ends it.
    pub fn new(code: &[u8], address: u64) -> Listing {
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let instructions: Vec<Instruction> =
            decoder.into_iter().take_while(|instruction| !instruction.is_invalid()).collect();
        let mut targets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, instruction) in instructions.iter().enumerate() {
            let jumps = matches!(
                instruction.flow_control(),
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            );
            if jumps {
                targets.entry(instruction.near_branch_target()).or_default().push(at);
            }
        }
        Listing { instructions, targets }
    }

    /// The place of the instruction at an address.
    pub fn index(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, Instruction::ip).ok()
    }

    /// The place of the instruction executed before this one, where there is only one such place.
    pub fn before(&self, at: usize) -> Option<usize> {
        let instruction = self.instructions.get(at)?;
        let follows = at.checked_sub(1).filter(|&before| self.falls_through(before));
        match (self.targets.get(&instruction.ip()).map(Vec::as_slice), follows) {
            (None, follows) => follows,
            (Some([jump]), None) => Some(*jump),
            _ => None,
        }
    }

    /// Whether control can go on behind an instruction.
    fn falls_through(&self, at: usize) -> bool {
        !matches!(
            self.instructions[at].flow_control(),
            FlowControl::UnconditionalBranch
                | FlowControl::IndirectBranch
                | FlowControl::Return
                | FlowControl::Exception
                | FlowControl::Interrupt
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_before_is_known_where_one_way_leads_there() {
        // 0: je 4 | 2: nop; 3: ret | 4: nop | 5: jmp 5
        let listing = Listing::new(&[0x74, 0x02, 0x90, 0xc3, 0x90, 0xeb, 0xfe], 0);
        let before = |address| listing.before(listing.index(address).expect("an instruction"));
        assert_eq!([before(0), before(2), before(3), before(4)], [None, Some(0), Some(1), Some(0)]);
        assert_eq!(before(5), None, "from above and from itself");
        assert_eq!(listing.index(1), None);
        assert_eq!(Listing::new(&[0x90, 0x06], 0).instructions.len(), 1);
    }
}
