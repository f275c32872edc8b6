#!/usr/bin/env python3
"""Turns the reports of `swift test --xunit-output` into the lab's tally.

usage: unit_tests.py NAME STATUS REPORT.xml...

Prints one line per test: outcome, name, reason. A status other than 0 without a failed test, or no test at all, counts as
a failure: the tests crashed, or there were none.
"""
import re
import sys
import xml.etree.ElementTree

# What a test printed in its failure, and XML does not allow: it makes the whole report unreadable.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cases_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = FORBIDDEN.sub("?", file.read())
    try:
        return list(xml.etree.ElementTree.fromstring(text.encode()).iter("testcase"))
    except xml.etree.ElementTree.ParseError:
        return []  # the tests crashed before they could report


def main():
    name, status, *paths = sys.argv[1:]
    ran = failed = 0
    for path in paths:
        for case in cases_of(path):
            ran += 1
            failure, skipped = case.find("failure"), case.find("skipped")
            outcome = "fail" if failure is not None else "skip" if skipped is not None else "pass"
            element = failure if failure is not None else skipped
            reason = "" if element is None else element.get("message") or (element.text or "").strip() or "no reason given"
            failed += outcome == "fail"
            test = f"{case.get('classname')}.{case.get('name')}"
            print(outcome, f"{name}: {test}", " ".join(reason.split()), sep="\t")
    if ran == 0:
        print("fail", name, f"no test reported, swift test ended with status {status}", sep="\t")
    elif status != "0" and failed == 0:
        print("fail", name, f"swift test ended with status {status} though no test failed", sep="\t")


main()
