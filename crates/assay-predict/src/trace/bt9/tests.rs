//! Text and branches, both ways.

use super::super::source::{Batch, TraceError, TraceFault, TracePlace, TraceSource};
use super::super::{Branch, BranchClass, BranchSite};
use super::{Bt9Reader, Bt9Tables, Bt9Writer};

/// The shape of the championship's own files, made by hand: a loop at 0x10 that is left to a return.
const TEXT: &str = "\
BT9_SPA_TRACE_FORMAT
bt9_minor_version: 0
md5_checksum:
total_instruction_count:               19    # Instruction count
branch_instruction_count:               5    # Branch count
BT9_NODES
#NODE   id      virtual_address    physical_address          opcode  size
NODE    0                    0                    -                0    0
NODE    1                 0x10                 0x10       0x1affffbb    4    class:  JMP+DIR+CND  behavior:  DYN+DIR  taken_cnt: 2
NODE    2                 0x20                    -       0xe12fff1e    4    class:  RET+IND+UCD  behavior:   AT+DIR
NODE    3   0xffffffffffffffff                    -                0    0
BT9_EDGES
#EDGE    id  src_id   dest_id  taken      br_virt_target       br_phy_target   inst_cnt
EDGE      0      0      1        N                    0                    -        3 \ttraverse_cnt:        1
EDGE      1      1      1        T                  0x8                  0x8        2 \ttraverse_cnt:        2
EDGE      2      1      2        N                  0x8                    -        5 \ttraverse_cnt:        1
EDGE      3      2      3        T                0x400                0x400        4 \ttraverse_cnt:        1
BT9_EDGE_SEQUENCE
0
1
1

2
3
EOF # Detect incomplete files
";

fn read(text: &str) -> (Vec<Branch>, Vec<BranchSite>, Result<bool, TraceError>) {
    let mut batch = Batch::default();
    match Bt9Reader::new(text.as_bytes()) {
        Ok(mut reader) => {
            let result = reader.next(&mut batch);
            (batch.branches, reader.sites(0).to_vec(), result)
        }
        Err(error) => (Vec::new(), Vec::new(), Err(error)),
    }
}

fn wrong(text: &str) -> (TracePlace, TraceFault) {
    let error = read(text).2.unwrap_err();
    (error.place, error.fault)
}

#[test]
fn an_executed_branch_is_the_source_of_an_edge_and_its_gap_lies_before_it() {
    let (branches, sites, result) = read(TEXT);
    assert_eq!(result, Ok(true));
    let conditional = |taken, gap| Branch::new(0x10, 8, 0, BranchClass::CONDITIONAL, taken, gap);
    let last = Branch::new(0x20, 0x400, 1, BranchClass::RETURN, true, 6);
    assert_eq!(branches, [conditional(true, 4), conditional(true, 3), conditional(false, 3), last]);
    assert_eq!(
        sites[0],
        BranchSite { pc: 0x10, length: 4, class: BranchClass::CONDITIONAL, target: Some(8) }
    );
    assert_eq!(sites[1].target, None);
    let reader = Bt9Reader::new(TEXT.as_bytes()).unwrap();
    assert_eq!((reader.instructions(), reader.promised()), (19, Some(4)));
}

#[test]
fn tables_in_another_order_and_with_other_numbers_are_understood() {
    let edges = "EDGE 900 1 1 T 0x8 - 2\nEDGE 70 0 1 N 0 - 3\nBT9_EDGE_SEQUENCE\n70\n900\nEOF\n";
    let head = TEXT.split("EDGE      0").next().unwrap();
    let (branches, _, result) = read(&format!("{head}{edges}"));
    assert_eq!((result, branches.len()), (Ok(true), 1));
    assert_eq!(branches[0].instructions(), 4);
}

#[test]
fn says_the_line_of_what_it_does_not_understand() {
    let swap = |from: &str, to: &str| wrong(&TEXT.replacen(from, to, 1));
    let at = |result: (TracePlace, TraceFault)| match result {
        (TracePlace::Line(line), TraceFault::Word { .. }) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(at(swap("NODE    1 ", "NODE    x ")), 9);
    assert_eq!(at(swap("NODE    2 ", "NODE    1 ")), 12, "a number twice is seen when the table ends");
    assert_eq!(at(swap(" 0x10 ", " 0xg ")), 9);
    assert_eq!(at(swap("  4    class", "  256    class")), 9);
    assert_eq!(at(swap("JMP+DIR+CND", "JMP+DIR")), 9);
    assert_eq!(at(swap("JMP+DIR+CND", "JMP+DIR+CND+X")), 9);
    assert_eq!(at(swap("EDGE      1      1", "EDGE      1      7")), 15);
    assert_eq!(at(swap("1      1        T", "1      1        X")), 15);
    assert_eq!(at(swap("2      3        T", "2      3        N")), 17, "a return that is not taken");
    assert_eq!(at(swap("       5 \t", "")), 16);
    assert_eq!(at(swap("\n1\n1\n", "\n1\n4\n")), 21);
    assert_eq!(at(swap("\n1\n1\n", "\n1\n-1\n")), 21);
    assert_eq!(at(swap("BT9_EDGES", "BT9_EDGE")), 12);
}

#[test]
fn empty_other_cut_and_endless_files_are_refused() {
    assert_eq!(wrong(""), (TracePlace::Line(1), TraceFault::Empty));
    assert_eq!(wrong("SBBT"), (TracePlace::Line(1), TraceFault::Format { expected: "a BT9 trace" }));
    let cut = TEXT.split("2\n3\nEOF").next().unwrap();
    let (branches, _, result) = read(cut);
    let fault = TraceFault::Cut { have: 2, promised: Some(4) };
    assert_eq!((branches.len(), result.unwrap_err().fault), (2, fault));
    for piece in ["BT9_NODES", "BT9_EDGES", "EDGE      2"] {
        let (_, fault) = wrong(TEXT.split(piece).next().unwrap());
        assert!(matches!(fault, TraceFault::Cut { have: 0, .. }), "{fault:?}");
    }
    let long = format!("BT9_SPA_TRACE_FORMAT\n{}", "x".repeat(5000));
    assert_eq!(
        wrong(&long),
        (TracePlace::Line(2), TraceFault::TooMany { what: "characters in a line", limit: 4096 })
    );
    let (branches, _, result) = read(&format!("{TEXT}\n7\n"));
    assert_eq!((branches.len(), result.unwrap_err().fault), (4, TraceFault::Trailing));
}

#[test]
fn what_is_written_is_read_again_with_lengths_targets_and_gaps() {
    let site = |pc, length, class| BranchSite { pc, length, class, target: None };
    let sites = [
        site(0x10, 2, BranchClass::CONDITIONAL),
        site(0x20, 5, BranchClass::INDIRECT_CALL),
        site(0x10, 2, BranchClass::from_bits(9).unwrap()),
    ];
    let branch = |site: u32, target, taken, gap| {
        let BranchSite { pc, class, .. } = sites[site as usize];
        Branch::new(pc, target, site, class, taken, gap)
    };
    let stream = [
        branch(0, 0x400, false, 1),
        branch(1, 0x10, true, 70_000),
        branch(2, 0x400, true, 1),
        branch(1, 0x30, true, 2),
        branch(0, 0x404, false, 1),
    ];
    let mut tables = Bt9Tables::default();
    tables.add(&sites, &stream[..2]).unwrap();
    tables.add(&sites, &stream[2..]).unwrap();
    tables.close().unwrap();
    let mut writer = Bt9Writer::new(Vec::new(), &tables).unwrap();
    writer.write(&sites, &stream).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let (branches, read_sites, result) = read(&text);
    assert_eq!(result, Ok(true), "{text}");
    assert_eq!(branches, stream);
    assert_eq!(read_sites.iter().map(|site| site.length).collect::<Vec<_>>(), [2, 5, 2]);
    let line = text.lines().find(|line| line.starts_with("NODE    2")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let expected =
        "NODE 2 0x20 - 0 5 class: CALL+IND+UCD behavior: AT+IND taken_cnt: 2 not_taken_cnt: 0 tgt_cnt: 2";
    assert_eq!(words.join(" "), expected);
    assert_eq!(Bt9Reader::new(text.as_bytes()).unwrap().instructions(), 70_005);
}

#[test]
fn an_empty_stream_makes_a_whole_file() {
    let mut tables = Bt9Tables::default();
    tables.close().unwrap();
    let text = Bt9Writer::new(Vec::new(), &tables).unwrap().finish().unwrap();
    let (branches, _, result) = read(&String::from_utf8(text).unwrap());
    assert_eq!((branches.len(), result), (0, Ok(false)));
}

#[test]
fn a_second_pass_over_another_stream_is_refused() {
    let branch = |pc| Branch::new(pc, 0, 0, BranchClass::JUMP, true, 1);
    let mut tables = Bt9Tables::default();
    tables.add(&[], &[branch(1), branch(1)]).unwrap();
    tables.close().unwrap();
    let mut writer = Bt9Writer::new(Vec::new(), &tables).unwrap();
    assert!(writer.write(&[], &[branch(2)]).is_err());
    let mut writer = Bt9Writer::new(Vec::new(), &tables).unwrap();
    writer.write(&[], &[branch(1)]).unwrap();
    assert!(writer.write(&[], &[Branch::new(1, 0, 0, BranchClass::JUMP, true, 9)]).is_err());
}
