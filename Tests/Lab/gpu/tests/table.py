"""The tests that were run, as tables in Markdown."""

import re

import cases
from encode import vainfo


def version(device):
    """What vainfo says of the driver, without what is this machine's."""
    found = re.search(r"Driver version: (.*?)(?: \([^()]*\))?$", vainfo(device), re.MULTILINE)
    return found[1].strip() if found else "unknown"


def markdown(results, name):
    """`results`: by the test's name the reason why it failed, empty where it passed. `name` gives a case's."""
    passed = sum(1 for reason in results.values() if not reason)
    yield "# Emulated GPU: test matrix\n"
    yield "Made by `./test --table >MATRIX.md`; `tests/cases.py` defines the values."
    yield "Each pair of values that can be combined is in at least one row."
    yield f"{len(results)} tests, {passed} passed.\n"
    yield "Not modelled, so that camrec and camplay leave it to the processor unless told otherwise:\n"
    yield "- shaders, with which Mesa converts YUYV and scales (its compositor), and makes 4:2:0 of 4:2:2 Motion JPEG;"
    yield "- H.265 decoding on Intel's GPUs: their commands hold too little of the slice headers;"
    yield "- Intel's scaler (SFC), and every conversion by its VEBOX except YUYV and UYVY to NV12 (generation 11)."
    for device in cases.DEVICES:
        yield f"\n## {device.name}\n\n{version(device)}\n"
        yield f"| {' | '.join(cases.PARAMETERS)} | |"
        yield "|" + "---|" * (len(cases.PARAMETERS) + 1)
        others = {test: reason for test, reason in results.items() if test.startswith(f"{device.name}: ")}
        for case in cases.table(device):
            reason = others.pop(name(device, case), None)
            if reason is not None:
                yield f"| {' | '.join(case[parameter] for parameter in cases.PARAMETERS)} | {reason or 'passed'} |"
        yield ""
        for test, reason in sorted(others.items()):
            yield f"- {test.removeprefix(f'{device.name}: ')}: {reason or 'passed'}"
