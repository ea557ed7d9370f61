"""Keeps the tokens of a day within a budget, over all sessions in a project.

AfterModel notes what a call has cost. When little is left, BeforeToolSelection takes the tools away, so that the
model comes to an end; when nothing is left, BeforeModel answers in the model's place.
"""

import os

from hookstack import define_hook

BUDGET = 200_000
RESERVE = 40_000


def spent(ledger, today):
    try:
        with open(ledger) as lines:
            entries = [line.split() for line in lines]
    except FileNotFoundError:
        return 0
    return sum(int(tokens) for day, tokens in entries if day == today)


def note(ledger, today, tokens):
    """One short line, appended in one go: sessions that end a call at the same time lose nothing."""
    file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{today} {tokens}\n".encode())
    os.close(file)


def keep_budget(event):
    name = event["hook_event_name"]
    today = event["timestamp"][:10]
    # Other sessions write it as well, so it is read for each event.
    ledger = os.path.join(event["cwd"], ".llxprt", "tokens.txt")
    if name == "AfterModel":
        note(ledger, today, event["llm_response"].get("usageMetadata", {}).get("totalTokenCount", 0))
    elif name == "BeforeToolSelection" and spent(ledger, today) > BUDGET - RESERVE:
        return {"hookSpecificOutput": {"toolConfig": {"mode": "NONE"}}}
    elif name == "BeforeModel" and spent(ledger, today) >= BUDGET:
        text = f"The budget of {BUDGET:,} tokens for today is used up. Go on tomorrow, or raise it."
        return {
            "decision": "block",
            "reason": "The budget for today is used up",
            "hookSpecificOutput": {"llm_response": {"text": text}},
        }
    return None


define_hook(["BeforeToolSelection", "BeforeModel", "AfterModel"], keep_budget)
