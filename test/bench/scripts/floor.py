# What the system itself takes, from a process that is small: reads what to do as a line of JSON, and answers with the
# ms that it took.
import json
import os
import selectors
import sys
import time


def start(argv, given):
    stdin, to_stdin = os.pipe()
    from_stdout, stdout = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    os.close(stdin)
    os.close(stdout)
    if given is not None:
        os.write(to_stdin, given)
        os.close(to_stdin)
    return pid, to_stdin, from_stdout


def finish(pid, _, from_stdout):
    said = b''
    while chunk := os.read(from_stdout, 65536):
        said += chunk
    os.close(from_stdout)
    _, status = os.waitpid(pid, 0)
    if status != 0 or b'allow' not in said:
        raise RuntimeError(f'a command ended with {status} and said {said!r}')


def run_together(commands, input):
    given = input.encode()
    started_at = time.perf_counter()
    for running in [start(argv, given) for argv in commands]:
        finish(*running)
    return (time.perf_counter() - started_at) * 1000


def run(commands, input, pauses=()):
    """Runs one after the other. The pause after each, in ms, does not count."""
    elapsed = 0
    for index, argv in enumerate(commands):
        elapsed += run_together([argv], input)
        if index < len(pauses):
            time.sleep(pauses[index] / 1000)
    return elapsed


echoing = []


def echo(lines, processes, input, count=1):
    """Sends lines through processes that give them back, one line at a time each."""
    while len(echoing) < processes:
        echoing.append(start(['cat'], None))
    line = input.encode() + b'\n'
    started_at = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for _, to_stdin, from_stdout in echoing[:processes]:
            selector.register(from_stdout, selectors.EVENT_READ, [to_stdin, 0])
            os.write(to_stdin, line)
        sent, came = processes, 0
        while came < lines:
            for key, _ in selector.select():
                key.data[1] += len(os.read(key.fd, 65536))
                if key.data[1] < len(line):
                    continue
                key.data[1] = 0
                came += 1
                if sent < lines:
                    os.write(key.data[0], line)
                    sent += 1
    return (time.perf_counter() - started_at) * 1000 / count


requests = {'run': run, 'runTogether': run_together, 'echo': echo}

for asked in sys.stdin:
    options = json.loads(asked)
    print(requests[options.pop('request')](**options), flush=True)
