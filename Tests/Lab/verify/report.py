#!/usr/bin/env python3
"""Checks camrec's JSON report.

usage: report.py FILE EXPRESSION...

An EXPRESSION is a comparison in Python over the report's keys, such as 'frames.captured == 200' or
'encoder.name == "h264_vaapi"'. Prints those that do not hold and exits 1.
"""
import json
import sys
from types import SimpleNamespace


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file, object_hook=lambda pairs: SimpleNamespace(**pairs))
    failed = False
    for expression in sys.argv[2:]:
        # The expressions come from the test scripts next to this file, never from a report.
        if not eval(expression, {"__builtins__": {"len": len, "abs": abs, "str": str, "hasattr": hasattr}}, vars(report)):
            print(f"not so: {expression}; the report: {report}")
            failed = True
    sys.exit(failed)


main()
