// BeforeTool: a service decides. One that is down, slow or unclear decides nothing, and then no tool runs.
import { defineHook } from 'hookstack/author';

const TIME_LIMIT_MS = 3000;

await defineHook('BeforeTool', async (call) => {
  try {
    const { decision, reason } = await ask(call);
    if (decision === 'allow') return {};
    if (decision === 'deny') return { decision, reason };
    throw new Error('its answer is neither "allow" nor "deny"');
  } catch (error) {
    // Any failure blocks the call: onFailure is "deny". The first line of stderr is in the warning.
    console.error(`The policy service did not decide: ${error.cause?.message ?? error.message}`);
    process.exitCode = 1;
    return {};
  }
});

async function ask({ session_id, tool_name, tool_input }) {
  const response = await fetch(process.env.POLICY_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session_id, tool_name, tool_input }),
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
  });
  if (!response.ok) throw new Error(`it answered with status ${response.status}`);
  return response.json();
}
