//! Events of the front end by the names that vendors give them: op cache or decoders, instruction cache, its TLB.
//!
//! Question: what does the front end do differently when the same code lies elsewhere? The numbers depend on the
//! processor, so a name is looked up for the one that this is. Sources: Intel's event lists (github.com/intel/perfmon:
//! SKX, ICX, SPR); AMD's processor programming references 55898, 55901 and 57238, as perf has them (amdzen3 to 5).
//! Limits: events that need an address range or a latency are left out; hypervisors mostly refuse all of them. A general name is
//! the nearest event of each vendor, not the same one: misses of the instruction cache are of retired instructions on Intel and of
//! all fetches on AMD, and operations from microcode or a loop buffer are in neither count of operations.
//! Checked: the encodings, by hand, below; no machine of ours has counted them.

/// Processors whose numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CoreFamily {
    Skylake,
    SunnyCove,
    GoldenCove,
    /// Zen 3, 4 and 5.
    Zen,
}

/// One event: its name, the processors, what is counted (event, unit mask and the event's upper bits as the kernel
/// wants them), and which cause of a front-end stall, if the event is for one (MSR 0x3f7).
type FrontEndEvent = (&'static str, &'static [CoreFamily], u64, u64);

use CoreFamily::{GoldenCove, Skylake, SunnyCove, Zen};

const EVENTS: &[FrontEndEvent] = &[
    // What experiments ask for by one name on every processor.
    ("op-cache-ops", &[Skylake, SunnyCove, GoldenCove], 0x0879, 0),
    ("op-cache-ops", &[Zen], 0x02aa, 0),
    ("decoded-ops", &[Skylake, SunnyCove, GoldenCove], 0x0479, 0),
    ("decoded-ops", &[Zen], 0x01aa, 0),
    ("l1i-misses", &[Skylake, SunnyCove, GoldenCove], 0x01c6, 0x12),
    ("l1i-misses", &[Zen], 0x1_0000_188e, 0),
    ("itlb-misses", &[Skylake, SunnyCove], 0x0e85, 0),
    ("itlb-misses", &[GoldenCove], 0x0e11, 0),
    ("itlb-misses", &[Zen], 0x0f85, 0),
    ("idq.dsb_uops", &[Skylake, SunnyCove, GoldenCove], 0x0879, 0),
    ("idq.mite_uops", &[Skylake, SunnyCove, GoldenCove], 0x0479, 0),
    ("dsb2mite_switches.penalty_cycles", &[Skylake, SunnyCove], 0x02ab, 0),
    ("dsb2mite_switches.penalty_cycles", &[GoldenCove], 0x0261, 0),
    ("frontend_retired.dsb_miss", &[Skylake, SunnyCove, GoldenCove], 0x01c6, 0x11),
    ("frontend_retired.l1i_miss", &[Skylake, SunnyCove, GoldenCove], 0x01c6, 0x12),
    ("frontend_retired.itlb_miss", &[Skylake, SunnyCove, GoldenCove], 0x01c6, 0x14),
    ("icache_64b.iftag_miss", &[Skylake, SunnyCove], 0x0283, 0),
    ("icache_tag.stalls", &[GoldenCove], 0x0483, 0),
    ("itlb_misses.walk_completed", &[Skylake, SunnyCove], 0x0e85, 0),
    ("itlb_misses.walk_completed", &[GoldenCove], 0x0e11, 0),
    ("de_src_op_disp.op_cache", &[Zen], 0x02aa, 0),
    ("de_src_op_disp.x86_decoder", &[Zen], 0x01aa, 0),
    ("op_cache_hit_miss.op_cache_miss", &[Zen], 0x2_0000_048f, 0),
    ("op_cache_hit_miss.all_op_cache_accesses", &[Zen], 0x2_0000_078f, 0),
    ("ic_tag_hit_miss.instruction_cache_miss", &[Zen], 0x1_0000_188e, 0),
    ("bp_l1_tlb_miss_l2_tlb_miss.all", &[Zen], 0x0f85, 0),
];

/// The processor by its vendor, family and model, as "GenuineIntel 6 85".
fn core(cpu_id: &str) -> Option<CoreFamily> {
    let mut words = cpu_id.split_whitespace();
    let vendor = words.next()?;
    let (family, model): (u32, u32) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    match (vendor, family, model) {
        ("GenuineIntel", 6, 0x4e | 0x55 | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6) => Some(Skylake),
        ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => Some(SunnyCove),
        ("GenuineIntel", 6, 0x8f | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0xcf) => Some(GoldenCove),
        ("AuthenticAMD", 25 | 26, _) => Some(Zen),
        _ => None,
    }
}

/// What the kernel is told of an event: the two numbers of `perf_event_attr`, `config` and `config1`.
pub(super) fn encoding(name: &str, cpu_id: &str) -> Option<(u64, u64)> {
    let core = core(cpu_id)?;
    let found = EVENTS.iter().find(|(known, cores, ..)| *known == name && cores.contains(&core));
    found.map(|&(_, _, config, config1)| (config, config1))
}

/// The names that a processor has.
pub(super) fn names(cpu_id: &str) -> Vec<&'static str> {
    let Some(core) = core(cpu_id) else { return Vec::new() };
    EVENTS.iter().filter(|(_, cores, ..)| cores.contains(&core)).map(|(name, ..)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Event, unit mask and MSR value as the vendors' lists have them.
    fn listed(name: &str, cpu: &str, event: u64, mask: u64, msr: u64) {
        let config = (event & 0xff) | mask << 8 | (event >> 8) << 32;
        assert_eq!(encoding(name, cpu), Some((config, msr)), "{name} of {cpu}");
    }

    #[test]
    fn intel_events_are_encoded_as_its_lists_have_them() {
        for cpu in ["GenuineIntel 6 85", "GenuineIntel 6 158", "GenuineIntel 6 106"] {
            listed("idq.dsb_uops", cpu, 0x79, 0x08, 0);
            listed("idq.mite_uops", cpu, 0x79, 0x04, 0);
            listed("dsb2mite_switches.penalty_cycles", cpu, 0xab, 0x02, 0);
            listed("frontend_retired.dsb_miss", cpu, 0xc6, 0x01, 0x11);
            listed("frontend_retired.l1i_miss", cpu, 0xc6, 0x01, 0x12);
            listed("icache_64b.iftag_miss", cpu, 0x83, 0x02, 0);
            listed("itlb_misses.walk_completed", cpu, 0x85, 0x0e, 0);
        }
        let golden_cove = "GenuineIntel 6 143";
        listed("idq.dsb_uops", golden_cove, 0x79, 0x08, 0);
        listed("dsb2mite_switches.penalty_cycles", golden_cove, 0x61, 0x02, 0);
        listed("itlb_misses.walk_completed", golden_cove, 0x11, 0x0e, 0);
        listed("icache_tag.stalls", golden_cove, 0x83, 0x04, 0);
        assert_eq!(encoding("icache_64b.iftag_miss", golden_cove), None);
    }

    #[test]
    fn amd_events_have_their_upper_bits_where_the_kernel_wants_them() {
        for cpu in ["AuthenticAMD 25 1", "AuthenticAMD 25 17", "AuthenticAMD 26 2"] {
            listed("de_src_op_disp.op_cache", cpu, 0xaa, 0x02, 0);
            listed("de_src_op_disp.x86_decoder", cpu, 0xaa, 0x01, 0);
            listed("op_cache_hit_miss.op_cache_miss", cpu, 0x28f, 0x04, 0);
            listed("op_cache_hit_miss.all_op_cache_accesses", cpu, 0x28f, 0x07, 0);
            listed("ic_tag_hit_miss.instruction_cache_miss", cpu, 0x18e, 0x18, 0);
            listed("bp_l1_tlb_miss_l2_tlb_miss.all", cpu, 0x85, 0x0f, 0);
        }
    }

    #[test]
    fn a_name_of_every_processor_is_the_vendors_event_there() {
        let same = |cpu: &str, pairs: [(&str, &str); 4]| {
            for (general, own) in pairs {
                assert_eq!(encoding(general, cpu), encoding(own, cpu), "{general} of {cpu}");
                assert!(encoding(own, cpu).is_some(), "{own} of {cpu}");
            }
        };
        for cpu in ["GenuineIntel 6 85", "GenuineIntel 6 106", "GenuineIntel 6 207"] {
            same(
                cpu,
                [
                    ("op-cache-ops", "idq.dsb_uops"),
                    ("decoded-ops", "idq.mite_uops"),
                    ("l1i-misses", "frontend_retired.l1i_miss"),
                    ("itlb-misses", "itlb_misses.walk_completed"),
                ],
            );
        }
        same(
            "AuthenticAMD 26 2",
            [
                ("op-cache-ops", "de_src_op_disp.op_cache"),
                ("decoded-ops", "de_src_op_disp.x86_decoder"),
                ("l1i-misses", "ic_tag_hit_miss.instruction_cache_miss"),
                ("itlb-misses", "bp_l1_tlb_miss_l2_tlb_miss.all"),
            ],
        );
    }

    #[test]
    fn a_processor_has_its_own_names_alone() {
        assert_eq!(encoding("idq.dsb_uops", "AuthenticAMD 25 17"), None);
        assert_eq!(encoding("de_src_op_disp.op_cache", "GenuineIntel 6 85"), None);
        assert!(names("GenuineIntel 6 85").contains(&"idq.dsb_uops"));
        for unknown in ["", "GenuineIntel 6 42", "AuthenticAMD 21 2", "0x41 8"] {
            assert!(names(unknown).is_empty(), "{unknown}");
        }
    }
}
