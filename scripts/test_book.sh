#!/usr/bin/env bash
# Do the book's pictures show what the documents say, and do its pages hold together?
set -euo pipefail
cd "$(dirname "$0")/.."

if ! python3 -c 'import tomllib' 2> /dev/null; then
    echo "skipped: the book, for python3 is older than 3.11"
    exit 0
fi
scripts/pictures.py --check
echo "ok: pictures are what their tables say"
casebook/results.py --check
echo "ok: the studies' tables by processor are what their data say"
# A page of each kind that the studies keep is read to its cells.
PYTHONPATH=casebook python3 - << 'END'
import json, pathlib, sys, tempfile
import results
with tempfile.TemporaryDirectory() as folder:
    for name in ("campaign", "sweep", "diary"):
        page = pathlib.Path(folder) / name
        page.write_text(json.dumps(json.loads(pathlib.Path(f"scripts/page/kept/{name}.json").read_text())["page"]))
        date, cells, contrasts = results.read_page(page)
        if not cells or not all("ns" in cell for cell in cells) or (name != "sweep" and not contrasts):
            sys.exit(f"casebook/results.py reads nothing from a page of a {name}")
END
echo "ok: pages of campaigns, sweeps and diaries are read for the studies"
# Each figure of a picture stands in the document that it names as its source.
python3 - << 'END'
import pathlib, re, sys, tomllib
wrong = []
for path in sorted(pathlib.Path("docs/book/pictures").glob("*.toml")):
    table = tomllib.loads(path.read_text())
    text = pathlib.Path(table["source"]).read_text().replace(",", "").replace("−", "-")
    known = {float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}
    for row in table["rows"]:
        figures = [row[key] for key in ("value", "code", "built") if key in row] + row.get("values", [])
        wrong += [f"{path.name}, {row['name']}: {figure}" for figure in figures if abs(figure) not in known]
sys.exit("not in their sources: " + "; ".join(wrong) if wrong else 0)
END
echo "ok: the pictures' figures stand in their sources"
python3 - << 'END'
import pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "scripts")
import book
known = book.pages()
if missing := book.unlisted(known):
    sys.exit(f"the contents do not name {missing}")
history = pathlib.Path("docs/history.md")
assert book.unlisted([path for path in known if path != history]) == [history], "a document that is left out is not found"
END
echo "ok: the contents name every document that is linked"
for mdbook in "${MDBOOK:-}" mdbook target/book/tools/bin/mdbook; do
    if [ -n "$mdbook" ] && command -v "$mdbook" > /dev/null; then
        scripts/book.py --mdbook "$mdbook"
        echo "6 passed, 0 failed, 0 skipped"
        exit
    fi
done
echo "skipped: making the pages, for there is no mdbook (make book installs it)"
echo "5 passed, 0 failed, 1 skipped"
