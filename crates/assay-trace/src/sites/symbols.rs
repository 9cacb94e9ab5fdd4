//! Which function holds an address, by the symbol tables of ELF.

use super::names::demangle;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use std::path::Path;

/// A function by its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolFunction<'a> {
    /// Its first address.
    pub start: u64,
    /// The address after its last.
    pub end: u64,
    /// The symbol, as it stands in the file.
    pub symbol: &'a str,
}

impl SymbolFunction<'_> {
    /// Its name, as its source has it.
    pub fn name(&self) -> String {
        demangle(self.symbol)
    }

    /// It is the part of a function that the compiler holds to be never executed (gcc's `.cold`, LLVM's too).
    pub fn is_cold_part(&self) -> bool {
        self.symbol.ends_with(".cold") || self.symbol.contains(".cold.")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    start: u64,
    end: u64,
    name: String,
    /// The file does not say how long it is.
    is_bare: bool,
}

/// The functions of a file, in the order of their addresses.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    sorted: Vec<Symbol>,
}

impl Symbols {
    /// Those of a file: its symbol table, else what it offers to the dynamic linker.
    pub fn of(file: &object::File<'_>) -> Symbols {
        let mut symbols = Symbols::default();
        symbols.add(file);
        symbols
    }

    /// Adds those of a debug file; one that can't be read adds none.
    pub fn add_from(&mut self, path: &Path) {
        let data = std::fs::read(path).unwrap_or_default();
        if let Ok(file) = object::File::parse(&*data) {
            self.add(&file);
        }
    }

    fn add(&mut self, file: &object::File<'_>) {
        let sections: Vec<(u64, u64)> = file
            .sections()
            .filter(|section| section.kind() == object::SectionKind::Text)
            .map(|section| (section.address(), section.address().saturating_add(section.size())))
            .collect();
        let end_of_section = |address: u64| {
            sections.iter().find(|(start, end)| (*start..*end).contains(&address)).map(|(_, end)| *end)
        };
        let found = file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| {
            let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown);
            let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
            if !is_code || symbol.is_undefined() {
                return None;
            }
            let start = symbol.address();
            let end = match symbol.size() {
                0 => end_of_section(start)?,
                size => start.saturating_add(size),
            };
            end_of_section(start)?;
            let is_bare = symbol.size() == 0;
            Some((!symbol.is_global(), Symbol { start, end, name: name.to_owned(), is_bare }))
        });
        let mut found: Vec<_> = found.collect();
        // Of several names for one place: one with a size, a global one, the shortest.
        found.sort_by(|(local, one), (other_local, other)| {
            let rank =
                |local: bool, symbol: &Symbol| (symbol.start, symbol.is_bare, local, symbol.name.len());
            let order = rank(*local, one).cmp(&rank(*other_local, other));
            order.then_with(|| one.name.cmp(&other.name))
        });
        let known: Vec<u64> = self.sorted.iter().map(|symbol| symbol.start).collect();
        let fresh = found.into_iter().filter(|(_, symbol)| known.binary_search(&symbol.start).is_err());
        self.sorted.extend(fresh.map(|(_, symbol)| symbol));
        self.sorted.sort_by_key(|symbol| symbol.start);
        self.sorted.dedup_by_key(|symbol| symbol.start);
        // A label inside a function is none; one without a size ends where the next begins.
        let mut covered = 0;
        self.sorted.retain(|symbol| {
            let is_label = symbol.is_bare && symbol.start < covered;
            if !symbol.is_bare {
                covered = covered.max(symbol.end);
            }
            !is_label
        });
        for at in 1..self.sorted.len() {
            let next = self.sorted[at].start;
            let symbol = &mut self.sorted[at - 1];
            symbol.end = symbol.end.min(next);
        }
    }

    /// All, in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = SymbolFunction<'_>> {
        self.sorted.iter().map(|symbol| SymbolFunction {
            start: symbol.start,
            end: symbol.end,
            symbol: &symbol.name,
        })
    }

    /// The function that holds an address.
    pub fn at(&self, address: u64) -> Option<SymbolFunction<'_>> {
        let after = self.sorted.partition_point(|symbol| symbol.start <= address);
        let symbol = self.sorted.get(after.checked_sub(1)?)?;
        let holds = address < symbol.end;
        holds.then_some(SymbolFunction { start: symbol.start, end: symbol.end, symbol: &symbol.name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(start: u64, end: u64, name: &str) -> Symbol {
        Symbol { start, end, name: name.to_owned(), is_bare: false }
    }

    #[test]
    fn an_address_belongs_to_the_function_around_it_and_gaps_to_none() {
        let symbols = Symbols { sorted: vec![symbol(16, 32, "a"), symbol(48, 50, "b.cold")] };
        let name = |address| symbols.at(address).map(|function| function.symbol);
        assert_eq!([name(15), name(16), name(31), name(32)], [None, Some("a"), Some("a"), None]);
        assert_eq!([name(49), name(50)], [Some("b.cold"), None]);
        assert!(symbols.at(48).is_some_and(|function| function.is_cold_part()));
        assert!(!symbols.at(16).is_some_and(|function| function.is_cold_part()));
    }

    #[test]
    fn a_file_of_this_machine_has_the_functions_of_its_table() {
        let path = std::env::current_exe().expect("this test");
        let data = std::fs::read(path).expect("readable");
        let file = object::File::parse(&*data).expect("ELF");
        let symbols = Symbols::of(&file);
        let main = symbols.sorted.iter().find(|symbol| symbol.name == "main").expect("a main");
        let found = symbols.at(main.start).expect("its own place");
        assert_eq!((found.start, found.name().as_str()), (main.start, "main"));
    }
}
