"""A judge without a model: it calls a claim supported if what it cites was computed or read.

It reads {"sentence", "evidence"} from standard input and prints a verdict. A program that asks a model in its place
gets the same and has to print the same, with the model's name and what the call has cost.
"""

import json
import sys

asked = json.load(sys.stdin)
backed = [one for one in asked["evidence"] if one["kind"] in ("metric", "cell", "quote", "basis")]
verdict = "supported" if backed else "unsupported"
reason = f"{len(backed)} of its citations back it"
print(json.dumps({"verdict": verdict, "reason": reason, "model": "scripted-judge", "cost_usd": 0}))
