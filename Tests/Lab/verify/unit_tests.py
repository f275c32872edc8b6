#!/usr/bin/env python3
"""Turns the reports of `swift test --xunit-output` into the lab's tally.

usage: unit_tests.py NAME STATUS REPORT.xml...

Prints one line per test: outcome, name, reason. A status other than 0 without a failed test, or no test at all, counts as
a failure: the tests crashed, or there were none.
"""
import sys
import xml.etree.ElementTree


def main():
    name, status, *paths = sys.argv[1:]
    ran = failed = 0
    for path in paths:
        try:
            cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
        except xml.etree.ElementTree.ParseError:
            cases = []  # the tests crashed before they could report
        for case in cases:
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
