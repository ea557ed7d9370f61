"""AfterTool: tells the model what the columns of orders.csv mean."""

import csv
import json
import os
import sys

call = json.load(sys.stdin)
if os.path.basename(call["tool_input"]["file_path"]) != "orders.csv":
    sys.exit()

rows = csv.DictReader(call["tool_response"]["llmContent"].splitlines())
cents = sum(int(row["amount"]) for row in rows)
note = f"The amounts in orders.csv are in cents; together they are {cents / 100:.2f} euros."

json.dump({"hookSpecificOutput": {"additionalContext": note}}, sys.stdout)
