//! What do the words of a linker's call mean: which name files that it reads, which files that it writes?
//!
//! Method: a table of the options of GNU ld, gold, lld and mold that take a value or change how libraries are searched;
//! every other word that is no option names an input. Options of several letters may begin with one dash or two, and
//! their value may follow `=` or be the next word. Source: the manuals of ld (binutils 2.40), ld.lld 16 and mold 2.
//! Limits: files that a file names (INPUT and GROUP in scripts) are not followed.

/// What a part of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRole {
    /// The file that is made.
    Output,
    /// An object, an archive, a shared library or a script in its place.
    Input,
    /// `-l`: found in the folders.
    Library {
        /// Archives only.
        archives_only: bool,
    },
    /// `-L`.
    Folder,
    /// A linker script that replaces the default one.
    Script,
    /// Any other file that is read: version scripts, lists of symbols, plugins.
    Aside,
    /// A file that is written besides the output, as a map.
    Written,
}

/// A word, or its end, that names a file or library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPart {
    /// What it is.
    pub role: PartRole,
    /// Which word holds the value.
    pub word: usize,
    /// Where in the word it begins.
    pub at: usize,
    /// Whether the word before is the option to which it belongs.
    pub behind_option: bool,
}

impl CallPart {
    /// The value, of the words that were read.
    pub fn value<'a>(&self, words: &'a [String]) -> &'a str {
        &words[self.word][self.at..]
    }
}

/// A call taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// In the order of the words.
    pub parts: Vec<CallPart>,
    /// It makes a shared library.
    pub shared: bool,
    /// It makes an object file for another link.
    pub relocatable: bool,
}

impl Parts {
    /// The first part of this role.
    pub fn first(&self, role: PartRole) -> Option<&CallPart> {
        self.parts.iter().find(|part| part.role == role)
    }

    /// The name of what is made.
    pub fn output<'a>(&self, words: &'a [String]) -> &'a str {
        // Linkers take the last one.
        let named = self.parts.iter().rfind(|part| part.role == PartRole::Output);
        named.map_or("a.out", |part| part.value(words))
    }
}

/// Takes no more away than debug information.
///
/// Input: the words of a linker, not of a driver, and what they are.
pub fn keep_symbols(words: &mut [String], parts: &Parts) {
    for (at, word) in words.iter_mut().enumerate() {
        let is_value = parts.parts.iter().any(|part| part.word == at);
        if !is_value && ["-s", "-strip-all", "--strip-all"].contains(&word.as_str()) {
            *word = "--strip-debug".to_owned();
        }
    }
}

/// Takes nothing away, not even debug information.
///
/// Input: as above. Words keep their places, so what strips becomes an option that only concerns messages.
pub fn keep_all(words: &mut [String], parts: &Parts) {
    for (at, word) in words.iter_mut().enumerate() {
        let is_value = parts.parts.iter().any(|part| part.word == at);
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
        if !is_value && ["s", "S", "strip-all", "strip-debug"].contains(&option) {
            *word = "--no-demangle".to_owned();
        }
    }
}

/// What an option's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Of(PartRole),
    Library,
    Text,
}

/// Options of several letters whose value follows `=` or is the next word.
const LONG: &[(&str, Value)] = &[
    ("output", Value::Of(PartRole::Output)),
    ("femit-bin", Value::Of(PartRole::Output)),
    ("library", Value::Library),
    ("library-path", Value::Of(PartRole::Folder)),
    ("script", Value::Of(PartRole::Script)),
    ("default-script", Value::Of(PartRole::Script)),
    ("dT", Value::Of(PartRole::Script)),
    ("version-script", Value::Of(PartRole::Aside)),
    ("dynamic-list", Value::Of(PartRole::Aside)),
    ("export-dynamic-symbol-list", Value::Of(PartRole::Aside)),
    ("retain-symbols-file", Value::Of(PartRole::Aside)),
    ("symbol-ordering-file", Value::Of(PartRole::Aside)),
    ("section-ordering-file", Value::Of(PartRole::Aside)),
    ("call-graph-ordering-file", Value::Of(PartRole::Aside)),
    ("just-symbols", Value::Of(PartRole::Aside)),
    ("remap-inputs-file", Value::Of(PartRole::Aside)),
    ("lto-sample-profile", Value::Of(PartRole::Aside)),
    ("lto-cs-profile-file", Value::Of(PartRole::Aside)),
    ("plugin", Value::Of(PartRole::Aside)),
    ("Map", Value::Of(PartRole::Written)),
    ("dependency-file", Value::Of(PartRole::Written)),
    ("out-implib", Value::Of(PartRole::Written)),
    ("reproduce", Value::Of(PartRole::Written)),
    ("print-symbol-order", Value::Of(PartRole::Written)),
    ("print-archive-stats", Value::Of(PartRole::Written)),
    ("time-trace", Value::Text),
    ("why-extract", Value::Of(PartRole::Written)),
    ("lto-obj-path", Value::Of(PartRole::Written)),
    ("plugin-opt", Value::Text),
    ("Tbss", Value::Text),
    ("Tdata", Value::Text),
    ("Ttext", Value::Text),
    ("Tldata-segment", Value::Text),
    ("Trodata-segment", Value::Text),
    ("Ttext-segment", Value::Text),
    ("architecture", Value::Text),
    ("assert", Value::Text),
    ("audit", Value::Text),
    ("auxiliary", Value::Text),
    ("defsym", Value::Text),
    ("depaudit", Value::Text),
    ("dynamic-linker", Value::Text),
    ("entry", Value::Text),
    ("exclude-libs", Value::Text),
    ("export-dynamic-symbol", Value::Text),
    ("filter", Value::Text),
    ("fini", Value::Text),
    ("format", Value::Text),
    ("hash-size", Value::Text),
    ("image-base", Value::Text),
    ("init", Value::Text),
    ("mllvm", Value::Text),
    ("oformat", Value::Text),
    ("require-defined", Value::Text),
    ("rpath", Value::Text),
    ("rpath-link", Value::Text),
    ("section-start", Value::Text),
    ("soname", Value::Text),
    ("sysroot", Value::Text),
    ("task-link", Value::Text),
    ("trace-symbol", Value::Text),
    ("undefined", Value::Text),
    ("version-exports-section", Value::Text),
    ("wrap", Value::Text),
];

/// Of these the value must follow `=`; the next word is not theirs.
const ONLY_JOINED: &[&str] = &["sysroot", "time-trace"];

/// Options of one letter and one dash; their value is the rest of the word or the next word.
const SHORT: &[(char, Value)] = &[
    ('o', Value::Of(PartRole::Output)),
    ('l', Value::Library),
    ('L', Value::Of(PartRole::Folder)),
    ('T', Value::Of(PartRole::Script)),
    ('R', Value::Of(PartRole::Aside)),
    ('A', Value::Text),
    ('F', Value::Text),
    ('I', Value::Text),
    ('P', Value::Text),
    ('Y', Value::Text),
    ('a', Value::Text),
    ('b', Value::Text),
    ('c', Value::Text),
    ('e', Value::Text),
    ('f', Value::Text),
    ('h', Value::Text),
    ('m', Value::Text),
    ('u', Value::Text),
    ('y', Value::Text),
    ('z', Value::Text),
];

/// Options without a value that begin like one of the former.
const WHOLE: &[&str] = &[
    "EB",
    "EL",
    "add-needed",
    "allow-multiple-definition",
    "allow-shlib-undefined",
    "apply-dynamic-relocs",
    "as-needed",
    "be8",
    "check-sections",
    "color-diagnostics",
    "copy-dt-needed-entries",
    "cref",
    "eh-frame-hdr",
    "emit-relocs",
    "enable-new-dtags",
    "export-dynamic",
    "fatal-warnings",
    "fix-cortex-a53-835769",
    "fix-cortex-a53-843419",
    "omagic",
    "lto-emit-asm",
    "mark-stacks",
    "print-map",
];

/// Takes the words behind the linker's name apart.
pub fn parse(words: &[String]) -> Parts {
    let mut reader = WordsReader { words, found: Parts::default(), archives_only: false, pushed: Vec::new() };
    let mut at = 0;
    while at < words.len() {
        at += reader.word(at);
    }
    reader.found
}

struct WordsReader<'a> {
    words: &'a [String],
    found: Parts,
    archives_only: bool,
    pushed: Vec<bool>,
}

impl WordsReader<'_> {
    /// Reads the word at `at`; returns how many words that were.
    fn word(&mut self, at: usize) -> usize {
        let word = self.words[at].as_str();
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            self.put(Value::Of(PartRole::Input), at, 0, false);
            return 1;
        };
        let double = option.starts_with('-');
        let name = option.strip_prefix('-').unwrap_or(option);
        if self.switch(name, double) {
            return 1;
        }
        if let Some(count) = self.long(name, at) {
            return count;
        }
        if double || WHOLE.contains(&name) {
            return 1;
        }
        let mut letters = name.chars();
        let first = letters.next();
        let Some((_, value)) = SHORT.iter().find(|(letter, _)| Some(*letter) == first) else { return 1 };
        if letters.as_str().is_empty() { self.next(*value, at) } else { self.put(*value, at, 2, false) }
    }

    /// Options without a value that change what follows, or what is made.
    fn switch(&mut self, name: &str, double: bool) -> bool {
        match name {
            "static" | "Bstatic" | "dn" | "non_shared" => self.archives_only = true,
            "Bdynamic" | "dy" | "call_shared" => self.archives_only = false,
            "push-state" => self.pushed.push(self.archives_only),
            "pop-state" => self.archives_only = self.pushed.pop().unwrap_or(false),
            "shared" | "Bshareable" => self.found.shared = true,
            "relocatable" => self.found.relocatable = true,
            "r" | "i" | "Ur" if !double => self.found.relocatable = true,
            _ => return false,
        }
        true
    }

    fn long(&mut self, name: &str, at: usize) -> Option<usize> {
        let (bare, joined) = name.split_once('=').map_or((name, None), |(bare, value)| (bare, Some(value)));
        let (_, value) = LONG.iter().find(|(known, _)| *known == bare)?;
        let word = &self.words[at];
        match joined {
            Some(joined) if bare == "plugin-opt" => Some(self.plugin(at, word.len() - joined.len())),
            Some(joined) => Some(self.put(*value, at, word.len() - joined.len(), false)),
            None if ONLY_JOINED.contains(&bare) => Some(1),
            None if bare == "plugin-opt" && at + 1 < self.words.len() => Some(1 + self.plugin(at + 1, 0)),
            None => Some(self.next(*value, at)),
        }
    }

    /// A plugin's own option, whose text begins at `from` in the word: some name files that it writes.
    fn plugin(&mut self, at: usize, from: usize) -> usize {
        const WRITTEN: [&str; 3] = ["-fresolution=", "obj-path=", "stats-file="];
        let text = &self.words[at][from..];
        if let Some(mark) = WRITTEN.iter().find(|mark| text.starts_with(*mark)) {
            self.put(Value::Of(PartRole::Written), at, from + mark.len(), false);
        }
        1
    }

    /// The value is the next word.
    fn next(&mut self, value: Value, at: usize) -> usize {
        if at + 1 < self.words.len() {
            self.put(value, at + 1, 0, true);
        }
        2
    }

    fn put(&mut self, value: Value, word: usize, at: usize, behind_option: bool) -> usize {
        let role = match value {
            Value::Text => return 1,
            Value::Of(role) => role,
            Value::Library => PartRole::Library { archives_only: self.archives_only },
        };
        self.found.parts.push(CallPart { role, word, at, behind_option });
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(PartRole, String)>, Parts) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let parts = parse(&words);
        let values = parts.parts.iter().map(|part| (part.role, part.value(&words).to_owned())).collect();
        (values, parts)
    }

    fn of(text: &str, role: PartRole) -> Vec<String> {
        read(text).0.into_iter().filter(|(found, _)| *found == role).map(|(_, value)| value).collect()
    }

    #[test]
    fn a_link_that_strips_all_keeps_its_symbols() {
        let mut words: Vec<String> =
            ["-s", "-o", "-s", "a.o", "--strip-all", "-soname", "x", "-S"].map(str::to_owned).to_vec();
        let parts = parse(&words);
        keep_symbols(&mut words, &parts);
        assert_eq!(words, ["--strip-debug", "-o", "-s", "a.o", "--strip-debug", "-soname", "x", "-S"]);
        keep_all(&mut words, &parts);
        let kept = ["--no-demangle", "-o", "-s", "a.o", "--no-demangle", "-soname", "x", "--no-demangle"];
        assert_eq!(words, kept);
    }

    #[test]
    fn reads_what_gcc_says_to_gnu_ld() {
        let text = "-plugin p/liblto_plugin.so -plugin-opt=p/lto-wrapper -plugin-opt=-fresolution=/tmp/cc1.res \
                    -plugin-opt=-pass-through=-lgcc --build-id --eh-frame-hdr -m elf_x86_64 --hash-style=gnu \
                    --as-needed -dynamic-linker /lib64/ld.so -pie -z now -o app Scrt1.o -Lone -L two /tmp/a.o -lgcc \
                    --push-state --as-needed -lgcc_s --pop-state -lc crtn.o";
        assert_eq!(of(text, PartRole::Input), ["Scrt1.o", "/tmp/a.o", "crtn.o"]);
        assert_eq!(of(text, PartRole::Aside), ["p/liblto_plugin.so"]);
        assert_eq!(of(text, PartRole::Written), ["/tmp/cc1.res"]);
        assert_eq!(of(text, PartRole::Folder), ["one", "two"]);
        assert_eq!(of(text, PartRole::Library { archives_only: false }), ["gcc", "gcc_s", "c"]);
        assert_eq!(of(text, PartRole::Output), ["app"]);
        assert!(!read(text).1.shared && !read(text).1.relocatable);
    }

    #[test]
    fn values_stand_in_the_word_behind_an_equals_sign_or_in_the_next_word() {
        for text in ["-ox", "-o x", "--output=x", "--output x", "-output x"] {
            assert_eq!(of(text, PartRole::Output), ["x"], "{text}");
            assert_eq!(of(text, PartRole::Input), Vec::<String>::new(), "{text}");
        }
        for text in ["--version-script=v", "--version-script v", "-version-script v", "-dynamic-list=v"] {
            assert_eq!(of(text, PartRole::Aside), ["v"], "{text}");
        }
        for text in ["-Ts", "-T s", "--script=s", "-dT s"] {
            assert_eq!(of(text, PartRole::Script), ["s"], "{text}");
        }
        for text in
            ["-Ttext=0x1000 a.o", "-Ttext 0x1000 a.o", "-Ttext-segment=0 a.o", "-u f a.o", "-soname x a.o"]
        {
            assert_eq!(read(text).0, [(PartRole::Input, "a.o".to_owned())], "{text}");
        }
        assert_eq!(of("-Map=m --Map n --dependency-file=d", PartRole::Written), ["m", "n", "d"]);
    }

    #[test]
    fn options_that_begin_like_others_are_told_apart() {
        for text in [
            "--eh-frame-hdr a.o",
            "-as-needed a.o",
            "-export-dynamic a.o",
            "-O2 a.o",
            "-pie a.o",
            "-EL a.o",
            "--sysroot=/x a.o",
            "--build-id a.o",
            "--no-undefined a.o",
            "-static-pie a.o",
            "-s a.o",
        ] {
            assert_eq!(read(text).0, [(PartRole::Input, "a.o".to_owned())], "{text}");
        }
    }

    #[test]
    fn archives_alone_are_meant_between_static_and_dynamic() {
        let dynamic = PartRole::Library { archives_only: false };
        let only = PartRole::Library { archives_only: true };
        let text = "-la -Bstatic -lb --push-state -Bdynamic -lc --pop-state -ld -dy -l e";
        assert_eq!(of(text, dynamic), ["a", "c", "e"]);
        assert_eq!(of(text, only), ["b", "d"]);
        assert_eq!(of("-static -lx", only), ["x"]);
    }

    #[test]
    fn what_is_made_is_known() {
        assert!(read("-shared a.o").1.shared && read("-Bshareable a.o").1.shared);
        assert!(read("-r a.o").1.relocatable && read("--relocatable a.o").1.relocatable);
        assert!(!read("-rpath x a.o").1.relocatable);
        assert_eq!(parse(&[]).output(&[]), "a.out");
        let twice: Vec<String> = ["-o", "x", "-oy"].map(String::from).to_vec();
        assert_eq!(parse(&twice).output(&twice), "y");
    }

    #[test]
    fn a_value_that_is_missing_is_no_value() {
        assert_eq!(read("-o").0, []);
        assert_eq!(read("-plugin-opt").0, []);
        assert_eq!(read("--version-script").0, []);
    }
}
