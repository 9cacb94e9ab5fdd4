//! Lines of text: words of a made-up vocabulary by Zipf's law, with letters beyond ASCII.

use super::integers::Ranks;
use super::{ArgumentError, Arguments, Domain, Kind, Parameter, Preset};
use crate::inputs::Format;
use crate::inputs::draw::{Alias, Draw, elementary};
use std::collections::HashSet;

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "text",
    says: "lines of words, as people write them",
    formats: &[Format::Lines],
    units: 100_000,
    parameters: &[
        Parameter {
            name: "words",
            says: "how many different words there are",
            domain: Domain::Whole(1, 1_000_000),
            preset: Preset::Whole(10_000),
            example: "words = 10_000",
        },
        Parameter {
            name: "exponent",
            says: "Zipf's: the k-th word comes 1 / k^exponent as often as the first",
            domain: Domain::Number(0.0, 10.0),
            preset: Preset::Number(1.0),
            example: "exponent = 1.0",
        },
        Parameter {
            name: "line_length",
            says: "bytes of a line on average, its newline included",
            domain: Domain::Whole(20, 1_000_000),
            preset: Preset::Whole(64),
            example: "line_length = 64",
        },
        Parameter {
            name: "line_spread",
            says: "wanted lengths lie from (1 - spread) to (1 + spread) times the mean; each line ends with a whole word",
            domain: Domain::Number(0.0, 0.9),
            preset: Preset::Number(0.5),
            example: "line_spread = 0.5",
        },
        Parameter {
            name: "non_ascii",
            says: "the share of letters that are not ASCII",
            domain: Domain::Share,
            preset: Preset::Number(0.0),
            example: "non_ascii = \"10 %\"",
        },
        Parameter {
            name: "utf8_bytes",
            says: "bytes of such a letter",
            domain: Domain::Whole(2, 4),
            preset: Preset::Whole(2),
            example: "utf8_bytes = 2",
        },
    ],
    check: |_, _| Ok::<(), ArgumentError>(()),
    make,
}];

/// Letters by their frequency in English, per cent (Lewand, "Cryptological Mathematics", 2000).
const LETTERS: [(u8, f64); 26] = [
    (b'e', 12.70),
    (b't', 9.06),
    (b'a', 8.17),
    (b'o', 7.51),
    (b'i', 6.97),
    (b'n', 6.75),
    (b's', 6.33),
    (b'h', 6.09),
    (b'r', 5.99),
    (b'd', 4.25),
    (b'l', 4.03),
    (b'c', 2.78),
    (b'u', 2.76),
    (b'm', 2.41),
    (b'w', 2.36),
    (b'f', 2.23),
    (b'g', 2.02),
    (b'y', 1.97),
    (b'p', 1.93),
    (b'b', 1.49),
    (b'v', 0.98),
    (b'k', 0.77),
    (b'j', 0.15),
    (b'x', 0.15),
    (b'q', 0.10),
    (b'z', 0.07),
];

/// All words, one behind another, each with a blank at its end.
struct Vocabulary {
    bytes: Vec<u8>,
    /// Where each ends; the next begins there.
    ends: Vec<u32>,
}

impl Vocabulary {
    /// Words of different letters, frequent ones shorter, as in natural languages.
    fn new(arguments: &Arguments, draw: &mut Draw) -> Vocabulary {
        let count = arguments.whole("words") as u32;
        let table = Alias::new(&LETTERS.map(|(_, weight)| weight));
        let mut known = HashSet::with_capacity(count as usize);
        let mut replaced = Replaced::new(arguments);
        let mut made = Vocabulary { bytes: Vec::new(), ends: Vec::with_capacity(count as usize) };
        for rank in 1..=count {
            let bits = u64::from(u32::BITS - rank.leading_zeros());
            let mut length = draw.between(1 + bits / 4, 3 + 3 * bits / 4);
            let word = loop {
                let word: Vec<u8> = (0..length).map(|_| LETTERS[table.draw(draw)].0).collect();
                if known.insert(word.clone()) {
                    break word;
                }
                length += 1;
            };
            replaced.write(rank, &word, &mut made.bytes);
            made.bytes.push(b' ');
            made.ends.push(made.bytes.len() as u32);
        }
        made
    }

    fn word(&self, rank: usize) -> &[u8] {
        let begin = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.bytes[begin as usize..self.ends[rank] as usize]
    }
}

/// Replaces letters by others beyond ASCII so that their share of the text is what was asked: whether a letter is replaced
/// depends on what earlier, more frequent words have too many or too few, each letter by how often its word comes.
struct Replaced {
    share: f64,
    exponent: f64,
    /// The letter that stands for `a`.
    first: u32,
    owed: f64,
}

impl Replaced {
    fn new(arguments: &Arguments) -> Replaced {
        let first = match arguments.whole("utf8_bytes") {
            2 => 0x0430,  // Cyrillic
            3 => 0x4e00,  // Chinese
            _ => 0x1f600, // faces
        };
        Replaced {
            share: arguments.number("non_ascii"),
            exponent: arguments.number("exponent"),
            first,
            owed: 0.0,
        }
    }

    fn write(&mut self, rank: u32, word: &[u8], bytes: &mut Vec<u8>) {
        let frequency = elementary::exp(-self.exponent * elementary::ln(f64::from(rank)));
        for &letter in word {
            self.owed += frequency * self.share;
            if self.share > 0.0 && (self.owed >= frequency / 2.0 || self.share == 1.0) {
                self.owed -= frequency;
                let other = char::from_u32(self.first + u32::from(letter - b'a')).expect("a letter");
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                bytes.push(letter);
            }
        }
    }
}

fn make(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let vocabulary = Vocabulary::new(arguments, draw);
    let ranks = Ranks::new(arguments.whole("words") as u64, arguments.number("exponent"));
    let length = arguments.whole("line_length") as u64;
    let spread = (length as f64 * arguments.number("line_spread")) as u64;
    let mut bytes = Vec::with_capacity((units * length) as usize + 64);
    // Lines end with the first word at or beyond the end that is wanted, which counts from the beginning of the text: what
    // one line is too long, the next is shorter.
    let mut wanted = 0;
    for _ in 0..units {
        wanted += draw.between(length - spread, length + spread);
        loop {
            bytes.extend_from_slice(vocabulary.word(ranks.draw(draw) as usize));
            if bytes.len() as u64 >= wanted {
                break;
            }
        }
        *bytes.last_mut().expect("a word was written") = b'\n';
    }
    bytes
}
