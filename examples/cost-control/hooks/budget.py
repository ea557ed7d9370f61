"""Keeps the tokens of a day within a budget, over all sessions in a project.

AfterModel notes what a call has cost. When little is left, BeforeToolSelection takes the tools away, so that the
model comes to an end; when nothing is left, BeforeModel answers in the model's place.
"""

import json
import os
import sys

BUDGET = 200_000
RESERVE = 40_000

event = json.load(sys.stdin.buffer)
today = event["timestamp"][:10]
ledger = os.path.join(event["cwd"], ".llxprt", "tokens.txt")


def spent():
    try:
        with open(ledger) as lines:
            entries = [line.split() for line in lines]
    except FileNotFoundError:
        return 0
    return sum(int(tokens) for day, tokens in entries if day == today)


def note(tokens):
    """One short line, appended in one go: sessions that end a call at the same time lose nothing."""
    file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{today} {tokens}\n".encode())
    os.close(file)


def answer(output):
    json.dump(output, sys.stdout)


name = event["hook_event_name"]
if name == "AfterModel":
    note(event["llm_response"].get("usageMetadata", {}).get("totalTokenCount", 0))
elif name == "BeforeToolSelection" and spent() > BUDGET - RESERVE:
    answer({"hookSpecificOutput": {"toolConfig": {"mode": "NONE"}}})
elif name == "BeforeModel" and spent() >= BUDGET:
    text = f"The budget of {BUDGET:,} tokens for today is used up. Go on tomorrow, or raise it."
    answer(
        {
            "decision": "block",
            "reason": "The budget for today is used up",
            "hookSpecificOutput": {"llm_response": {"text": text}},
        }
    )
