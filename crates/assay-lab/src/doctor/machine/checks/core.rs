//! Who else uses the measuring processor, its core, its hypervisor?

use crate::doctor::machine::facts::{Gaps, Kernel, MachineFacts};
use crate::examine::check::{Advice, CheckOutcome};
use assay_pure::pulse::narrowed;
use assay_pure::words::{fraction, plural, time};

/// A share of the time taken away that is the kernel's own housekeeping.
const HOUSEKEEPING: f64 = 0.002;
/// A share from which on samples are lost by the dozen.
const MUCH: f64 = 0.02;
/// Times a second that another thread must run there to be more than the kernel's own.
const OFTEN: f64 = 10.0;
/// Load per processor from which on somebody waits.
const CROWDED: f64 = 0.8;
/// A share of stolen time that is an accident.
const STOLEN: f64 = 0.001;
/// A share of the time with a busy sibling that is an accident.
const SHARED: f64 = 0.002;
/// A share of the time that a sibling which the kernel sees may be busy without much harm.
const IDLE: f64 = 0.02;

const NEIGHBOURS: Advice = Advice::new(
    "Interrupted samples are discarded, but the remaining ones run with caches and predictors that other programs have disturbed.",
    "stop other programs, measure when they do not run, or keep a processor free of them (isolcpus, --cpu)",
);
const STEAL: Advice = Advice::new(
    "The clock keeps running while the hypervisor runs other guests: wall times grow by gaps of milliseconds that are invisible inside the machine.",
    "use a machine with dedicated processors (dedicated host, bare metal), or measure at another time; clock = \"thread_cpu\" \
     in the experiment helps a little",
);
const SIBLING: &str = "Both hardware threads share the core's execution units. While the sibling is busy, code that fills them \
(decoding, parsing, SIMD) slows down by that much, code that waits (loads, mispredictions) hardly at all, and no clock shows it. \
`assay run` discards such samples; other tools time them.";
const SIBLING_ALWAYS: &str = "Both hardware threads share the core's execution units, and a sibling that is always busy cannot be \
seen in single samples: a campaign discards nothing, and times of code that fills the units are those of a shared core.";
const SMT: &str = "Both hardware threads share caches, predictors and execution units: work on the sibling costs up to half of the \
speed, and no clock shows it.";
const ISOLATION: &str = "The kernel's timer and any thread that the scheduler moves there interrupt samples.";
const ONE_PROCESSOR: Advice = Advice::new(
    "assay itself then runs where it measures, and each message between the two evicts caches.",
    "allow a second processor (cpuset, taskset, the container's limits)",
);

/// Does other work run on the measuring processor? A loop that only reads the clock, and what was taken from it.
pub fn neighbours(facts: &MachineFacts) -> CheckOutcome {
    let MachineFacts { kernel, measured } = facts;
    let Some(gaps) = measured.gaps.filter(|gaps| gaps.lasted_ns > 0.0) else {
        return CheckOutcome::cannot_tell("no thread could be bound to the measuring processor");
    };
    let taken = gaps.taken_ns / gaps.lasted_ns;
    let saw = taken_away(&gaps, taken);
    let often = |switches: u64| switches as f64 > OFTEN * gaps.lasted_ns / 1e9;
    if taken > MUCH || gaps.switches.is_some_and(often) && taken > HOUSEKEEPING {
        return CheckOutcome::warning(saw, NEIGHBOURS);
    }
    let crowded = kernel.load.is_some_and(|[one, ..]| one > CROWDED * kernel.online.max(1) as f64);
    if let Some([one, five, _]) = kernel.load.filter(|_| crowded) {
        let processors = plural(kernel.online as u64, "processor");
        return CheckOutcome::warning(
            format!("{saw}; the load is {one:.2} ({five:.2} over 5 minutes) on {processors}"),
            NEIGHBOURS,
        );
    }
    if taken > HOUSEKEEPING { CheckOutcome::note(saw, NEIGHBOURS) } else { CheckOutcome::clear(saw) }
}

fn taken_away(gaps: &Gaps, taken: f64) -> String {
    let switches =
        gaps.switches.map_or(String::new(), |times| format!(", {} by another thread", plural(times, "time")));
    format!(
        "{} of {} was taken from a spinning loop: {}, the longest {}{switches}; the loop had the processor {} of the time",
        fraction(taken),
        time(gaps.lasted_ns),
        plural(gaps.count, "gap"),
        time(gaps.longest_ns),
        fraction(gaps.cpu_ns / gaps.lasted_ns)
    )
}

/// Does the hypervisor give the measuring processor's time to others?
pub fn steal(facts: &MachineFacts) -> CheckOutcome {
    let Some(share) = facts.measured.steal else {
        return CheckOutcome::cannot_tell("the kernel does not report stolen time");
    };
    let saw = format!("{} of {} was stolen", fraction(share), time(facts.measured.seconds * 1e9));
    if share > STOLEN { CheckOutcome::warning(saw, STEAL) } else { CheckOutcome::clear(saw) }
}

/// Is the other hardware thread of the measuring core busy, even where the kernel does not see it? Pulses tell.
pub fn other_thread(facts: &MachineFacts) -> CheckOutcome {
    let MachineFacts { kernel, measured } = facts;
    let Some(sharing) = measured.sharing else {
        return CheckOutcome::cannot_tell(
            "too few pulses (short timed loops that fill the core) were uninterrupted, or none are written for this processor",
        );
    };
    let pulses = plural(sharing.pulses, "pulse");
    if let Some((known, part)) =
        measured.known_width.and_then(|known| Some((known, narrowed(sharing.width, known)?)))
    {
        let saw = format!(
            "the core of processor {} was shared all the time, or is of another type: at best {:.1} additions per cycle, {} of the \
             {known:.1} that `assay limits` measured on this machine ({pulses})",
            kernel.cpu,
            sharing.width,
            fraction(part)
        );
        return CheckOutcome::warning(saw, Advice::with(SIBLING_ALWAYS, free_the_core(kernel)));
    }
    if sharing.share <= SHARED {
        return CheckOutcome::clear(format!(
            "the core was unshared during {pulses} (short timed loops that fill it)"
        ));
    }
    let saw = format!(
        "the core of processor {} was shared {} of the time, in bursts of {} (half of that time in longer ones; {pulses}); \
         code limited by throughput was {:.1} times slower meanwhile",
        kernel.cpu,
        fraction(sharing.share),
        time(sharing.burst_ns),
        sharing.slowdown
    );
    let advice = Advice::with(SIBLING, free_the_core(kernel));
    if sharing.share > MUCH { CheckOutcome::warning(saw, advice) } else { CheckOutcome::note(saw, advice) }
}

/// Who can see the other thread can switch it off.
fn free_the_core(kernel: &Kernel) -> String {
    match kernel.siblings.as_deref() {
        Some([sibling, ..]) => format!(
            "take processor {sibling}, which shares the core, offline while measuring: echo 0 > \
             /sys/devices/system/cpu/cpu{sibling}/online (as root)"
        ),
        _ if kernel.hypervisor => {
            "the sibling thread belongs to the host: use bare metal, a dedicated host, or an instance type \
                                   with whole cores; another time may be quieter"
                .to_owned()
        }
        _ => "find what runs there (top), or disable SMT (nosmt, or in the firmware)".to_owned(),
    }
}

/// Is there another hardware thread on the measuring core that the kernel sees, and is it busy?
pub fn smt(facts: &MachineFacts) -> CheckOutcome {
    let cpu = facts.kernel.cpu;
    let Some(siblings) = &facts.kernel.siblings else {
        return CheckOutcome::cannot_tell("the kernel does not report which processors share a core");
    };
    let Some(sibling) = siblings.first() else {
        return CheckOutcome::clear(format!(
            "processor {cpu} is the only one of its core that the kernel sees"
        ));
    };
    let names: Vec<String> = siblings.iter().map(usize::to_string).collect();
    let saw = format!("processor {cpu} shares its core with {}", names.join(", "));
    let remedy = format!(
        "take processor {sibling} offline while measuring: echo 0 > /sys/devices/system/cpu/cpu{sibling}/online (as root), or \
         boot with nosmt"
    );
    let advice = Advice::with(SMT, remedy);
    match facts.measured.sibling_busy {
        None => CheckOutcome::note(saw, advice),
        Some(busy) => {
            let saw = format!("{saw}, which was busy {} of the time", fraction(busy));
            if busy > IDLE { CheckOutcome::warning(saw, advice) } else { CheckOutcome::note(saw, advice) }
        }
    }
}

/// Does the scheduler leave the measuring processor alone?
pub fn isolation(facts: &MachineFacts) -> CheckOutcome {
    let kernel = &facts.kernel;
    if let [only] = kernel.allowed.as_slice() {
        return CheckOutcome::warning(format!("this process may use processor {only} only"), ONE_PROCESSOR);
    }
    let cpu = kernel.cpu;
    match (kernel.isolated.contains(&cpu), kernel.nohz_full.contains(&cpu)) {
        (true, true) => CheckOutcome::clear(format!("processor {cpu} is isolated and has no timer tick")),
        (true, false) => CheckOutcome::clear(format!(
            "processor {cpu} is isolated; nohz_full would also stop its timer tick"
        )),
        _ => {
            let remedy =
                format!("boot with isolcpus={cpu} nohz_full={cpu}, or give assay a dedicated cpuset");
            let saw = format!("the scheduler uses processor {cpu} for any thread");
            CheckOutcome::note(saw, Advice::with(ISOLATION, remedy))
        }
    }
}
