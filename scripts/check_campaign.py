#!/usr/bin/env python3
"""Is this file a campaign of assay in which everything was measured?

Usage: check_campaign.py FILE. Compares it with schema/campaign-1.schema.json, and checks that every contrast has a
verdict from finite intervals and that no cell failed. Exit 0 and one line, or 1 and every complaint.

Of JSON Schema it knows the keywords that our schema uses, and complains of any other. Standard library only.
"""
import json
import math
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "schema" / "campaign-1.schema.json"

ANNOTATIONS = {"$schema", "$defs", "title", "description", "format", "default"}

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def mismatches(value, schema, root, where):
    """Every place where `value` is not what `schema` says."""
    found = []
    for keyword, rule in schema.items():
        if keyword in ANNOTATIONS:
            continue
        if keyword == "$ref":
            found += mismatches(value, root["$defs"][rule.removeprefix("#/$defs/")], root, where)
        elif keyword == "type":
            kinds = rule if isinstance(rule, list) else [rule]
            if not any(TYPES[kind](value) for kind in kinds):
                found.append(f"{where}: {value!r} is not {' or '.join(kinds)}")
        elif keyword == "const":
            if value != rule:
                found.append(f"{where}: {value!r} is not {rule!r}")
        elif keyword == "enum":
            if value not in rule:
                found.append(f"{where}: {value!r} is none of {rule}")
        elif keyword == "minimum":
            if TYPES["number"](value) and value < rule:
                found.append(f"{where}: {value!r} is below {rule}")
        elif keyword in ("anyOf", "oneOf"):
            ways = [mismatches(value, way, root, where) for way in rule]
            if all(ways):
                found += min(ways, key=len)
        elif keyword == "required":
            if isinstance(value, dict):
                found += [f"{where}: no key {key!r}" for key in rule if key not in value]
        elif keyword == "properties":
            if isinstance(value, dict):
                for key in rule.keys() & value.keys():
                    found += mismatches(value[key], rule[key], root, f"{where}.{key}")
        elif keyword == "additionalProperties":
            if isinstance(value, dict) and isinstance(rule, dict):
                for key in value.keys() - schema.get("properties", {}).keys():
                    found += mismatches(value[key], rule, root, f"{where}.{key}")
        elif keyword == "items":
            if isinstance(value, list):
                for index, entry in enumerate(value):
                    found += mismatches(entry, rule, root, f"{where}[{index}]")
        else:
            found.append(f"the schema uses {keyword!r}, which this script does not know")
    return found


def ratio_complaints(name, ratio):
    numbers = [ratio.get(key) for key in ("lower", "ratio", "upper")]
    if not all(isinstance(n, (int, float)) and math.isfinite(n) and n > 0 for n in numbers):
        return [f"{name}: not three positive numbers: {ratio}"]
    if not numbers[0] <= numbers[1] <= numbers[2]:
        return [f"{name}: the estimate is outside its interval: {ratio}"]
    return []


def contrast_complaints(contrast):
    name = "/".join(contrast[key] for key in ("candidate", "baseline", "input", "compiler", "flags"))
    if contrast["code"] is None or contrast["as_built"] is None:
        return [f"{name}: not measured over placements and as built"]
    return ratio_complaints(f"{name} code", contrast["code"]) + ratio_complaints(f"{name} as built", contrast["as_built"])


def cell_complaints(cell):
    name = "/".join(cell[key] for key in ("variant", "input", "compiler", "flags"))
    if cell["failed"] is not None:
        return [f"{name}: failed: {cell['failed']['reason']}"]
    if cell["ns_per_unit"] is None or not cell["ns_per_unit"]["median"] > 0:
        return [f"{name}: no time per unit"]
    return []


def complaints(campaign, schema):
    found = mismatches(campaign, schema, schema, "campaign")
    if found:
        return found
    for key, check in (("contrasts", contrast_complaints), ("cells", cell_complaints)):
        if not campaign[key]:
            found.append(f"no {key}")
        for entry in campaign[key]:
            found += check(entry)
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        campaign = json.load(file)
    found = complaints(campaign, json.loads(SCHEMA.read_text(encoding="utf-8")))
    for complaint in found:
        print(f"{sys.argv[1]}: {complaint}", file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{len(campaign['cells'])} cells and {len(campaign['contrasts'])} contrasts, none failed: {campaign['answer']}")


if __name__ == "__main__":
    main()
