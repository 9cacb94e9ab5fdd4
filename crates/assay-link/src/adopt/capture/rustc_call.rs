//! Calls of rustc, recorded so that they can be made again.
//!
//! Question: how is a crate of somebody's build compiled again as it was, only to another output? Method: the stand-in for rustc
//! (`rust`) records the words of each call, its folder and the variables that cargo sets; rustc itself notes, beside what it
//! makes, which other variables the crate read. Records outlive their build, as cargo need not compile a crate again for the
//! next one. Limits: a variable that a procedural macro reads is only known if cargo sets it; words in a file (`@FILE`, where
//! there are very many) are not read.

use super::call::CaptureSession;
use super::kept::plain;
use super::rust::{codegen, value};
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::{digest, short_digest};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The number of units of an incremental build that sets none (`Session::codegen_units` of rustc 1.95).
const INCREMENTAL_UNITS: &str = "256";
/// Descriptors of cargo, which are closed when the call is made again.
const JOBS: [&str; 3] = ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"];
/// Options whose value is replaced.
const REPLACED: [&str; 5] = ["--emit", "--out-dir", "-o", "--error-format", "--json"];
const REPLACED_CODEGEN: [&str; 3] = ["incremental", "linker", "save-temps"];

/// One call of rustc that compiled a crate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RustcCall {
    /// rustc, behind a wrapper of the workspace if there is one, and its words.
    words: Vec<String>,
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

impl RustcCall {
    /// Records a call for the links of this build and of later ones, for which cargo need not compile the crate again. `build` is
    /// the folder of the build's session.
    ///
    /// # Errors
    /// A word is not UTF-8; the record cannot be written.
    pub fn record(words: &[OsString], build: &Path) -> io::Result<()> {
        let text = |word: &OsString| {
            let refused = || io::Error::other(format!("the word {word:?} is not UTF-8"));
            word.to_str().map(str::to_owned).ok_or_else(refused)
        };
        let words: Vec<String> = words.iter().map(text).collect::<io::Result<_>>()?;
        let call = RustcCall { words, folder: std::env::current_dir()?, environment: of_cargo() };
        let Some((place, stem)) = call.output() else { return Ok(()) };
        let folder = calls_of(&CaptureSession::read(build)?.kept);
        fs::create_dir_all(&folder)?;
        let name = file_name(&place, &stem);
        let beside = folder.join(format!(".{name}-{}", std::process::id()));
        fs::write(&beside, serde_json::to_vec(&call)?)?;
        fs::rename(beside, folder.join(name))
    }

    /// The folder of what it makes, and how names of it begin; nothing if it makes nothing.
    fn output(&self) -> Option<(PathBuf, String)> {
        let words = self.words();
        let (place, name) = (value(&words, &["--out-dir"])?, value(&words, &["--crate-name"])?);
        Some((
            self.folder.join(place),
            format!("{name}{}", codegen(&words, "extra-filename").unwrap_or_default()),
        ))
    }

    fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// The crate.
    pub fn crate_name(&self) -> String {
        value(&self.words(), &["--crate-name"]).unwrap_or_default().to_owned()
    }

    /// Whether it generates the code of all crates once more for its link.
    pub fn is_link_time(&self) -> bool {
        let words = self.words();
        let bare = words.windows(2).any(|pair| ["-C", "--codegen"].contains(&pair[0]) && pair[1] == "lto");
        bare || words.contains(&"-Clto")
            || codegen(&words, "lto")
                .is_some_and(|how| ["fat", "thin", "yes", "y", "on", "true"].contains(&how))
    }

    /// rustc, without its words, in the surroundings of the call.
    pub fn rustc(&self) -> Command {
        let own: Vec<&String> = self.words.iter().take_while(|word| !word.starts_with('-')).collect();
        let mut command = Command::new(own.first().map_or("rustc", |program| program.as_str()));
        with_the_lab(&mut command).args(&own[own.len().min(1)..]).current_dir(&self.folder);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        for name in JOBS {
            command.env_remove(name);
        }
        command
    }

    /// The call again, so that it writes texts into a folder; nothing if the number of units is not known.
    pub fn for_texts(&self, into: &Path) -> Option<Command> {
        let words = self.words_for_texts(into)?;
        let mut command = self.rustc();
        for (name, value) in self.variables_read() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(words);
        Some(command)
    }

    fn words_for_texts(&self, into: &Path) -> Option<Vec<String>> {
        let words = self.words();
        let incremental = codegen(&words, "incremental").is_some();
        let mut told = without_replaced(&self.words);
        if codegen(&words, "codegen-units").is_none() {
            if !incremental {
                return None;
            }
            told.extend(["-C".into(), format!("codegen-units={INCREMENTAL_UNITS}")]);
        }
        if incremental {
            // It decides over the units, and must not find those of another call.
            told.extend(["-C".into(), format!("incremental={}", into.join("incremental").display())]);
        }
        told.extend(["--emit=asm".into(), "--out-dir".into(), into.to_string_lossy().into_owned()]);
        Some(told)
    }

    /// The variables that the crate read, as rustc noted beside what it made; no value: there was none.
    fn variables_read(&self) -> Vec<(String, Option<String>)> {
        let Some((place, stem)) = self.output() else { return Vec::new() };
        let noted = fs::read_to_string(place.join(format!("{stem}.d"))).unwrap_or_default();
        noted.lines().filter_map(|line| Some(variable_read(line.strip_prefix("# env-dep:")?))).collect()
    }

    /// The processor that a text must be assembled for, so that it is padded like the functions of this call.
    pub fn processor(&self) -> String {
        match codegen(&self.words(), "target-cpu") {
            // Functions of this target are tuned for another one than texts are, unless told.
            None | Some("x86-64") => "generic".into(),
            Some(own) => own.to_owned(),
        }
    }

    /// The target, if it is told.
    pub fn target(&self) -> Option<String> {
        value(&self.words(), &["--target"]).map(str::to_owned)
    }

    /// The call whose objects in a folder are named like this.
    pub fn of(kept: &Path, place: &Path, stem: &str) -> Option<RustcCall> {
        serde_json::from_slice(&fs::read(calls_of(kept).join(file_name(place, stem))).ok()?).ok()
    }
}

/// Where the calls of a build's store are, beside what it keeps.
fn calls_of(kept: &Path) -> PathBuf {
    kept.with_file_name("rustc")
}

/// What cargo tells rustc in its environment, and where programs are searched. Secrets of registries are left out.
fn of_cargo() -> Vec<(String, String)> {
    let is_wanted = |name: &str| {
        ["PATH", "LD_LIBRARY_PATH", "OUT_DIR"].contains(&name)
            || name.starts_with("RUST")
            || (name.starts_with("CARGO") && !name.starts_with("CARGO_REGISTR") && !JOBS.contains(&name))
    };
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| is_wanted(name)).collect()
}

/// The name of a call's record: that of its objects, and where they are.
pub fn file_name(place: &Path, stem: &str) -> String {
    let place = place.canonicalize().unwrap_or_else(|_| plain(place));
    format!("{stem}-{}.json", short_digest(&digest(place.to_string_lossy().as_bytes())))
}

/// The words behind rustc without what is replaced.
fn without_replaced(words: &[String]) -> Vec<String> {
    let is_codegen = |text: &str| REPLACED_CODEGEN.contains(&text.split('=').next().unwrap_or(text));
    let mut kept = Vec::new();
    let mut words = words.iter().skip_while(|word| !word.starts_with('-')).peekable();
    while let Some(word) = words.next() {
        let own =
            word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen=")).filter(|own| !own.is_empty());
        if REPLACED.contains(&word.as_str()) {
            words.next();
        } else if ["-C", "--codegen"].contains(&word.as_str()) {
            let value = words.next().filter(|value| !is_codegen(value));
            kept.extend(value.into_iter().flat_map(|value| [word.clone(), value.clone()]));
        } else if !own.is_some_and(is_codegen)
            && !REPLACED
                .iter()
                .any(|option| word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))
        {
            kept.push(word.clone());
        }
    }
    kept
}

/// A variable as rustc notes it: `NAME=VALUE`, with lines and backslashes escaped.
fn variable_read(noted: &str) -> (String, Option<String>) {
    let (name, value) = noted.split_once('=').map_or((noted, None), |(name, value)| (name, Some(value)));
    let value = value.map(|value| {
        let mut plain = String::with_capacity(value.len());
        let mut characters = value.chars();
        while let Some(c) = characters.next() {
            let escaped = if c == '\\' { characters.next() } else { None };
            plain.push(match escaped {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => c,
            });
        }
        plain
    });
    (name.to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &str) -> RustcCall {
        let words = words.split(' ').map(str::to_owned).collect();
        RustcCall { words, folder: "/p".into(), environment: Vec::new() }
    }

    #[test]
    fn a_call_is_known_by_where_and_how_it_names_what_it_makes() {
        let one =
            call("rustc --crate-name app src/main.rs -C extra-filename=-1f2e --out-dir target/debug/deps");
        assert_eq!(one.output(), Some(("/p/target/debug/deps".into(), "app-1f2e".to_owned())));
        assert_eq!(call("rustc --crate-name ___ --print=cfg").output(), None);
    }

    #[test]
    fn the_same_units_are_asked_for_as_text() {
        let told = |words: &str| call(words).words_for_texts(Path::new("/t")).map(|words| words.join(" "));
        assert_eq!(
            told(
                "rustc --crate-name app --emit=dep-info,link -C opt-level=3 -Ccodegen-units=16 -Clinker=cc --out-dir x --json a -o y"
            ),
            Some("--crate-name app -C opt-level=3 -Ccodegen-units=16 --emit=asm --out-dir /t".to_owned())
        );
        assert_eq!(
            told("wrapper rustc --crate-name app --emit link -C incremental=x --codegen linker=cc"),
            Some(
                "--crate-name app -C codegen-units=256 -C incremental=/t/incremental --emit=asm --out-dir /t"
                    .to_owned()
            )
        );
        assert_eq!(told("rustc --crate-name app -C opt-level=3"), None, "rustc would make one unit");
    }

    #[test]
    fn a_link_that_optimises_is_known_in_each_spelling() {
        let is = |words: &str| call(words).is_link_time();
        assert!(
            is("rustc -C lto")
                && is("rustc -Clto")
                && is("rustc -C lto=thin")
                && is("rustc --codegen lto=fat")
        );
        assert!(!is("rustc -C opt-level=3") && !is("rustc -C lto=off") && !is("rustc -C linker-plugin-lto"));
    }

    #[test]
    fn texts_are_padded_as_functions_of_the_processor_are() {
        assert_eq!(call("rustc --crate-name a").processor(), "generic");
        assert_eq!(call("rustc --crate-name a -C target-cpu=x86-64").processor(), "generic");
        assert_eq!(
            call("rustc --crate-name a -C target-cpu=x86-64 -Ctarget-cpu=native").processor(),
            "native"
        );
    }

    #[test]
    fn a_variable_that_was_read_has_its_value_as_it_was() {
        let read = |noted| variable_read(noted).1;
        assert_eq!(read(r"TEXT=a\\b\nc=d").as_deref(), Some("a\\b\nc=d"));
        assert_eq!((read("EMPTY=").as_deref(), read("UNSET")), (Some(""), None));
    }
}
