"""A writer without a model: it repairs what can be repaired by rule.

It reads {"draft", "violations", "catalog"} from standard input and prints a new draft. A program that asks a model in
its place gets the same and has to print the same.
"""

import difflib
import json
import sys

asked = json.load(sys.stdin)
draft = asked["draft"]
metrics = {metric["rendered"]: metric["id"] for metric in asked["catalog"]["metrics"]}
for violation in reversed(asked["violations"]):
    start, end = violation["start"], violation["end"]
    before = "$" if draft[start - 1 : start] == "$" else ""
    if violation["kind"] == "bare_number" and before + violation["text"] in metrics:
        new = f"[[m:{metrics[before + violation['text']]}]]"
    elif violation["kind"] == "unresolved" and violation["text"].startswith("[[m:"):
        name = violation["text"][4:-2].split("|")[0]
        (new,) = (f"[[m:{id}]]" for id in difflib.get_close_matches(name, metrics.values(), 1))
    else:
        continue
    draft = draft[:start] + new + draft[end:]
sys.stdout.buffer.write(draft.encode("utf-8"))
