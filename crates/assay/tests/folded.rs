//! `assay run` on what compilers and linkers made of functions: folded two into one, inlined, stripped of their names.

use serde_json::Value;
use std::process::Command;

/// Two functions of the same code, and one that is inlined into both.
const PROGRAM: &str = r#"#include <assay.h>
static inline uint64_t step(uint64_t digest, uint8_t byte) { return digest * 31 + byte; }
static uint64_t one(const uint8_t *data, size_t size) { return step(size, data[0]); }
static uint64_t two(const uint8_t *data, size_t size) { return step(size, data[0]); }
ASSAY_VARIANT("one", one)
ASSAY_VARIANT("two", two)
ASSAY_MAIN()
"#;

/// The page of a campaign of that program, and its ledger's rows of `identity`; none where gcc is missing.
fn measured(link_flags: &str) -> Option<(Value, Vec<(String, String)>)> {
    if Command::new("gcc").arg("--version").output().is_err() {
        println!("skipped: there is no gcc");
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("program.c"), PROGRAM).expect("written");
    let text = format!(
        "question = \"Is a copy slower?\"\nbaseline = \"one\"\ncompilers = [\"gcc\"]\nflags = [\"-O2\"]\n\n\
         [[variants]]\nname = \"one\"\nfunctions = [\"step*\"]\n\n[[variants]]\nname = \"two\"\n\n\
         [program]\nsources = [\"program.c\"]\nlink_flags = [{link_flags}]\n\n\
         [placement]\nrotations = 1\nmax_rotations = 1\nphases = [0]\n\n\
         [inputs.bytes]\ngenerator = \"uniform_value\"\nmax = 255\nunits = 64\nformat = \"bytes\"\n"
    );
    std::fs::write(folder.path().join("experiment.toml"), text).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"])
        .args(["--ledger", "ledger.db"])
        .current_dir(folder.path())
        .output()
        .expect("assay starts");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let page = std::fs::read(folder.path().join("page.json")).unwrap_or_else(|_| panic!("{said}"));
    let ledger = rusqlite::Connection::open(folder.path().join("ledger.db")).expect("a ledger");
    let mut query = ledger.prepare("SELECT verdict, evidence FROM identity").expect("a table");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    let rows = rows.collect::<Result<_, _>>().expect("texts");
    Some((serde_json::from_slice(&page).expect("JSON"), rows))
}

#[test]
fn two_functions_that_the_linker_folded_into_one_are_proven_equal() {
    if Command::new("ld.lld").arg("--version").output().is_err() {
        println!("skipped: only lld folds here, and there is none");
        return;
    }
    let Some((page, identity)) = measured("\"-fuse-ld=lld\", \"-Wl,--icf=all\"") else { return };
    let contrast = &page["contrasts"][0];
    assert_eq!(
        (&contrast["proven"], &contrast["verdict"]),
        (&true.into(), &"equivalent".into()),
        "{contrast}"
    );
    let folded = "one function at one address: the compiler folded the two".to_owned();
    assert_eq!(identity, [("proven".to_owned(), folded)]);
}

#[test]
fn a_function_that_was_inlined_is_told_by_its_pattern() {
    let Some((page, _)) = measured("") else { return };
    let warnings = page["warnings"].to_string();
    let told = "no function of this build is called `step*`: it was inlined, so it moves with its caller";
    assert!(warnings.contains(told), "{warnings}");
    // The unit is what the input consists of, as the file names none.
    assert_eq!(page["unit"], "byte");
}

#[test]
fn a_build_without_symbols_is_told_with_what_it_costs() {
    let Some((page, identity)) = measured("\"-s\"") else { return };
    let warnings = page["warnings"].to_string();
    assert!(warnings.contains("-s removes the symbols") && warnings.contains("Leave -s out"), "{warnings}");
    assert!(!warnings.contains("step*"), "nothing is known of what was inlined: {warnings}");
    assert_eq!(page["contrasts"][0]["proven"], false, "{}", page["contrasts"]);
    assert_eq!(identity[0].0, "unknown", "{identity:?}");
}
