//! Do files with damaged bytes give an error or an answer, and never a panic?

use crate::build_support::{any_compiler, fixtures, flags, fresh, program};
use assay_link::build::Link;
use assay_pure::placement::{layout, optimised, sections};

/// Xorshift (Marsaglia, 2003), so that a failure can be repeated.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Changes up to eight bytes, more often in the headers at both ends, or cuts the file.
fn damage(whole: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=draw.below(8) {
        let at = match draw.below(4) {
            0 => draw.below(64),
            1 => draw.below(1024.min(bytes.len())),
            2 => bytes.len() - 1 - draw.below(4096.min(bytes.len())),
            _ => draw.below(bytes.len()),
        };
        bytes[at] = [0, 1, 0x7f, 0x80, 0xff, draw.below(256) as u8][draw.below(6)];
    }
    if draw.below(8) == 0 {
        bytes.truncate(draw.below(bytes.len()));
    }
    bytes
}

#[test]
fn damaged_binaries_and_objects_never_cause_a_panic() {
    let (cache, builder) = fresh();
    let set = flags("-O2 -g");
    let recipe = builder
        .compile(&fixtures(), &program(&["temperatures.c", "other.c"]), &set, &any_compiler())
        .unwrap_or_else(|failure| panic!("{failure}"));
    let artifact = builder.link(&recipe, Link::AsBuilt).unwrap_or_else(|failure| panic!("{failure}"));
    let elf = std::fs::read(&artifact.path).expect("linked");
    let objects = std::fs::read_dir(cache.path().join("objects")).expect("there").flatten();
    let objects: Vec<Vec<u8>> = objects.map(|entry| std::fs::read(entry.path()).expect("there")).collect();
    let mut draw = Draw(0x5eed);
    let mut read = 0;
    for _ in 0..4000 {
        let damaged = damage(&elf, &mut draw);
        read += usize::from(layout::functions(&damaged).is_ok());
        let _ = layout::image_base(&damaged);
        let _ = layout::text_bytes(&damaged);
        let _ = layout::symbol_address(&damaged, "main");
        let _ = optimised::unoptimised(&set.flags, &damaged);
        let object = damage(&objects[draw.below(objects.len())], &mut draw);
        let _ = sections::code_sections(&object);
    }
    assert!(read > 100, "hardly any damaged file was read at all: the damage is too coarse to test anything");
}
