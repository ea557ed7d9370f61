// BeforeTool: a service decides. One that is down, slow or unclear decides nothing, and then no tool runs.
import { json } from 'node:stream/consumers';

const TIME_LIMIT_MS = 3000;

const { session_id, tool_name, tool_input } = await json(process.stdin);

// Every error from here on ends this process with exit code 1, and that blocks the call: onFailure is "deny".
const response = await fetch(process.env.POLICY_URL, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ session_id, tool_name, tool_input }),
  signal: AbortSignal.timeout(TIME_LIMIT_MS),
});
if (!response.ok) throw new Error(`The policy service answered with status ${response.status}`);

const { decision, reason } = await response.json();
if (decision === 'deny') console.log(JSON.stringify({ decision, reason }));
else if (decision !== 'allow') throw new Error('The policy service did not decide');
