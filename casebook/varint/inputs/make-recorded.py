#!/usr/bin/env python3
"""Makes a varint stream from the package index of a Debian machine: what a search engine would store of it.

For every word in the one-line descriptions of all packages, in the order of the words: how many packages have it, the
number of the first (packages sorted by name, counted from 1), and the gaps to the next ones. Such posting lists are
what varints were made for, and they have what made-up streams lack: a frequent word is a long run of short gaps, a rare
one a few long ones.

    ./make-recorded.py postings.varint                    from the machine's own index (apt-cache dumpavail)
    apt-cache dumpavail | ./make-recorded.py out -        from standard input, or from a file instead of -
    ./make-recorded.py --size 300M big.varint             from the text files of the installed packages

With --size it is the same of running text, as hundreds of megabytes: files in the order of their paths, in segments of
32 MiB of text; of each segment, for every word in order, how often it occurs, where first (words counted from 1), and
the gaps to where it occurs next. It ends with the value that reaches the size.

Needs Python 3 and nothing else. The same index gives the same bytes; another day's index gives others.
"""

import glob
import gzip
import hashlib
import os
import re
import subprocess
import sys


def descriptions(lines):
    """The one-line description of each package, by name; of several versions the first."""
    found = {}
    name = None
    for line in lines:
        if line.startswith("Package: "):
            name = line[len("Package: "):].strip()
        elif line.startswith("Description: "):
            found.setdefault(name, line[len("Description: "):].strip())
    return found


def postings(found):
    """The sorted numbers of the packages that have each word."""
    lists = {}
    for number, name in enumerate(sorted(found), start=1):
        # ASCII letters and digits only, so that the words don't depend on a locale or on Unicode's tables.
        words = re.findall("[a-z0-9]+", found[name].lower())
        for word in set(words):
            lists.setdefault(word, []).append(number)
    return lists


def values(lists):
    """Count and gaps of each list, in the order of the words."""
    for word in sorted(lists):
        numbers = lists[word]
        yield len(numbers)
        for before, number in zip([0] + numbers, numbers):
            yield number - before


def varint(value):
    """LEB128: seven bits per byte, the lowest first, the high bit on all but the last."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return encoded


SEGMENT = 32 << 20  # bytes of text whose index fits a small machine's memory


def package_files():
    """The regular files of the installed packages, by path."""
    paths = set()
    for listed in glob.glob("/var/lib/dpkg/info/*.list"):
        with open(listed, encoding="utf-8", errors="surrogateescape") as file:
            paths.update(file.read().split("\n"))
    return sorted(path for path in paths if os.path.isfile(path) and not os.path.islink(path))


def texts(paths):
    """The bytes of those that are text, unpacked where they are gzipped."""
    for path in paths:
        try:
            with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
                data = file.read()
        except (OSError, EOFError):  # not readable by this user, or no gzip in spite of its name
            continue
        if b"\0" not in data[:4096]:
            yield data


def segments(pieces):
    """Texts joined until they are a segment."""
    joined, size = [], 0
    for piece in pieces:
        joined.append(piece)
        size += len(piece)
        if size >= SEGMENT:
            yield b"\n".join(joined)
            joined, size = [], 0
    if joined:
        yield b"\n".join(joined)


def positions(text):
    """The index of a segment, encoded: its values, and their bytes."""
    last, gaps, counts = {}, {}, {}
    number = 0
    for number, word in enumerate(re.findall(rb"[a-z0-9]+", text.lower()), start=1):
        gap = number - last.get(word, 0)
        last[word] = number
        if word not in gaps:
            gaps[word], counts[word] = bytearray(), 0
        counts[word] += 1
        if gap < 0x80:
            gaps[word].append(gap)
        else:
            gaps[word] += varint(gap)
    stream = bytearray()
    for word in sorted(gaps):
        stream += varint(counts[word])
        stream += gaps[word]
    return number + len(gaps), stream


def cut(stream, size):
    """As many bytes as are asked for, and the rest of the last value."""
    end = size
    while stream[end - 1] >= 0x80:
        end += 1
    return stream[:end]


def make_big(output, size):
    digest = hashlib.sha256()
    units = written = 0
    with open(output, "wb") as file:
        for segment in segments(texts(package_files())):
            values, stream = positions(segment)
            if written + len(stream) > size:
                stream = cut(stream, size - written)
                values = sum(byte < 0x80 for byte in stream)
            file.write(stream)
            digest.update(stream)
            units += values
            written += len(stream)
            if written >= size:
                break
    print(f"varints {units}, bytes {written}")
    print(f"sha256 {digest.hexdigest()}")
    if written < size:
        sys.exit("make-recorded.py: the installed packages have no more text; install others (-doc, -dev)")


def size_of(text):
    """300M, 2G, 5000."""
    found = re.fullmatch(r"([0-9]+)([kMG]?)", text)
    if not found or int(found[1]) == 0:
        sys.exit(f"make-recorded.py: {text} is no size; as in 300M")
    return int(found[1]) * {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}[found[2]]


def index(source):
    """The package index as text."""
    if source == "-":
        data = sys.stdin.buffer.read()
    elif source:
        with open(source, "rb") as file:
            data = file.read()
    else:
        data = subprocess.run(["apt-cache", "dumpavail"], check=True, stdout=subprocess.PIPE).stdout
    return data.decode("utf-8", errors="replace")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--size":
        make_big(arguments[2], size_of(arguments[1]))
        return
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        sys.exit("usage: make-recorded.py OUTPUT [INDEX, or - for standard input], or --size SIZE OUTPUT")
    found = descriptions(index(arguments[1] if len(arguments) == 2 else None).split("\n"))
    if not found:
        sys.exit("make-recorded.py: the index has no packages; run `apt-get update` first")
    lists = postings(found)
    stream = bytearray()
    units = 0
    for value in values(lists):
        stream += varint(value)
        units += 1
    with open(arguments[0], "wb") as file:
        file.write(stream)
    print(f"packages {len(found)}, words {len(lists)}, varints {units}, bytes {len(stream)}")
    print(f"sha256 {hashlib.sha256(stream).hexdigest()}")


if __name__ == "__main__":
    main(sys.argv[1:])
