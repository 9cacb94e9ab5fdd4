//! A target of a CMake project, built as Release in a folder of the store.

use super::own::{CMAKE_OWN, OwnAsked, OwnOrder, Wanted};
use crate::build::BuildFailure;
use crate::build::text::command_line;
use std::path::{Path, PathBuf};

/// The order of a CMake build. Flags that set CMake's own variables (`-DCMAKE_...`) are given to CMake.
///
/// # Errors
/// There is no such folder, or no place in the store.
pub fn order(asked: &OwnAsked<'_>, source: &Path, target: &str) -> Result<OwnOrder, BuildFailure> {
    let source = source
        .canonicalize()
        .map_err(|error| asked.failure(format!("cannot enter {}: {error}", source.display())))?;
    let place = asked.place("cmake", &source)?;
    let own = asked.flags.flags.iter().filter(|flag| flag.starts_with(CMAKE_OWN)).cloned();
    let word = |path: &Path| path.to_string_lossy().into_owned();
    let mut configure: Vec<String> = ["cmake", "-S"].map(str::to_owned).to_vec();
    configure.extend([word(&source), "-B".into(), word(&place), "-DCMAKE_BUILD_TYPE=Release".into()]);
    configure.extend(own);
    let build = ["cmake", "--build", &word(&place), "--target", target].map(str::to_owned);
    Ok(OwnOrder {
        before: Vec::new(),
        command: format!("{} && {}", command_line(&configure), command_line(&build)),
        environment: asked.c_environment(),
        wanted: Wanted::Named { folder: PathBuf::new(), name: target.to_owned(), hashed: false },
        folder: place,
    })
}
