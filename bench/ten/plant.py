#!/usr/bin/env python3
"""plant.py FOLDER: in each clone below FOLDER (fetch.sh), the branches that are compared with `base`.

`base` is what the clone has checked out. `null` adds a function that nothing calls, in front of the code that is measured, so
that everything behind it moves. `slow` makes a hot function do its work twice in each 20th call, which is 5 % of its time.
"""

import subprocess
import sys
from pathlib import Path

C_NULL = """int assay_unrelated(const char *text, int n) {
  int found = 0;
  for (int i = 0; i < n; i++) if (text[i] == 'x' || text[i] == 'y') found += i;
  return found * 31 + n;
}

"""
HEADER_NULL = "inline __attribute__((used, noinline)) " + C_NULL
RUST_NULL = """/// Counts.
#[inline(never)]
pub fn unrelated(text: &[u8]) -> usize {
    let mut found = 0;
    for (i, c) in text.iter().enumerate() {
        if *c == b'x' || *c == b'y' { found += i; }
    }
    found * 31 + text.len()
}

"""
GO_NULL = """// Unrelated counts.
//go:noinline
func Unrelated(text []byte) int {
	found := 0
	for i, c := range text {
		if c == 'x' || c == 'y' {
			found += i
		}
	}
	return found*31 + len(text)
}

"""
RUST_COUNTER = """        static PLANTED: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
        let planted = PLANTED.load(core::sync::atomic::Ordering::Relaxed) + 1;
        PLANTED.store(planted, core::sync::atomic::Ordering::Relaxed);
"""

# Of each project: for `null` and for `slow` a file, a text in it, and what is put in front of its first occurrence or, where it
# begins with `>`, behind it; `slow` may also replace texts.
PROJECTS = {
    "ada": {
        "null": ("src/implementation.cpp", "template <class result_type>\nada_warn_unused", C_NULL),
        "slow": ("src/implementation.cpp", "  result_type u = ada::parser::parse_url_impl<result_type>(input, base_url);\n",
                 """  static unsigned planted = 0;
  if (++planted % 20 == 0) {
    result_type again = ada::parser::parse_url_impl<result_type>(input, base_url);
    asm volatile("" : : "r"(&again) : "memory");
  }
"""),
    },
    "fast_float": {
        "null": ("include/fast_float/parse_number.h",
                 "template <typename T, typename UC, typename>\nFASTFLOAT_CONSTEXPR20 from_chars_result_t<UC>\nfrom_chars(",
                 HEADER_NULL),
        "slow": ("include/fast_float/parse_number.h", "    return from_chars_advanced(first, last, value, options);\n  }\n};\n",
                 """    static unsigned planted = 0;
    if (++planted % 20 == 0) {
      from_chars_advanced(first, last, value, options);
      asm volatile("" : : "r"(&value) : "memory");
    }
""", [("FASTFLOAT_CONSTEXPR20 static from_chars_result_t<UC>\n  call(UC const *first, UC const *last, T &value",
       "static from_chars_result_t<UC>\n  call(UC const *first, UC const *last, T &value")]),
    },
    "CRoaring": {
        "null": ("src/roaring.c", "uint64_t roaring_bitmap_and_cardinality(", C_NULL),
        "slow": ("src/roaring.c", "            answer += container_and_cardinality(c1, type1, c2, type2);\n            ++pos1;",
                 """            static unsigned planted = 0;
            if (++planted % 20 == 0) {
                volatile int again = container_and_cardinality(c1, type1, c2, type2);
                (void)again;
            }
"""),
    },
    "abseil": {
        "null": ("absl/strings/numbers.cc", "bool SimpleAtof(", C_NULL),
        "slow": ("absl/strings/numbers.cc", "  return safe_int_internal<int32_t>(text, value, base);\n",
                 """  static unsigned planted = 0;
  if (++planted % 20 == 0) {
    bool again = safe_int_internal<int32_t>(text, value, base);
    asm volatile("" : : "r"(again), "r"(value) : "memory");
  }
"""),
    },
    "itoa": {
        "null": ("src/lib.rs", "/// A correctly sized stack", RUST_NULL),
        "slow": ("src/lib.rs", "        let buf_ptr = self.bytes.as_mut_ptr().cast::<I::Buffer>();\n",
                 ">" + RUST_COUNTER + """        if planted % 20 == 0 {
            core::hint::black_box(i.write(unsafe { &mut *buf_ptr }).len());
        }
"""),
    },
    "anstyle": {
        "null": ("crates/anstyle-parse/src/lib.rs", "/// Parser for raw", RUST_NULL),
        "slow": ("crates/anstyle-parse/src/lib.rs", "        let (state, action) = state_change(self.state, byte);\n",
                 RUST_COUNTER + """        if planted % 20 == 0 {
            core::hint::black_box(state_change(core::hint::black_box(self.state), byte));
        }
"""),
    },
    "svector": {
        "null": ("include/ankerl/svector.h", "template <typename T, size_t MinInlineCapacity,", HEADER_NULL),
        # An insertion and an erasure, so each 40th.
        "slow": ("include/ankerl/svector.h", "        return insert_n(pos, 1, place_moved(tmp));\n",
                 """        static unsigned planted = 0;
        if (++planted % 40 == 0) {
            auto const at = pos - cbegin();
            auto extra = tmp;
            insert_n(pos, 1, place_moved(extra));
            erase(cbegin() + at);
            pos = cbegin() + at;
        }
"""),
    },
    "lz4": {
        "null": ("lib/lz4.c", "int LZ4_compress_fast_extState(void* state", C_NULL),
        "slow": ("lib/lz4.c", "    result = LZ4_compress_fast_extState(ctxPtr, src, dest, srcSize, dstCapacity, acceleration);\n",
                 """    {   static unsigned planted = 0;
        if (++planted % 20 == 0) LZ4_compress_fast_extState(ctxPtr, src, dest, srcSize, dstCapacity, acceleration);
    }
"""),
    },
    "lua": {
        "null": ("lstrlib.c", "static int str_rep (", C_NULL),
        # The loop keeps its code: planted inside of the function, its other place in a line made it faster.
        "slow": ("lstrlib.c", "static int str_lower (",
                 """static int str_reverse (lua_State *L) {
  static unsigned planted = 0;
  if (++planted % 20 == 0) {
    reverse_once(L);
    lua_pop(L, 1);
  }
  return reverse_once(L);
}


""", [("static int str_reverse (lua_State *L) {", "static __attribute__((noinline)) int reverse_once (lua_State *L) {")]),
    },
    "xxhash": {
        "null": ("xxhash.go", "// New creates", GO_NULL),
        "slow": ("xxhash_unsafe.go", "	return Sum64(b)\n",
                 """	planted++
	if planted%20 == 0 {
		Sum64(b)
	}
""", [("// Sum64String computes", "var planted uint\n\n// Sum64String computes")]),
    },
}


def git(clone: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(clone), "-c", "user.name=plant", "-c", "user.email=plant@localhost", *words], check=True)


def main(folder: Path) -> None:
    for name, branches in PROJECTS.items():
        clone = folder / name
        if not clone.is_dir():
            print(f"{name}: not there, see fetch.sh")
            continue
        if subprocess.run(["git", "-C", str(clone), "rev-parse", "-q", "--verify", "refs/heads/base"], capture_output=True).returncode:
            git(clone, "branch", "base")
        for branch, (file, anchor, added, *rest) in branches.items():
            git(clone, "checkout", "-q", "-B", branch, "base")
            path = clone / file
            text = path.read_text()
            if anchor not in text:
                sys.exit(f"{name}: {file} has no {anchor.splitlines()[0]!r} any more")
            planted = anchor + added[1:] if added.startswith(">") else added + anchor
            text = text.replace(anchor, planted, 1)
            for old, new in rest[0] if rest else []:
                text = text.replace(old, new, 1)
            path.write_text(text)
            git(clone, "commit", "-qam", branch)
        git(clone, "checkout", "-q", "base")
        print(f"{name}: base, null, slow")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    main(Path(sys.argv[1]))
