//! What does capturing cost a build, and what does a replay cost beside the bare link?
//!
//! Method: a C++ project of FILES files is made and built from scratch (cmake and ninja, configuring left out), in turns
//! without and with capture; then its one link is made in turns by the bare linker, as built by a replay, and placed by a
//! replay, orders changing. The bare call is the recorded one, started as a replay starts it, and nothing read back.
//! Figures are medians over the repeats, and the median of the ratios within each turn, which other work meets alike.
//! What capture adds is seconds per link, which the compilers' noise hides: so it is also measured on a build that only
//! links again, with all that a full build's capture does (its stand-in, its copies, its walk), and compared with the full
//! build's time. A Rust package of FILES modules is built once with capture, and its link made again in the same three ways.
//! Usage: capture_costs ASSAY [FILES [BUILDS [REPLAYS]]]; without BUILDS (0) only links are made

use assay_link::adopt::capture::{BuildAsked, CapturedLink, TextsAsked, build};
use assay_link::build::Link;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What was promised: a build takes at most this much longer, a replay at most this many times the link.
const BUILD_BOUND: f64 = 1.02;
const REPLAY_BOUND: f64 = 1.3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let assay = PathBuf::from(words.first().expect("the path of assay")).canonicalize().expect("assay");
    let number =
        |at: usize, default: usize| words.get(at).map_or(default, |word| word.parse().expect("a number"));
    let (files, builds, replays) = (number(1, 24), number(2, 7), number(3, 21));
    let folder = std::env::temp_dir().join(format!("capture-costs-{}", std::process::id()));
    write_project(&folder, files);
    let asked = BuildAsked {
        sections: false,
        texts: TextsAsked::None,
        command: "cmake --build out --target clean && cmake --build out".into(),
        folder: folder.clone(),
        store: folder.join("store"),
        environment: Vec::new(),
        assay,
    };
    run(Command::new("cmake").args(["-S", ".", "-B", "out", "-G", "Ninja"]).current_dir(&folder));

    let link = if builds == 0 {
        last_link(&asked)
    } else {
        let (link, alone) = measure_builds(&asked, files, builds);
        measure_what_capture_adds(&asked, alone, replays);
        link
    };
    measure_replays("C++", &link, &folder, replays);
    std::fs::remove_dir_all(&folder).expect("removed");
    write_package(&folder, files);
    let asked = BuildAsked { command: "cargo build --release --offline".into(), ..asked };
    measure_replays("Rust", &last_link(&asked), &folder, replays);
    std::fs::remove_dir_all(&folder).expect("removed");
}

fn last_link(asked: &BuildAsked) -> CapturedLink {
    let built = build(asked, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    built.links.into_iter().last().expect("the program's link")
}

fn measure_builds(asked: &BuildAsked, files: usize, builds: usize) -> (CapturedLink, f64) {
    let (mut alone, mut captured) = (Vec::new(), Vec::new());
    let mut link = None;
    for turn in 0..builds {
        // Each goes first in half of the turns.
        for first in [turn % 2 == 0, turn % 2 != 0] {
            let begun = Instant::now();
            if first {
                run(Command::new("sh").args(["-c", &asked.command]).current_dir(&asked.folder));
                alone.push(begun.elapsed().as_secs_f64());
            } else {
                let built = build(asked, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
                captured.push(begun.elapsed().as_secs_f64());
                link = built.links.into_iter().last();
            }
        }
    }
    println!("a build of {files} C++ files, {builds} turns");
    println!("  {:<22}{:8.3} s", "alone", median(&alone));
    told("captured", &captured, &alone, BUILD_BOUND);
    (link.expect("the program's link"), median(&alone))
}

/// Differences between turns of a build that only links, with nothing kept yet, so that all objects are copied.
fn measure_what_capture_adds(full: &BuildAsked, full_seconds: f64, turns: usize) {
    let asked = BuildAsked { command: "rm out/parts && cmake --build out".into(), ..full.clone() };
    let mut added = Vec::new();
    for turn in 0..turns {
        let mut seconds = [0.0; 2];
        for captured in [turn % 2 == 0, turn % 2 != 0] {
            std::fs::remove_dir_all(asked.store.join("kept")).expect("kept by an earlier build");
            std::fs::create_dir_all(asked.store.join("kept")).expect("made");
            let begun = Instant::now();
            if captured {
                build(&asked, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
            } else {
                run(Command::new("sh").args(["-c", &asked.command]).current_dir(&asked.folder));
            }
            seconds[usize::from(captured)] = begun.elapsed().as_secs_f64();
        }
        added.push(seconds[1] - seconds[0]);
    }
    let (seconds, bound) = (median(&added), BUILD_BOUND - 1.0);
    println!("what capture adds, {turns} turns of a build that only links");
    println!("  {seconds:.3} s, {:.4} of the build alone, bound {bound:.2}", seconds / full_seconds);
}

fn measure_replays(language: &str, link: &CapturedLink, folder: &Path, replays: usize) {
    let into = folder.join("replays");
    let (mut bare, mut as_built, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..=replays as u64 {
        let mut times = [0.0; 3];
        for at in 0..3 {
            let which = (at + turn as usize) % 3;
            let mut command = link.bare(&into.join("bare")).expect("all inputs are there");
            let begun = Instant::now();
            match which {
                0 => run(&mut command),
                1 => drop(link.replay(Link::AsBuilt, &into).expect("it links")),
                _ => {
                    let phase_bytes = (turn % 4) as u32 * 16;
                    drop(link.replay(Link::Placed { shuffle: turn, phase_bytes }, &into).expect("it links"));
                }
            }
            times[which] = begun.elapsed().as_secs_f64();
        }
        // The first turn also reads the objects and asks the linker for its script, once per link.
        if turn > 0 {
            bare.push(times[0]);
            as_built.push(times[1]);
            placed.push(times[2]);
        }
    }
    println!("a link in {language}, {replays} turns");
    println!("  {:<22}{:8.3} s", "bare", median(&bare));
    told("replayed as built", &as_built, &bare, REPLAY_BOUND);
    told("replayed in an order", &placed, &bare, REPLAY_BOUND);
}

fn told(name: &str, times: &[f64], beside: &[f64], bound: f64) {
    let ratios: Vec<f64> = times.iter().zip(beside).map(|(time, beside)| time / beside).collect();
    println!("  {name:<22}{:8.3} s   {:.3} times, bound {bound}", median(times), median(&ratios));
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Files that use containers and algorithms, as C++ files do, each with functions of its own.
fn write_project(folder: &Path, files: usize) {
    std::fs::create_dir_all(folder).expect("made");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    let mut calls = String::new();
    let mut names = String::from("main.cpp");
    for file in 0..files {
        let _ = write!(names, " part{file}.cpp");
        let mut text = String::from(
            "#include <algorithm>\n#include <map>\n#include <sstream>\n#include <string>\n#include <vector>\n",
        );
        for function in 0..12 {
            let _ = write!(
                text,
                "std::string part{file}_{function}(unsigned size)\n{{\n    std::map<std::string, std::vector<unsigned>> all;\n    \
                 for (unsigned at = 0; at < size; at++)\n        all[std::to_string(at % {})].push_back(at * {file});\n    \
                 std::ostringstream out;\n    for (auto &one : all) {{\n        std::sort(one.second.rbegin(), one.second.rend());\n        \
                 out << one.first << one.second.front();\n    }}\n    return out.str();\n}}\n",
                function + 2
            );
            let _ = writeln!(calls, "    size += part{file}_{function}(20).size();");
        }
        write(&format!("part{file}.cpp"), &text);
    }
    let mut main = String::from("#include <cstdio>\n#include <string>\n");
    for file in 0..files {
        for function in 0..12 {
            let _ = writeln!(main, "std::string part{file}_{function}(unsigned size);");
        }
    }
    let _ = write!(
        main,
        "int main()\n{{\n    unsigned long size = 0;\n{calls}    std::printf(\"%lu\\n\", size);\n}}\n"
    );
    write("main.cpp", &main);
    write(
        "CMakeLists.txt",
        &format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(parts CXX)\nset(CMAKE_CXX_FLAGS \"-O2 -g -ffunction-sections\")\n\
             add_executable(parts {names})\n"
        ),
    );
}

/// A package whose modules do the same in Rust.
fn write_package(folder: &Path, files: usize) {
    std::fs::create_dir_all(folder.join("src")).expect("made");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    let (mut modules, mut calls) = (String::new(), String::new());
    for file in 0..files {
        let _ = writeln!(modules, "mod part{file};");
        let mut text = String::from("use std::collections::BTreeMap;\nuse std::fmt::Write;\n");
        for function in 0..12 {
            let _ = write!(
                text,
                "pub fn f{function}(size: u32) -> String {{\n    let mut all: BTreeMap<String, Vec<u32>> = BTreeMap::new();\n    \
                 for at in 0..size {{ all.entry((at % {}).to_string()).or_default().push(at * {file}); }}\n    \
                 let mut out = String::new();\n    for (name, values) in &mut all {{\n        values.sort_by(|a, b| b.cmp(a));\n        \
                 write!(out, \"{{name}}{{}}\", values[0]).unwrap();\n    }}\n    out\n}}\n",
                function + 2
            );
            let _ = writeln!(calls, "    size += part{file}::f{function}(20).len();");
        }
        write(&format!("src/part{file}.rs"), &text);
    }
    write(
        "src/main.rs",
        &format!("{modules}fn main() {{\n    let mut size = 0;\n{calls}    println!(\"{{size}}\");\n}}\n"),
    );
    write(
        "Cargo.toml",
        "[package]\nname = \"parts\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    );
}
