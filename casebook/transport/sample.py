#!/usr/bin/env python3
"""Where does the time go, beside the branches and the mispredictions? By component and by function, each side alone.

Use: casebook/transport/sample.py [BUILD,...] [SECONDS] [--folded FOLDER]
     (Debug-0,Debug-4,Debug-7; 4 s of replay each, and 16 MiB moved for each second)
BUILD: MODE-STAGE as in times.py. `--folded` also writes stacks for a flame graph: component;function count.
ASSAY: the lab's program (or else `assay` on PATH, or this tree's build).

Method: branches, instructions and mispredictions of one side, replayed, by `assay sites`: exact, the last simulated
(zen4). Time by `perf record -e cpu-clock`, a sample each quarter of a millisecond: of the same replay, repeated, and of
a transfer over real sockets. It needs no hardware counter. Components are those of STAGES.toml. Where perf is missing or
not allowed, the time is left out with the reason and the instruction counts stand alone.
Known limits: a component's share of time from n samples is off by up to 1/sqrt(n). Debug builds inline nothing; in a
release build a sample belongs to the function that the code was inlined into, a branch to the one it came from. The
transfer is sampled at one side while both share the machine.
"""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
COMPONENTS = tomllib.loads((HERE / "STAGES.toml").read_text(encoding="utf-8"))["components"]
REST, KERNEL = "rest", "kernel"
BUILDS = ["Debug-0", "Debug-4", "Debug-7"]
EVERY_SITE = "1000000"
PER_SECOND = 4000


def lab():
    built = (HERE / f"../../target/{mode}/assay" for mode in ("release", "debug"))
    places = (os.environ.get("ASSAY"), shutil.which("assay"), *built)
    return next((str(place) for place in places if place and os.access(place, os.X_OK)), None)


def component(function):
    for name, globs in COMPONENTS.items():
        if any(fnmatch.fnmatchcase(function, glob) for glob in globs):
            return name
    return REST


def counted(assay, command):
    """By component: branches, instructions, mispredictions; and mispredictions by stack of functions, the inner one last."""
    globs = [f"--component={name}={','.join(patterns)}" for name, patterns in COMPONENTS.items()]
    words = [assay, "sites", "--predictor", "zen4", "--top", EVERY_SITE, "--json", "-", "-o", os.devnull, *globs]
    done = subprocess.run([*words, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    found = json.loads(done.stdout)
    sums = {"branches": {}, "instructions": {}, "misses": {}}
    for row in found["components"]["rows"]:
        name = row["name"] if row["kind"] == "component" else REST
        own = row["own"]
        for what, figure in zip(sums, (own["branches"], own["instructions"], own["mispredictions"][0]["count"])):
            sums[what][name] = sums[what].get(name, 0) + figure
    stacks = {}
    for site in found["sites"]:
        inner = site["function"] or "(no name)"
        stack = (component(inner), *(frame["function"] for frame in reversed(site["inlined_into"])), inner)
        stacks[stack] = stacks.get(stack, 0) + sum(one["count"] for one in site["mispredictions"])
    return sums, stacks


def permitted(folder):
    """The event that perf may sample here, or why there is none."""
    if not shutil.which("perf"):
        return None, "perf is not installed (Debian: linux-perf)"
    said = ""
    for event in ("cpu-clock", "cpu-clock:u"):  # the second is what an ordinary user may
        probe = ["perf", "record", "-q", "-e", event, "-o", folder / "probe", "--", "true"]
        done = subprocess.run(probe, capture_output=True, text=True)
        if done.returncode == 0:
            return event, None
        said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]
    return None, f"perf may not sample here: {said}"


class Sampler:
    """Samples commands, one after the other."""

    def __init__(self, event, folder):
        self.data, self.said = folder / "perf.data", folder / "said"
        self.words = ["perf", "record", "-q", "-e", event, "-F", str(PER_SECOND), "-o", self.data, "--"]

    def start(self, command, **streams):
        with open(self.said, "wb") as said:
            return subprocess.Popen([*self.words, *command], **{"stdout": said, "stderr": said, **streams})

    def end(self, process):
        """Samples by function, those in the kernel as one."""
        if process.wait() != 0:
            sys.exit(f"sample.py: {process.args} ends with {process.returncode}: {self.said.read_bytes()[-300:]!r}")
        words = ["perf", "script", "-i", self.data, "-F", "ip,sym,dso"]
        script = subprocess.run(words, capture_output=True, text=True, check=True)
        seen = {}
        for line in script.stdout.splitlines():
            found = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if found:
                function = found[1] if found[2].endswith("/transport") else KERNEL
                seen[function] = seen.get(function, 0) + 1
        return seen

    def run(self, command):
        return self.end(self.start(command))

    def replay(self, command, seconds):
        """Of so many repeats that it takes so long, by a short run before."""
        few = 20
        samples = sum(self.run([*command, "--repeat", str(few)]).values())
        return self.run([*command, "--repeat", str(max(few, int(few * seconds * PER_SECOND / max(samples, 1))))])

    def transfer(self, program, role, file, folder):
        """Of one side of a transfer over loopback; the other is not sampled."""
        quiet = {"stderr": subprocess.DEVNULL}
        listening = {"stdout": subprocess.PIPE, "text": True, **quiet}
        receiving = [program, "receive", "0", folder]
        start = self.start if role == "receiver" else subprocess.Popen
        receiver = start(receiving, **listening)
        sending = [program, "send", "127.0.0.1", receiver.stdout.readline().split()[-1], file]
        if role == "receiver":
            subprocess.run(sending, stdout=subprocess.DEVNULL, check=True, **quiet)
            seen = self.end(receiver)
        else:
            seen = self.run(sending)
            receiver.wait()
        if (folder / file.name).read_bytes() != file.read_bytes():
            sys.exit("sample.py: another file arrived")
        (folder / file.name).unlink()
        return seen


def by_component(functions):
    sums = {}
    for function, count in functions.items():
        name = KERNEL if function == KERNEL else component(function)
        sums[name] = sums.get(name, 0) + count
    return sums


def table(title, columns):
    """A row for each component, its share of each column's sum."""
    print(f"\n{title}\n\n| component | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns))
    for name in (*COMPONENTS, REST, KERNEL):
        shares = [100 * sums.get(name, 0) / max(sum(sums.values()), 1) for sums in columns.values()]
        if any(share >= 0.05 for share in shares):
            print(f"| {name} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")


def worst(stacks, most=8):
    """The functions with most mispredictions, with what remains."""
    functions = {}
    for stack, count in stacks.items():
        functions[stack[-1]] = functions.get(stack[-1], 0) + count
    ranked = sorted(functions.items(), key=lambda item: -item[1])
    total = sum(functions.values())
    print(f"\nmispredictions by function (zen4, simulated; {total} in all): " + ", ".join(
        f"{re.sub('__anon_[0-9]+', '', name)} {count}" for name, count in ranked[:most] if count))


def fold(folder, name, stacks):
    lines = sorted(f"{';'.join(stack)} {count}" for stack, count in stacks.items() if count)
    (folder / f"{name}.folded").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(words):
    folded = None
    if "--folded" in words:
        at = words.index("--folded")
        folded = pathlib.Path(words[at + 1]) if at + 1 < len(words) else sys.exit(__doc__)
        folded.mkdir(parents=True, exist_ok=True)
        words = words[:at] + words[at + 2:]
    if len(words) > 2 or (words and not re.fullmatch(r"[A-Za-z]+-\d+(,[A-Za-z]+-\d+)*", words[0])):
        sys.exit(__doc__)
    builds = words[0].split(",") if words else BUILDS
    seconds = float(words[1]) if len(words) > 1 else 4.0
    assay = lab()
    if not assay:
        sys.exit("sample.py: the lab is not built (make), not on PATH and not in ASSAY: nothing can be counted")
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        event, refused = permitted(root)
        print(f"no time: {refused}; instructions alone" if refused else f"time: perf record -e {event} -F {PER_SECOND}")
        file = root / "file.bin"
        file.write_bytes(os.urandom(int(16 * seconds) << 20))
        (root / "got").mkdir()
        for build in builds:
            mode, stage = build.split("-")
            out = root / build
            chosen = f"-Dstage={stage}" if int(stage) <= 8 else f"-Dsteps={stage}"
            subprocess.run([HERE / "build.sh", chosen, f"-Dmode={mode}", "-Drecords", out], check=True)
            program = out / "transport"
            for role in ("sender", "receiver"):
                replay = [program, "count", role, out / "loss-1"]
                sums, stacks = counted(assay, replay)
                columns = {f"{what} %": column for what, column in sums.items()}
                title = f"{build}, {role}"
                if event:
                    sampler = Sampler(event, root)
                    alone = sampler.replay(replay, seconds)
                    real = sampler.transfer(program, role, file, root / "got")
                    columns["time, replayed %"], columns["time, transfer %"] = by_component(alone), by_component(real)
                    title += f" ({sum(alone.values())} and {sum(real.values())} samples)"
                    if folded:
                        stacks_of_time = {(component(name), name): count for name, count in alone.items()}
                        fold(folded, f"{build}-{role}-time", stacks_of_time)
                table(title, columns)
                worst(stacks)
                if folded:
                    fold(folded, f"{build}-{role}-misses", stacks)


if __name__ == "__main__":
    main(sys.argv[1:])
