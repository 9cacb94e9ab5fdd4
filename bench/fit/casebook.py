#!/usr/bin/env python3
"""Every random input of the casebook, written to a file and fitted: is each fit close?

    bench/fit/casebook.py [ASSAY] [NAME-PART ...]

What repeats (distinct_units), has fewer than 10,000 units or was recorded is listed, not asked; streams that several files
share are fitted once. A stream of too few units for the margin ("cannot be shown to agree") is counted by itself: the answer says how many it
takes. Exit code 1 if the fit of a random stream was refused for anything else.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEWEST = 10_000

# Keys that say how an input is used, not what is in it.
OF_USE = {"description", "window_units", "use", "production_units"}


def streams():
    """Experiment file, input's name and table of every input that the casebook generates."""
    for file in sorted(ROOT.glob("casebook/*/*.toml")):
        for name, table in tomllib.loads(file.read_text()).get("inputs", {}).items():
            yield file, name, table


def reason_not_to_ask(table):
    if table.get("format", "varint") != "varint" or table.get("generator") in ("keys", "text"):
        return "no varints"
    if table.get("generator") in (None, "settings"):
        return "not generated"
    if table.get("units", 1_000_000) < FEWEST:
        return f"{table['units']} units are too few, as fit says"
    distinct = table.get("distinct_units")
    if distinct and 2 * distinct <= table.get("units", 1_000_000):
        return f"repeats {distinct} units, as fit says"
    return None


def fit(assay, file, name, folder):
    data = folder / f"{name}.bin"
    subprocess.run([assay, "inputs", "generate", file, name, data], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([assay, "inputs", "fit", data, "--json"], capture_output=True, text=True)
    data.unlink()
    return json.loads(done.stdout) if done.returncode in (0, 1) else {"close": False, "answer": done.stderr.strip(), "refusals": [{"what": "failed"}]}


def main():
    assay = sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/assay"
    parts = sys.argv[2:]
    seen, found = {}, {"close": 0, "too few units": 0, "REFUSED": 0}
    with tempfile.TemporaryDirectory() as folder:
        for file, name, table in streams():
            title = f"{file.relative_to(ROOT / 'casebook')} {name}"
            if parts and not any(part in title for part in parts):
                continue
            stream = tuple(sorted((key, str(value)) for key, value in table.items() if key not in OF_USE))
            why = reason_not_to_ask(table) or (f"as {seen[stream]}" if stream in seen else None)
            if why:
                print(f"{title}: not asked, {why}")
                continue
            seen[stream] = title
            page = fit(assay, file, name, pathlib.Path(folder))
            few = not page["close"] and all("cannot be shown to agree" in reason["what"] for reason in page["refusals"])
            says = "close" if page["close"] else "too few units" if few else "REFUSED"
            found[says] += 1
            print(f"{title}: {says}: {page['answer']}", flush=True)
    print(f"{sum(found.values())} random inputs: " + ", ".join(f"{count} {says}" for says, count in found.items()))
    return 1 if found["REFUSED"] else 0


sys.exit(main())
