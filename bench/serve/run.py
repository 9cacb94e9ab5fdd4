#!/usr/bin/env python3
"""How long does a first look at a page of `assay serve` take, when nothing was made ahead of it?

    bench/serve/run.py ASSAY LEDGER      ASSAY: the program; LEDGER: of grow.py; it is copied, and stays as it is

Four looks at campaign 1, each at a server of its own: finished and without a kept page, as of another version; under way;
beside itself; and the list. Told are the seconds until the document is there, and until its data are, where it asks for
them. Each is the least of three.
"""

import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request


def fetch(address):
    started = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        body = answer.read().decode()
    return body, time.perf_counter() - started


def look(assay, ledger, path):
    server = subprocess.Popen([assay, "serve", "--port", "0", "--ledger", ledger], stdout=subprocess.PIPE, text=True)
    try:
        address = re.match(r"http://[^/]+", server.stdout.readline())[0]
        page, document = fetch(address + path)
        asked = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]).get("data")
        return document, document + fetch(address + asked)[1] if asked else document
    finally:
        server.kill()
        server.wait()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    assay = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        ledger = pathlib.Path(folder) / "ledger.db"
        shutil.copyfile(sys.argv[2], ledger)
        connection = sqlite3.connect(ledger)
        # Nothing is made ahead beside what is under way; this one began just now.
        connection.execute("INSERT INTO campaign (experiment, question, experiment_text, spec, machine, assay_version, started_at) "
                           "SELECT experiment, question, experiment_text, spec, machine, assay_version, ? FROM campaign WHERE id = 1", (time.time(),))
        connection.commit()
        print("| look | document, s | with its data, s |\n|---|---|---|")
        for name, path in [("finished, nothing kept", "/campaign/1"), ("beside itself", "/beside/campaign/1/campaign/1"), ("the list", "/")]:
            times = [look(assay, ledger, path) for _ in range(3)]
            print(f"| {name} | {min(t[0] for t in times):.2f} | {min(t[1] for t in times):.2f} |")
        connection.execute("UPDATE campaign SET finished_at = NULL, stopped_because = NULL WHERE id = 1")
        connection.commit()
        times = [look(assay, ledger, "/campaign/1") for _ in range(3)]
        print(f"| under way | {min(t[0] for t in times):.2f} | {min(t[1] for t in times):.2f} |")


if __name__ == "__main__":
    main()
