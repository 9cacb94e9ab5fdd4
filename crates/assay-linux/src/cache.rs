//! Where does this user keep what programs can make again? (XDG Base Directory Specification 0.8.)

use std::path::PathBuf;

/// `$XDG_CACHE_HOME`, or `.cache` in the user's home; `None` where neither is an absolute path.
pub fn user_cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))
}
