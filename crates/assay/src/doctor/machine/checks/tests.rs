//! Every check on a machine that fails it and on one that passes it.

use super::super::facts::{Gaps, Kernel, Limits, Measured, Memory, Null, Timer, Tried};
use super::{CHECKS, Looked};
use crate::report::doctor::examination::State;

/// A machine on which nothing is wrong.
fn quiet() -> (Kernel, Measured) {
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
        memory: Some(Memory { total: 16 << 30, available: 12 << 30, swapped: 0 }),
        huge_pages: Some("madvise".into()),
        ..Kernel::default()
    };
    let lasted =
        Gaps { lasted_ns: 2e9, cpu_ns: 2e9, taken_ns: 1e5, count: 40, longest_ns: 9e3, switches: Some(0) };
    let measured = Measured {
        seconds: 6.0,
        steal: Some(0.0),
        gaps: Some(lasted),
        timer: Some(Timer { read_ns: 24.0, step_ns: 1.0, cpu_read_ns: 300.0, drift_ppm: 3.0 }),
        null: Some(Null { pairs: 1900, seconds: 4.2, interrupted: 0.01, smallest: 0.0007, estimate: 1e-5 }),
        counters: vec![Tried { event: "instructions:u".into(), refused: None, remedy: None }],
        tracing: Some(Ok("7.2".into())),
        compilers: vec!["gcc 12".into()],
        linkers: vec!["ld".into()],
        ..Measured::default()
    };
    (kernel, measured)
}

fn look(name: &str, kernel: &Kernel, measured: &Measured) -> Looked {
    let check = CHECKS.iter().find(|check| check.name == name).expect("a check of that name");
    (check.look)(kernel, measured)
}

fn state(looked: &Looked) -> State {
    match looked {
        Looked::Well(_) => State::Ok,
        Looked::CannotTell(_) => State::CannotTell,
        Looked::Found(found) => found.state,
    }
}

/// The states of all checks but those that are well.
fn found(kernel: &Kernel, measured: &Measured) -> Vec<(&'static str, State)> {
    let all = CHECKS.iter().map(|check| (check.name, state(&(check.look)(kernel, measured))));
    all.filter(|(_, state)| *state != State::Ok).collect()
}

#[test]
fn nothing_is_wrong_with_a_quiet_machine() {
    let (kernel, measured) = quiet();
    assert_eq!(found(&kernel, &measured), []);
}

#[test]
fn each_fault_is_found_by_its_own_check_alone() {
    type Fault = (&'static str, State, fn(&mut Kernel, &mut Measured));
    let faults: [Fault; 28] = [
        ("smallest-effect", State::Warning, |_, m| m.null.as_mut().unwrap().smallest = 0.02),
        ("neighbours", State::Warning, |_, m| m.gaps.as_mut().unwrap().taken_ns = 1e8),
        ("neighbours", State::Note, |_, m| m.gaps.as_mut().unwrap().taken_ns = 1e7),
        ("neighbours", State::Warning, |_, m| {
            let gaps = m.gaps.as_mut().unwrap();
            (gaps.taken_ns, gaps.switches) = (1e7, Some(3));
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
            m.counters.push(Tried {
                event: "cycles:u".into(),
                refused: Some("refused".into()),
                remedy: None,
            });
        }),
        ("tracing", State::Note, |_, m| m.tracing = Some(Err("no qemu".into()))),
        ("compilers", State::Warning, |_, m| m.compilers.clear()),
        ("compilers", State::Warning, |_, m| m.linkers.clear()),
        ("container", State::Warning, |k, _| k.limits = Limits { cpus: Some(1.5), ..Limits::default() }),
        ("container", State::Warning, |k, _| {
            k.limits = Limits { memory_bytes: Some(512 << 20), ..Limits::default() };
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
        let Looked::Found(told) = look(name, &kernel, &measured) else { panic!("{name}") };
        assert!(!told.saw.is_empty() && !told.why.is_empty() && !told.remedy.is_empty(), "{name}");
    }
}

#[test]
fn what_the_machine_does_not_say_is_not_said_to_be_well() {
    let unknown = found(&Kernel { allowed: vec![0, 1], ..Kernel::default() }, &Measured::default());
    let cannot = |name: &str| unknown.contains(&(name, State::CannotTell));
    for name in [
        "smallest-effect",
        "neighbours",
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

#[test]
fn limits_that_nobody_feels_are_no_fault() {
    let (mut kernel, measured) = quiet();
    kernel.limits = Limits { cpus: Some(2.0), throttled: Some(0), memory_bytes: Some(8 << 30) };
    assert_eq!(found(&kernel, &measured), []);
}

#[test]
fn mitigations_are_only_said() {
    let (mut kernel, measured) = quiet();
    kernel.mitigations = vec![("spectre_v2".into(), "Retpolines".into())];
    let Looked::Well(saw) = look("mitigations", &kernel, &measured) else { panic!("a fault") };
    assert!(saw.contains("spectre_v2 by Retpolines"), "{saw}");
}
