# SPDX-License-Identifier: BSD-2-Clause
"""Tables in the files of examples/benchmark/results."""
import json
import pathlib
import re


def text_of(table):
    """A table in the form of the files of results: each row on a line."""
    lines = [f'    "{key}": {json.dumps(table[key], ensure_ascii=False)},'
             for key in ("id", "title", "machine", "command", "columns")]
    for key in ("rows", "notes"):
        items = ",\n".join("      " + json.dumps(item, ensure_ascii=False) for item in table[key])
        lines.append(f'    "{key}": [\n{items}\n    ]' + ("," if key == "rows" else ""))
    return "  {\n" + "\n".join(lines) + "\n  }"


def replace_table(path, table):
    """Replaces the table of a file that has the same id, or appends it."""
    file = pathlib.Path(path)
    text = file.read_text(encoding="utf-8")
    old = re.search(r'  \{\n    "id": "' + table["id"] + r'",[\s\S]*?\n  \}(?=,?\n)', text)
    new = text_of(table)
    text = text.replace(old[0], new) if old else text.rstrip().removesuffix("]").rstrip() + ",\n" + new + "\n]\n"
    json.loads(text)
    file.write_text(text, encoding="utf-8")
