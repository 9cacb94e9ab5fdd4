#!/usr/bin/env python3
"""A call at each place in its line: the store and the loop moved byte by byte by a sled of NOPs. See sled.s.

Use: casebook/dispatch/sled.py run [ROUNDS]     the curves as a table of runs of equal offsets; tab-separated with --raw
     casebook/dispatch/sled.py picture FILE     raw figures from standard input as a picture
     casebook/dispatch/sled.py check            each copy lies where it says, and all give the same answer: what test.sh holds

Method: gcc, sled.c; lower quartile over rounds in random order, each 20,000 calls by the thread's CPU clock. Pin it: taskset -c N.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {"store": "the store moves", "loop": "the loop moves", "shared": "the store moves, one loop for all"}


def build(folder):
    program = pathlib.Path(folder) / "sled"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "sled.c", HERE / "sled.s"], check=True)
    return program


def figures(lines):
    """By kind: offset, lower quartile in ns, answer."""
    found = {}
    for line in lines:
        kind, offset, quartile, _, answer = line.split("\t")
        found.setdefault(kind, []).append((int(offset), float(quartile), int(answer)))
    return found


def run(program, rounds, calls):
    return subprocess.run([program, str(rounds), str(calls)], check=True, capture_output=True, text=True).stdout.splitlines()


def runs(points, step=0.2):
    """Neighbouring offsets whose times differ by less than two thirds of a cycle at 3.3 GHz."""
    group = [points[0]]
    for point in points[1:]:
        if abs(point[1] - group[-1][1]) >= step:
            yield group
            group = []
        group.append(point)
    yield group


def table(found):
    print("| what moves | offsets | ns per call, lower quartile |\n|---|---|--:|")
    for kind, points in found.items():
        for group in runs(points):
            offsets = f"{group[0][0]} to {group[-1][0]}" if len(group) > 1 else group[0][0]
            times = sorted(time for _, time, _ in group)
            print(f"| {KINDS[kind]} | {offsets} | {times[len(times) // 2]:.2f} |")


def picture(found):
    """Steps, one line for each kind."""
    width, height, left, top = 640, 260, 50, 20
    most = max(time for points in found.values() for _, time, _ in points) * 1.15
    x = lambda offset: left + offset * (width - left - 20) / 64
    y = lambda time: height - 40 - time * (height - 40 - top) / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="{left}" y="14">ns per call, by the byte of its line at which code begins</text>']
    for offset in range(0, 65, 16):
        out.append(f'<path d="M{x(offset):.1f} {top}V{height - 40}" stroke="#ddd"/>'
                   f'<text x="{x(offset):.1f}" y="{height - 24}" text-anchor="middle">{offset}</text>')
    for time in range(int(most) + 1):
        out.append(f'<text x="{left - 8}" y="{y(time) + 4:.1f}" text-anchor="end">{time}</text>'
                   f'<path d="M{left} {y(time):.1f}H{width - 20}" stroke="#eee"/>')
    for place, ((kind, points), colour) in enumerate(zip(found.items(), ("#1b6ca8", "#c2410c", "#777"))):
        path = "".join(f"{'M' if offset == 0 else 'V'}{'' if offset else f'{x(0):.1f} '}{y(time):.1f}H{x(offset + 1):.1f}"
                       for offset, time, _ in points)
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{left + place * 190}" y="{height - 6}" fill="{colour}">{KINDS[kind]}</text>')
    return "\n".join([*out, "</svg>", ""])


def check():
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        for name, wanted in [("store_", None), ("loop_body_", None), ("home_body_", 0), ("shared_body_", 0)]:
            places = re.findall(rf"^(\w+) t {name}(\d+)$", names, re.M)
            assert len(places) == (1 if name.startswith("shared") else 64), (name, len(places))
            for at, offset in places:
                assert int(at, 16) % 64 == (int(offset) if wanted is None else wanted), (name, at, offset)
        found = figures(run(program, 1, 1000))
        assert {kind: [point[0] for point in points] for kind, points in found.items()} == dict.fromkeys(KINDS, [*range(64)])
        # Of 0 to 999 the last 64, each in a cell of its own, after 256 calls of the warm-up.
        answers = {answer for points in found.values() for *_, answer in points}
        assert answers == {sum(range(1000 - 64, 1000))}, answers
        group = [len(group) for group in runs([(0, 1.0, 0), (1, 1.01, 0), (2, 2.0, 0)])]
        assert group == [2, 1], group
    print("sled.py: 193 copies lie where they say, and answer alike")


def main(words):
    if words[:1] == ["check"]:
        check()
    elif words[:1] == ["picture"] and len(words) == 2:
        pathlib.Path(words[1]).write_text(picture(figures(sys.stdin)), encoding="utf-8")
    elif words[:1] == ["run"]:
        rounds = next((int(word) for word in words if word.isdigit()), 101)
        with tempfile.TemporaryDirectory() as folder:
            lines = run(build(folder), rounds, 20000)
        print("\n".join(lines)) if "--raw" in words else table(figures(lines))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
