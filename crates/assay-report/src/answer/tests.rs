//! Answers to invented findings, word for word.

use super::answer;
use crate::page::{AsBuiltSays, Cause, CauseEvidence, Page, PageContrast, TwinVerdict, Verdict};
use crate::sample::{built, contrast, nothing, undecided};

const FASTER: Verdict = Verdict::Faster;
const SLOWER: Verdict = Verdict::Slower;
const SAME: Verdict = Verdict::Equivalent;

fn asked(question: &str, contrasts: Vec<PageContrast>) -> String {
    let mut page = Page { question: question.to_owned(), contrasts, failures: Vec::new(), ..nothing() };
    page.twin_control.verdict = TwinVerdict::Equivalent;
    answer(&page)
}

fn table(input: &str, compiler: &str, verdict: Verdict, ratio: f64) -> PageContrast {
    contrast("table", input, compiler, verdict, ratio)
}

#[test]
fn says_no_with_the_span_where_everything_is_slower() {
    let contrasts = vec![
        table("all-1", "gcc-12", SLOWER, 1.12),
        table("p80", "gcc-12", SLOWER, 1.21),
        table("log", "gcc-12", SLOWER, 1.3),
        table("all-1", "clang-16", SLOWER, 1.38),
        table("p80", "clang-16", SLOWER, 1.2),
        table("log", "clang-16", SLOWER, 1.3),
    ];
    let expected = "table takes 12 to 38 % more time than branch on all 3 inputs (gcc-12 and clang-16).";
    assert_eq!(asked("Is table faster than branch?", contrasts.clone()), format!("No: {expected}"));
    assert_eq!(asked("Is the table slower?", contrasts.clone()), format!("Yes: {expected}"));
    assert_eq!(asked("What does the table bring?", contrasts), expected);
}

#[test]
fn claims_nothing_that_the_twin_control_does_not_carry() {
    let mut page = Page {
        question: "Is table faster than branch?".to_owned(),
        contrasts: vec![table("all-1", "gcc-12", SLOWER, 1.076)],
        failures: Vec::new(),
        ..nothing()
    };
    page.twin_control.verdict = TwinVerdict::Undecided;
    (page.twin_control.lower, page.twin_control.upper) = (Some(0.94), Some(1.093));
    assert_eq!(
        answer(&page),
        "Undecided: table against branch on all-1 (gcc-12). 1 difference is within the noise of this campaign (-6.0 % to +9.3 %, twin control)."
    );
    page.contrasts[0] = table("all-1", "gcc-12", SLOWER, 1.2);
    assert_eq!(answer(&page), "No: table takes 20 % more time than branch on all-1 (gcc-12).");
}

#[test]
fn what_makes_figures_untrue_comes_first_and_a_busy_neighbour_after_the_verdict() {
    let finding = |kind, saw: &str| crate::page::PageFinding {
        kind,
        variant: Some("table".into()),
        inputs: vec!["all-1".into()],
        saw: saw.into(),
        why: String::new(),
        remedy: "use the answer".into(),
        figures: std::collections::BTreeMap::new(),
    };
    let mut page = Page {
        question: "Is table faster than branch?".to_owned(),
        contrasts: vec![table("all-1", "gcc-12", FASTER, 0.5)],
        failures: Vec::new(),
        neighbour: Some("A sibling thread was busy beside 48 % of the samples.".into()),
        ..nothing()
    };
    page.twin_control.verdict = TwinVerdict::Equivalent;
    page.findings = vec![
        finding(crate::page::FindingKind::DeadCode, "a call takes 2.1 ns on 8,192 bytes and 2.1 ns on 4,096"),
        finding(crate::page::FindingKind::SetupInside, "a call of 8,192 bytes makes: malloc (memory) 1 time"),
    ];
    assert_eq!(
        answer(&page),
        "Misleading: table on all-1 is dead code: a call takes 2.1 ns on 8,192 bytes and 2.1 ns on 4,096. 1 more finding is \
         below. Yes: table takes 50 % less time than branch on all-1 (gcc-12). A sibling thread was busy beside 48 % of the samples."
    );
    assert_eq!(super::next(&page).as_deref(), Some("use the answer"));
    page.contrasts.clear();
    assert!(answer(&page).starts_with("Misleading: table on all-1 is dead code"), "of nothing compared, too");
}

#[test]
fn says_that_it_depends_on_the_input_and_who_wins_where() {
    let contrasts = vec![
        table("all-1", "gcc-12", FASTER, 0.498),
        table("p80", "gcc-12", FASTER, 0.909),
        table("log", "gcc-12", SLOWER, 1.12),
        table("burst", "gcc-12", SAME, 1.002),
        undecided(table("uniform", "gcc-12", SLOWER, 1.02), 12, 8.4),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "It depends on the input: table takes 9.1 to 50 % less time than branch on all-1 and p80, 12 % more on log, \
         the same (within ±1 %) on burst, undecided on uniform (gcc-12)."
    );
}

#[test]
fn says_which_as_built_difference_is_only_placement() {
    let contrasts = vec![
        built(table("all-1", "gcc-12", SAME, 1.001), 1.021, AsBuiltSays::Ghost),
        built(table("p80", "gcc-12", SAME, 1.002), 1.206, AsBuiltSays::Ghost),
        built(table("log", "gcc-12", SAME, 1.0), 1.001, AsBuiltSays::Confirmed),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "No difference: table and branch take the same time (within ±1 %) on all 3 inputs (gcc-12); the +20.6 % seen \
         as built on p80 is placement. As built (one ordinary link), 2 of 3 contrasts mislead: 2 ghosts."
    );
}

#[test]
fn says_what_is_undecided() {
    let contrasts = vec![
        undecided(table("all-1", "gcc-12", SLOWER, 1.012), 3, 2.0),
        undecided(table("p80", "gcc-12", SLOWER, 1.015), 12, 8.0),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "Undecided: table against branch on both inputs (gcc-12)."
    );
}

#[test]
fn says_where_compilers_disagree() {
    let contrasts = vec![
        table("all-1", "gcc-12", FASTER, 0.88),
        table("p80", "gcc-12", FASTER, 0.9),
        table("all-1", "gcc-13", FASTER, 0.87),
        undecided(table("p80", "gcc-13", FASTER, 0.99), 3, 1.0),
        table("all-1", "clang-16", SLOWER, 1.09),
        table("p80", "clang-16", SLOWER, 1.1),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "It depends on the compiler: with gcc-12 and gcc-13 table takes 10 to 13 % less time than branch on both inputs, undecided on p80 with gcc-13; \
         with clang-16 table takes 9.0 to 10 % more time on both inputs."
    );
}

#[test]
fn a_compiler_that_decides_nothing_is_on_the_side_of_none_that_disagree() {
    let contrasts = vec![
        table("p80", "gcc-12", FASTER, 0.88),
        undecided(table("p80", "icx", FASTER, 0.99), 3, 1.0),
        table("p80", "clang-16", SLOWER, 1.09),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "It depends on the compiler: with gcc-12 table takes 12 % less time than branch on p80; with clang-16 table takes \
         9.0 % more time on p80; with icx table is undecided on p80."
    );
}

#[test]
fn says_so_where_too_many_builds_disagree() {
    let verdicts =
        [[FASTER, SLOWER, SAME], [SLOWER, SAME, FASTER], [SAME, FASTER, SLOWER], [FASTER, FASTER, SLOWER]];
    let mut contrasts = Vec::new();
    for (compiler, verdicts) in ["a", "b", "c", "d"].iter().zip(verdicts) {
        for (input, verdict) in ["x", "y", "z"].iter().zip(verdicts) {
            contrasts.push(table(input, compiler, verdict, 1.0));
        }
    }
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "It depends on the input and the compiler: table takes more or less time than branch, by compiler, on all 3 inputs (a, b, c and d)."
    );
}

#[test]
fn names_flags_only_where_they_differ() {
    let mut contrasts = vec![table("p80", "gcc-12", SLOWER, 1.2), table("p80", "gcc-12", FASTER, 0.8)];
    contrasts[1].flags = "O3".to_owned();
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "It depends on the flags: with O2 table takes 20 % more time than branch on p80; with O3 table takes 20 % less \
         time on p80."
    );
}

#[test]
fn gives_each_of_a_few_candidates_a_clause() {
    let contrasts = vec![
        built(table("p80", "gcc-12", SLOWER, 1.2), 0.9, AsBuiltSays::Reversed),
        contrast("bmi2", "p80", "gcc-12", FASTER, 0.45),
        contrast("copy", "p80", "gcc-12", SAME, 1.0),
    ];
    assert_eq!(
        asked("Which decoder is fastest?", contrasts),
        "bmi2 takes least time on p80. Against branch (gcc-12): table takes 20 % more time on p80; bmi2 takes 55 % less \
         time on p80; copy takes the \
         same time (within ±1 %) on p80. As built (one ordinary link), 1 of 3 contrasts misleads: 1 reversed."
    );
}

#[test]
fn tells_of_contrasts_that_one_build_leaves_open() {
    let contrasts = vec![
        table("p80", "gcc-12", FASTER, 0.88),
        undecided(table("p80", "clang-16", FASTER, 0.99), 12, 8.4),
    ];
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "Yes, where decided: table takes 12 % less time than branch on p80, undecided on p80 with clang-16 \
         (gcc-12 and clang-16)."
    );
}

#[test]
fn does_not_speak_for_builds_and_inputs_that_a_candidate_lacks() {
    let contrasts = vec![
        table("p80", "gcc-12", SLOWER, 1.2),
        table("p80", "clang-16", SLOWER, 1.2),
        table("log", "gcc-12", SLOWER, 1.2),
        table("log", "clang-16", SLOWER, 1.2),
        contrast("copy", "p80", "gcc-12", SAME, 1.0),
    ];
    assert_eq!(
        asked("What do they bring?", contrasts),
        "Against branch (gcc-12 and clang-16): table takes 20 % more time on both inputs; copy takes the same time \
         (within ±1 %) on p80 (gcc-12 only)."
    );
}

#[test]
fn answers_for_the_candidate_that_the_question_names_first() {
    let contrasts = vec![
        contrast("bmi2", "p80", "gcc-12", FASTER, 0.45),
        table("p80", "gcc-12", SLOWER, 1.2),
        contrast("copy", "p80", "gcc-12", SAME, 1.0),
    ];
    assert_eq!(
        asked("Is a table-driven decoder faster than one branch per byte?", contrasts),
        "No: table takes 20 % more time than branch on p80 (gcc-12). The others: bmi2 takes 55 % less time \
         on p80; copy takes the same time (within ±1 %) on p80."
    );
}

#[test]
fn sorts_many_candidates_by_what_was_found() {
    let contrasts = vec![
        contrast("a", "p80", "gcc-12", SLOWER, 1.2),
        contrast("b", "p80", "gcc-12", FASTER, 0.45),
        contrast("c", "p80", "gcc-12", FASTER, 0.5),
        contrast("d", "p80", "gcc-12", SAME, 1.0),
    ];
    assert_eq!(
        asked("Which decoder is fastest?", contrasts),
        "b takes least time on p80. Against branch (gcc-12): more time: a (20 %); less time: b (55 %) and c (50 %); the same time (within ±1 %): d."
    );
}

#[test]
fn what_is_proven_is_said_to_be() {
    let mut same = contrast("copy", "p80", "gcc-12", SAME, 1.0);
    same.proven = true;
    let told = asked("Is copy faster?", vec![same.clone()]);
    assert!(told.contains("copy executes the same loops as branch: equivalent by proof."), "{told}");
    let evidence = "after relocation the machine code is the same".to_owned();
    same.causes.push(CauseEvidence { cause: Cause::IdenticalCode, share: Some(1.0), evidence });
    let told = asked("Is copy faster?", vec![same.clone()]);
    assert!(told.contains("copy is the same machine code as branch: equivalent by proof."), "{told}");
    let told = asked("Is copy faster?", vec![same, contrast("copy", "p80", "clang-16", SAME, 1.0)]);
    assert!(told.contains("as branch in 1 of 2 contrasts: equivalent by proof."), "{told}");
}

#[test]
fn a_difference_by_where_the_same_loop_lies_is_told_with_its_remedy() {
    let mut moved = contrast("copy", "p80", "gcc-12", SLOWER, 1.15);
    let told = |found: &PageContrast| asked("Is copy faster?", vec![found.clone()]);
    assert!(!told(&moved).contains("same loops"));
    let evidence = "copy and branch execute the same loop".to_owned();
    moved.causes.push(CauseEvidence { cause: Cause::SameLoops, share: Some(1.0), evidence });
    assert!(
        told(&moved).contains("copy and branch execute the same loops")
            && told(&moved).contains("-falign-loops=64")
    );
    moved.verdict = SAME;
    assert!(!told(&moved).contains("same loops"), "nothing differs");
}

#[test]
fn a_failed_twin_control_comes_before_the_answer() {
    let mut page = Page { contrasts: vec![table("p80", "gcc-12", FASTER, 0.9)], ..nothing() };
    page.question = "Is table faster?".to_owned();
    page.twin_control.verdict = TwinVerdict::Different;
    page.twin_control.ratio = Some(1.021);
    assert_eq!(
        answer(&page),
        "Not to be trusted: where there is no difference, this campaign finds 2.1 % (twin control). Yes: table takes 10 % less \
         time than branch on p80 (gcc-12)."
    );
}

#[test]
fn says_why_there_is_no_answer() {
    let expected = "No answer: nothing could be compared (gcc-12 O2: exit status 1: varint.c:3: unknown type name 'uint9_t').";
    assert_eq!(answer(&nothing()), expected);
}

#[test]
fn builds_that_disagree_on_some_inputs_are_named_there() {
    let contrasts = vec![
        table("all-1", "gcc-12", FASTER, 0.88),
        table("p80", "gcc-12", FASTER, 0.7),
        table("log", "gcc-12", SAME, 1.0),
        table("all-1", "clang-16", FASTER, 0.8),
        table("p80", "clang-16", FASTER, 0.71),
        table("log", "clang-16", SLOWER, 1.32),
        contrast("copy", "all-1", "gcc-12", SAME, 1.0),
        contrast("copy", "all-1", "clang-16", SAME, 1.0),
    ];
    assert_eq!(
        asked("What do they bring?", contrasts),
        "Against branch (gcc-12 and clang-16): table takes 12 to 30 % less time on all-1 and p80, 32 % more with clang-16, \
         the same with gcc-12 on log; copy takes the same time (within ±1 %) on all-1."
    );
}

#[test]
fn many_contrasts_hide_none_that_is_undecided() {
    let mut contrasts = Vec::new();
    for input in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        for compiler in ["gcc-11", "gcc-12", "clang-16", "clang-19"] {
            let found = table(input, compiler, FASTER, 0.8);
            let open = compiler == "clang-19" && ["a", "b", "c"].contains(&input);
            contrasts.push(if open { undecided(found, 12, 8.4) } else { found });
        }
    }
    assert_eq!(
        asked("Is table faster than branch?", contrasts),
        "Yes, where decided: table takes 20 % less time than branch on all 9 inputs, 3 contrasts undecided (gcc-11, gcc-12, \
         clang-16 and clang-19)."
    );
}

/// Two builds that agree on one input and not on the other: one of them is faster here and slower there.
fn agreeing_but_on_tiny(variant: &str) -> Vec<PageContrast> {
    vec![
        contrast(variant, "random", "gcc-12", FASTER, 0.6),
        contrast(variant, "tiny", "gcc-12", FASTER, 0.58),
        contrast(variant, "random", "clang-14", FASTER, 0.77),
        contrast(variant, "tiny", "clang-14", SLOWER, 1.83),
    ]
}

#[test]
fn depends_on_the_compiler_only_where_compilers_disagree() {
    let told = asked("Is two_half faster?", agreeing_but_on_tiny("two_half"));
    assert!(
        told.starts_with("It depends on the input, and on tiny on the compiler: with gcc-12 two_half takes"),
        "{told}"
    );
    let several = ["two_half", "b", "c", "d"].into_iter().flat_map(agreeing_but_on_tiny).collect();
    let told = asked("What do these bring?", several);
    assert!(
        told.contains("depends on the input, and on tiny on the compiler: two_half, b, c and d"),
        "{told}"
    );
    // Each build says the same of all inputs.
    let all: Vec<PageContrast> = ["random", "tiny"]
        .into_iter()
        .flat_map(|input| [table(input, "gcc-12", FASTER, 0.6), table(input, "clang-14", SLOWER, 1.8)])
        .collect();
    assert!(asked("Which?", all).starts_with("It depends on the compiler: with gcc-12 table takes"));
    // They disagree on all inputs, and each of them depends on the input.
    let crossed = vec![
        table("random", "gcc-12", FASTER, 0.6),
        table("tiny", "gcc-12", SLOWER, 1.6),
        table("random", "clang-14", SLOWER, 1.7),
        table("tiny", "clang-14", FASTER, 0.7),
    ];
    let told = asked("Which?", crossed);
    assert!(told.starts_with("It depends on the input and the compiler: "), "{told}");
}
