#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tables of measurements in docs/, from the data in examples/benchmark/results.

    tables.py write    fills every block of every page
    tables.py check    exit status 1 and the names of page and block if a page differs

Form of a block of a page. Its marker may be broken after a comma and before columns= and rows=:

    <!-- results: FILE.json#ID columns=NAME,NAME rows=NAME,NAME -->
    <!-- end of results -->

Without columns or rows the table has all of them. The name of a row is its first cell, or its first two
cells joined by a slash. Several rows may share a name. A comma separates names if no space follows it.

FILE.json is a list of tables:
    id, title   names within the file and in words
    machine, command, date, revision   conditions of the measurement; the last two may be absent
    columns     names of the columns
    rows        lists of cells, one cell for each column
    notes       a string or a list of strings: details of the measurement, and results outside the table
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- results: ", "<!-- end of results -->"
BLOCK = re.compile(BEGIN + r"(?P<said>[^>]*) -->\n(?P<body>((?!" + BEGIN + r")[\s\S])*?)" + END)
SAID = re.compile(r"(?P<file>[\w.-]+)#(?P<id>[\w.-]+)( columns=(?P<columns>.+?))?( rows=(?P<rows>.+))?")


class Wrong(Exception):
    """A block or a file of tables that cannot be used."""


def names(said):
    return re.split(r",(?=\S)", said)


def read(file):
    """{id: table} of a file."""
    if not file.is_file():
        raise Wrong(f"there is no {file.name}")
    tables = {}
    for table in json.loads(file.read_text(encoding="utf-8")):
        if table["id"] in tables:
            raise Wrong(f"{file.name} has two tables {table['id']}")
        for row in table["rows"]:
            if len(row) != len(table["columns"]):
                raise Wrong(f"{file.name}#{table['id']}: the row '{row[0]}' has {len(row)} cells")
        tables[table["id"]] = table
    return tables


def chosen(table, columns, rows):
    """(columns, rows) of a block."""
    head, lines = table["columns"], table["rows"]
    if rows:
        wanted, own = set(names(rows)), [{row[0], "/".join(row[:2])} for row in lines]
        missing = wanted.difference(*own)
        if missing:
            raise Wrong(f"there is no row {', '.join(sorted(missing))}")
        lines = [row for row, name in zip(lines, own) if name & wanted]
    if columns:
        missing = set(names(columns)).difference(head)
        if missing:
            raise Wrong(f"there is no column {', '.join(sorted(missing))}")
        places = [head.index(name) for name in names(columns)]
        head, lines = names(columns), [[row[k] for k in places] for row in lines]
    return head, lines


def markdown(said, results):
    """Text of a block between its markers."""
    match = SAID.fullmatch(said)
    if not match:
        raise Wrong("the marker is not 'results: FILE.json#ID [columns=...] [rows=...]'")
    tables = read(results / match["file"])
    if match["id"] not in tables:
        raise Wrong(f"{match['file']} has no table {match['id']}")
    head, rows = chosen(tables[match["id"]], match["columns"], match["rows"])
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join(["", lines[0], "|---" * len(head) + "|", *lines[1:], "", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["write", "check"])
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "examples/benchmark/results")
    args = parser.parse_args()
    complaints = []
    for page in sorted(args.docs.rglob("*.md")):

        def replace(match):
            said = re.sub(r"\s*\n\s*", " ", re.sub(r",\n\s*", ",", match["said"]))
            try:
                body = markdown(said, args.results)
            except Wrong as wrong:
                complaints.append(f"{page}, block {said}: {wrong}")
                return match[0]
            if args.action == "check" and body != match["body"]:
                complaints.append(f"{page}, block {said}: differs; run `tables.py write`")
            return f"{BEGIN}{match['said']} -->\n{body}{END}"

        text = page.read_text(encoding="utf-8")
        new = BLOCK.sub(replace, text)
        if text.count(BEGIN) != len(list(BLOCK.finditer(text))):
            complaints.append(f"{page}: a block has no end")
        if args.action == "write" and new != text:
            page.write_text(new, encoding="utf-8")
    sys.exit("\n".join(complaints) if complaints else 0)


if __name__ == "__main__":
    main()
