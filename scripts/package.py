#!/usr/bin/env python3
"""Packs a built program: an archive, a Debian package and a Python wheel.

    scripts/package.py PROGRAM [--out target/packages] [--ask PROGRAM] [--third-party FILE] [--fast] [KIND...]

KIND is tar, deb or wheel; all three by default. The machine and the oldest C library that the program runs with are read
from the program. --ask names a program of this machine to ask for pages and completions, where PROGRAM is for another.
The packages are the same bytes for the same program and commit (SOURCE_DATE_EPOCH, or the commit's date).

Needs: Python 3.9; dpkg-deb for a Debian package, which is skipped, and said so, where it is missing.
Checked by: scripts/test_packages.sh; installing each in a clean Debian 12 root (docs/install.md).
"""

import argparse
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
# What `e_machine` of an ELF header says, and how Debian and Python call it.
MACHINES = {62: ("x86_64", "amd64"), 183: ("aarch64", "arm64")}
SUMMARY = "Is B really faster than A, by how much, on which inputs, and why?"
# The name `assay` on PyPI is somebody else's.
WHEEL_NAME = "assay-bench"
DESCRIPTION = """\
 A laboratory for microbenchmarks in C, C++, Rust and Zig, and for those of any
 project that gcc, clang, rustc or zig links. It builds a program many times,
 moves its code through every phase of the cache line, measures all variants
 interleaved on the same inputs, and gives a verdict with its cause.
"""


class Program:
    """What is packed, and what its file says of it."""

    def __init__(self, path, ask):
        self.path = path
        content = path.read_bytes()
        if content[:5] != b"\x7fELF\x02":
            sys.exit(f"{path} is not a 64-bit ELF program")
        number = int.from_bytes(content[18:20], "little")
        if number not in MACHINES:
            sys.exit(f"{path} is for machine {number}, which has no package")
        self.machine, self.debian = MACHINES[number]
        # The plugin is inside, so its needs are found, too.
        versions = [tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)]
        self.glibc = max(versions, default=(2, 17))
        self.needs_libgcc = b"libgcc_s.so.1" in content
        self.ask = ask or path
        told = subprocess.run([self.ask, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.version = told.split("\n")[0].split()[1]


def epoch():
    """The date that files in packages get: seconds."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", TOP, "log", "-1", "--format=%ct"]
    told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return int(told.stdout) if told.returncode == 0 and told.stdout.strip() else 1_700_000_000


def stage(program, folder, third_party):
    environment = {**os.environ, "ASSAY_ASK": str(program.ask)}
    subprocess.run([TOP / "scripts/stage.sh", program.path, folder], check=True, env=environment)
    if third_party:
        shutil.copy(third_party, folder / "share/doc/assay/THIRD-PARTY.txt")


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def tar(program, staged, out, options):
    """assay-VERSION-MACHINE-linux.tar.gz: unpacked below a prefix, or used where it is."""
    name = f"assay-{program.version}-{program.machine}-linux"
    target = out / f"{name}.tar.gz"
    level = 1 if options.fast else 9
    with open(target, "wb") as file, gzip.GzipFile("", "wb", level, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in files_below(staged):
                entry = archive.gettarinfo(path, f"{name}/{path.relative_to(staged)}")
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = epoch()
                with open(path, "rb") as content:
                    archive.addfile(entry, content)
    return target


def deb(program, staged, out, options):
    """assay_VERSION_ARCH.deb."""
    if not shutil.which("dpkg-deb"):
        print("skipped: the Debian package, for there is no dpkg-deb here")
        return None
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch) / "root"
        usr = root / "usr"
        shutil.copytree(staged, usr)
        # Debian's places for zsh, and its name and form for licences and pages.
        (usr / "share/zsh/vendor-completions").mkdir(parents=True)
        (usr / "share/zsh/site-functions/_assay").rename(usr / "share/zsh/vendor-completions/_assay")
        (usr / "share/zsh/site-functions").rmdir()
        documents = usr / "share/doc/assay"
        with open(documents / "copyright", "w") as copyright:
            copyright.write("assay is licensed as MIT or Apache-2.0, as you like.\n\n")
            for name in ["LICENSE-MIT", "THIRD-PARTY.txt"]:
                if (documents / name).exists():
                    copyright.write((documents / name).read_text() + "\n")
            copyright.write("The Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.\n")
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"]:
            (documents / name).unlink(missing_ok=True)
        changes = f"assay ({program.version}) stable; urgency=medium\n\n  * See the project's history.\n\n"
        date = subprocess.run(["date", "-R", "-u", f"-d@{epoch()}"], check=True, stdout=subprocess.PIPE, text=True)
        changes += f" -- The assay authors <assay@localhost>  {date.stdout}"
        (documents / "changelog").write_text(changes)
        for page in [*sorted((usr / "share/man/man1").iterdir()), documents / "changelog"]:
            page.with_name(page.name + ".gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
            page.unlink()
        control = root / "DEBIAN"
        control.mkdir()
        sizes = sum((path.stat().st_size + 1023) // 1024 for path in files_below(usr))
        depends = f"libc6 (>= {program.glibc[0]}.{program.glibc[1]})" + (", libgcc-s1" if program.needs_libgcc else "")
        (control / "control").write_text(
            f"Package: assay\nVersion: {program.version}\nArchitecture: {program.debian}\n"
            f"Maintainer: The assay authors <assay@localhost>\nInstalled-Size: {sizes}\nDepends: {depends}\n"
            "Recommends: gcc | clang, libc6-dev, qemu-user (>= 1:7.2)\nSuggests: clang, git, lld\n"
            f"Section: devel\nPriority: optional\nDescription: laboratory for microbenchmarks\n{DESCRIPTION}"
        )
        sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files_below(usr))
        (control / "md5sums").write_text("".join(sums))
        for path in [root, *root.rglob("*")]:
            os.chmod(path, 0o755 if path.is_dir() or path.name == "assay" and path.parent.name == "bin" else 0o644)
            os.utime(path, (epoch(), epoch()))
        target = out / f"assay_{program.version}_{program.debian}.deb"
        pack = ["dpkg-deb", "--root-owner-group", "-Zgzip" if options.fast else "-Zxz", "--build", root, target]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        subprocess.run(pack, check=True, stdout=subprocess.DEVNULL, env=environment)
        return target


def wheel(program, staged, out, options):
    """assay_bench-VERSION-py3-none-manylinux_....whl: pip puts the program on PATH, and pages below the prefix."""
    distribution = f"{WHEEL_NAME.replace('-', '_')}-{program.version}"
    tag = f"py3-none-manylinux_{program.glibc[0]}_{program.glibc[1]}_{program.machine}"
    information = f"{distribution}.dist-info"
    entries = {}
    for path in files_below(staged):
        name = str(path.relative_to(staged))
        if name == "bin/assay":
            entries[f"{distribution}.data/scripts/assay"] = path.read_bytes()
        elif name.startswith("share/doc/assay/") and re.search("LICENSE|THIRD-PARTY", name):
            entries[f"{information}/licenses/{path.name}"] = path.read_bytes()
        elif not name.startswith("share/doc/"):
            entries[f"{distribution}.data/data/{name}"] = path.read_bytes()
    readme = (TOP / "README.md").read_text()
    licences = "".join(f"License-File: {name}\n" for name in ["LICENSE-MIT", "LICENSE-APACHE"])
    entries[f"{information}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: {WHEEL_NAME}\nVersion: {program.version}\nSummary: {SUMMARY}\n"
        f"License-Expression: MIT OR Apache-2.0\n{licences}Requires-Python: >=3.8\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    entries[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: assay scripts/package.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    record = io.StringIO()
    for name, content in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.write(f"{name},sha256={digest},{len(content)}\n")
    record.write(f"{information}/RECORD,,\n")
    entries[f"{information}/RECORD"] = record.getvalue().encode()
    target = out / f"{distribution}-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1 if options.fast else 9) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("scripts/assay") else 0o100644) << 16
            archive.writestr(entry, content)
    return target


def main():
    kinds = {"tar": tar, "deb": deb, "wheel": wheel}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="tar, deb or wheel")
    parser.add_argument("--out", type=pathlib.Path, default=TOP / "target/packages")
    parser.add_argument("--ask", type=pathlib.Path)
    parser.add_argument("--third-party", type=pathlib.Path)
    parser.add_argument("--fast", action="store_true", help="pack quickly instead of small")
    options = parser.parse_args()
    if unknown := [kind for kind in options.kinds if kind not in kinds]:
        parser.error(f"unknown kind: {unknown[0]}; there are {', '.join(kinds)}")
    program = Program(options.program.resolve(), options.ask and options.ask.resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        staged = pathlib.Path(scratch) / "assay"
        stage(program, staged, options.third_party)
        for kind in options.kinds or kinds:
            if made := kinds[kind](program, staged, options.out, options):
                print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
