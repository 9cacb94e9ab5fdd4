//! Why does a link fail: which symbol is missing or twice there, and what ends that?
//!
//! Read from the linker's own words (GNU ld, gold, lld and mold) and from the symbols of the program's objects. C++ names are
//! compared as the Itanium ABI mangles functions outside of namespaces, `_Z` or `_ZL`, length, name: what is called from C is
//! such a one.

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::path::{Path, PathBuf};

/// Whose link it is: where the file or library is named that defines what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOf {
    /// From the experiment's sources.
    Sources,
    /// By cargo.
    Cargo,
    /// By another build of its own.
    Build,
}

/// What stands ahead of a name that is not defined.
const MISSING: [&str; 2] = ["undefined reference to ", "undefined symbol: "];
/// ... and of one that is defined twice.
const TWICE: [&str; 2] = ["multiple definition of ", "duplicate symbol: "];

/// What one object file defines and calls.
struct ObjectSymbols {
    /// The source, by the object's own word; the object's name where it has none.
    source: String,
    global: Vec<String>,
    local: Vec<String>,
    wanted: Vec<String>,
}

impl ObjectSymbols {
    /// Those of an object, or of each member of an archive; none of what cannot be read.
    fn in_file(file: &Path) -> Vec<Self> {
        let Ok(bytes) = std::fs::read(file) else { return Vec::new() };
        let Ok(archive) = ArchiveFile::parse(&*bytes) else {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            return Self::of(&bytes, name.into_owned()).into_iter().collect();
        };
        let member = |member: object::Result<object::read::archive::ArchiveMember<'_>>| {
            let member = member.ok()?;
            Self::of(member.data(&*bytes).ok()?, String::from_utf8_lossy(member.name()).into_owned())
        };
        archive.members().filter_map(member).collect()
    }

    fn of(bytes: &[u8], name: String) -> Option<Self> {
        let parsed = object::File::parse(bytes).ok()?;
        let mut found = Self { source: name, global: Vec::new(), local: Vec::new(), wanted: Vec::new() };
        for symbol in parsed.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if symbol.kind() == SymbolKind::File {
                found.source = name.rsplit('/').next().unwrap_or(name).to_owned();
            } else if symbol.is_undefined() {
                found.wanted.push(name.to_owned());
            } else if symbol.is_global() {
                found.global.push(name.to_owned());
            } else {
                found.local.push(name.to_owned());
            }
        }
        Some(found)
    }
}

/// What is wrong and what ends it, for the first line of a failure; nothing where the linker complains of something else.
///
/// Input: what the linker wrote, and the objects and archives that it was given.
pub fn told(stderr: &str, files: &[PathBuf], link: LinkOf) -> Option<String> {
    let symbols: Vec<ObjectSymbols> = files.iter().flat_map(|file| ObjectSymbols::in_file(file)).collect();
    let missing = named(stderr, &MISSING);
    if let Some(first) = missing.first() {
        let more = match missing.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more symbols are missing)"),
        };
        return Some(why_missing(first, &symbols, link) + &more);
    }
    let twice = named(stderr, &TWICE);
    twice.first().map(|name| why_twice(name, &symbols))
}

/// The names behind these words, each once, in their order.
fn named(stderr: &str, ahead: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in stderr.lines() {
        let Some(rest) = ahead.iter().find_map(|words| line.split_once(words)).map(|(_, rest)| rest) else {
            continue;
        };
        let rest = rest.split("; ").next().unwrap_or(rest).trim_end_matches(':').trim();
        let name = rest.trim_matches(['`', '\'', '"', '\u{2018}', '\u{2019}']).to_owned();
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// "helper" of `helper(unsigned char const*, unsigned long)`; nothing of a name in C.
fn of_cpp(name: &str) -> Option<&str> {
    name.split_once('(').map(|(base, _)| base)
}

fn mangles(symbol: &str, name: &str) -> bool {
    let rest = symbol.strip_prefix("_ZL").or_else(|| symbol.strip_prefix("_Z"));
    rest.and_then(|rest| rest.strip_prefix(&name.len().to_string()))
        .is_some_and(|rest| rest.starts_with(name))
}

fn why_missing(name: &str, symbols: &[ObjectSymbols], link: LinkOf) -> String {
    let defined = |is: &dyn Fn(&str) -> bool, locals: bool| {
        symbols.iter().find(|of| if locals { &of.local } else { &of.global }.iter().any(|own| is(own)))
    };
    if name == "main" {
        return match link {
            LinkOf::Sources => "no source has `ASSAY_MAIN()`: write it once, in one of them".to_owned(),
            _ => {
                "nothing that is linked defines `main`; with assay.h, one file has `ASSAY_MAIN()`".to_owned()
            }
        };
    }
    let base = of_cpp(name).unwrap_or(name);
    let caller = symbols.iter().find(|of| of.wanted.iter().any(|own| own == name || mangles(own, base)));
    let by = caller.map(|of| of.source.as_str());
    let named = |other: &str| other == base || mangles(other, base);
    if let Some(of) = defined(&named, true) {
        let own = &of.source;
        return format!(
            "`{base}` is `static` in {own}, so no other file can call it: remove `static`, or move it to where it is called"
        );
    }
    let calls = by.unwrap_or("another file");
    if of_cpp(name).is_some() {
        if let Some(of) = defined(&|own: &str| own == base, false) {
            return format!(
                "{} defines `{base}` in C, but {calls} calls a C++ function of that name: declare it as extern \"C\" in {calls}",
                of.source
            );
        }
    } else if let Some(of) = defined(&|own: &str| mangles(own, base), false) {
        return format!(
            "{} defines `{base}` in C++, but {calls} calls a C function of that name: define it as extern \"C\" in {0}",
            of.source
        );
    }
    let remedy = match link {
        LinkOf::Sources => {
            return format!(
                "`{name}`, which {calls} calls, is defined in no source, or only as `static`: add the file that defines it to \
                 `sources`, or its library to `link_flags`"
            );
        }
        LinkOf::Cargo => "declare its library in build.rs (cargo:rustc-link-lib)",
        LinkOf::Build => "link the file or library that defines it",
    };
    // Objects of rustc are called by numbers.
    let by =
        by.filter(|_| link == LinkOf::Build).map(|by| format!(", which {by} calls,")).unwrap_or_default();
    let other = match of_cpp(name) {
        Some(_) => "",
        None => "; if it is defined in C++, define it as extern \"C\"",
    };
    format!("`{name}`{by} is defined in nothing that is linked: {remedy}{other}")
}

fn why_twice(name: &str, symbols: &[ObjectSymbols]) -> String {
    let base = of_cpp(name).unwrap_or(name);
    let own = symbols.iter().filter(|of| of.global.iter().any(|own| own == name || mangles(own, base)));
    let mut sources: Vec<&str> = own.map(|of| of.source.as_str()).collect();
    sources.dedup();
    let places = assay_pure::words::list(&sources);
    match name {
        "main" => format!("{places} have `main` twice: `ASSAY_MAIN()` is one; write it once, and no other"),
        _ => format!("`{base}` is defined twice, in {places}: keep one, or make each `static`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str, global: &[&str], local: &[&str], wanted: &[&str]) -> ObjectSymbols {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        ObjectSymbols {
            source: source.into(),
            global: owned(global),
            local: owned(local),
            wanted: owned(wanted),
        }
    }

    #[test]
    fn names_are_read_from_each_linkers_words() {
        let said = "/usr/bin/ld: a.o: in function `one':\na.c:(.text+0x9): undefined reference to `helper'\n\
                    a.c:(.text+0x19): undefined reference to `helper'\n\
                    ld.lld: error: undefined symbol: other(int)\n>>> referenced by a.c\n\
                    mold: error: undefined symbol: third\n";
        assert_eq!(named(said, &MISSING), ["helper", "other(int)", "third"]);
        let said = "/usr/bin/ld: b.o: in function `f':\nb.c:(.text+0x0): multiple definition of `f'; a.o:a.c:(.text+0x0): first";
        assert_eq!(named(said, &TWICE), ["f"]);
    }

    #[test]
    fn a_missing_symbol_is_told_with_its_reason() {
        let calls = |wanted: &str| of("a.c", &["main"], &[], &[wanted]);
        let why = |name: &str, all: &[ObjectSymbols]| why_missing(name, all, LinkOf::Sources);
        let hidden = why("helper", &[calls("helper"), of("b.c", &[], &["helper"], &[])]);
        assert!(hidden.starts_with("`helper` is `static` in b.c"), "{hidden}");
        let of_cpp = why("helper", &[calls("helper"), of("b.cpp", &["_Z6helperPKhm"], &[], &[])]);
        assert!(of_cpp.starts_with("b.cpp defines `helper` in C++, but a.c calls a C function"), "{of_cpp}");
        assert!(of_cpp.ends_with("define it as extern \"C\" in b.cpp"), "{of_cpp}");
        let of_c = why(
            "helper(unsigned char const*, unsigned long)",
            &[of("a.cpp", &["main"], &[], &["_Z6helperPKhm"]), of("b.c", &["helper"], &[], &[])],
        );
        assert!(of_c.contains("declare it as extern \"C\" in a.cpp"), "{of_c}");
        let gone = why("helper", &[calls("helper")]);
        assert!(
            gone.starts_with("`helper`, which a.c calls, is defined in no source, or only as `static`: add"),
            "{gone}"
        );
        assert!(why("main", &[]).contains("ASSAY_MAIN()"));
    }

    #[test]
    fn a_build_of_its_own_is_told_where_it_names_what_is_missing() {
        let calls = [of("a.c", &["main"], &[], &["helper"])];
        assert_eq!(
            why_missing("helper", &calls, LinkOf::Build),
            "`helper`, which a.c calls, is defined in nothing that is linked: link the file or library that defines it; if it is \
             defined in C++, define it as extern \"C\""
        );
        let cpp = why_missing("helper(int)", &[], LinkOf::Build);
        assert!(cpp.ends_with("link the file or library that defines it"), "called from C++: {cpp}");
        let rust = [of("bench.7a-cgu.0", &["main"], &[], &["helper"])];
        assert_eq!(
            why_missing("helper", &rust, LinkOf::Cargo),
            "`helper` is defined in nothing that is linked: declare its library in build.rs (cargo:rustc-link-lib); if it is defined \
             in C++, define it as extern \"C\""
        );
    }

    #[test]
    fn a_symbol_that_is_there_twice_is_told_with_its_places() {
        let both = [of("a.c", &["f"], &[], &[]), of("b.c", &["f"], &[], &[])];
        assert_eq!(
            why_twice("f", &both),
            "`f` is defined twice, in a.c and b.c: keep one, or make each `static`"
        );
    }
}
