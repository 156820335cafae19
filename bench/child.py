"""The process in which contenders are measured: reads orders from its input, answers on its output.

    {"open": key, "make": "module:function", "options": {...}}
    {"run": key}        -> {"value": number, "note": text}
    {"close": key}

An answer with "error" has the traceback. What the contender prints goes to stderr.
"""

import importlib
import json
import os
import sys
import traceback


def answer_orders(orders, answers):
    contexts, runs = {}, {}
    for line in orders:
        order = json.loads(line)
        try:
            reply = obey(order, contexts, runs)
        except Exception:
            reply = {"error": traceback.format_exc()}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def obey(order, contexts, runs):
    if "open" in order:
        module, function = order["make"].split(":")
        make = getattr(importlib.import_module("bench.contenders." + module), function)
        context = make(**order["options"])
        runs[order["open"]] = context.__enter__()
        contexts[order["open"]] = context
        return {}
    if "run" in order:
        result = runs[order["run"]]()
        value, note = result if isinstance(result, tuple) else (result, "")
        return {"value": value, "note": note}
    runs.pop(order["close"], None)
    contexts.pop(order["close"]).__exit__(None, None, None)
    return {}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.set_inheritable(answers.fileno(), False)
    os.dup2(2, 1)
    answer_orders(sys.stdin, answers)


if __name__ == "__main__":
    main()
