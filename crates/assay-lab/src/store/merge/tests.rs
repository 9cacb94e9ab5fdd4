use super::*;
use std::path::PathBuf;
use tempfile::TempDir;

/// A ledger in a folder, with one row of every table: numbers count up, texts and times begin with `mark`, which tells it from
/// others.
fn full(folder: &TempDir, name: &str, mark: f64) -> (Ledger, PathBuf) {
    let path = folder.path().join(name);
    let ledger = Ledger::open(&path).unwrap();
    for table in tables().unwrap() {
        put(&ledger, &table.name, mark, &[]);
    }
    (ledger, path)
}

/// Adds a row: each column as `given` says, 1 where it refers to something, else `mark` as a number or in a text.
fn put(ledger: &Ledger, table: &str, mark: f64, given: &[(&str, &str)]) {
    let all = tables().unwrap();
    let table = all.iter().find(|known| known.name == table).unwrap();
    let columns: Vec<&LedgerColumn> = table.columns.iter().filter(|column| column.name != "id").collect();
    let value = |column: &LedgerColumn| {
        let given = given.iter().find(|(name, _)| *name == column.name);
        match (given, &column.refers) {
            (Some((_, value)), _) => (*value).to_owned(),
            (None, Some(_)) => "1".to_owned(),
            // Contents are the same in all ledgers.
            (None, None) => match column.name.as_str() {
                "digest" | "hash" | "artifact" | "input" => "'content'".to_owned(),
                "machine" => format!("'{{\"cpu\": \"{mark}\"}}'"),
                "stopped_because" | "flagged" => "NULL".to_owned(),
                "finished_at" => "NULL".to_owned(),
                name if name.ends_with("at") || name.ends_with("ns") => mark.to_string(),
                "round" | "look" | "side" | "step" | "repetition" | "position" | "rotation" => "1".to_owned(),
                name => format!("'{name} {mark}'"),
            },
        }
    };
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let values: Vec<String> = columns.iter().map(|column| value(column)).collect();
    let sql = format!("INSERT INTO \"{}\" ({}) VALUES ({})", table.name, quoted(&names), values.join(", "));
    ledger.connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// All rows of all tables, as text.
fn dump(ledger: &Ledger) -> Vec<String> {
    let mut found = Vec::new();
    for table in tables().unwrap() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let sql = format!("SELECT {} FROM \"{}\" ORDER BY 1, 2", quoted(&names), table.name);
        let mut query = ledger.connection.prepare(&sql).unwrap();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> =
                (0..names.len()).map(|column| format!("{:?}", row.get_ref(column).unwrap())).collect();
            found.push(format!("{}: {}", table.name, values.join(" ")));
        }
    }
    found
}

fn count(ledger: &Ledger, table: &str) -> i64 {
    ledger.connection.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0)).unwrap()
}

#[test]
fn every_table_whose_numbers_are_its_ledgers_own_has_a_key_of_its_columns() {
    let all = tables().unwrap();
    for table in all.iter().filter(|table| table.has_id) {
        let key = key(&table.name);
        assert!(!key.is_empty(), "{} has none", table.name);
        for column in key {
            assert!(
                table.columns.iter().any(|known| known.name == *column),
                "{} has no {column}",
                table.name
            );
        }
        for column in table.columns.iter().filter(|column| column.refers.is_some()) {
            assert!(
                key.contains(&column.name.as_str()),
                "{}: {} belongs to its key",
                table.name,
                column.name
            );
        }
    }
    assert!(KEYS.iter().all(|(name, _)| all.iter().any(|table| table.name == *name && table.has_id)));
}

#[test]
fn an_empty_ledger_becomes_the_same_as_the_one_that_is_merged_and_that_one_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = full(&folder, "other.db", 1.0);
    let before = dump(&other);
    drop(other);
    let bytes = std::fs::read(&path).unwrap();
    let ledger = Ledger::open(&folder.path().join("all.db")).unwrap();
    let merged = ledger.merge(&path).unwrap();
    assert_eq!(dump(&ledger), before);
    assert_eq!(before.len(), tables().unwrap().len(), "a row of each table");
    assert_eq!(merged.kinds["campaign"], MergedKind { new: 1, ..MergedKind::default() });
    assert_eq!((merged.samples, merged.diverged.len()), (1, 0));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn each_thing_is_added_once_whatever_the_order_and_however_often() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = [1.0, 2.0, 3.0]
        .map(|mark| {
            let (ledger, path) = full(&folder, &format!("{mark}.db"), mark);
            drop(ledger);
            path
        })
        .to_vec();
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    for number in [0, 1, 0, 2, 1, 2] {
        all.merge(&paths[number]).unwrap();
    }
    let again = all.merge(&paths[1]).unwrap();
    for (kind, found) in again.kinds {
        assert_eq!(found, MergedKind { known: 1, ..MergedKind::default() }, "{kind}");
    }
    assert_eq!(again.samples, 0);
    for table in tables().unwrap() {
        // What is told by its contents alone is the same in all three.
        let expected = match table.name.as_str() {
            "input" | "artifact" => 1,
            _ => 3,
        };
        assert_eq!(count(&all, &table.name), expected, "{}", table.name);
    }
    // Each sample is of its own campaign and process.
    let sql = "SELECT count(*) FROM sample s JOIN campaign c ON c.id = s.campaign JOIN process p ON p.id = s.process \
               WHERE p.campaign = c.id AND p.started_at = c.started_at AND s.at = c.started_at";
    assert_eq!(all.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
    let broken: i64 = all
        .connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(broken, 0);
}

/// Another round with its sample, and that it ended.
fn go_on(ledger: &Ledger, round: &str, at: &str) {
    put(ledger, "round", 1.0, &[("round", round), ("started_at", at)]);
    put(ledger, "sample", 1.0, &[("round", round), ("at", at)]);
}

#[test]
fn what_went_on_there_is_completed_and_an_older_copy_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = full(&folder, "other.db", 1.0);
    let early = folder.path().join("early.db");
    Ledger::copy(&path, &early).unwrap();
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    all.merge(&early).unwrap();
    go_on(&other, "2", "5.0");
    let end = "UPDATE campaign SET finished_at = 9.0, stopped_because = 'decided'; UPDATE sample SET flagged = 'shared' WHERE round = 1";
    other.connection.execute_batch(end).unwrap();
    let merged = all.merge(&path).unwrap();
    assert_eq!(merged.kinds["campaign"], MergedKind { extended: 1, ..MergedKind::default() });
    assert_eq!(merged.samples, 1);
    assert_eq!(dump(&all), dump(&other));
    let late = all.merge(&early).unwrap();
    assert_eq!(late.kinds["campaign"], MergedKind { known: 1, ..MergedKind::default() });
    assert_eq!(dump(&all), dump(&other), "the older copy does not undo the end");
}

/// `cargo test --release -p assay-lab --lib -- --ignored a_thousand`
#[test]
#[ignore = "slow lane"]
fn a_thousand_ledgers_in_any_order_repeated_and_late_are_added_exactly_once() {
    const SHARDS: usize = 1000;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, shard: usize| folder.path().join(format!("{shard}{name}.db"));
    let (base, _) = full(&folder, "base.db", 1.0);
    for shard in 0..SHARDS {
        // Each of another moment; every fifth was also looked at before it had measured all.
        let whole = file("", shard);
        Ledger::copy(&folder.path().join("base.db"), &whole).unwrap();
        let ledger = Ledger::open(&whole).unwrap();
        let moved =
            format!("UPDATE campaign SET started_at = {shard}.5; UPDATE process SET started_at = {shard}.5");
        ledger.connection.execute_batch(&moved).unwrap();
        if shard % 5 == 0 {
            Ledger::copy(&whole, &file("-early", shard)).unwrap();
        }
        go_on(&ledger, "2", &format!("{shard}.75"));
    }
    drop(base);
    let repeated = (0..SHARDS).filter(|shard| shard % 3 == 0);
    let early = (0..SHARDS).filter(|shard| shard % 5 == 0).map(|shard| file("-early", shard));
    let paths: Vec<PathBuf> = (0..SHARDS).chain(repeated).map(|shard| file("", shard)).chain(early).collect();
    // A prime stride: every path once, early and whole ones in either order.
    let order: Vec<&PathBuf> = (0..paths.len()).map(|at| &paths[at * 997 % paths.len()]).collect();
    assert_eq!(order.iter().collect::<std::collections::BTreeSet<_>>().len(), paths.len());
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    let added: u64 = order.into_iter().map(|path| all.merge(path).unwrap().samples).sum();
    assert_eq!(added, 2 * SHARDS as u64);
    assert_eq!((count(&all, "campaign"), count(&all, "sample")), (1000, 2000));
    let each = "SELECT count(*) FROM (SELECT campaign FROM sample GROUP BY campaign HAVING count(*) = 2 AND max(round) = 2)";
    assert_eq!(all.connection.query_row(each, [], |row| row.get::<_, i64>(0)).unwrap(), 1000);
}

#[test]
fn what_was_interrupted_there_and_went_on_here_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = full(&folder, "other.db", 1.0);
    let end = "UPDATE campaign SET finished_at = 9.0, stopped_because = 'interrupted'";
    other.connection.execute_batch(end).unwrap();
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    all.merge(&path).unwrap();
    all.connection.execute_batch("UPDATE campaign SET finished_at = NULL, stopped_because = NULL").unwrap();
    go_on(&all, "2", "12.0");
    let before = dump(&all);
    all.merge(&path).unwrap();
    assert_eq!(dump(&all), before);
}

#[test]
fn what_only_ended_there_ends_here_too() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = full(&folder, "other.db", 1.0);
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    all.merge(&path).unwrap();
    let end = "UPDATE campaign SET finished_at = 9.0, stopped_because = 'budget'; \
               UPDATE sweep SET finished_at = 9.0, stopped_because = 'points'";
    other.connection.execute_batch(end).unwrap();
    all.merge(&path).unwrap();
    assert_eq!(dump(&all), dump(&other));
}

#[test]
fn of_what_went_on_in_both_nothing_is_taken_and_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = full(&folder, "other.db", 1.0);
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    all.merge(&path).unwrap();
    go_on(&all, "2", "4.0");
    go_on(&other, "2", "5.0");
    go_on(&other, "3", "6.0");
    let before = dump(&all);
    let merged = all.merge(&path).unwrap();
    assert_eq!(merged.diverged, [Diverged { kind: "campaign", here: 1, there: 1 }]);
    assert_eq!(dump(&all), before);
}

#[test]
fn a_ledger_that_cannot_be_read_adds_nothing_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let all = Ledger::open(&folder.path().join("all.db")).unwrap();
    let refused = |name: &str| format!("{:#}", all.merge(&folder.path().join(name)).unwrap_err());
    assert!(refused("none.db").contains("there is no ledger at"), "{}", refused("none.db"));
    std::fs::write(folder.path().join("text.db"), "no ledger").unwrap();
    assert!(refused("text.db").contains("text.db is not a ledger"), "{}", refused("text.db"));
    let (newer, _) = full(&folder, "newer.db", 1.0);
    newer.connection.pragma_update(None, "user_version", 99).unwrap();
    let said = refused("newer.db");
    assert!(said.contains("newer.db has format 99, made by a newer assay"), "{said}");
    assert_eq!(count(&all, "campaign"), 0);
    // What came before a row that cannot be added is not added either.
    let (broken, path) = full(&folder, "broken.db", 1.0);
    let sql = "CREATE TRIGGER stop BEFORE INSERT ON main.sample BEGIN SELECT RAISE(ABORT, 'no'); END";
    all.connection.execute_batch(sql).unwrap();
    drop(broken);
    all.merge(&path).unwrap_err();
    assert_eq!(count(&all, "campaign"), 0);
    all.connection.execute_batch("DROP TRIGGER stop").unwrap();
    all.merge(&path).unwrap();
    assert_eq!(count(&all, "sample"), 1);
}
