"""Compare orders of lines on the interventions that a study has made.

An order is a list of keys: of two lines the first key decides that tells them apart. The keys are those of
`src/locate/ranking.rs`; what they need stands in each document of `stripe locate`.
"""

import json
from fractions import Fraction

REASONS = [
    "flip repairs",
    "omission repairs",
    "value repairs",
    "undefined memory repairs",
    "nearer",
    "executed before the first wrong byte",
    "executed after the first wrong byte",
]


def right(line):
    return [one["tests"] or {} for one in line["repairs"] if one["outcome"] == "right"]


def reason(order):
    """The place of the reason in an order of all reasons; reasons that are not in it are equal, and last but one."""

    def key(line):
        after = line["why"] == REASONS[-1]
        return (after, order.index(line["why"]) if line["why"] in order else len(order))

    return key


# The bands of distances, and a distance beyond all.
BANDS = 20, 200, 2000
FAR = 1 << 32

# Of two lines the one with the smaller key stands first.
KEYS = {
    "plausible": lambda line: not line["plausible"],
    "repaired": lambda line: -max((tests.get("failing_right", 0) for tests in right(line)), default=0),
    "broken": lambda line: min((tests.get("passing_wrong", 1000) for tests in right(line)), default=1000),
    "reason": reason(REASONS[:5]),
    "undefined-last": reason(["flip repairs", "omission repairs", "value repairs", "nearer", "undefined memory repairs"]),
    "any-repair": lambda line: line["why"] not in REASONS[:3],
    "distance": lambda line: FAR if line["distance"] is None else sum(line["distance"] > most for most in BANDS),
    "lines": lambda line: FAR if line["distance"] is None else line["distance"],
    "fewer-repairs": lambda line: len([one for one in line["repairs"] if one["outcome"] == "right"]) or 1000,
    "more-repairs": lambda line: -len([one for one in line["repairs"] if one["outcome"] == "right"]),
    "near": lambda line: not line["near"],
    "earliest-flip": lambda line: line["last_event"] if line["why"] == REASONS[0] else 0,
    "ochiai": lambda line: -(line["ochiai"] or 0),
    "last": lambda line: -line["last_event"],
}

ORDERS = {
    "as it is": ["plausible", "ochiai", "repaired", "any-repair", "distance", "reason", "last"],
    "until the order was chosen anew": ["plausible", "ochiai", "repaired", "reason", "near", "last"],
    "repaired before ochiai": ["plausible", "repaired", "any-repair", "ochiai", "distance", "reason", "last"],
    "reason before distance": ["plausible", "ochiai", "repaired", "reason", "distance", "last"],
    "distance before ochiai": ["plausible", "repaired", "any-repair", "distance", "ochiai", "reason", "last"],
    "near before distance": ["plausible", "ochiai", "repaired", "any-repair", "near", "distance", "reason", "last"],
    "distance without bands": ["plausible", "ochiai", "repaired", "any-repair", "lines", "reason", "last"],
    "no reason": ["plausible", "ochiai", "repaired", "any-repair", "distance", "last"],
    "reason before ochiai": ["plausible", "repaired", "reason", "ochiai", "last"],
    "reason before ochiai, near": ["plausible", "repaired", "reason", "ochiai", "near", "last"],
    "earliest flip": ["plausible", "ochiai", "repaired", "reason", "earliest-flip", "last"],
    "broken third": ["plausible", "repaired", "broken", "reason", "ochiai", "last"],
    "undefined last": ["plausible", "repaired", "undefined-last", "ochiai", "last"],
    "any repair": ["plausible", "repaired", "any-repair", "ochiai", "last"],
    "ochiai first": ["ochiai", "plausible", "repaired", "reason", "last"],
    "ochiai second": ["plausible", "ochiai", "repaired", "reason", "last"],
    "ochiai before reason": ["plausible", "repaired", "ochiai", "reason", "last"],
    "more repairs": ["plausible", "repaired", "more-repairs", "reason", "ochiai", "last"],
    "fewer repairs": ["plausible", "repaired", "fewer-repairs", "reason", "ochiai", "last"],
    "no tests": ["any-repair", "distance", "reason", "last"],
    "no tests, no reason": ["any-repair", "distance", "last"],
    "no tests, near": ["reason", "near", "last"],
    "no tests, earliest flip": ["reason", "earliest-flip", "last"],
    "no tests, reason first": ["reason", "last"],
    "no tests, undefined last": ["undefined-last", "last"],
    "no tests, any repair": ["any-repair", "last"],
    "no tests, more repairs": ["more-repairs", "reason", "last"],
    "no tests, fewer repairs": ["fewer-repairs", "reason", "last"],
    "place alone": ["last"],
    "ochiai alone": ["ochiai"],
}


def place(order, lines, faulty):
    """The expected place of the first faulty line, if lines that no key tells apart stand in an order of chance."""
    keys = {id(line): tuple(KEYS[name](line) for name in order) for line in lines}
    is_faulty = [line for line in lines if (line["file"], line["line"]) in faulty]
    if not is_faulty:
        return Fraction(len(lines) + 1)
    best = min(keys[id(line)] for line in is_faulty)
    before = sum(key < best for key in keys.values())
    tied = sum(key == best for key in keys.values())
    tied_faulty = sum(keys[id(line)] == best for line in is_faulty)
    return before + Fraction(tied + 1, tied_faulty + 1)


def measures(order, faults):
    places = [place(order, lines, faulty) for lines, faulty in faults]
    shares = sorted(float(one) / len(lines) for one, (lines, _) in zip(places, faults))
    count = len(shares)
    middle = (shares[(count - 1) // 2] + shares[count // 2]) / 2
    top = [sum(one <= most for one in places) for most in (1, 3, 5, 10)]
    return (*top, 100 * sum(shares) / count, 100 * middle)


def note_near(lines):
    """Notes the lines that were executed shortly before one where a change satisfies all tests, or else makes the run
    right: `note_near_repairs` in `src/locate/ranking.rs`."""
    right_ones = [line for line in lines if right(line)]
    repairs = [line["last_event"] for line in lines if line["plausible"]] or [one["last_event"] for one in right_ones]
    for line in lines:
        line["near"] = any(0 <= repair - line["last_event"] <= 10 for repair in repairs)


def documents(results, faults):
    """The lines of each document of `stripe locate --tests`, with the faulty ones."""
    for fault in faults:
        file = results / "runs" / fault["name"] / "locate-tests.json"
        document = (json.loads(file.read_text()) if file.exists() else {}).get("document")
        if document:
            faulty = {(name, int(line)) for name, line in (one.rsplit(":", 1) for one in fault["faulty"])}
            note_near(document["lines"])
            yield document["lines"], faulty


def compare_orders(results, faults):
    """A table: what each order reaches."""
    known = list(documents(results, faults))
    head = "| order | faults | top 1 | 3 | 5 | 10 | mean share of executed lines | median |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
    rows = []
    for name, order in ORDERS.items() if known else ():
        *top, mean, median = measures(order, known)
        cells = [name, len(known), *top, f"{mean:.1f} %", f"{median:.1f} %"]
        rows.append("| " + " | ".join(map(str, cells)) + " |\n")
    return head + "".join(rows)
