use super::*;
use crate::inputs::kinds::Argument;
use crate::inputs::kinds::tests::recipe;

fn found(bytes: &[u8], number: NumberType) -> FittedNumbers {
    let recorded = RecordedNumbers::read(bytes, number).expect("whole numbers");
    fit(&recorded, &["bimodal"], 0.05, false).expect("a known predictor")
}

fn of(text: &str, units: u64) -> FittedNumbers {
    let recipe = recipe(text);
    let Format::Numbers(number) = recipe.format() else { panic!("numbers") };
    found(&recipe.generate(units, 42), number)
}

fn value(recipe: &InputRecipe, name: &str) -> f64 {
    match recipe.values().find(|(known, _)| *known == name).expect("a parameter").1 {
        Argument::Whole(value) => value as f64,
        Argument::Number(value) => value,
    }
}

/// The generator is found again and close, each of its parameters within a share of what it was.
#[track_caller]
fn again(text: &str, units: u64, share: f64) {
    let asked = recipe(text);
    let found = of(text, units);
    assert_eq!(found.refusals, [], "{text}: {:?}", found.recipe);
    let recipe = found.recipe.expect("a generator");
    assert_eq!(recipe.kind().name, asked.kind().name, "{text}: {recipe:?}");
    for (name, _) in asked.values() {
        let (found, asked_for) = (value(&recipe, name), value(&asked, name));
        // The ends that were drawn are those that were asked for as far as there are numbers near them.
        let has_ends = asked.values().any(|(name, _)| name == "max") && ["min", "max"].contains(&name);
        let scale = if has_ends { value(&asked, "max") - value(&asked, "min") } else { asked_for.abs() };
        let allowed = (share * scale).max(0.01);
        assert!((found - asked_for).abs() <= allowed, "{text}: {name} is {found}, not {asked_for}");
    }
    assert!(found.branches.len() == 2 || text.contains("distinct=1 "), "{text}");
}

#[test]
fn generators_of_integers_are_found_again_with_their_parameters() {
    again("ascending u32 min=5 max=4000000", 60_000, 0.0);
    again("descending i32 min=-70000 max=60000", 60_000, 0.0);
    again("nearly_sorted u32 inversions=9000 min=0 max=1000000", 60_000, 0.0);
    again("nearly_sorted u64 inversions=60000000 min=0 max=1000000", 60_000, 0.0);
    again("runs u32 length=32 min=0 max=1000000", 60_000, 0.03);
    again("runs u16 length=5", 60_000, 0.01);
    again("permutation u32 min=9", 60_000, 0.0);
    again("uniform u32", 60_000, 0.01);
    again("uniform i64 min=-1000000 max=500000", 60_000, 0.01);
    again("normal i32 mean=1000 deviation=80", 60_000, 0.03);
    again("few_distinct u32 distinct=7 min=0 max=600", 60_000, 0.01);
    again("few_distinct u32 distinct=9 run_length=12 min=0 max=800", 200_000, 0.03);
    again("few_distinct u16 distinct=1 min=7 max=7", 60_000, 0.0);
    again("zipf u32 distinct=200 exponent=1.1", 60_000, 0.02);
}

#[test]
fn booleans_and_floats_are_found_again_with_their_parameters() {
    again("booleans u8 p=0.3 correlation=0.6", 60_000, 0.01);
    again("booleans u8 p=0.5", 60_000, 0.01);
    // At -1 they alternate: a counter of two bits then misses half or all of them, by how it begins, and nothing is told.
    again("booleans u8 p=0.5 correlation=-0.8", 60_000, 0.01);
    again("uniform_floats f64 min=-2 max=6", 60_000, 0.01);
    again("uniform_floats f32 nan=0.05 denormal=0.1", 60_000, 0.01);
    again("wide_floats f64 min_exponent=-30 max_exponent=20 negative=0.25", 60_000, 0.01);
    again("nearly_sorted f64 inversions=20000 min=0 max=1000000", 60_000, 0.0);
}

/// Steps of a walk, up and down as a generator of its own tosses them.
fn walk(units: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut at = 1u32 << 31;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let step = (state >> 44) as u32 % 1000 + 1;
        at = if state >> 63 == 1 { at + step } else { at - step };
        at
    };
    (0..units).flat_map(|_| next().to_le_bytes()).collect()
}

#[test]
fn what_no_generator_makes_is_refused_with_the_statistic_that_differs() {
    let first = |bytes: &[u8]| {
        let found = found(bytes, NumberType::U32);
        found.refusals.first().expect("refused").clone()
    };
    // Its comparisons are coin tosses as those of random numbers are not, and it moves slowly.
    assert!(matches!(first(&walk(20_000)), NumbersRefusal::Statistic { .. }));
    // Uniform and normal in turn: no distribution that there is.
    let (narrow, wide) = (recipe("uniform u32 min=0 max=10"), recipe("uniform u32 min=1000000 max=2000000"));
    let mixed: Vec<u8> =
        (narrow.generate(20_000, 1).chunks_exact(4).zip(wide.generate(20_000, 2).chunks_exact(4)))
            .flat_map(|(a, b)| [a, b].concat())
            .collect();
    let refusal = first(&mixed);
    assert!(refusal.to_string().contains("no generator is near: the nearest,"), "{refusal}");
    assert!(refusal.remedy().contains("the recording itself"));
    // Sorted, but of squares: as branches are concerned ascending, but thresholds are not.
    let squares: Vec<u8> = (0..20_000u32).flat_map(|at| (at * at).to_le_bytes()).collect();
    assert!(first(&squares).to_string().contains("\"share below any value\""), "{}", first(&squares));
}

#[test]
fn a_stretch_repeated_and_too_few_numbers_are_refused_before_anything_is_fitted() {
    let stretch = recipe("uniform u32").generate(5000, 1);
    let repeated = found(&stretch.repeat(4), NumberType::U32);
    assert_eq!(repeated.refusals, [NumbersRefusal::Repeats { period: 5000, units: 20_000 }]);
    assert_eq!(repeated.recipe, None);
    let few = found(&stretch, NumberType::U32);
    assert_eq!(few.refusals, [NumbersRefusal::FewUnits { have: 5000, need: 10_000 }]);
    let recorded = RecordedNumbers::read(&stretch, NumberType::U32).expect("whole numbers");
    let anyway = fit(&recorded, &["bimodal"], 0.05, true).expect("a known predictor");
    assert_eq!(anyway.recipe.map(|recipe| recipe.kind().name), Some("uniform"));
    assert!(anyway.refusals.contains(&few.refusals[0]));
    assert!(RecordedNumbers::read(&stretch[1..], NumberType::U32).is_err());
}

#[test]
fn a_recording_that_changes_is_refused_though_its_statistics_agree() {
    // Uniform numbers whose halves are below the median in turn: first each second one, then in stretches of eight.
    let uniform = recipe("uniform u32 min=0 max=999999");
    let bytes = uniform.generate(40_000, 3);
    let mut numbers: Vec<u32> =
        bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().unwrap()) / 2).collect();
    for (at, number) in numbers.iter_mut().enumerate() {
        let is_above = if at < 20_000 { at % 2 == 0 } else { at % 16 < 8 };
        *number += if is_above { 500_000 } else { 0 };
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert!(!found(&bytes, NumberType::U32).refusals.is_empty());
}

#[test]
fn every_reason_has_its_numbers_and_a_remedy() {
    let statistic = FitStatistic {
        name: "distinct values".into(),
        recorded: 1234.0,
        fitted: 5.0,
        allowed: 61.7,
        close: false,
    };
    let changes = FitRefusal::Changes { what: "x".into(), parts: (0.1, 0.2), fitted: (0.3, 0.4) };
    for (refusal, numbers) in [
        (NumbersRefusal::FewUnits { have: 12, need: 10_000 }, &["12", "10000"][..]),
        (NumbersRefusal::Repeats { period: 1000, units: 10_500 }, &["1000", "10.5"]),
        (NumbersRefusal::None, &["no generator"]),
        (NumbersRefusal::Statistic { generator: "zipf", statistic }, &["zipf", "1234", "5.00", "61.7"]),
        (NumbersRefusal::Branch { asks: "below 7".into(), refusal: changes }, &["below 7", "0.100 to 0.200"]),
    ] {
        let text = refusal.to_string();
        assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
        assert!(!refusal.remedy().is_empty());
    }
    assert_eq!(
        (digits(0.0), digits(1e-4), digits(0.1234), digits(2e9)),
        ("0".into(), "1.00e-4".into(), "0.123".into(), "2.00e9".into())
    );
}
