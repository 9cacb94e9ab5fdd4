//! Every check on a machine that fails it and on one that passes it.

use super::super::facts::{
    Gaps, GroupLimits, Kernel, MachineFacts, MachineMeasurements, MemoryFacts, SamePlace, TimerFacts,
    TriedEvent, TwoPlaces,
};
use super::{CHECKS, CheckOutcome};
use crate::doctor::machine::compose;
use crate::examine::check::CheckFinding;
use assay_pure::stats::sharing::Sharing;
use assay_report::doctor::{CheckState as State, Examination};

/// A machine on which nothing is wrong.
fn quiet() -> (Kernel, MachineMeasurements) {
    let kernel = Kernel {
        cpu: 1,
        allowed: vec![0, 1],
        governor: Some("performance".into()),
        driver: Some("acpi-cpufreq".into()),
        boost: Some(false),
        siblings: Some(Vec::new()),
        isolated: vec![1],
        nohz_full: vec![1],
        load: Some([0.1, 0.1, 0.1]),
        online: 2,
        clock_source: Some(("tsc".into(), vec!["tsc".into()])),
        paranoid: Some(1),
        aslr: Some(2),
        memory: Some(MemoryFacts { total: 16 << 30, available: 12 << 30, swapped: 0 }),
        huge_pages: Some("madvise".into()),
        ..Kernel::default()
    };
    let lasted =
        Gaps { lasted_ns: 2e9, cpu_ns: 2e9, taken_ns: 1e5, count: 40, longest_ns: 9e3, switches: Some(0) };
    let measured = MachineMeasurements {
        seconds: 6.0,
        steal: Some(0.0),
        gaps: Some(lasted),
        timer: Some(TimerFacts { read_ns: 24.0, step_ns: 1.0, cpu_read_ns: 300.0, drift_ppm: 3.0 }),
        same_place: Some(SamePlace {
            pairs: 1900,
            seconds: 4.2,
            interrupted: 0.01,
            smallest: 0.0007,
            estimate: 1e-5,
        }),
        sharing: Some(Sharing {
            pulses: 250_000,
            share: 0.0,
            bursts: 0,
            burst_ns: 0.0,
            slowdown: 1.0,
            width: 4.0,
        }),
        two_places: Some(Ok(TwoPlaces { rotations: 8, seconds: 3.0, smallest: 0.005, estimate: 1e-4 })),
        counters: vec![TriedEvent { event: "instructions:u".into(), refused: None, remedy: None }],
        tracing: Some(Ok("7.2".into())),
        compilers: vec!["gcc 12".into()],
        linkers: vec!["ld".into()],
        ..MachineMeasurements::default()
    };
    (kernel, measured)
}

/// A core on which somebody else is for a part of the time.
fn shared(share: f64) -> Sharing {
    Sharing { pulses: 250_000, share, bursts: 40, burst_ns: 3.2e6, slowdown: 1.71, width: 4.0 }
}

fn facts(kernel: &Kernel, measured: &MachineMeasurements) -> MachineFacts {
    MachineFacts { kernel: kernel.clone(), measured: measured.clone() }
}

fn look(name: &str, kernel: &Kernel, measured: &MachineMeasurements) -> CheckOutcome {
    let check = CHECKS.iter().find(|check| check.name == name).expect("a check of that name");
    check.run(&facts(kernel, measured))
}

fn page(kernel: &Kernel, measured: &MachineMeasurements) -> Examination {
    compose(&facts(kernel, measured), "a machine")
}

/// What a check found: one thing, of the whole machine.
fn only(looked: CheckOutcome) -> CheckFinding {
    let CheckOutcome::Found(found) = looked else { panic!("nothing was found: {looked:?}") };
    let [found] = found.try_into().expect("one finding of the machine");
    found
}

fn state(looked: &CheckOutcome) -> State {
    match looked {
        CheckOutcome::Clear(_) => State::Ok,
        CheckOutcome::NotAsked(_) => State::NotAsked,
        CheckOutcome::CannotTell(_) => State::CannotTell,
        CheckOutcome::Found(_) => only(looked.clone()).state,
    }
}

/// The states of all checks but those that are well.
fn found(kernel: &Kernel, measured: &MachineMeasurements) -> Vec<(&'static str, State)> {
    let all = CHECKS.iter().map(|check| (check.name, state(&look(check.name, kernel, measured))));
    all.filter(|(_, state)| *state != State::Ok).collect()
}

#[test]
fn nothing_is_wrong_with_a_quiet_machine() {
    let (kernel, measured) = quiet();
    assert_eq!(found(&kernel, &measured), []);
}

#[test]
fn each_fault_is_found_by_its_own_check_alone() {
    type Fault = (&'static str, State, fn(&mut Kernel, &mut MachineMeasurements));
    let faults: [Fault; 31] = [
        ("smallest-effect", State::Warning, |_, m| {
            m.two_places = Some(Ok(TwoPlaces { rotations: 8, seconds: 3.0, smallest: 0.011, estimate: 0.0 }));
        }),
        ("smallest-effect", State::Warning, |_, m| {
            (m.two_places, m.same_place.as_mut().unwrap().smallest) = (None, 0.011);
        }),
        ("other-thread", State::Warning, |_, m| m.sharing = Some(shared(0.14))),
        ("other-thread", State::Note, |_, m| m.sharing = Some(shared(0.01))),
        ("neighbours", State::Warning, |_, m| m.gaps.as_mut().unwrap().taken_ns = 1e8),
        ("neighbours", State::Note, |_, m| m.gaps.as_mut().unwrap().taken_ns = 1e7),
        ("neighbours", State::Warning, |_, m| {
            let gaps = m.gaps.as_mut().unwrap();
            (gaps.taken_ns, gaps.switches) = (1e7, Some(30));
        }),
        ("neighbours", State::Warning, |k, _| k.load = Some([1.9, 1.0, 1.0])),
        ("steal", State::Warning, |_, m| m.steal = Some(0.05)),
        ("smt", State::Note, |k, _| k.siblings = Some(vec![3])),
        ("smt", State::Note, |k, m| (k.siblings, m.sibling_busy) = (Some(vec![3]), Some(0.01))),
        ("smt", State::Warning, |k, m| (k.siblings, m.sibling_busy) = (Some(vec![3]), Some(0.3))),
        ("isolation", State::Note, |k, _| k.isolated.clear()),
        ("isolation", State::Warning, |k, _| k.allowed = vec![1]),
        ("frequency", State::Warning, |k, _| k.governor = Some("powersave".into())),
        ("turbo", State::Note, |k, _| k.boost = Some(true)),
        ("timer", State::Warning, |k, m| {
            k.clock_source = Some(("hpet".into(), vec!["tsc".into(), "hpet".into()]));
            m.timer.as_mut().unwrap().read_ns = 900.0;
        }),
        ("timer", State::Note, |k, m| {
            k.clock_source = Some(("acpi_pm".into(), vec!["acpi_pm".into()]));
            m.timer.as_mut().unwrap().read_ns = 900.0;
        }),
        ("timer", State::Warning, |_, m| m.timer.as_mut().unwrap().step_ns = 4e6),
        ("timer", State::Note, |_, m| m.timer.as_mut().unwrap().drift_ppm = -900.0),
        ("counters", State::Note, |_, m| {
            m.counters.push(TriedEvent {
                event: "cycles:u".into(),
                refused: Some("refused".into()),
                remedy: None,
            });
        }),
        ("tracing", State::Note, |_, m| m.tracing = Some(Err("no qemu".into()))),
        ("compilers", State::Warning, |_, m| m.compilers.clear()),
        ("compilers", State::Warning, |_, m| m.linkers.clear()),
        ("container", State::Warning, |k, _| {
            k.limits = GroupLimits { cpus: Some(1.5), ..GroupLimits::default() }
        }),
        ("container", State::Warning, |k, _| {
            k.limits = GroupLimits { memory_bytes: Some(512 << 20), ..GroupLimits::default() };
        }),
        ("memory", State::Warning, |k, _| k.memory.as_mut().unwrap().available = 200 << 20),
        ("memory", State::Note, |k, _| k.memory.as_mut().unwrap().swapped = 1 << 30),
        ("huge-pages", State::Note, |k, _| k.huge_pages = Some("always".into())),
        ("aslr", State::Note, |k, _| k.aslr = Some(0)),
        ("virtualisation", State::Note, |k, _| k.hypervisor = true),
    ];
    for (name, expected, plant) in faults {
        let (mut kernel, mut measured) = quiet();
        plant(&mut kernel, &mut measured);
        assert_eq!(found(&kernel, &measured), [(name, expected)]);
        let told = only(look(name, &kernel, &measured));
        assert!(
            !told.saw.is_empty() && !told.advice.why.is_empty() && !told.advice.remedy.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn what_the_machine_does_not_say_is_not_said_to_be_well() {
    let unknown =
        found(&Kernel { allowed: vec![0, 1], ..Kernel::default() }, &MachineMeasurements::default());
    let cannot = |name: &str| unknown.contains(&(name, State::CannotTell));
    for name in [
        "smallest-effect",
        "neighbours",
        "other-thread",
        "steal",
        "smt",
        "frequency",
        "turbo",
        "timer",
        "counters",
        "tracing",
        "memory",
        "huge-pages",
        "aslr",
    ] {
        assert!(cannot(name), "{name}: {unknown:?}");
    }
}

fn saw(looked: CheckOutcome) -> String {
    match looked {
        CheckOutcome::Clear(saw) => saw.unwrap_or_default(),
        CheckOutcome::CannotTell(saw) | CheckOutcome::NotAsked(saw) => saw,
        found @ CheckOutcome::Found(_) => only(found).saw,
    }
}

fn remedy(looked: CheckOutcome) -> String {
    only(looked).advice.remedy.into_owned()
}

#[test]
fn each_threshold_holds_from_both_sides() {
    type Plant = fn(&mut Kernel, &mut MachineMeasurements, f64);
    // The last value that is well, the first that is not.
    let sides: [(&str, f64, f64, Plant); 18] = [
        ("smallest-effect", 0.01, 0.0101, |_, m, at| {
            m.two_places = Some(Ok(TwoPlaces { rotations: 8, seconds: 3.0, smallest: at, estimate: 0.0 }));
        }),
        ("other-thread", 0.002, 0.0021, |_, m, at| m.sharing = Some(shared(at))),
        ("neighbours", 4e6, 4.1e6, |_, m, at| m.gaps.as_mut().unwrap().taken_ns = at),
        ("neighbours", 1.6, 1.61, |k, _, at| k.load = Some([at, 1.0, 1.0])),
        ("steal", 0.001, 0.0011, |_, m, at| m.steal = Some(at)),
        ("timer", 1000.0, 1001.0, |_, m, at| m.timer.as_mut().unwrap().step_ns = at),
        ("timer", 150.0, 151.0, |_, m, at| m.timer.as_mut().unwrap().read_ns = at),
        ("timer", 500.0, 501.0, |_, m, at| m.timer.as_mut().unwrap().drift_ppm = at),
        ("timer", -500.0, -501.0, |_, m, at| m.timer.as_mut().unwrap().drift_ppm = at),
        ("container", 2.0, 1.9, |k, _, at| k.limits.cpus = Some(at)),
        ("container", 1_073_741_824.0, 1_073_741_823.0, |k, _, at| k.limits.memory_bytes = Some(at as u64)),
        ("memory", 1_073_741_824.0, 1_073_741_823.0, |k, _, at| {
            k.memory.as_mut().unwrap().available = at as u64;
        }),
        ("memory", 67_108_864.0, 67_108_865.0, |k, _, at| k.memory.as_mut().unwrap().swapped = at as u64),
        ("isolation", 2.0, 1.0, |k, _, at| k.allowed.truncate(at as usize)),
        ("isolation", 1.0, 0.0, |k, _, at| k.isolated = vec![at as usize]),
        ("turbo", 0.0, 1.0, |k, _, at| k.boost = Some(at > 0.5)),
        ("aslr", 1.0, 0.0, |k, _, at| k.aslr = Some(at as u32)),
        ("virtualisation", 0.0, 1.0, |k, _, at| k.hypervisor = at > 0.5),
    ];
    for (name, well, ill, plant) in sides {
        for (value, expected) in [(well, 0), (ill, 1)] {
            let (mut kernel, mut measured) = quiet();
            plant(&mut kernel, &mut measured, value);
            let found = found(&kernel, &measured);
            assert_eq!(found.len(), expected, "{name} at {value}: {found:?}");
            assert!(found.iter().all(|(found, _)| *found == name), "{name} at {value}: {found:?}");
        }
    }
}

#[test]
fn worse_things_are_warnings_and_lesser_ones_notes() {
    let at = |name: &str, plant: &dyn Fn(&mut Kernel, &mut MachineMeasurements)| {
        let (mut kernel, mut measured) = quiet();
        plant(&mut kernel, &mut measured);
        state(&look(name, &kernel, &measured))
    };
    let shared_for = |share: f64| at("other-thread", &|_, m| m.sharing = Some(shared(share)));
    assert_eq!((shared_for(0.02), shared_for(0.021)), (State::Note, State::Warning));
    let taken = |ns: f64, switches: u64| {
        at("neighbours", &|_, m| {
            let gaps = m.gaps.as_mut().unwrap();
            (gaps.taken_ns, gaps.switches) = (ns, Some(switches));
        })
    };
    assert_eq!((taken(4e7, 0), taken(4.1e7, 0)), (State::Note, State::Warning));
    // In two seconds: twenty are the kernel's own.
    assert_eq!((taken(1e7, 20), taken(1e7, 21), taken(1e6, 21)), (State::Note, State::Warning, State::Ok));
    let busy = |share: f64| at("smt", &|k, m| (k.siblings, m.sibling_busy) = (Some(vec![3]), Some(share)));
    assert_eq!((busy(0.02), busy(0.021)), (State::Note, State::Warning));
}

#[test]
fn the_smallest_effect_is_over_placements_and_at_one_place_only_where_nothing_can_be_built() {
    let (kernel, mut measured) = quiet();
    let over = saw(look("smallest-effect", &kernel, &measured));
    assert!(over.contains("detect 0.5 %") && over.contains("at one place 0.07 %"), "{over}");
    measured.two_places = Some(Err("there is no compiler".into()));
    let aside = saw(look("smallest-effect", &kernel, &measured));
    let names_both =
        aside.contains("without the effect of placement") && aside.contains("there is no compiler");
    assert!(names_both && aside.contains("0.07 %") && !aside.contains("0.5 %"), "{aside}");
    let answer = |measured: &MachineMeasurements| page(&kernel, measured).answer;
    let detects = "In 60 s this machine detects differences of";
    let aside = format!("{detects} 0.07 % and more, without the effect of placement; no problems found.");
    assert_eq!(answer(&measured), aside);
    assert_eq!(answer(&quiet().1), format!("{detects} 0.5 % and more; no problems found."));
    measured.same_place = None;
    assert!(
        answer(&measured)
            .starts_with("The smallest difference that this machine detects could not be measured")
    );
}

#[test]
fn a_shared_core_is_reported_in_numbers_with_a_remedy_for_who_can_change_it() {
    let (mut kernel, mut measured) = quiet();
    measured.sharing = Some(shared(0.14));
    let told = saw(look("other-thread", &kernel, &measured));
    assert!(told.contains("shared 14 % of the time, in bursts of 3.20 ms"), "{told}");
    assert!(told.contains("was 1.7 times slower"), "{told}");
    let brief = Sharing { burst_ns: 250e3, ..shared(0.14) };
    measured.sharing = Some(brief);
    let told = saw(look("other-thread", &kernel, &measured));
    assert!(told.contains("bursts of 250 µs"), "{told}");
    assert!(remedy(look("other-thread", &kernel, &measured)).contains("nosmt"));
    kernel.hypervisor = true;
    assert!(remedy(look("other-thread", &kernel, &measured)).contains("whole cores"));
    kernel.siblings = Some(vec![3]);
    assert!(remedy(look("other-thread", &kernel, &measured)).contains("cpu3/online"));
}

#[test]
fn a_core_that_is_always_shared_is_detected_by_the_width_it_had_before() {
    let (kernel, mut measured) = quiet();
    measured.sharing = Some(Sharing { width: 2.5, ..shared(0.0) });
    assert_eq!(state(&look("other-thread", &kernel, &measured)), State::Ok, "its width is unknown");
    measured.known_width = Some(4.0);
    assert_eq!(state(&look("other-thread", &kernel, &measured)), State::Warning);
    let told = saw(look("other-thread", &kernel, &measured));
    assert!(told.contains("at best 2.5 additions per cycle, 62 % of the 4.0"), "{told}");
    measured.sharing = Some(Sharing { width: 3.8, ..shared(0.0) });
    assert_eq!(state(&look("other-thread", &kernel, &measured)), State::Ok);
}

#[test]
fn figures_are_given_of_what_was_measured_alone() {
    let (kernel, mut measured) = quiet();
    let figures = |measured: &MachineMeasurements| -> Vec<(String, f64)> {
        let page = page(&kernel, measured);
        page.figures.into_iter().map(|figure| (figure.name, figure.value)).collect()
    };
    let value = |figures: &[(String, f64)], name: &str| {
        figures.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
    };
    let own = figures(&measured);
    assert_eq!(value(&own, "smallest_effect"), Some(0.005));
    assert_eq!(value(&own, "smallest_effect_in_place"), Some(0.0007));
    assert_eq!((value(&own, "core_shared"), value(&own, "shared_slowdown")), (Some(0.0), None));
    assert_eq!(value(&own, "taken_away"), Some(5e-5));
    measured.sharing = Some(shared(0.14));
    measured.two_places = Some(Err("there is no compiler".into()));
    let other = figures(&measured);
    assert_eq!((value(&other, "smallest_effect"), value(&other, "null_difference")), (None, None));
    assert_eq!((value(&other, "shared_burst"), value(&other, "shared_slowdown")), (Some(3.2e6), Some(1.71)));
}

#[test]
fn a_slow_source_that_is_read_fast_is_no_fault() {
    let (mut kernel, measured) = quiet();
    kernel.clock_source = Some(("hpet".into(), vec!["tsc".into(), "hpet".into()]));
    assert_eq!(found(&kernel, &measured), []);
}

#[test]
fn what_cannot_be_told_is_counted_as_no_finding() {
    let page = page(&Kernel::default(), &MachineMeasurements::default());
    let cannot: Vec<_> = page.checks.iter().filter(|check| check.state == State::CannotTell).collect();
    assert!(cannot.len() > 10 && cannot.iter().all(|check| check.findings == 0), "{cannot:?}");
    for check in &page.checks {
        let own = page.findings.iter().filter(|finding| finding.check == check.name).count() as u64;
        assert_eq!(check.findings, own, "{}", check.name);
    }
}

#[test]
fn a_large_smallest_effect_does_not_make_itself_worse() {
    let (kernel, mut measured) = quiet();
    measured.two_places = Some(Ok(TwoPlaces { rotations: 8, seconds: 3.0, smallest: 0.03, estimate: 0.0 }));
    let page = page(&kernel, &measured);
    assert!(page.next.contains("measure longer"), "{}", page.next);
    assert_eq!(page.answer, "In 60 s this machine detects differences of 3 % and more; no cause found.");
}

#[test]
fn the_answer_names_the_first_problem_to_fix_and_the_notes() {
    let (mut kernel, mut measured) = quiet();
    let answer = |kernel: &Kernel, measured: &MachineMeasurements| page(kernel, measured).answer;
    measured.sharing = Some(shared(0.14));
    assert!(answer(&kernel, &measured).ends_with("; 1 problem found: other-thread."));
    measured.steal = Some(0.05);
    kernel.hypervisor = true;
    let several = answer(&kernel, &measured);
    assert!(several.contains("; 2 problems found, the first to fix: steal."), "{several}");
    assert!(several.ends_with(" Notes: virtualisation."), "{several}");
}

#[test]
fn limits_that_measuring_does_not_reach_are_no_fault() {
    let (mut kernel, measured) = quiet();
    kernel.limits = GroupLimits { cpus: Some(2.0), throttled: Some(0), memory_bytes: Some(8 << 30) };
    assert_eq!(found(&kernel, &measured), []);
    // A half of a large machine is more than a measurement takes.
    (kernel.allowed, kernel.limits.cpus) = ((0..64).collect(), Some(4.0));
    assert_eq!(found(&kernel, &measured), []);
    kernel.limits.cpus = Some(3.9);
    assert_eq!(found(&kernel, &measured), [("container", State::Warning)]);
}

#[test]
fn mitigations_are_never_a_finding() {
    let (mut kernel, measured) = quiet();
    kernel.mitigations = vec![("spectre_v2".into(), "Retpolines".into())];
    let looked = look("mitigations", &kernel, &measured);
    assert_eq!(state(&looked), State::Ok);
    assert!(saw(looked).contains("spectre_v2 (Retpolines)"));
}
