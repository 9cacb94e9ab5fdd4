#!/usr/bin/env python3
"""Do real processes over real sockets move files, and end with a reason where they cannot?

Use: test_processes.py PROGRAM [PROGRAM ...]   (transport, built at any stage; each is tested by itself)
Every wait has a limit; ports are the kernel's choice; nothing depends on how fast anything is.
"""

import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

LIMIT = 120  # seconds for anything: far beyond what a loaded machine needs


class Started:
    """A process; what it says goes to a file, as the first stage says much and a full pipe would stop it."""

    def __init__(self, words):
        self.err = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(
            [str(word) for word in words], stdout=subprocess.PIPE, stderr=self.err, text=True)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)

    def end(self):
        """Exit code, standard output and the end of standard error."""
        out, _ = self.process.communicate(timeout=LIMIT)
        self.err.seek(max(0, self.err.seek(0, os.SEEK_END) - 4000))
        said = self.err.read()
        self.err.close()
        return self.process.returncode, out, said


class Receiver(Started):
    """A receiving process and the port it chose."""

    def __init__(self, program, folder, *options, limit=None):
        words = [program, "receive", "0", folder, *options]
        if limit is not None:  # in blocks of 512 bytes
            words = ["sh", "-c", f'ulimit -f {limit // 512} && exec "$@"', "sh", *words]
        super().__init__(words)
        line = self.process.stdout.readline()
        assert line.startswith("listening on port "), line
        self.port = line.split()[-1]


def send(program, port, file, *options):
    return Started([program, "send", "127.0.0.1", port, file, *options])


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Place:
    """Folders and a file of a given length, for one test."""

    def __init__(self, length):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="transport-"))
        self.folder = self.root / "got"
        self.folder.mkdir()
        self.file = self.root / "file.bin"
        self.file.write_bytes(random.Random(length).randbytes(length))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def arrived(self):
        return sorted(path.name for path in self.folder.iterdir())


def moves_files_whatever_the_network_loses(program):
    for loss, length in ((0, 3_000_001), (1, 700_003), (5, 500_000), (30, 200_000), (30, 0)):
        yield lambda loss=loss, length=length: move(program, loss, length)


def move(program, loss, length):
    with Place(length) as place:
        bad = ["--loss", str(loss), "--duplicate", str(loss), "--reorder", str(loss), "--patience", "60"]
        receiver = Receiver(program, place.folder, *bad)
        code, out, err = send(program, receiver.port, place.file, *bad, "--seed", "2").end()
        assert code == 0, (loss, code, err[-300:])
        code, out, err = receiver.end()
        assert code == 0, (loss, code, err[-300:])
        assert place.arrived() == ["file.bin"], place.arrived()
        assert digest(place.folder / "file.bin") == digest(place.file), loss


def replaces_an_older_file_of_that_name_only_when_all_is_there(program):
    with Place(400_000) as place:
        (place.folder / "file.bin").write_text("older")
        receiver = Receiver(program, place.folder, "--patience", "1")
        sender = send(program, receiver.port, place.file, "--loss", "100", "--patience", "1")
        assert sender.end()[0] == 1
        receiver.kill()
        receiver.end()
        assert (place.folder / "file.bin").read_text() == "older"
        receiver = Receiver(program, place.folder)
        assert send(program, receiver.port, place.file).end()[0] == 0
        assert receiver.end()[0] == 0
        assert digest(place.folder / "file.bin") == digest(place.file)


def a_killed_side_ends_the_other_with_a_reason_and_leaves_no_file(program):
    for victim in ("sender", "receiver"):
        for delay in (0.0, 0.02, 0.08, 0.3):
            yield lambda victim=victim, delay=delay: kill(program, victim, delay)


def kill(program, victim, delay):
    with Place(2_000_000) as place:
        bad = ["--loss", "30", "--patience", "2"]
        receiver = Receiver(program, place.folder, *bad, "--wait", "2")
        sender = send(program, receiver.port, place.file, *bad)
        time.sleep(delay)
        dying, living = (sender, receiver) if victim == "sender" else (receiver, sender)
        dying.kill()
        dying.end()
        # A sender killed before it began leaves a receiver waiting for its first: that is what --wait is for.
        code, out, err = living.end()
        assert code == 0 or (code == 1 and "transport: nothing" in err), (victim, delay, code, err[-300:])
        assert place.arrived() in ([], ["file.bin"]), place.arrived()
        if place.arrived():
            assert digest(place.folder / "file.bin") == digest(place.file)


def a_full_disk_is_told_to_both(program):
    with Place(3_000_000) as place:
        receiver = Receiver(program, place.folder, limit=1_000_000)
        sender = send(program, receiver.port, place.file, "--patience", "5").end()
        code, out, err = receiver.end()
        assert code == 1 and "larger than the receiving side may write" in err, err[-300:]
        assert sender[0] == 1 and "larger than the receiving side may write" in sender[2], sender[2][-300:]
        assert place.arrived() == []


def a_small_file_system_runs_full(program):
    with Place(3_000_000) as place:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place.folder], capture_output=True)
        if mounted.returncode != 0:
            print("  skipped: a full file system (mounting one is not allowed here)")
            return
        try:
            receiver = Receiver(program, place.folder)
            sender = send(program, receiver.port, place.file, "--patience", "5").end()
            code, out, err = receiver.end()
            assert code == 1 and "no space is left" in err, err[-300:]
            assert sender[0] == 1 and "no space is left" in sender[2], sender[2][-300:]
            assert place.arrived() == []
        finally:
            subprocess.run(["umount", place.folder], check=True)


def forged_packets_hinder_no_transfer(program):
    with Place(2_000_000) as place:
        receiver = Receiver(program, place.folder)
        attackers = [
            subprocess.Popen([program, "attack", receiver.port, "20000", "--seed", str(seed)]) for seed in (1, 2)]
        code, out, err = send(program, receiver.port, place.file, "--patience", "60").end()
        for attacker in attackers:
            attacker.kill()  # a flood of its own need not end before the transfer does
            attacker.wait()
        assert code == 0, err[-300:]
        code, out, err = receiver.end()
        assert code == 0, err[-300:]
        assert place.arrived() == ["file.bin"]
        assert digest(place.folder / "file.bin") == digest(place.file)


def a_receiver_under_attack_alone_begins_nothing(program):
    with Place(0) as place:
        receiver = Receiver(program, place.folder, "--wait", "2")
        attacker = subprocess.run([program, "attack", receiver.port, "20000", "--seed", "3"], timeout=LIMIT)
        assert attacker.returncode == 0
        code, out, err = receiver.end()
        assert code == 1 and "no file was offered" in err, err[-300:]
        assert place.arrived() == []


def nobody_listening_and_misuse_are_said(program):
    with Place(1000) as place:
        unused = Receiver(program, place.folder)
        unused.kill()
        unused.end()
        code, out, err = send(program, unused.port, place.file, "--patience", "1").end()
        assert code == 1 and "no answer" in err, err
        for words, expected in (
                (["send", "127.0.0.1", "1", place.root / "missing"], 1), (["send", "nowhere", "1", place.file], 1),
                (["receive", "0", place.root / "missing"], 1), (["fly"], 2), ([], 2), (["send", "--loss"], 2),
                (["receive", "0"], 2)):
            done = subprocess.run([program, *words], capture_output=True, text=True, timeout=LIMIT)
            assert done.returncode == expected and "transport:" in done.stderr, (words, done)


TESTS = [
    moves_files_whatever_the_network_loses,
    replaces_an_older_file_of_that_name_only_when_all_is_there,
    a_killed_side_ends_the_other_with_a_reason_and_leaves_no_file,
    a_full_disk_is_told_to_both,
    a_small_file_system_runs_full,
    forged_packets_hinder_no_transfer,
    a_receiver_under_attack_alone_begins_nothing,
    nobody_listening_and_misuse_are_said,
]

def cases(program):
    """Every test, those with many cases as each of them: name and function."""
    for test in TESTS:
        if test.__code__.co_flags & 0x20:  # a generator
            yield from ((test.__name__, case) for case in test(program))
        else:
            yield test.__name__, lambda test=test: test(program)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("use: test_processes.py PROGRAM ...")
    begin = time.monotonic()
    failed = 0
    with ThreadPoolExecutor(12) as pool:  # they mostly wait for each other's silence
        every = [(program, name, pool.submit(case))
                 for program in map(os.path.abspath, sys.argv[1:]) for name, case in cases(program)]
        for program, name, future in every:
            try:
                future.result()
            except Exception as problem:  # the others are told of too
                failed += 1
                print(f"FAILED {name} of {program}: {problem!r}", flush=True)
    print(f"  {len(every)} tests of processes, {failed} failed, {time.monotonic() - begin:.1f} s")
    sys.exit(1 if failed else 0)
