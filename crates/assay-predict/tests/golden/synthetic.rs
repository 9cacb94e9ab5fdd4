//! The generated stream of the golden data: fixed-trip loops, biased, random and correlated branches, switches, virtual
//! calls, returns. 256 functions are called at random; each has its own loop.

/// Xorshift64*, seeded with a constant.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

const CONDITIONAL: u64 = 1;
const JUMP: u64 = 0;
const INDIRECT_JUMP: u64 = 2;
const RETURN: u64 = 6;
const CALL: u64 = 8;
const INDIRECT_CALL: u64 = 10;

/// SBBT records until there are as many as wanted.
struct Records {
    bytes: Vec<u8>,
    wanted: usize,
}

impl Records {
    fn emit(&mut self, pc: u64, target: u64, opcode: u64, taken: bool) {
        if self.is_full() {
            return;
        }
        self.bytes.extend((opcode | u64::from(taken) << 11 | pc << 12).to_le_bytes());
        self.bytes.extend((6 | target << 12).to_le_bytes());
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= 24 + 16 * self.wanted
    }
}

/// The first `branches` of the stream as an uncompressed SBBT file.
pub fn sbbt(branches: usize) -> Vec<u8> {
    let mut bytes = b"SBBT\n\x01\0\0".to_vec();
    bytes.extend((branches as u64 * 6).to_le_bytes());
    bytes.extend((branches as u64).to_le_bytes());
    let mut records = Records { bytes, wanted: branches };
    let mut random = Random(88_172_645_463_325_252);
    let mut turn = 0;
    while !records.is_full() {
        turn += 1;
        call_a_function(&mut records, &mut random, turn);
    }
    records.bytes
}

fn call_a_function(records: &mut Records, random: &mut Random, turn: u64) {
    let base = 0x40_1000;
    let which = random.next() % 256;
    let function = base + 0x1000 + which * 0x400;
    records.emit(base + 0x10, function, CALL, true);
    let trips = 3 + which % 13;
    for trip in 0..trips {
        records.emit(function + 0x20, function + 0x40, CONDITIONAL, trip % 3 == which % 3);
        let bits = random.next();
        records.emit(function + 0x40, function + 0x60, CONDITIONAL, bits & 1023 < 32 + which * 3);
        if which.is_multiple_of(4) {
            let coin = bits >> 20 & 1 == 1;
            records.emit(function + 0x60, function + 0x80, CONDITIONAL, coin);
            records.emit(function + 0x80, function + 0xa0, CONDITIONAL, coin ^ (trip & 1 == 1));
        }
        records.emit(function + 0xa0, function + 0x20, CONDITIONAL, trip + 1 < trips);
    }
    if which % 8 == 1 {
        let case = function + 0x100 + (random.next() % 4 + (turn & 1) * 4) * 0x20;
        records.emit(function + 0xc0, case, INDIRECT_JUMP, true);
        records.emit(case + 8, function + 0x200, JUMP, true);
    }
    if which % 16 == 2 {
        let callee = base + 0x10_0000 + (random.next() >> 7) % 8 * 0x100;
        records.emit(function + 0xd0, callee, INDIRECT_CALL, true);
        records.emit(callee + 0x20, callee + 0x40, CONDITIONAL, turn.is_multiple_of(5));
        records.emit(callee + 0x60, function + 0xd5, RETURN, true);
    }
    records.emit(function + 0x300, base + 0x15, RETURN, true);
    records.emit(base + 0x30, base + 0x10, CONDITIONAL, !turn.is_multiple_of(1000));
}
