//! One link of a recipe: as built, or with a padding ahead of all code and the functions in a given order.
//!
//! What the linker made of it is read back from the file: nothing is assumed to lie where it was asked to.

use super::artifact::{Artifact, Link};
use super::failure::{BuildFailure, Stage};
use super::keys;
use super::ordering::{self, OrderError, Ordering};
use super::recipe::Recipe;
use super::workshop::Workshop;
use assay_pure::placement::layout::{self, FunctionPlace, LayoutError};
use assay_pure::placement::order;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic;

/// How the output is called in the recorded command.
const OUTPUT: &str = "a.out";

/// What a link gave.
#[derive(Serialize, Deserialize)]
struct Linked {
    hash: String,
    functions: Vec<FunctionPlace>,
    image_base: u64,
    text_bytes: u64,
    warnings: Vec<String>,
}

/// See [`super::Builder::link`].
pub fn link(workshop: &Workshop, recipe: &Recipe, link: Link) -> Result<Artifact, BuildFailure> {
    let mut words = match link {
        Link::AsBuilt => command(recipe, None, &[]),
        Link::Placed { shuffle, phase_bytes } => {
            let pad = pad(workshop, recipe, phase_bytes)?;
            command(recipe, Some(&pad), &order_words(workshop, recipe, shuffle)?)
        }
    };
    let key = key(recipe, &words);
    let found = find(workshop, &key);
    let from_cache = found.is_some();
    let linked = match found {
        Some(linked) => linked,
        None => make(workshop, recipe, link, &words, &key)?,
    };
    let counters = &workshop.counters;
    let counter = if from_cache { &counters.artifacts_from_cache } else { &counters.linked };
    counter.fetch_add(1, atomic::Ordering::Relaxed);
    words.extend(["-o".into(), OUTPUT.into()]);
    Ok(Artifact {
        path: workshop.cache.place("artifacts", &linked.hash, "elf"),
        hash: linked.hash,
        link,
        functions: linked.functions,
        image_base: linked.image_base,
        text_bytes: linked.text_bytes,
        command: words,
        from_cache,
        warnings: linked.warnings,
    })
}

/// The command but for where it writes.
fn command(recipe: &Recipe, pad: Option<&Path>, order: &[String]) -> Vec<String> {
    let objects = if pad.is_some() { &recipe.placed } else { &recipe.as_built };
    let objects = objects.iter().map(|object| object.path.as_path());
    linking(recipe, pad.into_iter().chain(objects), order)
}

/// The command for a link as built of other objects.
pub fn command_of(recipe: &Recipe, objects: &[PathBuf]) -> Vec<String> {
    linking(recipe, objects.iter().map(PathBuf::as_path), &[])
}

fn linking<'a>(recipe: &Recipe, objects: impl Iterator<Item = &'a Path>, order: &[String]) -> Vec<String> {
    let word = |path: &Path| path.to_string_lossy().into_owned();
    let mut words = vec![word(&recipe.driver)];
    words.extend(recipe.flags.iter().cloned());
    words.extend(objects.map(word));
    words.extend(order.iter().cloned());
    words.extend(recipe.link_flags.iter().cloned());
    words
}

fn key(recipe: &Recipe, words: &[String]) -> String {
    let inputs: Vec<&str> = recipe.linker.inputs.iter().map(|(_, hash)| hash.as_str()).collect();
    let flags: Vec<String> = recipe.flags.iter().chain(&recipe.link_flags).cloned().collect();
    keys::key(&[
        "link 1",
        &recipe.compiler.sha256,
        &recipe.linker.version,
        &inputs.join("\n"),
        &words.join("\n"),
        &recipe.folder.to_string_lossy(),
        &keys::surroundings(&flags),
    ])
}

fn find(workshop: &Workshop, key: &str) -> Option<Linked> {
    let linked: Linked = workshop.cache.record(key)?;
    workshop.cache.kept("artifacts", &linked.hash, "elf")?;
    Some(linked)
}

fn make(
    workshop: &Workshop,
    recipe: &Recipe,
    link: Link,
    words: &[String],
    key: &str,
) -> Result<Linked, BuildFailure> {
    let what = match link {
        Link::AsBuilt => format!("{} cannot link the program", recipe.described()),
        Link::Placed { .. } => {
            format!("{} cannot link the program with assay's placement", recipe.described())
        }
    };
    let made = workshop.cache.unfinished("");
    let mut whole = words.to_vec();
    whole.extend(["-o".into(), made.word()]);
    workshop.run(Stage::Link, &what, &recipe.folder, &whole)?;
    let kept = workshop.cache.keep(&made, "artifacts", "elf");
    let (hash, elf) = kept.map_err(|error| workshop.cache_failure("storing an artifact", &error))?;
    let linked = read_back(recipe, link, hash, &elf).map_err(|error| {
        BuildFailure::plain(Stage::Link, format!("{what}: the result is unusable: {error}"))
    })?;
    let recorded = workshop.cache.put_record(key, &linked);
    recorded.map_err(|error| workshop.cache_failure("recording an artifact", &error))?;
    Ok(linked)
}

/// What the linker made of it.
fn read_back(recipe: &Recipe, link: Link, hash: String, elf: &[u8]) -> Result<Linked, LayoutError> {
    let placed = matches!(link, Link::Placed { .. });
    let mut functions = match layout::functions(elf) {
        // The recipe warns of that.
        Err(LayoutError::NoSymbols) => Vec::new(),
        found => found?,
    };
    if let Some(names) = recipe.function_names(placed) {
        functions.retain(|function| names.contains(function.name.as_str()));
    }
    if placed {
        let alignments = order::alignments(&recipe.pieces);
        for function in &mut functions {
            function.alignment = alignments.get(function.name.as_str()).copied();
        }
    }
    let warnings = if placed { misplaced(recipe, elf, &functions)? } else { Vec::new() };
    Ok(Linked {
        hash,
        image_base: layout::image_base(elf)?,
        text_bytes: layout::text_bytes(elf)?,
        functions,
        warnings,
    })
}

/// What the padding does not move.
fn misplaced(recipe: &Recipe, elf: &[u8], functions: &[FunctionPlace]) -> Result<Vec<String>, LayoutError> {
    let found = ordering::misplaced(elf, functions, recipe.function_names(true).as_ref())?;
    Ok(found.into_iter().map(|what| format!("{}: {what}", recipe.described())).collect())
}

/// The object that is only padding.
fn pad(workshop: &Workshop, recipe: &Recipe, phase_bytes: u32) -> Result<PathBuf, BuildFailure> {
    let cache_failed = |error: std::io::Error| workshop.cache_failure("storing the padding", &error);
    let assembly = order::pad_assembly(phase_bytes);
    let source = workshop.cache.keep_bytes(assembly.as_bytes(), "orders", "s").map_err(cache_failed)?;
    let word = |path: &Path| path.to_string_lossy().into_owned();
    let mut words = vec![word(&recipe.compiler.path)];
    words.extend(machine_flags(&recipe.flags));
    words.extend(["-c".into(), word(&source)]);
    let key = keys::key(&["pad 1", &recipe.compiler.sha256, &words.join("\n"), &assembly]);
    let known: Option<String> = workshop.cache.record(&key);
    if let Some(hash) = known.filter(|hash| workshop.cache.kept("objects", hash, "o").is_some()) {
        return Ok(workshop.cache.place("objects", &hash, "o"));
    }
    let made = workshop.cache.unfinished(".o");
    words.extend(["-o".into(), made.word()]);
    let what = format!("{} cannot assemble the padding", recipe.described());
    workshop.run(Stage::Link, &what, &recipe.folder, &words)?;
    let (hash, _) = workshop.cache.keep(&made, "objects", "o").map_err(cache_failed)?;
    workshop.cache.put_record(&key, &hash).map_err(cache_failed)?;
    Ok(workshop.cache.place("objects", &hash, "o"))
}

/// The flags that decide for which machine an assembler writes.
fn machine_flags(flags: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = flags.iter();
    while let Some(flag) = words.next() {
        if flag == "-target" {
            kept.push(flag.clone());
            kept.extend(words.next().cloned());
        } else if ["-m32", "-m64", "-mx32"].contains(&flag.as_str())
            || flag.starts_with("--target=")
            || flag.starts_with("-mabi=")
        {
            kept.push(flag.clone());
        }
    }
    kept
}

/// What tells the linker the order: padding, then the program's functions as shuffled, then the rest.
fn order_words(workshop: &Workshop, recipe: &Recipe, shuffle: u64) -> Result<Vec<String>, BuildFailure> {
    refuse_own_script(recipe)?;
    let ordering = Ordering {
        kind: recipe.linker.kind,
        script: recipe.linker.script.as_deref(),
        pieces: &recipe.pieces,
        link_time: recipe.link_time,
    };
    let keep = |text: &str, extension: &str| workshop.cache.keep_bytes(text.as_bytes(), "orders", extension);
    let words = ordering::words(&ordering, shuffle, &keep).map_err(|error| match error {
        OrderError::Unwritten(error) => workshop.cache_failure("storing an order of functions", &error),
        why => BuildFailure::plain(Stage::Link, format!("{} cannot be placed: {why}", recipe.described())),
    })?;
    Ok(words.into_iter().flat_map(|word| ["-Xlinker".to_owned(), word]).collect())
}

/// A script of the user's decides over places itself.
fn refuse_own_script(recipe: &Recipe) -> Result<(), BuildFailure> {
    match recipe.flags.iter().chain(&recipe.link_flags).find(|flag| names_a_script(flag)) {
        None => Ok(()),
        Some(flag) => {
            let what = format!(
                "{} cannot be placed: {flag} names a linker script, which fixes all addresses; remove it",
                recipe.described()
            );
            Err(BuildFailure::plain(Stage::Link, what))
        }
    }
}

/// The same of a driver's flag, which may hold several options for the linker.
fn names_a_script(flag: &str) -> bool {
    match flag.strip_prefix("-Wl,") {
        Some(options) => options.split(',').any(ordering::names_a_script),
        None => ordering::names_a_script(flag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_section_starts_is_no_script() {
        for script in
            ["-T", "-Town.ld", "-Wl,-T,own.ld", "-Wl,-O1,-T,own.ld", "-Wl,--script=own.ld", "-Wl,-dT,own.ld"]
        {
            assert!(names_a_script(script), "{script}");
        }
        for other in
            ["-Wl,-Ttext=0x10000", "-Wl,-Ttext,0x10000", "-Ttext=0x10000", "-Wl,-Tdata=0x90000", "-target"]
        {
            assert!(!names_a_script(other), "{other}");
        }
    }

    #[test]
    fn only_the_machine_decides_over_the_padding() {
        let flags: Vec<String> =
            "-O2 -m32 -march=native -target aarch64-linux-gnu -Wall".split(' ').map(str::to_owned).collect();
        assert_eq!(machine_flags(&flags), ["-m32", "-target", "aarch64-linux-gnu"]);
    }
}
