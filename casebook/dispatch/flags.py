#!/usr/bin/env python3
"""What alignment flags do to the program: bytes, places and listings, all of them exact.

Use: casebook/dispatch/flags.py [sizes|offsets|lines|listing] [COMPILER ...]     g++-11, g++-12, clang++ if they are here
     casebook/dispatch/flags.py check                                            what test.sh holds

  sizes    bytes of .text by flag set, what stands between functions in it, and how many functions there are
  offsets  where the three stores of `virtual` and the hot loops begin: address and offset in their line of 64 bytes
  lines    how many lines and blocks of 32 bytes the hot loop and its callee touch
  listing  the hot loop of `virtual` and its callee, as built by default and aligned

Method: an ordinary link of dispatch.cpp and factory.cpp without debug information, read with nm and objdump. The hot loop is
the shortest backward jump over an indirect call in the variant's function.
Known limits: x86-64, GNU binutils; the loop is found by its call, so only in virtual, fnptr and crtp.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BASE = ["-std=c++17", "-O2", "-I", HERE / "../../harness"]
FLAGS = {
    "default": [],
    "falign-functions=32": ["-falign-functions=32"],
    "falign-functions=64": ["-falign-functions=64"],
    "falign-loops=32": ["-falign-loops=32"],
    "falign-loops=64": ["-falign-loops=64"],
    "falign-jumps=64": ["-falign-jumps=64"],
    "falign-labels=64": ["-falign-labels=64"],
    "a64": ["-falign-functions=64", "-falign-loops=64"],
    "selective": ["-DSELECTIVE"],
    "march": ["-march=skylake-avx512"],
    "fcf-protection": ["-fcf-protection"],
    "document": ["-march=skylake-avx512", "-fcf-protection"],
    "document, a64": ["-march=skylake-avx512", "-fcf-protection", "-falign-functions=64", "-falign-loops=64"],
}
STORES = {name: f"Virtual{name}::store(int*, int)" for name in ("G1", "Serial", "Epsilon")}
CALLEES = {"virtual": STORES["G1"], "fnptr": "pointed_g1(int*, int)", "crtp": "DecoupledG1>::store(int*, int)"}


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


class Program:
    """A link of the study by one compiler with one set of flags."""

    def __init__(self, compiler, flags, folder):
        self.path = pathlib.Path(folder) / f"{compiler}-{flags}".replace(" ", "")
        if not self.path.exists():
            output(compiler, *BASE, *FLAGS[flags], "-o", self.path, HERE / "dispatch.cpp",
                   HERE / "factory.cpp")
        headers = output("readelf", "-SW", self.path)
        start, size = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", headers).groups()
        self.start, self.text = int(start, 16), int(size, 16)
        symbols = re.findall(r"^(\w+) (\w+) [tTwW] (.*)$", output("nm", "-CSn", "--defined-only", self.path), re.M)
        self.functions = {
            name: (int(at, 16), int(size, 16))
            for at, size, name in symbols
            if self.start <= int(at, 16) < self.start + self.text
        }

    def between(self):
        """Bytes of .text that belong to no function."""
        used = set()
        for at, size in self.functions.values():
            used.update(range(at, at + size))
        return self.text - len(used)

    def function(self, ending):
        """Start and size of the only function whose name ends so."""
        (found,) = {place for name, place in self.functions.items() if name.endswith(ending)}
        return found

    def padding(self, start):
        """Where the function ahead of a start ends: between the two stands what was filled in."""
        return max(at + size for at, size in self.functions.values() if at < start)

    def code(self, start, end):
        lines = output("objdump", "-dC", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}",
                       self.path)
        return [(int(at, 16), text.strip()) for at, text in re.findall(r"^ +(\w+):\t(.*)$", lines, re.M)]

    def hot_loop(self, variant):
        """First and last address of the shortest loop with an indirect call in the variant's function, and its end."""
        start, size = self.function(f"run_{variant}(unsigned char const*, unsigned long)")
        code = self.code(start, start + size)
        calls = [at for at, text in code if re.match(r"(notrack )?call +\*", text)]
        ends = dict(zip([at for at, _ in code], [at for at, _ in code[1:]] + [start + size]))
        loops = []
        for at, text in code:
            jump = re.match(r"j\w+ +([0-9a-f]+)", text)
            if jump and start <= int(jump[1], 16) <= at and any(int(jump[1], 16) <= call < at for call in calls):
                loops.append((ends[at] - int(jump[1], 16), int(jump[1], 16), ends[at]))
        _, first, end = min(loops)
        return first, end


def blocks(first, end, size):
    return (end - 1) // size - first // size + 1


def table(titles, rows):
    for row in [titles, ["---"] * len(titles), *rows]:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def sizes(compilers, folder):
    rows = []
    for compiler in compilers:
        default = Program(compiler, "default", folder)
        for flags in FLAGS:
            program = Program(compiler, flags, folder)
            rows.append([
                compiler, f"`{flags}`", program.text, f"{program.text - default.text:+}", program.between(),
                len(program.functions),
            ])
    table(["compiler", "flags", "bytes of .text", "more than default", "between functions", "functions"], rows)


def offsets(compilers, folder):
    rows = []
    for compiler in compilers:
        for flags in ("default", "falign-functions=32", "falign-functions=64", "a64", "selective", "document"):
            program = Program(compiler, flags, folder)
            places = [program.function(store)[0] for store in STORES.values()]
            places += [program.hot_loop(variant)[0] for variant in CALLEES]
            rows.append([compiler, f"`{flags}`", *(f"{at:#x} ({at % 64})" for at in places)])
    table(["compiler", "flags", *(f"{name}::store" for name in STORES), *(f"loop of {name}" for name in CALLEES)], rows)


def lines(compilers, folder):
    rows = []
    for compiler in compilers:
        for flags in ("default", "falign-functions=64", "a64"):
            program = Program(compiler, flags, folder)
            for variant, callee in CALLEES.items():
                at, size = program.function(callee)
                first, end = program.hot_loop(variant)
                counted = [f"{blocks(first, end, width)} + {blocks(at, at + size, width)}" for width in (64, 32)]
                rows.append([compiler, f"`{flags}`", variant, f"{end - first} + {size}", *counted])
    table(["compiler", "flags", "variant", "bytes, loop + callee", "lines of 64", "blocks of 32"], rows)


def listing(compilers, folder):
    for compiler in compilers:
        for flags in ("default", "a64"):
            program = Program(compiler, flags, folder)
            at, size = program.function(CALLEES["virtual"])
            callee = ("callee, and what stands ahead of it", program.padding(at), at + size)
            for what, first, end in (("loop", *program.hot_loop("virtual")), callee):
                print(f"{compiler} {flags}, {what}:")
                for place, text in program.code(first, end):
                    print(f"  {place:#x} ({place % 64:2})  {text}")


def check(compilers, folder):
    """What the flags promise, and what the tables are made of."""
    for compiler in compilers:
        default, aligned = Program(compiler, "default", folder), Program(compiler, "falign-functions=64", folder)
        hot, labels = Program(compiler, "selective", folder), Program(compiler, "falign-labels=64", folder)
        document = Program(compiler, "document", folder)
        for variant, callee in CALLEES.items():
            for program in (aligned, hot):
                assert program.function(callee)[0] % 64 == 0, (compiler, variant, program.path)
            first, end = default.hot_loop(variant)
            assert 0 < end - first < 128, (compiler, variant, first, end)
        both = Program(compiler, "a64", folder)
        if compiler.startswith("g++"):
            assert both.hot_loop("virtual")[0] % 64 == 0, compiler
            assert labels.text > both.text > default.text, compiler
        assert default.text < hot.text < aligned.text, (compiler, default.text, hot.text, aligned.text)
        at, size = document.function(CALLEES["fnptr"])
        assert "endbr64" in document.code(at, at + size)[0][1], compiler
        assert 0 < default.between() < aligned.between() < aligned.text
        print(f"{compiler}: flags align what they promise, and cost bytes")


def main(words):
    verbs = {"sizes": sizes, "offsets": offsets, "lines": lines, "listing": listing, "check": check}
    chosen = [word for word in words if word in verbs] or ["sizes", "offsets", "lines", "listing"]
    named = [word for word in words if word not in verbs]
    compilers = [name for name in named or ["g++-11", "g++-12", "clang++"] if shutil.which(name)]
    if not compilers or len(compilers) < len(named):
        sys.exit(f"flags.py: of {named or 'g++-11, g++-12, clang++'} only {compilers} are on PATH")
    with tempfile.TemporaryDirectory() as folder:
        for verb in chosen:
            verbs[verb](compilers, folder)
            print()


if __name__ == "__main__":
    main(sys.argv[1:])
