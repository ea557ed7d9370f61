"""Hooks of hookstack in Python. Keep this file beside your script; it needs Python 3.8 and nothing else.

    from hookstack import Block, define_hook

    def guard(event):
        if event["tool_input"].get("file_path", "").endswith(".env"):
            raise Block(".env holds secrets: do not touch it.")

    define_hook("BeforeTool", guard)

The script works as an ordinary hook, which is started for each event, and with `"persistent": true` in its settings,
which keeps its process for the events to come.
"""

import json
import os
import sys
import traceback

__all__ = ["Block", "define_hook"]


class Block(Exception):
    """Raise it from anywhere in a hook to block the operation. Its text is the reason."""


def define_hook(event, handler):
    """Runs this script as a hook, and ends it.

    `event` is the name of the event that the hook is for, or a list of names. `handler` is called with what the hook
    reads, as a dict. It returns its answer as a dict, or None to let the operation go on.

    A `Block` that it raises blocks. `sys.exit(2)` blocks too, with what was written to stderr as the reason. Any other
    exception, an answer that is no dict, and an event of another name are failures: exit code 1, and stderr says where.

    `print` writes to stderr from here on, and so does every program that the hook starts: anything but the answer on
    stdout would spoil it. They all read an empty stdin.
    """
    names = [event] if isinstance(event, str) else list(event)
    is_persistent = os.environ.pop("HOOKSTACK_PERSISTENT", None) == "1"
    if sys.stdin is not None and sys.stdin.isatty():
        print("This hook waits for an event on stdin: end it with Ctrl+D, or try the hook with: "
              "hookstack fire " + names[0], file=sys.stderr)
    events, answers = _take_streams()
    if is_persistent:
        _send(answers, '{"hookstack":1}')
        stdin = _answer_lines(events, answers, names, handler)
    else:
        stdin = events.read()
    code, answer, text = _answer(lambda: _parse(stdin, names), names, handler)
    sys.stderr.write(text)
    if answer is None and is_persistent and code == 0:
        # After a hello, silence is no answer.
        answer = "{}"
    if answer is not None:
        _send(answers, answer)
    sys.exit(code)


class _Misuse(Exception):
    """What its text alone explains; its place is in here, and not in the hook."""


def _take_streams():
    """Takes stdin and stdout for the protocol. Neither the hook nor what it starts can read the one or spoil the other."""
    events = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return events, answers


def _answer_lines(events, answers, names, handler):
    """Answers one event a line until stdin ends. Returns all of stdin where it is the input of an ordinary hook."""
    first = True
    for line in events:
        event = _parse_line(line)
        if event is None:
            if first:
                return line + events.read()
            sys.exit("A line on stdin is no event: {!r}".format(line[:100]))
        first = False
        code, answer, text = _answer(lambda: event["input"], names, handler)
        fields = {"id": event["id"]}
        if code != 0:
            fields["exitCode"] = code
        if text:
            fields["stderr"] = text
        said = json.dumps(fields)
        if answer is not None:
            said = said[:-1] + ', "output": ' + answer + "}"
        sys.stderr.flush()
        _send(answers, said)
    sys.exit(0)


def _parse_line(line):
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "id" in event and "input" in event else None


def _parse(stdin, names):
    if not stdin.strip():
        raise _Misuse("No event on stdin. Try this hook with: hookstack fire " + names[0])
    try:
        return json.loads(stdin)
    except (ValueError, RecursionError) as error:
        raise _Misuse("stdin is not JSON ({}); a hook reads one JSON object".format(error))


def _answer(read, names, handler):
    """Returns the exit code, the answer as JSON or None, and what to write to stderr."""
    try:
        event = read()
        name = event.get("hook_event_name") if isinstance(event, dict) else None
        if name not in names:
            raise _Misuse("This hook is for {} and was started for {}: move it in the settings".format(
                " and ".join(names), json.dumps(name)))
        return 0, _to_json(handler(event)), ""
    except Block as block:
        return 0, json.dumps({"decision": "block", "reason": str(block)}), ""
    except SystemExit as end:
        return _exit_code(end.code)
    except _Misuse as error:
        return 1, None, str(error) + "\n"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return 1, None, _tell(error)


def _to_json(answer):
    if answer is None:
        return None
    if not isinstance(answer, dict):
        raise _Misuse("The hook returned a value of type {}, which says nothing: return a dict, such as "
                      '{{"decision": "block", "reason": "…"}}, or None to let the operation go on'.format(
                          type(answer).__name__))
    try:
        return json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Misuse("The hook returned what cannot be written as JSON ({})".format(error))


def _exit_code(code):
    """What `sys.exit` makes of its argument."""
    if code is None:
        return 0, None, ""
    if isinstance(code, int):
        return code & 255, None, ""
    return 1, None, str(code) + "\n"


def _tell(error):
    """With the places that it came through, but for those in here."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename == __file__:
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def _send(answers, line):
    try:
        answers.write(line.encode() + b"\n")
        answers.flush()
    except OSError:
        # The reader has left, and there is nobody else to tell.
        os._exit(0)
