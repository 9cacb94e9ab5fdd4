#!/usr/bin/env python3
"""Runs what docs/ci's recipes run, step by step, on a repository with a pull request.

Of each recipe the commands are executed in order, but for what installs assay, with the variables that its CI sets. The
repository has a C program that prints its figures and a Makefile with `bench`. Three requests are compared: one that
changes nothing that is executed passes, one that makes the loop longer fails, and the third finds the base built already,
as the recipe's cache has it (unpacked anew, as a cache is: times are whole seconds).

ASSAY names the program; else the newer one of target/release/assay and target/debug/assay. Without one, gcc, make or git
the test is skipped and says so.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from test_tutorial import program  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = """\
#include <stdio.h>
#include <time.h>
static volatile unsigned sink;
__attribute__((noinline)) unsigned count(unsigned n) {
    unsigned found = 0;
    for (unsigned i = 0; i < n; i++) found = found * 31 + (i ^ (found >> 3));
    return found;
}
int main(void) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 200; i++) sink += count(10000);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    printf("BenchmarkCount-1 \\t 200 \\t %.1f ns/op\\n", ns / 200);
}
"""
MAKEFILE = "prog: prog.c\n\tcc -O1 -ffunction-sections -o prog prog.c\nbench: prog\n\t@./prog\n.PHONY: bench\n"
UNUSED = "int unused(int x) { return x * 3 + 1; }\n"


def github(text):
    """The commands of a workflow's steps: what stands behind `run:`, on its line or indented below it."""
    found = []
    for match in re.finditer(r"^( +)(?:- )?run: *(\||.+)\n((?:\1   *.*\n|\n)*)", text, re.MULTILINE):
        found.append(match[3] if match[2] == "|" else match[2])
    return found


def gitlab(text):
    """The commands of a job's `script:`."""
    block = re.search(r"^  script:\n((?:    .*\n)+)", text, re.MULTILINE)[1]
    return [line.removeprefix("    - ") for line in block.splitlines()]


RECIPES = {
    "docs/ci/github.yml": (github, lambda base, head, scratch: {"BASE": base, "HEAD": head, "GITHUB_STEP_SUMMARY": str(scratch / "summary.md")}),
    "docs/ci/gitlab.yml": (gitlab, lambda base, head, scratch: {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_SHA": head}),
}


def git(folder, *words):
    identity = ["-c", "user.name=you", "-c", "user.email=you@localhost"]
    return subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


def repository(folder):
    """Commits by what they are."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")

    def commit(name, text):
        (folder / "prog.c").write_text(text)
        (folder / "Makefile").write_text(MAKEFILE)
        git(folder, "add", "prog.c", "Makefile")
        git(folder, "commit", "-q", "-m", name)
        return git(folder, "rev-parse", "HEAD")

    base = commit("base", PROGRAM)
    return base, {
        "an unused function": commit("unused", PROGRAM.replace("int main", UNUSED + "int main")),
        "a longer loop": commit("slow", PROGRAM.replace("i < n;", "i < n + n / 2;")),
        "another unused function": commit("again", PROGRAM.replace("int main", UNUSED.replace("3", "5") + "int main")),
    }


def cached(folder):
    """Packs and unpacks what a recipe keeps, in a format without fractions of seconds."""
    subprocess.run("tar --format=gnu -cf cache.tar .assay && rm -rf .assay && tar -xf cache.tar && rm cache.tar", shell=True, cwd=folder, check=True)


def main():
    assay = program()
    lacking = [name for name in ("gcc", "cc", "make", "git", "tar") if not shutil.which(name)]
    if not assay or lacking:
        print(f"skipped: the recipes, for {'assay is not built' if not assay else 'there is no ' + lacking[0]}")
        return
    failed = 0
    for recipe, (commands_of, variables) in RECIPES.items():
        commands = [command.replace("--budget 240", "--budget 40") for command in commands_of((TOP / recipe).read_text()) if "install" not in command]
        built = set()
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "bin").mkdir()
            (scratch / "bin/assay").symlink_to(assay)
            base, requests = repository(scratch / "work")
            for request, expected in zip(requests, (0, 1, 0)):
                environment = {**os.environ, "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}", **variables(base, requests[request], scratch)}
                code, said = 0, ""
                for command in commands:
                    ran = subprocess.run(
                        ["bash", "-e", "-c", command], cwd=scratch / "work", env=environment, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
                    )  # fmt: skip
                    code, said = code or ran.returncode, said + ran.stdout
                told = [(scratch / "work/answer.md").is_file(), (scratch / "work/answer.json").is_file()]
                # Built once: the program of the base is the one that the first request made.
                built |= {int(path.stat().st_mtime) for path in (scratch / "work").glob(f".assay/store/sides/*/trees/{base[:12]}/prog")}
                held = len(built) == 1
                summary = recipe.endswith("gitlab.yml") or "Gate" in (scratch / "summary.md").read_text()
                if code == expected and all(told) and held and summary:
                    print(f"ok: {recipe}: {request}")
                else:
                    failed += 1
                    print(f"FAILED: {recipe}: {request}: exit code {code} instead of {expected}\n{said}")
                cached(scratch / "work")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
