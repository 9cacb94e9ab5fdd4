//! Which function of the one file is which of the other.
//!
//! A name that each file has once is that function. Of several functions of one name (static ones of several source
//! files) those belong together that come from the same source file, as the symbol table tells, and else those that
//! come in the same order, if there are as many. What is then left is paired by its name without what compilers
//! number anew at each build: the numbers of clones (`f.constprop.0`), the hashes of Rust and of link-time
//! optimisation. What could be several is `Doubt`, with the reason.

use object::{Object as _, SymbolKind};
use std::collections::BTreeMap;

/// A function of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Symbol name.
    pub name: String,
    /// The source file that the symbol table names ahead of it; `None` for global symbols.
    pub file: Option<String>,
    /// Link-time address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}

/// What became of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamePair {
    /// Numbers of the two, in each file's own list.
    Both(usize, usize),
    /// The new file has none of this name.
    OnlyOld(usize),
    /// The old file has none.
    OnlyNew(usize),
    /// Several functions could be meant; those of the old and of the new file, and why it cannot be told.
    Doubt(Vec<usize>, Vec<usize>, String),
}

/// The functions of a file in the order of its symbol table; those of one name and address once.
pub fn functions(file: &object::File) -> Vec<Named> {
    let found = listed(file.symbols());
    if found.is_empty() { listed(file.dynamic_symbols()) } else { found }
}

fn listed<'a>(symbols: impl Iterator<Item = impl object::ObjectSymbol<'a>>) -> Vec<Named> {
    let mut source: Option<String> = None;
    let mut seen = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for symbol in symbols {
        let name = symbol.name().unwrap_or_default();
        if symbol.kind() == SymbolKind::File {
            source = Some(name.to_owned());
        }
        let function = symbol.kind() == SymbolKind::Text && symbol.size() > 0 && symbol.is_definition();
        if function && seen.insert((name.to_owned(), symbol.address())) {
            let file = source.clone().filter(|_| symbol.is_local());
            found.push(Named { name: name.to_owned(), file, address: symbol.address(), size: symbol.size() });
        }
    }
    found
}

/// Pairs the functions of two files.
pub fn pairs(old: &[Named], new: &[Named]) -> Vec<NamePair> {
    let mut found = Vec::new();
    let mut rest = (Vec::new(), Vec::new());
    for (left, right) in groups(old, new, (0..old.len(), 0..new.len()), |place| place.name.clone()) {
        if left.is_empty() || right.is_empty() {
            rest.0.extend(left);
            rest.1.extend(right);
        } else {
            found.extend(of_one_name(old, new, left, right));
        }
    }
    let (left, right) = (rest.0.into_iter(), rest.1.into_iter());
    for (left, right) in groups(old, new, (left, right), |place| unnumbered(&place.name)) {
        found.extend(matched(old, left, right));
    }
    found
}

type NameGroup = (Vec<usize>, Vec<usize>);

fn groups<Key: Ord>(
    old: &[Named],
    new: &[Named],
    (left, right): (impl Iterator<Item = usize>, impl Iterator<Item = usize>),
    key: impl Fn(&Named) -> Key,
) -> Vec<NameGroup> {
    let mut found: BTreeMap<Key, NameGroup> = BTreeMap::new();
    for index in left {
        found.entry(key(&old[index])).or_default().0.push(index);
    }
    for index in right {
        found.entry(key(&new[index])).or_default().1.push(index);
    }
    found.into_values().collect()
}

/// Functions of one name, of which each file has some.
fn of_one_name(old: &[Named], new: &[Named], left: Vec<usize>, right: Vec<usize>) -> Vec<NamePair> {
    if left.len() == 1 && right.len() == 1 {
        return vec![NamePair::Both(left[0], right[0])];
    }
    let mut found = Vec::new();
    let mut rest = (Vec::new(), Vec::new());
    let sides = (left.into_iter(), right.into_iter());
    for (left, right) in groups(old, new, sides, |place| place.file.clone()) {
        if left.is_empty() || right.is_empty() {
            rest.0.extend(left);
            rest.1.extend(right);
        } else {
            found.extend(matched(old, left, right));
        }
    }
    found.extend(matched(old, rest.0, rest.1));
    found
}

/// Functions that nothing but their order tells apart.
fn matched(old: &[Named], left: Vec<usize>, right: Vec<usize>) -> Vec<NamePair> {
    if left.len() == right.len() {
        return left.into_iter().zip(right).map(|(a, b)| NamePair::Both(a, b)).collect();
    }
    match (left.first(), right.first()) {
        (Some(&first), Some(_)) => {
            let reason = format!(
                "`{}` names {} functions of the old file and {} of the new, and they cannot be matched",
                old[first].name,
                left.len(),
                right.len()
            );
            vec![NamePair::Doubt(left, right, reason)]
        }
        _ => {
            left.into_iter().map(NamePair::OnlyOld).chain(right.into_iter().map(NamePair::OnlyNew)).collect()
        }
    }
}

/// A name without what is numbered anew at each build.
///
/// `f.constprop.1` and `f.constprop.0` are the same here, `state.3` and `state.2`, `f.llvm.17`; and Rust's names but
/// for the hash at their end (legacy mangling) or in each crate's name (v0).
pub fn unnumbered(name: &str) -> String {
    let mut parts = name.split('.');
    let mut kept = without_hash(parts.next().unwrap_or_default());
    for part in parts.filter(|part| !part.bytes().all(|byte| byte.is_ascii_digit())) {
        kept.push('.');
        kept.push_str(part);
    }
    kept
}

fn without_hash(name: &str) -> String {
    // `17h` and 16 hexadecimal digits and `E`.
    let legacy = name.len() >= 20 && name.starts_with("_ZN") && name.ends_with('E');
    if legacy && name.is_ascii() {
        let (front, hash) = name.split_at(name.len() - 20);
        if hash.starts_with("17h") && hash[3..19].bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return format!("{front}E");
        }
    }
    if !name.starts_with("_R") {
        return name.to_owned();
    }
    // `Cs` and digits of base 62 and `_`, ahead of the length of the crate's name.
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("Cs") {
        let (front, behind) = rest.split_at(at);
        kept.push_str(front);
        let end = behind[2..].find(|letter: char| !letter.is_ascii_alphanumeric());
        match end.filter(|&end| behind[2 + end..].starts_with('_')) {
            Some(end) => {
                kept.push('C');
                rest = &behind[2 + end + 1..];
            }
            None => {
                kept.push_str("Cs");
                rest = &behind[2..];
            }
        }
    }
    kept + rest
}
