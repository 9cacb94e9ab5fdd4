#!/usr/bin/env python3
"""Makes a varint stream from the package index of a Debian machine: what a search engine would store of it.

For every word in the one-line descriptions of all packages, in the order of the words: how many packages have it, the
number of the first (packages sorted by name, counted from 1), and the gaps to the next ones. Such posting lists are
what varints were made for, and they have what made-up streams lack: a frequent word is a long run of short gaps, a rare
one a few long ones.

    ./make-recorded.py postings.varint                    from the machine's own index (apt-cache dumpavail)
    apt-cache dumpavail | ./make-recorded.py out -        from standard input, or from a file instead of -

Needs Python 3 and nothing else. The same index gives the same bytes; another day's index gives others.
"""

import hashlib
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
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        sys.exit("usage: make-recorded.py OUTPUT [INDEX, or - for standard input]")
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
