//! Members over branches, steps, runs and what is repeated.

use super::super::{KeptSteps, NO_RUNS, Repeated};
use super::*;

#[test]
fn each_name_stands_for_one_member_that_says_what_it_is() {
    let mut names: Vec<&str> = entries().map(|entry| entry.name).collect();
    let known = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), known, "a name twice");
    for entry in entries() {
        assert!(!entry.judges.is_empty() && !entry.what.is_empty() && !entry.source.is_empty());
        assert!(entry.name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
    }
}

#[test]
fn a_member_errs_only_on_what_it_says_it_judges() {
    let stream = fixed_stream();
    for entry in entries() {
        let mut zoo = Zoo::new(&[entry.name]).expect("a known name");
        let mut tally = Tally::new(1);
        zoo.observe(&stream, &mut tally);
        let mut sum = 0;
        for what in [PredictionKind::Direction, PredictionKind::Target, PredictionKind::Return] {
            let missed = tally.missed_of(what)[0];
            assert!(missed == 0 || entry.judges.contains(&what), "{}: {what:?}", entry.name);
            assert!(missed <= tally.judged(what));
            sum += missed;
        }
        assert_eq!(tally.missed(), [sum], "{}", entry.name);
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_known_one() {
    let refused = |name: &str| Zoo::new(&["bimodal", name]).err().expect("there is no such name");
    assert_eq!(refused("gshar").nearest.as_deref(), Some("gshare"));
    assert_eq!(refused("GShare").nearest.as_deref(), Some("gshare"));
    assert_eq!(
        refused("always_taken").to_string(),
        "no predictor is named `always_taken`; did you mean `always-taken`?"
    );
    assert_eq!(refused("oracle").nearest, None);
    assert_eq!(refused("").to_string(), "no predictor is named ``");
}

#[test]
fn a_configuration_with_the_parameters_of_a_named_predictor_is_that_predictor() {
    let mut stream = fixed_stream();
    // Calls nested more deeply than any of the stacks below.
    let call = |nth: u64| Branch::new(0x100 * nth, 0x9000, 200, BranchClass::CALL, true, 1);
    let back = |nth: u64| Branch::new(0x9010, 0x100 * nth + 5, 201, BranchClass::RETURN, true, 1);
    stream.extend((1..=40).map(call).chain((1..=40).rev().map(back)));
    let named = ["bimodal", "gshare", "return-stack-8", "return-stack-32"];
    let configured = ["bimodal:bits=14", "gshare:bits=16", "return-stack:depth=8", "return-stack:depth=32"];
    let (mut tally, mut other) = (Tally::new(4), Tally::new(4));
    Zoo::new(&named).unwrap().observe(&stream, &mut tally);
    Zoo::new(&configured).unwrap().observe(&stream, &mut other);
    for (at, name) in named.iter().enumerate() {
        assert!(tally.missed()[at] > 0);
        assert_eq!(tally.missed_by_site(at), other.missed_by_site(at), "{name}");
        assert_eq!(describe(name).unwrap().storage_bits, describe(configured[at]).unwrap().storage_bits);
    }
    assert_eq!(describe("gshare:bits=10,history=4").unwrap().storage_bits, 2 * 1024 + 4);
}

#[test]
fn a_zoo_of_none_counts_executions() {
    let stream = fixed_stream();
    let mut tally = Tally::new(0);
    Zoo::new::<&str>(&[]).expect("no name is unknown").observe(&stream, &mut tally);
    assert_eq!(tally.branches(), stream.len() as u64);
    assert_eq!(tally.missed(), [0_u64; 0]);
    assert_eq!(tally.instructions, 5 * stream.len() as u64);
}

#[test]
fn how_a_stream_is_cut_into_pieces_and_who_else_is_in_the_zoo_does_not_matter() {
    let stream = fixed_stream();
    let all: Vec<&str> = entries().map(|entry| entry.name).collect();
    let mut together = Tally::new(all.len());
    Zoo::new(&all).expect("known names").observe(&stream, &mut together);
    for length in [63, 5000, stream.len()] {
        for (at, name) in all.iter().enumerate() {
            let mut alone = Tally::new(1);
            let mut zoo = Zoo::new(&[name]).expect("a known name");
            stream.chunks(length).for_each(|piece| zoo.observe(piece, &mut alone));
            assert_eq!(alone.missed_by_site(0), together.missed_by_site(at), "{name} by {length}");
        }
    }
}

#[test]
fn every_member_errs_over_steps_where_it_errs_over_branches() {
    // In the fixed stream some sites stand for branches of several addresses or targets.
    let mut numbers = std::collections::HashMap::new();
    let mut number = |branch: &Branch| {
        let next = numbers.len() as u32;
        let target = if branch.class().is_indirect() { 0 } else { branch.target };
        *numbers.entry((branch.pc, target)).or_insert(next)
    };
    let numbered = fixed_stream().into_iter().map(|mut branch| {
        branch.site = number(&branch);
        branch
    });
    let stream: Vec<Branch> = numbered.collect();
    let lengths = |stream: &[Branch]| -> Vec<BranchSite> {
        let most = stream.iter().map(|branch| branch.site).max().unwrap_or(0);
        let site =
            |nth: u32| BranchSite { pc: 0, length: (nth % 7) as u8, class: BranchClass::JUMP, target: None };
        (0..=most).map(site).collect()
    };
    // Runs of eight, of fewer, and events.
    let lengths_of_runs: [fn(usize) -> usize; 3] = [|_| 8, |nth| nth * nth % 9, |_| 0];
    for (name, known) in entries().flat_map(|entry| [(entry.name, false), (entry.name, true)]) {
        let (mut zoo, mut other) = (Zoo::new(&[name]).unwrap(), Zoo::new(&[name]).unwrap());
        if known {
            zoo.know(&lengths(&stream));
            other.know(&lengths(&stream));
        }
        let (mut tally, mut of_steps) = (Tally::new(1), Tally::new(1));
        for (nth, piece) in stream.chunks(1000).enumerate() {
            let kept = KeptSteps::of(&stream, piece).in_runs(lengths_of_runs[nth % 3]);
            zoo.observe(piece, &mut tally);
            let mut steps = kept.steps();
            if !other.sees_all() {
                (steps.all, steps.targets) = (&[], &[]);
            }
            other.observe_steps(steps, &mut of_steps);
        }
        assert_eq!(tally.missed_by_site(0), of_steps.missed_by_site(0), "{name}, {known}");
        for what in [PredictionKind::Direction, PredictionKind::Target, PredictionKind::Return] {
            assert_eq!(tally.missed_of(what), of_steps.missed_of(what), "{name}");
        }
    }
}

#[test]
fn every_member_errs_over_what_is_repeated_where_it_errs_over_each_of_it() {
    let stream = fixed_stream();
    let conditional = stream.iter().filter(|branch| branch.class().is_conditional()).copied();
    let branches: Vec<Branch> = conditional.take(1000).collect();
    let kept = KeptSteps::of(&branches, &branches).in_runs(|nth| nth % 9);
    // Some elements after the other, each some so often. The second time they come they may be known.
    let (mut conditionals, mut expected) = (Vec::new(), Vec::new());
    let lengths = [9, 1, 2, 20, 63].into_iter().cycle();
    let mut left = [kept.steps().conditionals; 2].concat();
    let often = lengths.zip([500, 0, 1, 2, 3, 40, 1000].into_iter().cycle());
    // The first one more often than is counted at once.
    for (length, times) in std::iter::once((5, 70_000)).chain(often) {
        let those: Vec<u32> = left.drain(..length.min(left.len())).collect();
        if those.is_empty() {
            break;
        }
        conditionals.push(Repeated { elements: those.len(), times }.element());
        conditionals.extend(&those);
        let once = Steps { conditionals: &those, ..kept.steps() };
        expected.extend((0..times).flat_map(|_| once.conditional_events()));
    }
    let steps = Steps { conditionals: &conditionals, all: &[], ..kept.steps() };
    assert!(steps.conditional_events().eq(expected.iter().copied()));
    assert_eq!(steps.branches(), expected.len());
    let each = Steps { conditionals: &expected, runs: &NO_RUNS, ..steps };
    for entry in entries() {
        let zoo = || Zoo::new(&[entry.name]).expect("its own name");
        if zoo().sees_all() {
            continue;
        }
        let (mut tally, mut of_each) = (Tally::new(1), Tally::new(1));
        zoo().observe_steps(steps, &mut tally);
        zoo().observe_steps(each, &mut of_each);
        assert_eq!(tally.missed_by_site(0), of_each.missed_by_site(0), "{}", entry.name);
        assert!(tally.missed()[0] > 0, "{}", entry.name);
    }
}

#[test]
fn who_rested_in_another_loop_is_asked_anew_in_the_next() {
    let branch = |site: u32, taken: bool| {
        Branch::new(0x1000 + 64 * u64::from(site), 0, site, BranchClass::CONDITIONAL, taken, 1)
    };
    // One that is not taken; a long loop whose first branch is not, whose end is remembered as that of a short one.
    let long: Vec<Branch> = (0..300).map(|nth| branch(u32::from(nth > 0), nth > 0)).collect();
    let all = [&[branch(2, false)], &long[..], &[branch(3, true); 8]].concat();
    let kept = KeptSteps::of(&all, &all).in_runs(|nth| match nth {
        0 => 0,
        38 => 4,
        _ => 8,
    });
    let elements = kept.steps().conditionals;
    let (first, long, short) = (&elements[..1], &elements[1..39], &elements[39..]);
    let often = |elements: &[u32], times: usize| {
        [&[Repeated { elements: elements.len(), times }.element()], elements].concat()
    };
    // Known behind the first branch, but not behind itself.
    let known = elements[..39].repeat(10);
    let conditionals = [known, short.repeat(2), often(short, 200), first.to_vec(), often(long, 3)].concat();
    let steps = Steps { conditionals: &conditionals, all: &[], ..kept.steps() };
    let expected: Vec<u32> = steps.conditional_events().collect();
    let missed = |steps: Steps<'_>| {
        let mut tally = Tally::new(1);
        Zoo::new(&["gshare"]).expect("its own name").observe_steps(steps, &mut tally);
        tally.missed_by_site(0).to_vec()
    };
    assert_eq!(missed(steps), missed(Steps { conditionals: &expected, runs: &NO_RUNS, ..steps }));
}

#[test]
fn a_definition_is_a_function_of_the_member_and_differs_between_members() {
    let mut seen: Vec<u64> = entries().map(|entry| definition(entry.name)).collect();
    let again: Vec<u64> = entries().map(|entry| definition(entry.name)).collect();
    assert_eq!(seen, again);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), again.len());
}

#[test]
fn the_stream_of_the_definitions_stays_what_it_is() {
    let mut hash = Fnv::default();
    for branch in fixed_stream() {
        hash.bytes(format!("{branch:?}\n").as_bytes());
    }
    assert_eq!(format!("{:016x}", hash.0), "6097b65e6c8d0e01");
}

#[test]
fn definitions_stay_what_printed_reports_have_named() {
    // Found once, from predictors that agree with second implementations (tests/golden_textbook). Whoever changes a
    // predictor changes its line here, and says so to those who compare reports.
    let pinned = [
        ("always-taken", "1fb6e8d0a77da4d0"),
        ("backward-taken", "b760013da80c215f"),
        ("bimodal", "2e639f6318ef2391"),
        ("gshare", "d22a1b6723c40950"),
        ("gshare-32k", "0ef93e730d1d5b43"),
        ("two-level", "d7ecf9f0b285f928"),
        ("tournament", "97aead06f66ecf7b"),
        ("perceptron", "f2adc9b7ef862957"),
        ("last-target", "617b92e48a4a2149"),
        ("return-stack-8", "a8777c51fac0d06b"),
        ("return-stack-16", "86b2d7e0b0a47fa2"),
        ("return-stack-32", "1f62aec4d862119c"),
    ];
    for (name, pinned) in pinned {
        let found = definition(name);
        assert_eq!(format!("{found:016x}"), pinned, "{name}");
    }
}

#[test]
fn a_description_is_that_of_the_entry() {
    let description = describe("gshare-32k").expect("a known name");
    assert_eq!(description.storage_bits, (1 << 18) + 17);
    assert_eq!(description.judges, [PredictionKind::Direction]);
    assert_eq!(describe("gshare-33k").unwrap_err().nearest.as_deref(), Some("gshare-32k"));
}

#[test]
fn storage_is_that_of_tables_and_registers() {
    // By hand: entries x bits of each table, then registers.
    for (name, bits) in [
        ("always-taken", 0),
        ("backward-taken", 0),
        ("bimodal", 16_384 * 2),
        ("gshare", 65_536 * 2 + 16),
        ("gshare-32k", 131_072 * 2 + 17),
        ("two-level", 4096 * 14 + 16_384 * 2),
        ("tournament", 1024 * 10 + 1024 * 3 + 4096 * 2 + 4096 * 2 + 12),
        ("perceptron", 8 * 4096 * 8 + 56 + 8 + 8),
        ("last-target", 4096 * 64),
        ("return-stack-8", 8 * 64),
        ("return-stack-16", 16 * 64),
        ("return-stack-32", 32 * 64),
    ] {
        assert_eq!(find(name).expect("a known name").member().storage_bits(), bits, "{name}");
    }
}

#[test]
fn a_profile_counts_its_parts_together_and_apart() {
    let stream = fixed_stream();
    let names = ["gshare", "last-target", "return-stack-8"];
    let parts = names.map(|name| find(name).expect("a known name").member());
    let bits: u64 = parts.iter().map(|part| part.storage_bits()).sum();
    let profile = super::super::Profile::new(parts.into());
    assert_eq!(profile.storage_bits(), bits);
    let mut zoo = Zoo::new(&names).expect("known names");
    zoo.members.push(ZooMember { member: Box::new(profile), missed: RunCounts::default() });
    let mut tally = Tally::new(4);
    zoo.observe(&stream, &mut tally);
    let missed = tally.missed();
    assert!(missed[0] > 0 && missed[1] > 0);
    assert_eq!(missed[3], missed[..3].iter().sum::<u64>());
    assert_eq!(tally.missed_of(PredictionKind::Direction)[3], missed[0]);
    assert_eq!(tally.missed_of(PredictionKind::Target)[3], missed[1]);
    assert_eq!(tally.missed_of(PredictionKind::Return)[3], missed[2]);
}

#[test]
#[should_panic(expected = "another zoo")]
fn a_tally_for_another_number_of_members_is_refused() {
    Zoo::new(&["bimodal"]).expect("a known name").observe(&[], &mut Tally::new(2));
}
