//! Boxes, vectors, strings and maps.

use assay_harness::Bench;
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

fn boxes(data: &[u8]) -> u64 {
    let mut boxes: Vec<Box<u8>> = Vec::new();
    data.iter().for_each(|&byte| boxes.push(Box::new(byte)));
    boxes.iter().map(|byte| u64::from(**byte)).sum()
}

fn maps(data: &[u8]) -> u64 {
    let (mut tree, mut table) = (BTreeMap::new(), HashMap::new());
    for &byte in data {
        *tree.entry(byte).or_insert(0_u64) += u64::from(byte);
        *table.entry(byte).or_insert_with(|| byte.to_string()) += "!";
    }
    assay_harness::use_value(&table);
    tree.values().sum()
}

fn main() -> ExitCode {
    Bench::new().variant("boxes", boxes).variant("maps", maps).main()
}
