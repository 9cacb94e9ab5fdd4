//! Second inputs: what the experiment gives beside an input, as files that lie beside its own.

use crate::inputs::map_file;
use crate::system;
use std::sync::Mutex;

/// The path of the input that is worked on, and the second inputs that are mapped.
struct SecondInputs {
    path: Option<String>,
    known: Vec<MappedSecondInput>,
}

struct MappedSecondInput {
    /// Path of the input that it is beside.
    of: String,
    name: String,
    bytes: &'static [u8],
}

static BESIDE: Mutex<SecondInputs> = Mutex::new(SecondInputs { path: None, known: Vec::new() });

fn beside() -> std::sync::MutexGuard<'static, SecondInputs> {
    BESIDE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What is asked for from now on is beside the input of this path.
pub(crate) fn enter(path: Option<&str>) {
    let mut beside = beside();
    if beside.path.as_deref() != path {
        beside.path = path.map(str::to_owned);
    }
}

/// See [`crate::input`].
pub(crate) fn find(name: &str) -> &'static [u8] {
    let mut beside = beside();
    let SecondInputs { path, known } = &mut *beside;
    let found = path.as_ref().ok_or_else(|| "there is no input file that it could be beside".to_owned());
    let found = found.and_then(|path| {
        if let Some(known) = known.iter().find(|known| known.of == *path && known.name == name) {
            return Ok(known.bytes);
        }
        let bytes = map_file(&format!("{path}.{name}"), None)?;
        // Touches every page, so that no sample pays for the first access.
        bytes.iter().step_by(system::page_bytes()).for_each(|&byte| crate::use_value(byte));
        known.push(MappedSecondInput { of: path.clone(), name: name.to_owned(), bytes });
        Ok(bytes)
    });
    found.unwrap_or_else(|why| {
        eprintln!("assay_harness::input: no second input {name:?}: {why}. In the experiment: with = {{ {name} = \"...\" }}");
        std::process::exit(2)
    })
}
