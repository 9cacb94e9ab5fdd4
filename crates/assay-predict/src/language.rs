//! The language of a source text.

/// A language by how its text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C, C++ and what is included into them.
    C,
    /// Rust.
    Rust,
    /// Zig.
    Zig,
}

impl Language {
    /// By the ending of a file's name; `None` for what is none of them (assembly, Fortran, no ending).
    pub fn of(file_name: &str) -> Option<Language> {
        let (_, ending) = file_name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "rs" => Some(Language::Rust),
            "zig" => Some(Language::Zig),
            "c" | "h" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "inl" | "inc"
            | "ipp" | "tcc" | "tpp" | "txx" | "cppm" | "ixx" | "cu" | "cuh" | "def" | "impl" | "m" | "mm" => {
                Some(Language::C)
            }
            _ => None,
        }
    }
}
