//! Where limits are kept: one file per machine, in the user's state folder, written whole or not at all.

use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::limits::{Limits, MeasuredMachine};
use assay_pure::pulse::narrowed;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is kept for a machine.
#[derive(Debug)]
pub enum KeptLimits {
    /// Its limits.
    Kept(Box<Limits>),
    /// Nothing; of how many other machines there is something.
    Nothing {
        /// Files of other machines in the same folder.
        others: usize,
    },
    /// A file that can't be used, with what is wrong with it.
    Unusable(String),
}

/// The file of a machine: `ASSAY_LIMITS`, or one in the state folder of the user.
///
/// # Errors
/// Nobody says where the user's state is.
pub fn path(machine: &MeasuredMachine) -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    place(machine, variable("ASSAY_LIMITS"), variable("XDG_STATE_HOME"), variable("HOME"))
        .context("no place to keep the limits: set HOME, XDG_STATE_HOME or ASSAY_LIMITS=FILE")
}

fn place(
    machine: &MeasuredMachine,
    file: Option<OsString>,
    state: Option<OsString>,
    home: Option<OsString>,
) -> Option<PathBuf> {
    if let Some(file) = file {
        return Some(PathBuf::from(file));
    }
    // A relative XDG_STATE_HOME is to be ignored (XDG base directory specification).
    let state = state.map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| home.map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(state.join("assay/limits").join(format!("{}.json", machine.key())))
}

/// Looks for a machine's limits in its file.
pub fn find(file: &Path, machine: &MeasuredMachine) -> KeptLimits {
    let text = match given::read_text(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return KeptLimits::Nothing { others: others(file) };
        }
        Err(error) => return KeptLimits::Unusable(format!("{} cannot be read: {error}", file.display())),
    };
    match Limits::from_json(&text) {
        Err(error) => KeptLimits::Unusable(format!("{} cannot be used: {error}", file.display())),
        Ok(limits) if !limits.machine.is_same(machine) => KeptLimits::Unusable(format!(
            "{} is of another machine ({})",
            file.display(),
            limits.machine.changes(machine).join("; ")
        )),
        Ok(limits) => KeptLimits::Kept(Box::new(limits)),
    }
}

/// Files of other machines beside this one's.
fn others(file: &Path) -> usize {
    let Some(entries) = file.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else { return 0 };
    let is_limits = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "json")
            && std::fs::read_to_string(path).is_ok_and(|text| Limits::from_json(&text).is_ok())
    };
    entries.flatten().filter(|entry| is_limits(&entry.path())).count()
}

/// The limits kept for a machine, without a word about what is wrong: for reports, which can do without.
pub fn of(machine: &MeasuredMachine) -> Option<Limits> {
    match find(&path(machine).ok()?, machine) {
        KeptLimits::Kept(limits) => Some(*limits),
        KeptLimits::Nothing { .. } | KeptLimits::Unusable(_) => None,
    }
}

/// The width that the same machine has shown before, where it was more; then the core was shared all the time, or is of another
/// kind, and a note says so.
pub fn recall_width(limits: &mut Limits, before: &Limits) {
    if !before.machine.is_same(&limits.machine) {
        return;
    }
    if let (Some(now), Some(known)) = (limits.width, before.width)
        && narrowed(now, known).is_some()
    {
        limits.notes.push(format!(
            "The core was shared all the time, or is of another type: it made {now:.1} additions per cycle at best, and {known:.1} when \
             this machine was measured before. Throughput figures are too low here; measure again at another time (--again)."
        ));
    }
    limits.width = limits.width.into_iter().chain(before.width).reduce(f64::max);
}

/// Keeps limits in a file, whose folder is made.
///
/// # Errors
/// The file cannot be written.
pub fn put(file: &Path, limits: &Limits) -> Result<()> {
    let context =
        || format!("cannot keep the limits in {} (ASSAY_LIMITS=FILE names another)", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(context)?;
    }
    // Of two that measure at once the last one stays.
    assay_linux::output::write(file, limits.to_json().as_bytes()).with_context(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_report::limits::sample;

    fn os(text: &str) -> Option<OsString> {
        Some(text.into())
    }

    #[test]
    fn the_variable_goes_before_the_state_folder_and_that_before_home() {
        let machine = sample::limits().machine;
        let name = format!("assay/limits/{}.json", machine.key());
        let place = |file, state, home| place(&machine, file, state, home);
        assert_eq!(place(os("x.json"), os("/s"), os("/h")), Some("x.json".into()));
        assert_eq!(place(None, os("/s"), os("/h")), Some(Path::new("/s").join(&name)));
        assert_eq!(place(None, os("s"), os("/h")), Some(Path::new("/h/.local/state").join(&name)));
        assert_eq!(place(None, None, os("/h")), Some(Path::new("/h/.local/state").join(&name)));
        assert_eq!(place(None, None, None), None);
    }

    #[test]
    fn what_is_kept_is_found_again_and_nothing_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/own.json");
        let limits = sample::limits();
        assert!(matches!(find(&file, &limits.machine), KeptLimits::Nothing { others: 0 }));
        put(&file, &limits).unwrap();
        assert!(matches!(find(&file, &limits.machine), KeptLimits::Kept(kept) if *kept == limits));
        let other = file.with_file_name("other.json");
        std::fs::write(file.with_file_name("stranger.json"), "{}").unwrap();
        assert!(matches!(find(&other, &limits.machine), KeptLimits::Nothing { others: 1 }));
        // No draft is left behind.
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn the_width_that_was_shown_once_stays_known() {
        let before = Limits { width: Some(4.0), ..sample::limits() };
        let again = |width: Option<f64>| {
            let mut limits = Limits { width, notes: Vec::new(), ..sample::limits() };
            recall_width(&mut limits, &before);
            (limits.width, limits.notes.len())
        };
        assert_eq!(
            (again(Some(3.9)), again(Some(4.1)), again(None)),
            ((Some(4.0), 0), (Some(4.1), 0), (Some(4.0), 0))
        );
        assert_eq!(again(Some(2.6)), (Some(4.0), 1));
        let mut other = sample::limits();
        other.machine.cpu = "another".to_owned();
        other.width = Some(2.6);
        recall_width(&mut other, &before);
        assert_eq!(other.width, Some(2.6));
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.json");
        let limits = sample::limits();
        let unusable = |machine: &MeasuredMachine| match find(&file, machine) {
            KeptLimits::Unusable(why) => why,
            found => panic!("{found:?}"),
        };
        std::fs::write(&file, "{\"schema\": \"assay.lim").unwrap();
        assert!(
            unusable(&limits.machine).contains("own.json cannot be used: it is not of schema assay.limits/1")
        );
        std::fs::write(&file, limits.to_json().replace("assay.limits/1", "assay.limits/9")).unwrap();
        assert!(unusable(&limits.machine).contains("it has schema \"assay.limits/9\""));
        put(&file, &limits).unwrap();
        let other = MeasuredMachine { cpu: "another".to_owned(), ..limits.machine.clone() };
        assert!(unusable(&other).ends_with("is of another machine (CPU: AMD EPYC then, another now)"));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(unusable(&limits.machine).contains("own.json cannot be read"));
        assert!(put(&file, &limits).unwrap_err().to_string().contains("ASSAY_LIMITS=FILE"));
    }
}
