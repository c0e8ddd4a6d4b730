"""Facts about this workspace for `.ci/run`, from `cargo metadata`, one per line.

  facts.py published   each crate that goes to the registry
  facts.py features    each such crate with each of its features: "vanta-kernel store"
  facts.py examples    each example of vanta-examples
  facts.py licences    fails and names each dependency whose licence deny.toml does not allow
"""

import json
import re
import subprocess
import sys
import tomllib


def metadata(*options):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def members():
    return metadata("--no-deps")["packages"]


def published():
    return [package for package in members() if package["publish"] is None]


def features():
    for package in published():
        for feature in sorted(package["features"]):
            if feature != "default":
                yield f"{package['name']} {feature}"


def examples():
    for package in members():
        if package["name"] == "vanta-examples":
            yield from sorted(t["name"] for t in package["targets"] if "example" in t["kind"])


def refused_licences():
    with open("deny.toml", "rb") as file:
        allowed = set(tomllib.load(file)["licenses"]["allow"])
    for package in metadata("--all-features")["packages"]:
        if not permits(package["license"] or "", allowed):
            yield f"{package['name']} {package['version']}: {package['license'] or 'no licence expression'}"


def permits(expression, allowed):
    """Whether an SPDX expression can be met with allowed licences; old crates write `/` for OR."""
    words = re.findall(r"[()]|\bAND\b|\bOR\b|/|[\w.+-]+(?:\s+WITH\s+[\w.-]+)?", expression)
    python = {"AND": "and", "OR": "or", "/": "or", "(": "(", ")": ")"}
    try:
        # Only the five words above and the two truth values reach `eval`.
        return bool(eval(" ".join(python.get(w) or str(" ".join(w.split()) in allowed) for w in words)))
    except SyntaxError:
        return False


def main(question):
    if question == "licences":
        refused = list(refused_licences())
        print("\n".join(refused) or "every licence is allowed")
        return bool(refused)
    answers = {"published": lambda: [p["name"] for p in published()], "features": features, "examples": examples}
    print("\n".join(answers[question]()))
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
