use super::tables::TableSet;
use super::*;
use crate::trace::BranchClass;

/// Three tables of 16 sets over 4, 8 and 16 branches.
fn geometry() -> Geometry {
    let table = |length| TaggedTable { sets_log2: 4, ways: 1, tag_bits: 8, length, second: 0 };
    Geometry {
        tables: [8, 16, 32].map(table).to_vec(),
        base_log2: 4,
        counter_bits: 3,
        useful_bits: 2,
        allocations: 1,
        forget: Forget::Pressure(1000),
        index_place: !0,
        tag_place: !0,
    }
}

type Small = Tage<Directions, 4, 1>;

fn small() -> Small {
    Tage::new(geometry(), Directions)
}

fn branch(taken: bool) -> Branch {
    Branch::new(0x40_1010, 0x40_1000, 0, BranchClass::CONDITIONAL, taken, 1)
}

/// Predicts and trains without moving the history on: the same entries again.
fn train(tage: &mut Small, taken: bool) -> bool {
    let predicted = tage.predict(0x40_1010, 0x40_1000);
    tage.train(&branch(taken), predicted);
    predicted
}

/// Writes an entry for the branch into a table.
fn plant(tage: &mut Small, table: usize, counter: i8, useful: u8) {
    tage.predict(0x40_1010, 0);
    let tag = tage.lookup.tags[table];
    let index = tage.lookup.index[table] as usize;
    tage.tables.sets[index] = TableSet { tags: [tag], counters: [counter], useful: [useful] };
}

fn entry(tage: &Small, table: usize) -> (i8, u8) {
    let set = &tage.tables.sets[tage.lookup.index[table] as usize];
    (set.counters[0], set.useful[0])
}

fn base(tage: &Small) -> i8 {
    tage.tables.base[tage.lookup.base as usize]
}

fn held(tage: &Small) -> Vec<usize> {
    (0..3)
        .filter(|&table| {
            tage.tables.sets[tage.lookup.index[table] as usize].tags[0] == tage.lookup.tags[table]
        })
        .collect()
}

#[test]
fn without_a_match_the_base_counter_decides_and_learns() {
    let mut tage = small();
    assert!(train(&mut tage, true));
    assert_eq!((base(&tage), held(&tage).len()), (1, 0));
    assert!(train(&mut tage, true));
    assert_eq!(base(&tage), 1, "two bits");
}

#[test]
fn a_misprediction_gives_as_many_entries_as_stated_none_in_neighbours() {
    for allocations in [1, 2] {
        let mut tage: Small = Tage::new(Geometry { allocations, ..geometry() }, Directions);
        assert!(train(&mut tage, false));
        let held = held(&tage);
        assert!(held.len() <= allocations as usize && !held.is_empty());
        assert!(held.windows(2).all(|pair| pair[1] == pair[0] + 2), "{held:?}");
        assert!(held.iter().all(|&table| entry(&tage, table) == (-1, 0)));
    }
}

#[test]
fn most_first_entries_go_to_the_table_next_in_length() {
    let mut firsts = [0; 3];
    let mut tage = small();
    for _ in 0..400 {
        tage.tables.sets.fill(TableSet { tags: [0], counters: [0], useful: [0] });
        tage.tables.base.fill(0);
        tage.tables.mistrust = [-1; 2];
        train(&mut tage, false);
        firsts[held(&tage)[0]] += 1;
    }
    assert!((250..350).contains(&firsts[0]) && firsts[0] + firsts[1] == 400, "{firsts:?}");
}

#[test]
fn the_longest_match_decides_when_it_is_sure() {
    let mut tage = small();
    plant(&mut tage, 0, 3, 0);
    plant(&mut tage, 2, -3, 0);
    assert!(!train(&mut tage, false));
    assert_eq!((entry(&tage, 0), entry(&tage, 2)), ((3, 0), (-4, 1)), "only the one that decided learns");
    assert!(!train(&mut tage, false));
    assert_eq!(entry(&tage, 2), (-4, 2), "three bits");
}

#[test]
fn an_unsure_match_yields_as_long_as_that_pays() {
    let mut tage = small();
    plant(&mut tage, 0, 3, 0);
    plant(&mut tage, 1, -1, 0);
    assert!(tage.predict(0x40_1010, 0), "at first a new entry is mistrusted");
    tage.tables.mistrust = [0, -1];
    assert!(!tage.predict(0x40_1010, 0));
    tage.tables.mistrust = [-1, 0];
    assert!(tage.predict(0x40_1010, 0), "each kind of match for itself");
    tage.tables.sets[tage.lookup.index[0] as usize].tags = [0];
    assert!(!tage.predict(0x40_1010, 0), "the base table's is the other kind");
}

#[test]
fn mistrust_moves_only_when_the_two_differ_and_one_was_new() {
    let mut tage = small();
    plant(&mut tage, 0, 3, 0);
    plant(&mut tage, 1, -1, 0);
    train(&mut tage, false);
    assert_eq!(tage.tables.mistrust, [0, -1]);
    plant(&mut tage, 1, 0, 0);
    train(&mut tage, false);
    assert_eq!(tage.tables.mistrust, [0, -1], "they agreed");
    tage.tables.sets[tage.lookup.index[2] as usize].tags = [0];
    plant(&mut tage, 1, -1, 0);
    train(&mut tage, true);
    assert_eq!(tage.tables.mistrust, [0, 0]);
    tage.tables.sets[tage.lookup.index[2] as usize].tags = [0];
    plant(&mut tage, 1, -2, 0);
    train(&mut tage, true);
    assert_eq!(tage.tables.mistrust, [0, 0], "not new");
}

#[test]
fn an_unsure_entry_that_was_wrong_lets_the_next_match_learn_too() {
    let mut tage = small();
    plant(&mut tage, 0, 1, 0);
    plant(&mut tage, 1, -1, 0);
    train(&mut tage, true);
    assert_eq!((entry(&tage, 0).0, entry(&tage, 1).0), (2, 0));
    let mut tage = small();
    plant(&mut tage, 1, -1, 0);
    train(&mut tage, true);
    assert_eq!((base(&tage), entry(&tage, 1).0), (1, 0), "or the base table");
}

#[test]
fn no_entry_is_given_when_the_longest_was_right_but_not_believed() {
    let mut tage = small();
    plant(&mut tage, 0, 3, 0);
    plant(&mut tage, 1, -1, 0);
    assert!(train(&mut tage, false), "predicted by the alternate, wrongly");
    assert_eq!(held(&tage), [0, 1]);
    plant(&mut tage, 1, -3, 0);
    assert!(!train(&mut tage, true));
    assert_eq!(held(&tage), [0, 1, 2], "wrong and sure: it gets one");
}

#[test]
fn usefulness_goes_up_when_right_where_the_next_was_wrong_and_down_the_other_way() {
    let mut tage = small();
    plant(&mut tage, 0, 3, 0);
    plant(&mut tage, 2, -4, 2);
    train(&mut tage, false);
    assert_eq!(entry(&tage, 2).1, 3);
    train(&mut tage, false);
    assert_eq!(entry(&tage, 2).1, 3, "two bits");
    train(&mut tage, true);
    assert_eq!(entry(&tage, 2).1, 2);
    plant(&mut tage, 0, -4, 0);
    plant(&mut tage, 2, -4, 2);
    train(&mut tage, false);
    assert_eq!(entry(&tage, 2).1, 2, "they agreed");
}

#[test]
fn useful_entries_are_not_replaced_and_refusals_add_up_until_all_is_halved() {
    let mut tage: Small = Tage::new(Geometry { forget: Forget::Pressure(7), ..geometry() }, Directions);
    tage.predict(0x40_1010, 0);
    for table in 0..3 {
        tage.tables.sets[tage.lookup.index[table] as usize] =
            TableSet { tags: [HELD | 0x7f00], counters: [0], useful: [3] };
    }
    let mut pressures = Vec::new();
    while entry(&tage, 2).1 == 3 {
        tage.tables.base.fill(0);
        train(&mut tage, false);
        assert!(held(&tage).is_empty());
        pressures.push(tage.tables.pressure);
    }
    // Two or three tables refuse each time; the pressure is gone with the usefulness.
    assert!((3..=4).contains(&pressures.len()) && pressures.last() == Some(&0), "{pressures:?}");
    assert!((0..3).all(|table| entry(&tage, table).1 == 1));
    tage.tables.forget();
    tage.tables.pressure = 5;
    tage.tables.base.fill(0);
    train(&mut tage, false);
    assert_eq!((tage.tables.pressure, held(&tage).len()), (3, 1), "room found counts double");
}

#[test]
fn usefulness_can_be_forgotten_by_the_clock() {
    let mut tage: Small = Tage::new(Geometry { forget: Forget::Period(10), ..geometry() }, Directions);
    plant(&mut tage, 2, 3, 3);
    let mut at = Vec::new();
    for step in 1..=25 {
        let before = entry(&tage, 2).1;
        train(&mut tage, true);
        if entry(&tage, 2).1 < before {
            at.push(step);
        }
    }
    assert_eq!((at, entry(&tage, 2).1), (vec![10, 20], 0));
}

#[test]
fn a_set_is_searched_for_its_tag_and_for_an_entry_of_no_use() {
    let mut geometry = geometry();
    geometry.tables.iter_mut().for_each(|table| table.ways = 3);
    let mut tage = Tage::<Directions, 4, 4>::new(geometry, Directions);
    tage.predict(0x40_1010, 0);
    let (tag, index) = (tage.lookup.tags[1], tage.lookup.index[1] as usize);
    let other = tag ^ 1;
    tage.tables.sets[index] =
        TableSet { tags: [other, other, tag, 0], counters: [3, 3, -4, 3], useful: [1, 1, 1, 0] };
    assert!(!tage.predict(0x40_1010, 0));
    assert!(!tage.tables.replace(&tage.lookup, 1, true), "the fourth is not there");
    tage.tables.sets[index].useful[1] = 0;
    assert!(tage.tables.replace(&tage.lookup, 1, true));
    assert_eq!((tage.tables.sets[index].tags[1], tage.tables.sets[index].counters[1]), (tag, 0));
}

#[test]
fn tables_do_not_share_sets() {
    let mut tage = small();
    let mut seen = [[false; 64]; 4];
    for pc in 0..2000 {
        tage.predict(pc * 3, 0);
        tage.track(&branch(pc % 3 == 0));
        for (seen, index) in seen.iter_mut().zip(tage.lookup.index) {
            seen[index as usize] = true;
        }
    }
    for (table, seen) in seen.iter().enumerate().take(3) {
        let used: Vec<usize> = (0..64).filter(|&index| seen[index]).collect();
        assert_eq!(used, (table * 16..table * 16 + 16).collect::<Vec<_>>());
    }
}

#[test]
fn the_64_kb_class_takes_64_kb() {
    let tage = Tage::<_, 12, 1>::new(Geometry::class_64_kb(), Directions);
    // 3 x 2048 x 14 + 3 x 4096 x 15 + (4096 + 2 x 2048) x 16 + 3 x 2048 x 17, 2 x 8192; 900, two of 5 and one of 12 bits.
    assert_eq!(tage.storage_bits(), 505_856 + 16_384 + 900 + 10 + 12);
}

#[test]
fn only_address_bits_that_are_asked_for_matter() {
    let mut tage: Small =
        Tage::new(Geometry { index_place: 0xf0, tag_place: 0xff, ..geometry() }, Directions);
    let mut look = |pc| {
        tage.predict(pc, 0);
        (tage.lookup.index, tage.lookup.tags)
    };
    let here = look(0x40_1013);
    assert_eq!(look(0x7f_1213), here);
    let (index, tags) = look(0x40_1014);
    assert!(index == here.0 && tags != here.1);
    assert_ne!(look(0x40_1023).0, here.0);
}

#[test]
fn index_and_tag_are_the_address_and_folds_of_the_history() {
    let mut tage = small();
    for nth in 0..500_u64 {
        tage.track(&branch(nth * nth % 7 < 3));
        let pc = 0x40_1000 + nth * 5;
        tage.predict(pc, 0);
        // The address times 2^64 divided by the golden ratio, odd: its upper half.
        let place = ((u128::from(pc) * 0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        for (table, length) in [8, 16, 32].into_iter().enumerate() {
            let fold = |width| tage.register().fold(length, width);
            let index = (fold(13) ^ fold(13) >> 6 ^ place) % 16 + table as u32 * 16;
            let tag = (fold(8) ^ (fold(7) * 2) ^ (place >> 16)) % 256;
            assert_eq!(u32::from(tage.lookup.index[table]), index, "table {table} after {nth}");
            assert_eq!(u32::from(tage.lookup.tags[table] ^ HELD), tag, "table {table} after {nth}");
        }
        assert_eq!(u64::from(tage.lookup.base), (pc ^ pc >> 2) % 16);
    }
}

/// What a loop needs to be told from its iterations: a history of the same two bits again and again behind other ones.
#[test]
fn iterations_of_a_loop_of_two_branches_find_sets_of_their_own() {
    let mut geometry = geometry();
    geometry.tables[2].length = 210;
    for sets_log2 in [9, 10, 11, 12, 13] {
        geometry.tables[2].sets_log2 = sets_log2;
        let mut tage: Small = Tage::new(geometry.clone(), Directions);
        (0..200).for_each(|nth: u64| tage.track(&branch(nth * nth % 7 < 3)));
        let mut sets = std::collections::BTreeSet::new();
        for _ in 0..34 {
            tage.predict(0x40_1234, 0);
            sets.insert(tage.lookup.index[2]);
            tage.track(&branch(true));
            tage.track(&branch(false));
        }
        assert!(sets.len() >= 32, "{} sets of 2^{sets_log2} for 34 iterations", sets.len());
    }
}

#[test]
fn the_last_table_is_never_skipped() {
    let mut tage = small();
    for _ in 0..50 {
        plant(&mut tage, 1, -4, 0);
        tage.tables.sets[tage.lookup.index[2] as usize].tags = [0];
        assert!(!train(&mut tage, true));
        assert_eq!(held(&tage), [1, 2]);
    }
}

#[test]
fn usefulness_is_halved_when_the_pressure_reaches_its_limit() {
    let mut tage: Small = Tage::new(Geometry { forget: Forget::Pressure(7), ..geometry() }, Directions);
    tage.tables.pressure = 5;
    let mut refuse = || {
        plant(&mut tage, 1, -4, 0);
        tage.tables.sets[tage.lookup.index[2] as usize] = TableSet { tags: [0], counters: [0], useful: [3] };
        train(&mut tage, true);
        (tage.tables.pressure, entry(&tage, 2).1)
    };
    assert_eq!([refuse(), refuse()], [(6, 3), (0, 1)]);
}
