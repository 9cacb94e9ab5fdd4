//! How small a difference can be detected, and how steady and fine are the clocks?

use crate::doctor::machine::facts::{MachineFacts, SamePlace, TimerFacts, TwoPlaces};
use crate::examine::check::{Advice, CheckOutcome};
use assay_pure::words::{duration, fraction, plural, time};

/// Effects up to this are small enough: the default margin of experiments.
const ENOUGH: f64 = 0.01;
/// Governors that keep the frequency up while there is work.
const STEADY: [&str; 2] = ["performance", "userspace"];
/// A read that takes longer goes into the kernel or to a device, nanoseconds.
const CHEAP_NS: f64 = 150.0;
/// A step that is 1 % of the shortest sample, nanoseconds.
const FINE_NS: f64 = 1000.0;
/// The most that clocks are steered, parts per million.
const STEADY_PPM: f64 = 500.0;
/// Clock sources that are read without a system call.
const FAST: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

const SMALLEST_EFFECT: Advice = Advice::new(
    "Experiments ask for differences of 1 % unless the file says otherwise; what this machine cannot detect stays undecided.",
    "fix the other problems first; then measure longer (budget), or set a larger minimum_effect in the file",
);
const GOVERNOR: Advice = Advice::new(
    "The governor lowers the frequency between samples and raises it during them: the first samples are slower, and times depend \
     on what ran before.",
    "cpupower frequency-set -g performance (as root), or write `performance` to each scaling_governor",
);
const TURBO: Advice = Advice::new(
    "How far the clock rises depends on temperature and on how many cores work: times drift by some percent, in all variants \
     alike because they are interleaved.",
    "for nanoseconds that can be repeated, switch it off: echo 0 > /sys/devices/system/cpu/cpufreq/boost, or echo 1 > \
     /sys/devices/system/cpu/intel_pstate/no_turbo (as root)",
);
const SLOW: &str =
    "Each sample lies between two reads of the clock: their cost is subtracted, their scatter remains.";
const COARSE: Advice = Advice::new(
    "A sample is a whole number of clock steps: differences below a step are lost.",
    "use more calls per sample, or a machine with a finer clock",
);
const DRIFT: Advice = Advice::new(
    "The clock is being adjusted strongly: seconds differ in length, for all variants alike.",
    "wait until the time service has settled",
);

/// Which difference would 60 s detect? Two identical functions measured as `assay run` does, over placements; where nothing can be
/// built, pairs of identical code at one place.
pub fn smallest_effect(facts: &MachineFacts) -> CheckOutcome {
    let measured = &facts.measured;
    let (saw, smallest) = match (&measured.two_places, measured.same_place) {
        (Some(Ok(two)), same) => (over_placements(two, same), two.smallest),
        (two, Some(same)) => (at_one_place(same, two.as_ref()), same.smallest),
        (_, None) => {
            return CheckOutcome::cannot_tell(
                "too many samples were interrupted; stop other programs (see neighbours), or measure longer (--budget)",
            );
        }
    };
    if smallest <= ENOUGH { CheckOutcome::clear(saw) } else { CheckOutcome::warning(saw, SMALLEST_EFFECT) }
}

fn over_placements(two: &TwoPlaces, same: Option<SamePlace>) -> String {
    let same = same.map_or(String::new(), |same| format!("; at one place {}", fraction(same.smallest)));
    format!(
        "60 s would detect {} (one contrast, 95 % confidence, 80 % power); from two identical functions at {} for {}{same}",
        fraction(two.smallest),
        plural(two.rotations, "placement"),
        duration(two.seconds),
    )
}

fn at_one_place(same: SamePlace, two: Option<&Result<TwoPlaces, String>>) -> String {
    let why = match two {
        Some(Err(reason)) => format!(", which could not be measured ({reason})"),
        _ => String::new(),
    };
    format!(
        "60 s would detect {} (95 % confidence, 80 % power); from {} of identical code at one place in {}, so without the effect of \
         placement{why}",
        fraction(same.smallest),
        plural(same.pairs, "pair"),
        duration(same.seconds),
    )
}

/// Who sets the clock frequency?
pub fn frequency(facts: &MachineFacts) -> CheckOutcome {
    let kernel = &facts.kernel;
    let Some(governor) = &kernel.governor else {
        let why = if kernel.hypervisor {
            "in a virtual machine the host sets the frequency"
        } else {
            "there is no cpufreq driver"
        };
        return CheckOutcome::cannot_tell(format!("the kernel reports no frequency governor: {why}"));
    };
    let saw = format!("governor {governor}, {}", kernel.driver.as_deref().unwrap_or("an unknown driver"));
    if STEADY.contains(&governor.as_str()) {
        CheckOutcome::clear(saw)
    } else {
        CheckOutcome::warning(saw, GOVERNOR)
    }
}

/// May the clock rise above its nominal frequency?
pub fn turbo(facts: &MachineFacts) -> CheckOutcome {
    match facts.kernel.boost {
        None => CheckOutcome::cannot_tell("the kernel does not report whether turbo is on"),
        Some(false) => CheckOutcome::clear("off"),
        Some(true) => CheckOutcome::note("turbo is on", TURBO),
    }
}

/// Is the clock cheap, fine and steady?
pub fn timer(facts: &MachineFacts) -> CheckOutcome {
    let Some(timer) = facts.measured.timer else {
        return CheckOutcome::cannot_tell("the clocks were not measured");
    };
    let source = facts.kernel.clock_source.as_ref();
    let saw = read(&timer, source.map(|(current, _)| current.as_str()));
    let faster = source.and_then(|(current, all)| {
        all.iter().find(|other| FAST.contains(&other.as_str()) && !FAST.contains(&current.as_str()))
    });
    let is_slow = timer.read_ns > CHEAP_NS;
    if let Some(faster) = faster.filter(|_| is_slow) {
        let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        return CheckOutcome::warning(saw, Advice::with(SLOW, format!("echo {faster} > {file} (as root)")));
    }
    if timer.step_ns > FINE_NS {
        return CheckOutcome::warning(saw, COARSE);
    }
    if is_slow {
        let remedy = "use a machine whose clock is read without a system call (tsc, kvm-clock)";
        return CheckOutcome::note(saw, Advice::new(SLOW, remedy));
    }
    if timer.drift_ppm.abs() > STEADY_PPM { CheckOutcome::note(saw, DRIFT) } else { CheckOutcome::clear(saw) }
}

fn read(timer: &TimerFacts, source: Option<&str>) -> String {
    format!(
        "{}: a read takes {}, the smallest step is {}, the rate is adjusted by {:.0} ppm; a read of the thread's own \
         clock takes {}",
        source.unwrap_or("unknown source"),
        time(timer.read_ns),
        time(timer.step_ns),
        timer.drift_ppm,
        time(timer.cpu_read_ns)
    )
}
