//! Ledgers that are none, that somebody else writes, that are damaged.

use super::lab::{Lab, Running};
use rusqlite::Connection;

fn honest_lab() -> Option<Lab> {
    Lab::with_program("#include \"good.c\"\n", &["plain", "backward"])
}

/// Both verbs refuse the file with these words, and leave it as it is to its last byte.
#[track_caller]
fn refused(lab: &Lab, words: &[&str]) {
    let before = std::fs::read(lab.ledger_path()).unwrap();
    for said in [lab.run(&[]), Running::start(lab.command("report", &[])).wait()] {
        said.assert_code(2);
        said.assert_errors(words);
        said.assert_errors(&["--ledger FILE"]);
    }
    assert!(std::fs::read(lab.ledger_path()).unwrap() == before, "the file was changed");
}

#[test]
fn a_ledger_from_a_newer_assay_is_left_alone() {
    let Some(lab) = honest_lab() else { return };
    let newer = Connection::open(lab.ledger_path()).unwrap();
    let id = assay_lab::store::APPLICATION_ID;
    let tables = "CREATE TABLE campaign (id INTEGER PRIMARY KEY)";
    newer
        .execute_batch(&format!("{tables}; PRAGMA application_id = {id}; PRAGMA user_version = 99"))
        .unwrap();
    drop(newer);
    refused(&lab, &["has format 99, made by a newer assay", "Nothing was changed"]);
}

#[test]
fn another_programs_database_is_left_alone() {
    let Some(lab) = honest_lab() else { return };
    let other = Connection::open(lab.ledger_path()).unwrap();
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    drop(other);
    refused(&lab, &["is another program's SQLite database"]);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let Some(lab) = honest_lab() else { return };
    std::fs::write(lab.ledger_path(), "my notes on decoders\n".repeat(500)).unwrap();
    refused(&lab, &["is not a ledger: it is not an SQLite file", "Nothing was changed"]);
}

#[test]
fn a_damaged_ledger_is_told_as_such() {
    let Some(lab) = honest_lab() else { return };
    lab.run(&[]).assert_code(0);
    lab.ledger().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = std::fs::read(lab.ledger_path()).unwrap();
    bytes[4096..].fill(0xa5);
    std::fs::write(lab.ledger_path(), bytes).unwrap();
    let said = lab.run(&[]);
    said.assert_code(2);
    said.assert_errors(&["is damaged", "--ledger FILE"]);
}

#[test]
fn a_folder_is_no_ledger() {
    let Some(lab) = honest_lab() else { return };
    std::fs::create_dir(lab.ledger_path()).unwrap();
    let said = lab.run(&[]);
    said.assert_code(2);
    said.assert_errors(&["cannot be opened", "--ledger FILE"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told_with_its_name() {
    let Some(mut lab) = honest_lab() else { return };
    std::fs::write(lab.file("file"), "").unwrap();
    lab.keep_ledger_in(lab.file("file/ledger.db"));
    let said = lab.run(&[]);
    said.assert_code(2);
    said.assert_errors(&["cannot make the ledger's folder", "/file", "--ledger FILE"]);
}

#[test]
fn two_campaigns_on_one_ledger_do_not_disturb_each_other() {
    let Some(lab) = honest_lab() else { return };
    let both = [lab.start(&["--seed", "1"]), lab.start(&["--seed", "2"])];
    for said in both.map(Running::wait) {
        said.assert_code(0);
    }
    assert_eq!(lab.count("SELECT count(*) FROM campaign WHERE finished_at IS NOT NULL"), 2);
    assert_eq!(lab.count("SELECT count(DISTINCT campaign) FROM round"), 2);
    let uneven = "SELECT count(*) FROM (SELECT campaign, round, count(*) AS n FROM sample WHERE flagged IS NOT 'retaken' GROUP BY campaign, round) s \
                  JOIN (SELECT campaign, count(*) AS processes FROM process GROUP BY campaign) p USING (campaign) \
                  JOIN campaign_input i USING (campaign) \
                  WHERE n <> (processes + 2 * 2) * (i.warmup + i.samples)";
    assert_eq!(
        lab.count(uneven),
        0,
        "every round has all its samples (the link as built is visited three times)"
    );
    lab.assert_ledger_is_whole();
    for campaign in ["1", "2"] {
        let said = Running::start(lab.command("report", &[campaign])).wait();
        said.assert_code(0);
        said.assert_page(&[&format!("campaign {campaign}")]);
    }
}

#[test]
fn many_may_make_the_same_ledger_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for attempt in 0..20 {
        let path = folder.path().join(format!("{attempt}.db"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assay_lab::store::Ledger::open(&path).unwrap());
            }
        });
    }
}
