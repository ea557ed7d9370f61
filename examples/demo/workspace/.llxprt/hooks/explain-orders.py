"""AfterTool: tells the model what the columns of orders.csv mean."""

import csv
import os

from hookstack import define_hook


def explain(call):
    if os.path.basename(call["tool_input"]["file_path"]) != "orders.csv":
        return None
    rows = csv.DictReader(call["tool_response"]["llmContent"].splitlines())
    cents = sum(int(row["amount"]) for row in rows)
    note = f"The amounts in orders.csv are in cents; together they are {cents / 100:.2f} euros."
    return {"hookSpecificOutput": {"additionalContext": note}}


define_hook("AfterTool", explain)
