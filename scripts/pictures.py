#!/usr/bin/env python3
"""Draws the pictures of the documents: one SVG for each table in docs/book/pictures/*.toml, beside it.

    scripts/pictures.py            draw all
    scripts/pictures.py --check    fail where a drawn picture is not what its table says

A table says what is drawn (`kind`), from where its figures are (`source`, a path in this repository), and the rows. Each
figure is in the document that `source` names; a test of the book compares them. Light and dark follow the reader's
setting; each picture has its own background, so it can be read on any page. Needs Python 3.11.
"""

import math
import pathlib
import sys
import tomllib
from xml.sax.saxutils import escape

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/book/pictures"
WIDTH, LEFT, RIGHT, ROW = 760, 250, 92, 26
SERIES = ["s0", "s1", "s2", "s3", "s4"]
STYLE = """
  .ground{fill:#fff;stroke:#d8dce2}.text{fill:#1c2733}.soft{fill:#5b6875}.grid{stroke:#e4e8ed}.zero{stroke:#8894a1}
  .bad{fill:#c2410c}.good{fill:#0f766e}.plain{fill:#64748b}.margin{fill:#e8f3f1}
  .s0{fill:#0f766e;stroke:#0f766e}.s1{fill:#c2410c;stroke:#c2410c}.s2{fill:#4338ca;stroke:#4338ca}
  .s3{fill:#a16207;stroke:#a16207}.s4{fill:#64748b;stroke:#64748b}
  .built{fill:none;stroke:#c2410c;stroke-width:2}.code{fill:#0f766e;stroke:#0f766e}
  @media(prefers-color-scheme:dark){.ground{fill:#12181f;stroke:#2b3642}.text{fill:#e6ebf0}.soft{fill:#9aa7b4}
  .grid{stroke:#232d37}.zero{stroke:#6b7885}.bad{fill:#fb923c}.good{fill:#2dd4bf}.plain{fill:#94a3b8}.margin{fill:#15302e}
  .s0{fill:#2dd4bf;stroke:#2dd4bf}.s1{fill:#fb923c;stroke:#fb923c}.s2{fill:#a5b4fc;stroke:#a5b4fc}
  .s3{fill:#fcd34d;stroke:#fcd34d}.s4{fill:#94a3b8;stroke:#94a3b8}
  .built{stroke:#fb923c}.code{fill:#2dd4bf;stroke:#2dd4bf}}
"""


def number(value, unit=""):
    text = f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return text.replace("-", "−") + unit


def signed(value):
    return ("+" if value > 0 else "") + number(value, " %")


class Sheet:
    """Shapes by coordinates, and the text of the file in the end."""

    def __init__(self, table, rows, axis_room=30):
        self.table, self.shapes = table, []
        legend = 22 if table.get("series") or table["kind"] == "effects" else 0
        self.top = 58 + legend
        self.height = self.top + ROW * rows + axis_room + 10
        self.put(f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{self.height - 1}" rx="8"/>')
        self.text(16, 26, table["title"], weight=600, size=15)
        self.text(16, 46, table["note"], "soft", size=12)

    def put(self, shape):
        self.shapes.append(shape)

    def text(self, x, y, words, style="text", anchor="start", size=13, weight=400):
        self.put(
            f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{escape(words)}</text>'
        )

    def line(self, x, y, to_x, to_y, style, width=1):
        self.put(
            f'<line class="{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke-width="{width}"/>'
        )

    def dot(self, x, y, style, radius=5):
        self.put(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>')

    def middle(self, row):
        return self.top + ROW * (row + 0.5)

    def label(self, row, words):
        self.text(LEFT - 12, self.middle(row) + 4, words, anchor="end")

    def legend(self, entries):
        x = 16
        for style, words in entries:
            self.dot(x + 6, 64, style)
            self.text(x + 18, 68, words, "soft", size=12)
            x += 34 + 6.6 * len(words)

    def finish(self):
        described = f'{self.table["title"]}. {self.table["note"]}'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" role="img" font-family="system-ui,sans-serif">\n<title>{escape(described)}</title>\n'
            f"<style>{STYLE}</style>\n" + "\n".join(self.shapes) + "\n</svg>\n"
        )


def scale(least, most, logarithmic=False):
    """From a value to its x."""
    room = WIDTH - LEFT - RIGHT
    if logarithmic:
        least, most = math.log(least), math.log(most)
        return lambda value: LEFT + room * (math.log(value) - least) / (most - least)
    return lambda value: LEFT + room * (value - least) / (most - least)


def ticks(least, most, logarithmic=False):
    if logarithmic:
        decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        some = [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
        found = [value for value in some if least <= value <= most]
        return found if len(found) < 9 else [value for value in found if str(value).strip("0.").startswith("1")]
    step = 10 ** math.floor(math.log10((most - least) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (most - least) / (step * factor) <= 6)
    return [step * index for index in range(math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9) + 1)]


def axis(sheet, at, least, most, rows, unit, logarithmic=False):
    bottom = sheet.top + ROW * rows
    for value in ticks(least, most, logarithmic):
        sheet.line(at(value), sheet.top, at(value), bottom, "zero" if value == 0 and least < 0 else "grid")
        sheet.text(at(value), bottom + 18, number(value, unit), "soft", "middle", 11)


def bars(table):
    """One figure a row, as a bar with its number."""
    rows = table["rows"]
    sheet = Sheet(table, len(rows))
    most = table.get("most", max(row["value"] for row in rows))
    at = scale(0, most)
    axis(sheet, at, 0, most, len(rows), table.get("unit", ""))
    for index, row in enumerate(rows):
        y = sheet.middle(index)
        sheet.label(index, row["name"])
        width = max(at(row["value"]) - LEFT, 1.5)
        sheet.put(f'<rect class="{row.get("style", "plain")}" x="{LEFT}" y="{y - 8:.1f}" width="{width:.1f}" height="16" rx="2"/>')
        sheet.text(LEFT + width + 7, y + 4, row.get("says", number(row["value"], table.get("unit", ""))), weight=600)
    return sheet.finish()


def points(table):
    """Several series a row, as dots on one axis."""
    rows, series = table["rows"], table["series"]
    sheet = Sheet(table, len(rows))
    logarithmic = table.get("logarithmic", False)
    values = [value for row in rows for value in row["values"] if value is not None]
    # Lengths are compared from zero; changes may lie on both sides of it.
    least = table.get("least", min(values) * 0.85 if logarithmic else min(0, min(values) * 1.08))
    most = table.get("most", max(values) * 1.08 if logarithmic else max(0, max(values) * 1.08))
    styles = table.get("styles", SERIES)
    at = scale(least, most, logarithmic)
    axis(sheet, at, least, most, len(rows), table.get("unit", ""), logarithmic)
    sheet.legend([(styles[index], name) for index, name in enumerate(series)])
    if target := table.get("target"):
        sheet.line(at(target), sheet.top, at(target), sheet.top + ROW * len(rows), "zero", 2)
    for index, row in enumerate(rows):
        y = sheet.middle(index)
        sheet.label(index, row["name"])
        there = [(place, value) for place, value in enumerate(row["values"]) if value is not None]
        sheet.line(at(min(value for _, value in there)), y, at(max(value for _, value in there)), y, "grid", 3)
        for place, value in there:
            sheet.dot(at(value), y, styles[place])
    return sheet.finish()


def effects(table):
    """As built (hollow) beside the code's own effect (solid, with its interval); the margin is shaded."""
    rows = table["rows"]
    sheet = Sheet(table, len(rows))
    values = [0.0]
    for row in rows:
        values += [row["code"] - row.get("error", 0), row["code"] + row.get("error", 0), row.get("built", 0)]
    span = max(values) - min(values)
    least, most = min(values) - span * 0.06, max(values) + span * 0.06
    at = scale(least, most)
    margin = table.get("margin", 1)
    bottom = sheet.top + ROW * len(rows)
    sheet.put(
        f'<rect class="margin" x="{at(-margin):.1f}" y="{sheet.top}" width="{at(margin) - at(-margin):.1f}" '
        f'height="{bottom - sheet.top}"/>'
    )
    axis(sheet, at, least, most, len(rows), " %")
    built = [("built", "as built")] if any("built" in row for row in rows) else []
    sheet.legend([*built, ("code", table.get("code_name", "the code itself"))])
    for index, row in enumerate(rows):
        y = sheet.middle(index)
        sheet.label(index, row["name"])
        if "built" in row:
            sheet.line(at(row["built"]), y, at(row["code"]), y, "grid", 3)
        if row.get("error"):
            sheet.line(at(row["code"] - row["error"]), y, at(row["code"] + row["error"]), y, "code", 2)
        sheet.dot(at(row["code"]), y, "code", 4.5)
        if "built" in row:
            sheet.dot(at(row["built"]), y, "built", 5.5)
        sheet.text(WIDTH - 12, y + 4, signed(row["code"]), anchor="end", size=12, weight=600)
    return sheet.finish()


KINDS = {"bars": bars, "points": points, "effects": effects}


def main():
    wrong = []
    for path in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(path.read_text())
        drawn, target = KINDS[table["kind"]](table), path.with_suffix(".svg")
        if "--check" not in sys.argv:
            target.write_text(drawn)
        elif not target.exists() or target.read_text() != drawn:
            wrong.append(target.name)
    if wrong:
        sys.exit(f"not what their tables say: {', '.join(wrong)}; scripts/pictures.py draws them")


if __name__ == "__main__":
    main()
