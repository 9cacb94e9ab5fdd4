//! The rules, each a function from one file to what is wrong in it.

use super::source::File;
use super::tokens::{NamedPath, paths, tokens};
use std::fmt;

/// One place where a rule is broken.
pub struct Violation {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and why it is forbidden.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

fn violation(file: &File, line: usize, what: String) -> Violation {
    Violation { path: file.path.clone(), line, what }
}

/// The crates of pure code.
const PURE: &[&str] = &["assay-numbers", "assay-predict", "assay-pure"];

/// What pure code must not name: it only computes, so that every verdict can be computed again.
const IMPURE: &[&str] = &["std::fs", "std::process", "std::thread", "std::time", "std::net", "std::env"];

/// The floors: a crate and the crates of ours that it may depend on. The compiler keeps this once Cargo.toml does.
const FLOORS: &[(&str, &[&str])] = &[
    ("assay-numbers", &[]),
    ("assay-predict", &["assay-numbers"]),
    ("assay-pure", &["assay-numbers", "assay-predict"]),
    ("assay-harness", &[]),
    ("assay-linux", &["assay-pure"]),
    ("assay-qemu", &["assay-predict"]),
    ("assay-report", &["assay-pure"]),
    ("assay-trace", &["assay-pure", "assay-linux", "assay-report"]),
    ("assay-link", &["assay-pure", "assay-linux"]),
    ("assay-lab", &["assay-pure", "assay-linux", "assay-report", "assay-trace", "assay-link"]),
    (
        "assay",
        &[
            "assay-pure",
            "assay-linux",
            "assay-qemu",
            "assay-report",
            "assay-trace",
            "assay-link",
            "assay-lab",
        ],
    ),
];

/// A room (a crate's top module) and what it may name of the rooms and crates that know of measuring. The pure crate and the
/// kernel's side are open to all.
const ROOMS: &[(&str, &str, &[&str])] = &[
    (
        "assay-report",
        "picture",
        &[
            "crate::answer",
            "crate::compare",
            "crate::layout",
            "crate::limits",
            "crate::page",
            "crate::plot_axis",
            "crate::prose",
            "crate::sites",
            "crate::stages",
            "crate::sweep",
            "crate::terminal",
            "crate::golden",
            "crate::sample",
        ],
    ),
    ("assay-link", "build", &[]),
    ("assay-link", "adopt", &["crate::build"]),
    ("assay-link", "program", &["crate::build", "crate::adopt"]),
    ("assay-lab", "store", &[]),
    ("assay-lab", "run", &[]),
    ("assay-lab", "lead", &["crate::store"]),
    ("assay-lab", "shards", &["crate::lead", "crate::store", "crate::view", "assay_report::status"]),
    ("assay-lab", "limits", &["assay_report::limits"]),
    ("assay-lab", "examine", &["crate::lead", "crate::run", "assay_trace", "assay_report"]),
    (
        "assay-lab",
        "campaign",
        &[
            "crate::store",
            "crate::lead",
            "crate::run",
            "crate::limits",
            "crate::examine",
            "assay_link::build",
            "assay_link::program",
            "assay_trace",
            "assay_report",
        ],
    ),
    ("assay-lab", "calibrate", &["crate::lead"]),
    ("assay-lab", "sweep", &["crate::store", "crate::lead", "crate::campaign", "assay_report"]),
    ("assay-lab", "fit", &["crate::store", "crate::lead", "crate::campaign", "assay_report"]),
    ("assay-lab", "export", &["crate::store", "crate::campaign", "assay_report"]),
    (
        "assay-lab",
        "history",
        &["crate::store", "crate::lead", "crate::campaign", "assay_link::build", "assay_report"],
    ),
    (
        "assay-lab",
        "layout",
        &["crate::store", "crate::lead", "crate::campaign", "assay_trace::sites", "assay_report"],
    ),
    (
        "assay-lab",
        "doctor",
        &[
            "crate::store",
            "crate::lead",
            "crate::run",
            "crate::limits",
            "crate::examine",
            "crate::campaign",
            "assay_link::build",
            "assay_link::program",
            "assay_trace",
            "assay_report",
        ],
    ),
    (
        "assay-lab",
        "compare",
        &["crate::store", "crate::lead", "crate::campaign", "assay_link", "assay_trace", "assay_report"],
    ),
    (
        "assay-lab",
        "stages",
        &[
            "crate::store",
            "crate::lead",
            "crate::campaign",
            "crate::compare",
            "assay_link::adopt",
            "assay_trace",
            "assay_report",
        ],
    ),
    (
        "assay-lab",
        "view",
        &[
            "crate::store",
            "crate::lead",
            "crate::campaign",
            "crate::compare",
            "crate::stages",
            "crate::sweep",
            "assay_report",
        ],
    ),
];

/// Paths that cross a forbidden edge.
pub fn forbidden_imports(file: &File) -> Vec<Violation> {
    let Some((krate, below)) = file.in_crate() else {
        return Vec::new();
    };
    let Some(below_src) = below.strip_prefix("src/").and_then(|path| path.strip_suffix(".rs")) else {
        return Vec::new();
    };
    let module = module_path(below_src);
    let mut found = Vec::new();
    for path in paths(&file.text) {
        let full = resolve(&path, &module);
        if let Some(why) = forbidden_path(krate, &module, &full) {
            found.push(violation(file, path.line, format!("`{}`: {why}", path.segments.join("::"))));
        }
    }
    found
}

fn module_path(below_src: &str) -> Vec<String> {
    let mut module: Vec<String> = below_src.split('/').map(str::to_string).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// `self` and `super` made into paths from `crate`.
fn resolve(path: &NamedPath, module: &[String]) -> Vec<String> {
    let relative =
        path.segments.iter().take_while(|segment| ["self", "super"].contains(&segment.as_str())).count();
    if relative == 0 {
        return path.segments.clone();
    }
    let up = path.segments.iter().filter(|segment| *segment == "super").count();
    let beyond_inline = up.saturating_sub(path.inline_modules);
    let mut full = vec!["crate".to_string()];
    full.extend_from_slice(&module[..module.len().saturating_sub(beyond_inline)]);
    full.extend_from_slice(&path.segments[relative..]);
    full
}

fn starts_with(full: &[String], beginning: &str) -> bool {
    let beginning: Vec<&str> = beginning.split("::").collect();
    beginning.len() <= full.len() && beginning.iter().zip(full).all(|(a, b)| a == b)
}

fn forbidden_path(krate: &str, module: &[String], full: &[String]) -> Option<&'static str> {
    let first = full.first()?.as_str();
    if PURE.contains(&krate) && IMPURE.iter().any(|beginning| starts_with(full, beginning)) {
        return Some("pure code only computes, so that every verdict can be computed again");
    }
    let named = first.replace('_', "-");
    let is_ours = named != krate && FLOORS.iter().any(|(of, _)| *of == named);
    let below = FLOORS.iter().find(|(of, _)| *of == krate).map_or(&[][..], |floor| floor.1);
    if is_ours && !below.contains(&named.as_str()) {
        return Some("this crate stands on an upper floor");
    }
    let own = module.first()?.as_str();
    let of_own_crate = first == "crate" && full.get(1).is_some_and(|room| room != own);
    if !of_own_crate && (!is_ours || ["assay_pure", "assay_linux"].contains(&first)) {
        return None;
    }
    let may = ROOMS.iter().find(|(of, room, _)| *of == krate && *room == own)?.2;
    (!may.iter().any(|open| starts_with(full, open)))
        .then_some("ARCHITECTURE.md has no such edge between rooms")
}

/// Dependencies that a crate must not have.
pub fn forbidden_dependencies(file: &File) -> Vec<Violation> {
    let Some((krate, "Cargo.toml")) = file.in_crate() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for dependency in dependencies(&file.text) {
        let ours = FLOORS.iter().any(|(of, _)| *of == dependency.name);
        let below = FLOORS.iter().find(|(of, _)| *of == krate).map_or(&[][..], |floor| floor.1);
        let wrong = !dependency.for_tests
            && (krate == "assay-harness" || ours && !below.contains(&dependency.name.as_str()));
        if wrong {
            found.push(violation(
                file,
                dependency.line,
                format!("{krate} must not depend on {}", dependency.name),
            ));
        }
    }
    found
}

/// One entry of a dependency table.
pub struct Dependency {
    /// The crate's name as written.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// It is a dev-dependency.
    pub for_tests: bool,
}

/// The dependencies of a Cargo.toml written one per line or as `[dependencies.name]`.
pub fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut table = "";
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end_matches(']');
        }
        let in_header =
            table.split_once("dependencies.").map(|(_, name)| name).filter(|_| line.starts_with('['));
        let in_table = table.ends_with("dependencies") && !line.starts_with(['[', '#']);
        let name = in_header.or_else(|| line.split_once('=').map(|(name, _)| name).filter(|_| in_table));
        if let Some(name) = name {
            let name = name.trim().trim_end_matches(".workspace").to_string();
            found.push(Dependency { name, line: number + 1, for_tests: table.contains("dev-") });
        }
    }
    found
}

/// Dependencies without a comment that gives the reason for them, on the line above or at the end of their own.
pub fn unexplained_dependencies(file: &File) -> Vec<Violation> {
    let Some((_, "Cargo.toml")) = file.in_crate() else { return Vec::new() };
    let lines: Vec<&str> = file.text.lines().collect();
    let is_explained = |line: usize| {
        let above = line.checked_sub(2).and_then(|above| lines.get(above)).copied().unwrap_or("");
        let has_reason =
            |text: &str| text.split_once('#').is_some_and(|(_, reason)| !reason.trim().is_empty());
        above.trim_start().starts_with('#') && has_reason(above) || has_reason(lines[line - 1])
    };
    let found = dependencies(&file.text).into_iter().filter(|dependency| !is_explained(dependency.line));
    found
        .map(|dependency| {
            violation(file, dependency.line, format!("no reason is given for {}", dependency.name))
        })
        .collect()
}

/// Files of predictors that say an instruction of their own.
const PREDICTORS_UNSAFE: [&str; 3] =
    ["src/predict/widest.rs", "src/predict/prefetch.rs", "tage_sc_l/lanes.rs"];

/// `unsafe` outside the crates that need it.
pub fn misplaced_unsafe(file: &File) -> Vec<Violation> {
    match file.in_crate() {
        None | Some(("assay-linux" | "assay-harness" | "assay-qemu", _)) => return Vec::new(),
        Some(_) if !file.path.ends_with(".rs") => return Vec::new(),
        // Vectors that this CPU was asked for, or that all have; a hint that reads nothing.
        Some(("assay-predict", _)) if PREDICTORS_UNSAFE.iter().any(|name| file.path.ends_with(name)) => {
            return Vec::new();
        }
        Some(_) => {}
    }
    let found = tokens(&file.text).into_iter().filter(|token| token.text == "unsafe");
    found
        .map(|token| {
            violation(file, token.line, "`unsafe` belongs in assay-linux, assay-qemu or assay-harness".into())
        })
        .collect()
}

const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "manager", "helper", "helpers", "misc"];

/// Folders, files and modules whose name says nothing about what is in them.
pub fn empty_names(file: &File) -> Vec<Violation> {
    let complain = |line, name: &str| violation(file, line, format!("`{name}` does not say what is in it"));
    let mut found = Vec::new();
    for part in file.path.split('/') {
        let stem = part.split('.').next().unwrap_or(part);
        if EMPTY_NAMES.contains(&stem) {
            found.push(complain(1, part));
        }
    }
    if file.path.ends_with(".rs") {
        for pair in tokens(&file.text).windows(2) {
            if pair[0].text == "mod" && EMPTY_NAMES.contains(&pair[1].text) {
                found.push(complain(pair[1].line, pair[1].text));
            }
        }
    }
    found
}

/// Split so that this file passes its own rule.
const MACHINE_FOLDERS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Absolute paths into somebody's home or working folder: they exist on one machine.
pub fn machine_paths(file: &File) -> Vec<Violation> {
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for folder in MACHINE_FOLDERS {
            let begins_a_path =
                |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}){/$".contains(c));
            if line.match_indices(folder).any(|(at, _)| begins_a_path(at)) {
                found.push(violation(
                    file,
                    number + 1,
                    format!("a path below {folder} exists on one machine only"),
                ));
            }
        }
    }
    found
}

/// The widest line of a document, in characters: two of them fit side by side on a wide screen.
const DOCUMENT_WIDTH: usize = 120;

/// Lines of documents that are too wide to read. A table's row has to be one line, a link may be longer than the limit, and
/// what a program printed (`console`, `transcript`) or a report wrote (`golden/`) stays as it is.
pub fn wide_lines(file: &File) -> Vec<Violation> {
    if !file.path.ends_with(".md") || file.path.contains("/golden/") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut block = None;
    for (number, line) in file.text.lines().enumerate() {
        let text = line.trim();
        if let Some(kind) = text.strip_prefix("```") {
            block = if block.is_none() { Some(kind) } else { None };
        }
        let printed = matches!(block, Some("console" | "transcript"));
        let row = block.is_none() && text.starts_with('|');
        let link =
            text.trim_start_matches("- ").starts_with('[') && !text.trim_start_matches("- ").contains(' ');
        let width = line.chars().count();
        if width > DOCUMENT_WIDTH && !printed && !row && !link {
            let what = format!("{width} characters, more than {DOCUMENT_WIDTH}: wrap the paragraph");
            found.push(violation(file, number + 1, what));
        }
    }
    found
}

/// Relative links of documents whose target is not among `paths` (as a file or a folder).
pub fn dead_links(file: &File, paths: &[&str]) -> Vec<Violation> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for target in
            line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let name = beside(&file.path, target.split('#').next().unwrap_or(target));
            let folder = format!("{name}/");
            let known = paths.iter().any(|path| *path == name || path.starts_with(&folder));
            if !known && !target.starts_with('#') && !target.contains("://") {
                found.push(violation(file, number + 1, format!("the link to {target} leads nowhere")));
            }
        }
    }
    found
}

/// A path from the root, of a target that a document names from its own folder.
fn beside(document: &str, target: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}
