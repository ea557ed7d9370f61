"""AfterModel: personal data is neither shown nor remembered."""

import re
import sys

from hookstack import define_hook

EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
CARD = re.compile(r"\b\d(?:[ -]?\d){12,18}\b")


def redact(text):
    text = EMAIL.sub("[e-mail address]", text)
    text = IBAN.sub("[account number]", text)
    return CARD.sub(lambda match: "[card number]" if is_card(match[0]) else match[0], text)


def is_card(text):
    """The check digit of card numbers, so that order numbers stay legible."""
    digits = [int(each) for each in reversed(text) if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def answer(text):
    return {"hookSpecificOutput": {"llm_response": {"text": text}}}


def redact_answer(event):
    # At AfterModel nothing can be blocked, so onFailure does not help: a failure has to withhold the answer itself.
    try:
        said = event["llm_response"].get("text", "")
        redacted = redact(said)
        return answer(redacted) if redacted != said else None
    except Exception as error:
        print(f"redact-pii: {error!r}", file=sys.stderr)
        return answer("[The answer is withheld, as it could not be searched for personal data]")


define_hook("AfterModel", redact_answer)
