# The same in Python: speaks the protocol of persistent hooks where it is started as one.
import json
import os
import sys

ANSWER = {'decision': 'allow', 'reason': 'hook 1'}

if 'HOOKSTACK_PERSISTENT' in os.environ:
    print('{"hookstack":1}', flush=True)
    for line in sys.stdin:
        print(json.dumps({'id': json.loads(line)['id'], 'output': ANSWER}), flush=True)
else:
    json.load(sys.stdin)
    print(json.dumps(ANSWER))
