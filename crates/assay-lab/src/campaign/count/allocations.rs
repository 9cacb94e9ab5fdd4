//! What variants allocate: blocks, bytes, and the most at once, exact, in a run of its own.
//!
//! Method: the binary that was linked as built runs once more, with a small library ahead of the C library's allocator
//! (`LD_PRELOAD`; allocations/heap.c, compiled where it is used). Nothing is linked otherwise, so no placement changes, and C,
//! C++ and Rust are counted alike, as all of them ask the C library in the end. The harness reads the counts at the marks of a
//! pass, so making and dropping fresh states is not in them. Windows are walked one by one: the peak is that of a call.
//! Known limits: a static program loads no library, and one with an allocator of its own is told from one that allocates
//! nothing by a block that the harness asks for. Of many windows [`MOST_CALLS`] are walked, spread evenly. The first call is
//! not counted: what a program sets up once is no cost of its calls.
//! Checked: `bench/allocations/check.py` compares five programs with valgrind.

use super::super::placements::PlacedLink;
use super::converse::{CutShort, Job, NumberedInput, converse, why};
use crate::run::worker::{Announced, WalkRequest, Worker};
use crate::store::AllocationRow;
use assay_linux::private::PrivateFolder;
use assay_linux::tied::with_the_lab;
use assay_pure::protocol::{Allocated, VariantKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The library's source.
const SOURCE: &str = include_str!("allocations/heap.c");
/// What must be the same for rows of another campaign to be used again.
pub(super) const METHOD: &str = "calls spread over the windows";
/// Calls that are counted of one input, at most.
const MOST_CALLS: u64 = 4096;
/// Iterations of a loop: how it is entered and left should not be counted as work of its units.
const ITERATIONS: u64 = 16;

/// The library, compiled into a folder of its own that ends with this.
pub(super) struct HeapLibrary {
    folder: PrivateFolder,
    pub path: PathBuf,
}

impl HeapLibrary {
    /// Compiles it by the first of these compilers that can.
    ///
    /// # Errors
    /// None can; in a sentence.
    pub fn build(compilers: &[PathBuf]) -> Result<HeapLibrary, String> {
        let refuse = |what: &str| format!("allocations cannot be counted: {what}");
        let folder = PrivateFolder::new(&std::env::temp_dir(), "assay-heap-");
        let folder = folder.map_err(|error| refuse(&error.to_string()))?;
        let library = HeapLibrary { path: folder.path().join("heap.so"), folder };
        let (source, path) = (library.folder.path().join("heap.c"), &library.path);
        std::fs::write(&source, SOURCE).map_err(|error| refuse(&error.to_string()))?;
        let mut said = "there is no C compiler".to_owned();
        for compiler in compilers.iter().map(PathBuf::as_path).chain([Path::new("cc")]) {
            let mut compile = Command::new(compiler);
            with_the_lab(&mut compile);
            if compiler.file_name().is_some_and(|name| name == "zig") {
                compile.arg("cc");
            }
            compile
                .args(["-x", "c", "-std=gnu11", "-O2", "-shared", "-fPIC"])
                .arg(&source)
                .arg("-o")
                .arg(path);
            match compile.arg("-ldl").stdin(Stdio::null()).output() {
                Ok(output) if output.status.success() => return Ok(library),
                Ok(output) => {
                    let words = String::from_utf8_lossy(&output.stderr);
                    said = format!(
                        "{} refuses: {}",
                        compiler.display(),
                        words.lines().next().unwrap_or_default()
                    );
                }
                Err(_) => {}
            }
        }
        Err(refuse(&said))
    }
}

/// What one program allocates on its inputs: rows, and why no more.
pub(super) fn count(
    job: &Job<'_>,
    placed: &PlacedLink,
    told: &mut dyn FnMut(),
) -> (Vec<(usize, AllocationRow)>, Option<CutShort>) {
    let each = &mut |worker: &mut Worker, variant: &Announced, input: NumberedInput<'_>| {
        input.load(worker)?;
        let windows = input.ready.windows.len() as u64;
        let walked = walk(worker, variant, input.number as u32, windows)?;
        let row = AllocationRow {
            artifact: placed.artifact.hash.clone(),
            variant: job.variant.to_owned(),
            input: input.ready.row.digest.clone(),
            windows,
            ..walked
        };
        Ok((input.number, row))
    };
    let walked = converse(job, &[], each, told);
    (walked.done, walked.stopped)
}

/// Walks through an input call by call.
fn walk(
    worker: &mut Worker,
    variant: &Announced,
    input: u32,
    windows: u64,
) -> Result<AllocationRow, CutShort> {
    let kind = variant.kind;
    let mut call = |window: u64| -> Result<(u64, Allocated), CutShort> {
        let windows = if kind == VariantKind::Loop { ITERATIONS } else { 1 };
        let request = WalkRequest { input, window: window as u32, windows, passes: 1 };
        let walked = worker.walk(variant.index, &request).map_err(|fault| why(&fault))?;
        let allocated = walked.allocated.ok_or_else(|| {
            CutShort::Other(
                "allocations cannot be counted: the counting allocator was not called (link the program dynamically \
                 and without an allocator of its own; build it again with this version's assay.h or assay-harness)"
                    .to_owned(),
            )
        })?;
        Ok((walked.units, allocated))
    };
    call(0)?;
    let calls = if kind.is_windowed() { windows.min(MOST_CALLS) } else { 1 };
    let mut all = AllocationRow {
        artifact: String::new(),
        variant: String::new(),
        input: String::new(),
        windows,
        method: METHOD.to_owned(),
        calls,
        units: 0,
        allocations: 0,
        bytes: 0,
        peak_bytes: 0,
    };
    // A loop's iterations follow each other: the most at once is that of one of them.
    let per_peak = if kind == VariantKind::Loop { ITERATIONS } else { 1 };
    for one in 0..calls {
        // Spread over the input, which may be of another kind further on.
        let (units, allocated) = call(one * windows.max(1) / calls)?;
        all.units += units;
        all.allocations += allocated.allocations;
        all.bytes += allocated.bytes;
        all.peak_bytes += allocated.peak_bytes * per_peak;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_counts_what_a_program_asks_for() {
        let Ok(library) = HeapLibrary::build(&[]) else {
            eprintln!("skipped: no C compiler");
            return;
        };
        let printed = |preload: &str| {
            let mut shell = Command::new("/usr/bin/env");
            shell.env_clear().env("LD_PRELOAD", preload);
            String::from_utf8(shell.output().expect("env starts").stdout).expect("it is text")
        };
        let said = printed(&library.path.to_string_lossy());
        let address = said.lines().find_map(|line| line.strip_prefix("ASSAY_HEAP="));
        assert!(
            address.is_some_and(|address| u64::from_str_radix(address, 16).is_ok_and(|at| at > 0)),
            "{said}"
        );
        assert!(!said.contains("LD_PRELOAD="), "programs that it starts are not counted: {said}");
        assert!(!printed("").contains("ASSAY_HEAP="));
    }
}
