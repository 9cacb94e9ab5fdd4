# The program whose allocations are recorded in python.trace: words counted, sorted, written as JSON and read again.
import json
import re

text = " ".join(str(i * i % 977) + "abcdefgh"[i % 8] for i in range(450))
counts = {}
for word in re.findall(r"[0-9]+[a-h]", text):
    counts.setdefault(word, []).append(len(counts))
table = {word: {"places": places, "name": word.upper()} for word, places in sorted(counts.items())}
again = json.loads(json.dumps(table, indent=1))
print(len(text), len(counts), sum(len(entry["places"]) for entry in again.values()), again == table)
