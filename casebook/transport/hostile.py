#!/usr/bin/env python3
"""Can hostile datagrams crash either side of a transfer, make it grow, or change the file?

Use: casebook/transport/hostile.py PROGRAM [COUNT] [--seed N]     (5,000 datagrams, seed 1; 1000000 takes a minute)

Method: this program relays between a sender and a receiver, so that what it adds comes from the right address and port.
It lets the transfer through no faster than the datagrams go out: the transfer is under way until the last of them. They
come from a seed: noise of 0 to 65,507 bytes; packets of this transfer with bits flipped, cut or lengthened, half of them
before the packet itself; its packets again, also to the side that sent them; packets of the transfer before; packets made
with a right checksum and another session; and some with the right session, but a number or length that cannot be.
Sends wait while the other side's queue is long, so that nearly all are read.
Fails if: a side ends with anything but 0, the file differs or has company, resident memory grows by more than 64 KiB
after the first tenth, fewer than nine tenths were read, or it takes longer than 90 s.
Known limits: no possible packet of this session that was never sent: that is a forger who reads the network, who can
end a transfer (fuzz.zig). What is random in the processes (keys, sessions, moments) is not repeated.
"""

import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

LIMIT = 90.0
GROWTH = 64  # KiB
LONGEST = 65_507
PAYLOAD = 10_208  # of a full packet from step 5 on
PIECES = 200  # of the file
BURST = 32
MASK = (1 << 64) - 1
ONE, TWO = 0x9e3779b97f4a7c15, 0xbb67ae8584caa73b


def checksum(data):
    """That of packets, as checksum.zig has it."""
    lanes = [ONE, TWO, ~ONE & MASK, ~TWO & MASK]
    padded = data + bytes(-len(data) % 32)
    for place, word in enumerate(struct.unpack(f"<{len(padded) // 8}Q", padded)):
        lane = lanes[place % 4] ^ word
        lanes[place % 4] = (lane << 29 | lane >> 35) * ONE & MASK
    a = mix(lanes[0] ^ mix(lanes[1] ^ len(data)))
    b = mix(lanes[2] ^ mix(lanes[3] ^ a))
    c = a ^ mix(b)
    return (c ^ c >> 32) & 0xffffffff


def mix(word):
    word = (word ^ word >> 32) * ONE & MASK
    word = (word ^ word >> 29) * TWO & MASK
    return word ^ word >> 32


def packet(kind, session, seq, tx, payload):
    whole = struct.pack("<BBHIQQQ", 19 << 3 | kind, 0, len(payload), 0, session, seq, tx) + payload
    return whole[:4] + packet_sum(whole) + whole[8:]


def packet_sum(datagram):
    """The four bytes at its place, which count as zero."""
    return struct.pack("<I", checksum(datagram[:4] + bytes(4) + datagram[8:]))


class Forger:
    """Hostile datagrams from a seed, by what was overheard."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.noise = self.random.randbytes(4 * LONGEST)
        self.heard, self.older, self.waiting, self.impossible = [], [], [], []
        self.made = [self.make() for _ in range(400)]

    def hear(self, datagram):
        if len(self.heard) < 64:
            self.heard.append(datagram)
        else:
            self.heard[self.random.randrange(64)] = datagram

    def make(self):
        """A packet that is right but for its session."""
        kind = self.random.randrange(8)
        size = (32, 0, 20, 4, self.random.choice((992, PAYLOAD)), self.random.randrange(130), 24, 1)[kind]
        small = self.random.random() < 0.9 and size < PAYLOAD
        return packet(kind, self.random.getrandbits(64), self.random.randrange(64 if small else 1 << 64),
                      self.random.randrange(1 << 16), self.random.randbytes(size))

    def intrude(self, session):
        """Makes packets of this session that neither side may take."""
        pick = self.random.choice
        beyond = (PIECES, PIECES + 1, 1 << 31, 1 << 32, 1 << 63, (1 << 64) - 1)
        body = self.noise[:PAYLOAD]
        for _ in range(24):
            self.impossible += [
                packet(4, session, pick(beyond), 1, body),
                packet(4, session, self.random.randrange(PIECES), 1, body[:self.random.randrange(200)]),
                packet(5, session, pick(beyond[2:]), 1, b""), packet(5, session, 0, pick(beyond[2:]), b"\xff" * 8),
                packet(5, session, 0, 1, bytes(129))]

    def next(self):
        throw = self.random.random
        way = throw()
        if way < 0.3:
            length = int(throw() * (LONGEST + 1)) if throw() < 0.5 else int(throw() * 1500)
            start = int(throw() * 3 * LONGEST)
            return self.noise[start:start + length]
        if way < 0.45:
            return self.made[int(throw() * len(self.made))]
        if way < 0.5 and self.impossible:
            return self.impossible[int(throw() * len(self.impossible))]
        if way < 0.55:
            return self.older[int(throw() * len(self.older))]
        own = self.heard[int(throw() * len(self.heard))]
        if way < 0.7:
            return own
        if self.waiting and throw() < 0.5:
            own = self.waiting[int(throw() * len(self.waiting))]
        if way < 0.8:
            return own[:int(throw() * len(own))]
        if way < 0.9:
            return own + self.noise[:1 + int(throw() * 100)]
        spoiled = bytearray(own)
        for _ in range(1 + int(throw() * 8)):
            spoiled[int(throw() * len(spoiled))] ^= 1 << int(throw() * 8)
        return bytes(spoiled) if spoiled != own else own[:-1]  # two flips of the same bit


class Side:
    """A process of the program."""

    def __init__(self, words):
        self.err = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=self.err, text=True)

    def resident(self):
        """KiB of memory without the mapped file, or 0 if it has ended."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except (ProcessLookupError, FileNotFoundError):
            return 0
        found = re.search(r"RssAnon:\s+(\d+)", status)
        return int(found[1]) if found else 0

    def end(self, what):
        """What it said; its end must be a good one."""
        try:
            out, _ = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail(f"the {what} does not end")
        self.err.seek(max(0, self.err.seek(0, 2) - 500))
        if self.process.returncode != 0:
            fail(f"the {what} ends with {self.process.returncode}: {self.err.read()}")
        return out


def fail(reason):
    sys.exit(f"hostile.py: FAILED: {reason}")


class Relay:
    """Between a sender, who sends to `front`, and a receiver."""

    def __init__(self, forger):
        self.forger = forger
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for one in (self.front, self.back):
            one.bind(("127.0.0.1", 0))
            one.setblocking(False)
        self.sender = self.receiver = None
        self.waiting, self.passed = forger.waiting, 0

    def turn(self, allowed):
        """Passes on what there is; of the sender's packets as many in all as allowed."""
        for datagram, self.sender in self.read(self.front):
            self.waiting.append(datagram)
            del self.waiting[:-16]
        while self.waiting and self.passed < allowed:
            self.passed += 1
            # Heard only now: sent "again", a packet that still waits would be the first of its kind.
            self.forger.hear(self.waiting[0])
            self.to(self.back, self.waiting.pop(0), self.receiver)
        for datagram, _ in self.read(self.back):
            self.forger.hear(datagram)
            self.to(self.front, datagram, self.sender)

    def read(self, one):
        for _ in range(BURST):
            try:
                datagram, peer = one.recvfrom(1 << 16)
            except (BlockingIOError, ConnectionRefusedError):
                return
            yield datagram, peer

    @staticmethod
    def to(one, datagram, peer):
        try:
            one.sendto(datagram, peer)
        except (BlockingIOError, ConnectionRefusedError):
            pass  # as if the network had lost it; that a process has ended is seen elsewhere


def queues():
    """Bytes waiting and datagrams dropped, by port."""
    lines = pathlib.Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]
    words = [line.split() for line in lines]
    return {int(word[1][-4:], 16): (int(word[4].split(":")[1], 16), int(word[-1])) for word in words}


def begin(program, relay, file, folder):
    receiver = Side([program, "receive", "0", folder, "--window", "16", "--patience", "60"])
    relay.receiver = ("127.0.0.1", int(receiver.process.stdout.readline().split()[-1]))
    relay.sender, relay.passed = None, 0
    relay.waiting.clear()
    return receiver, Side([program, "send", "127.0.0.1", relay.front.getsockname()[1], file, "--patience", "60"])


def flood(relay, forger, sides, count):
    """Sends all of them while the transfer goes on; returns the resident memory early and late."""
    while not (relay.passed > 4 and relay.sender):
        relay.turn(6)
    sessions = (struct.unpack_from("<Q", datagram, 8)[0] for datagram in forger.heard)
    forger.intrude(next(session for session in sessions if session))
    begun, sent, early = time.monotonic(), 0, None
    while sent < count:
        for _ in range(BURST):
            back = forger.random.random() < 0.6
            relay.to(relay.back if back else relay.front, forger.next(), relay.receiver if back else relay.sender)
        sent += BURST
        relay.turn(6 + 0.9 * PIECES * sent / count)
        if early is None and sent >= count / 10:
            early = [side.resident() for side in sides]
        while True:
            seen = queues()
            if all(seen.get(port, (0, 0))[0] < 64 << 10 for _, port in (relay.receiver, relay.sender)):
                break
            relay.turn(6 + 0.9 * PIECES * sent / count)
        for side, what in zip(sides, ("receiver", "sender")):
            if side.process.poll() is not None:
                side.end(what)
                fail(f"the {what} ended after {sent} datagrams of {count}, before the transfer did")
        if time.monotonic() - begun > LIMIT:
            fail(f"{sent} datagrams of {count} in {LIMIT:.0f} s")
    dropped = sum(seen.get(port, (0, 0))[1] for _, port in (relay.receiver, relay.sender))
    return sent, dropped, time.monotonic() - begun, early, [side.resident() for side in sides]


def transfer(program, relay, root, name, size, seed, during):
    """One file, through the relay; `during` is called while it moves."""
    file, folder = root / name, root / f"{name}-got"
    folder.mkdir()
    file.write_bytes(random.Random(seed).randbytes(size))
    sides = begin(program, relay, file, folder)
    try:
        found = during(sides)
        limit = time.monotonic() + 60
        while any(side.process.poll() is None for side in sides):
            relay.turn(1 << 60)
            time.sleep(0.0002)
            if time.monotonic() > limit:
                fail("the transfer does not end")
        said = [side.end(what) for side, what in zip(sides, ("receiver", "sender"))]
    finally:
        for side in sides:
            side.process.kill()
    if [path.name for path in folder.iterdir()] != [name] or (folder / name).read_bytes() != file.read_bytes():
        fail("another file arrived")
    return found, said


def main(words):
    seed = 1
    if "--seed" in words[:-1]:
        at = words.index("--seed")
        seed = int(words[at + 1])
        words = words[:at] + words[at + 2:]
    if not 1 <= len(words) <= 2:
        sys.exit(__doc__)
    program, count = pathlib.Path(words[0]).resolve(), int(words[1]) if len(words) > 1 else 5000
    forger = Forger(seed)
    relay = Relay(forger)
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        transfer(program, relay, root, "before.bin", 20 * PAYLOAD, 1, lambda _: None)
        if any(packet_sum(datagram) != datagram[4:8] for datagram in forger.heard):
            fail("the checksum made here is not the program's")
        forger.older, forger.heard = forger.heard, []
        (sent, dropped, took, early, late), said = transfer(
            program, relay, root, "file.bin", PIECES * PAYLOAD, 2, lambda sides: flood(relay, forger, sides, count))
    refused = [int(re.search(r"(\d+) datagrams refused", words)[1]) for words in said]
    growth = [after - before for before, after in zip(early, late)]
    if max(growth) > GROWTH:
        fail(f"resident memory grew by {growth} KiB (receiver, sender)")
    if dropped > sent / 10:
        fail(f"the kernel dropped {dropped} of {sent}: they were not read")
    print(f"{sent} hostile datagrams in {took:.1f} s, {dropped} dropped by the kernel; refused: receiver {refused[0]}, sender "
          f"{refused[1]}; resident KiB: receiver {early[0]} to {late[0]}, sender {early[1]} to {late[1]}; the file is right")


if __name__ == "__main__":
    main(sys.argv[1:])
