#!/usr/bin/env python3
"""What a socket's buffers do to datagrams that nobody reads yet: how many are kept, and what is refused.

Use: casebook/transport/buffers.py [check]

Method: over loopback, 2,000 datagrams of one size are sent to a socket that is not read until all are sent; what is there
then was kept. No packet crosses a wire, and no time is involved: the counts are the same in each run on one kernel, which
doubles the size that is asked for and counts its own overhead against it. Then a socket pair of the local kind, whose
sender is held up instead, and the largest datagram that may be sent.
"""

import errno
import socket
import sys

SENT = 2000
BUFFERS = [16 << 10, 64 << 10, 256 << 10]
SIZES = [32, 256, 1024, 1500, 4096, 10240, 32768, 65507]


def kept(buffer, size):
    """How many of SENT datagrams a receiver has that looks when all are sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        receiver.bind(("127.0.0.1", 0))
        data = b"x" * size
        for _ in range(SENT):
            assert sender.sendto(data, receiver.getsockname()) == size
        receiver.setblocking(False)
        found = 0
        while True:
            try:
                assert receiver.recv(65536) == data
            except BlockingIOError:
                return found
            found += 1


def held_up(size):
    """How many datagrams a local sender may be ahead of its receiver before it has to wait."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.setblocking(False)
        for sent in range(SENT):
            try:
                one.send(b"x" * size)
            except BlockingIOError:
                return sent
    return SENT


def largest():
    """Bytes of the largest datagram, and the name of the error beyond."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        sender.bind(("127.0.0.1", 0))
        accepted, refused = 1, 1 << 17
        while refused - accepted > 1:
            size = (accepted + refused) // 2
            try:
                sender.sendto(b"x" * size, sender.getsockname())
                accepted = size
            except OSError as error:
                refused, why = size, error.errno
            while True:
                try:
                    sender.recv(1 << 17, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    break
    return accepted, errno.errorcode[why]


def check():
    """Bigger buffers keep more, bigger datagrams are kept less often, and a datagram is kept whole or not at all."""
    assert kept(BUFFERS[0], 1024) == kept(BUFFERS[0], 1024)
    assert 0 < kept(BUFFERS[0], 1024) < kept(BUFFERS[1], 1024) < SENT
    assert kept(BUFFERS[1], 10240) < kept(BUFFERS[1], 1024)
    assert held_up(1024) < SENT
    assert largest() == (65507, "EMSGSIZE")
    print("buffers.py: what does not fit is lost without a word, or refused")


def main(words):
    if words == ["check"]:
        check()
        return
    if words:
        sys.exit(__doc__)
    print("| bytes each | " + " | ".join(f"{buffer >> 10} KiB asked for" for buffer in BUFFERS) + " | local pair, sent before it waits |")
    print("|--:|" + "--:|" * (len(BUFFERS) + 1))
    for size in SIZES:
        print(f"| {size} | " + " | ".join(str(kept(buffer, size)) for buffer in BUFFERS) + f" | {held_up(size)} |")
    print("\nlargest datagram: {} bytes, beyond it {}".format(*largest()))


if __name__ == "__main__":
    main(sys.argv[1:])
