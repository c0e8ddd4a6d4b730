#!/usr/bin/env python3
"""Writes seeds for the fuzz targets, from the labelled actions of the tests, into DIR or fuzz/corpus.

    seeds.py [DIR]

The actions are spread over the classes, so that every kind of action is a seed. Run it once before fuzzing.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE.parent / "tests" / "data" / "safety.jsonl"
KINDS = {"shell": 0, "read": 10, "write": 11, "edit": 11, "delete": 12, "fetch": 13, "text": 14, "search": 15}
DIALECTS = {"powershell": 8, "cmd": 9}
PER_CLASS = 12


def main() -> None:
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    place = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus"
    assess, lines = place / "assess", place / "json"
    for folder in (assess, lines):
        folder.mkdir(parents=True, exist_ok=True)
    seen: dict[str, int] = {}
    for row in rows:
        if seen.setdefault(row["class"], 0) >= PER_CLASS or len(row["action"]) > 2000:
            continue
        seen[row["class"]] += 1
        kind = DIALECTS.get(row.get("shell", ""), KINDS[row["kind"]])
        (assess / row["id"]).write_bytes(bytes([kind, 0]) + row["action"].encode())
        if seen[row["class"]] == 1:
            case = {key: row[key] for key in ("id", "kind", "action", "root", "home") if key in row}
            (lines / row["id"]).write_text(json.dumps(case))
            action = {"kind": "shell", "command": row["action"]}
            (lines / (row["id"] + "-action")).write_text(json.dumps(action, ensure_ascii=False))
    print(f"{sum(seen.values())} actions of {len(seen)} classes")


if __name__ == "__main__":
    main()
