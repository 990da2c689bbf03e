"""Holds logs against what SARIF 2.1.0 (OASIS, sections 3.13 to 3.52) requires, and what code review shows of them.

Usage: check_sarif.py LOG...
"""

import json
import re
import sys

# RFC 3986, 4.1: a reference without spaces, or one with a scheme.
URI = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-F]{2})*$")


def text(message):
    assert isinstance(message["text"], str) and message["text"].strip(), message


def location(place):
    physical = place["physicalLocation"]
    uri = physical["artifactLocation"]["uri"]
    assert URI.match(uri), uri
    assert uri.startswith("file:///") or (not uri.startswith("/") and ":" not in uri and ".." not in uri), uri
    line = physical["region"]["startLine"]
    assert isinstance(line, int) and line >= 1, physical
    text(place["message"])


def rule(r):
    assert re.match(r"^[a-z0-9-]+$", r["id"]), r
    for part in ("shortDescription", "fullDescription", "help"):
        text(r[part])
    assert r["defaultConfiguration"]["level"] in ("error", "note"), r


def result(r, rules):
    assert r["ruleId"] == rules[r["ruleIndex"]]["id"], r
    assert r["level"] in ("error", "warning", "note", "none"), r
    text(r["message"])
    assert len(r["locations"]) == 1, r
    for place in r["locations"] + r["relatedLocations"]:
        location(place)
    numbers = [place["id"] for place in r["relatedLocations"]]
    assert numbers == sorted(set(numbers)) and min(numbers, default=0) >= 0, r
    assert r["occurrenceCount"] >= 1, r
    found = r["ruleId"] != "fault"  # a pair of accesses: the earlier is beside it, and it has a name from run to run
    assert bool(numbers) >= found, r
    assert bool(r.get("partialFingerprints")) == found and all(isinstance(v, str) for v in r.get("partialFingerprints", {}).values()), r
    assert all(s["kind"] in ("inSource", "external") for s in r["suppressions"]), r


def check(log):
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json"), log
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"] == "bitwell" and re.match(r"^\d+\.\d+\.\d+", driver["semanticVersion"]), driver
        rules = driver["rules"]
        assert len({r["id"] for r in rules}) == len(rules), rules
        for r in rules:
            rule(r)
        for r in run["results"]:
            result(r, rules)


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as log_file:
        check(json.load(log_file))
