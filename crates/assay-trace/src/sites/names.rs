//! Names of functions as their source has them.

use cpp_demangle::{DemangleOptions, Symbol};

/// The longest mangled name that is read: templates can double a name with every level.
const LONGEST: usize = 4096;
/// The longest name that is kept.
const LONGEST_KEPT: usize = 2000;

/// A symbol's name in C++ or Rust; as it is where it is neither.
///
/// What compilers append (`.cold`, `.part.0`, `.isra.0`) stays.
pub fn demangle(name: &str) -> String {
    demangled(name, DemangleOptions::new())
}

/// As [`demangle`], without what C++ adds for the type of a function and of its parameters: overloads have the same brief name.
pub fn brief(name: &str) -> String {
    demangled(name, DemangleOptions::new().no_params().no_return_type())
}

fn demangled(name: &str, options: DemangleOptions) -> String {
    // A version as in `memcpy@@GLIBC_2.14` is the dynamic linker's business.
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    if name.len() > LONGEST {
        return name.to_owned();
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return kept(format!("{rust:#}"));
    }
    // `_ZN3fooEv.cold` is no mangled name, but `_ZN3fooEv` is.
    let (stem, suffix) = match name.find('.').filter(|_| name.starts_with("_Z")) {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    let symbol = Symbol::new(stem).ok().filter(|_| stem.starts_with("_Z"));
    let readable = symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok());
    readable.map_or_else(|| name.to_owned(), |text| kept(text + suffix))
}

fn kept(name: String) -> String {
    if name.chars().count() <= LONGEST_KEPT {
        name
    } else {
        name.chars().take(LONGEST_KEPT).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rust_c_and_cpp_are_read() {
        // By c++filt and rustfilt.
        let cases = [
            ("main", "main"),
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("_ZN3foo3barEi.cold", "foo::bar(int).cold"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("decode.constprop.0", "decode.constprop.0"),
            ("_Znonsense", "_Znonsense"),
        ];
        for (mangled, readable) in cases {
            assert_eq!(demangle(mangled), readable, "{mangled}");
        }
        assert_eq!(
            brief("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back"
        );
        // By c++filt: unsigned long each<unsigned long>(unsigned long)
        assert_eq!(brief("_Z4eachImET_S0_"), "each<unsigned long>");
        assert_eq!(brief("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
        assert_eq!(demangle(&"_Z".repeat(4000)).len(), 8000);
    }
}
