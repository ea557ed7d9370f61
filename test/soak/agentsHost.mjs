// node agentsHost.mjs AGENTS CALLS: runs agents beside each other in this process, each with a Config of its own,
// and prints as JSON whether each tool call got the answer of its own hook. Started by launchHost.mjs.
import { Config, executeToolWithHooks } from '../../dist/index.js';
import { CountingLogger } from './countingLogger.mjs';
import { exactly } from './figures.mjs';

/** Repeats what the hook reads: the session from stdin and from its environment, and the number of the call. */
const ECHO = `
  read -r input
  session=\${input#*'"session_id":"'}; session=\${session%%'"'*}
  call=\${input#*'"call":'}; call=\${call%%[!0-9]*}
  printf '{"hookSpecificOutput":{"tool_input":{"echo":"%s %s %s"}}}' "$session" "$SESSION" "$call"`;

const [agents, calls] = process.argv.slice(2).map(Number);
const debugLogger = new CountingLogger();

console.log(JSON.stringify(await measure()));

async function measure() {
  const startedAt = performance.now();
  const sessions = Array.from({ length: agents }, (_, index) => `session-${index}`);
  const outcomes = (await Promise.all(sessions.map(runAgent))).flat();
  const seconds = Math.round((performance.now() - startedAt) / 1000);

  const mixedUp = outcomes.filter(({ expected, echo }) => echo && echo !== expected);
  const lost = outcomes.filter(({ echo, observed }) => !echo || observed !== 1);
  return [
    exactly(`Tool calls of ${agents} agents`, agents * calls, outcomes.length, `${seconds} s`),
    exactly('Calls answered by the hook of another call', 0, mixedUp.length),
    exactly('Calls without a result', 0, lost.length),
    exactly('Warnings', 0, debugLogger.warnings),
  ];
}

/** One agent: its calls come one after the other, as each needs the result of the one before. */
async function runAgent(sessionId) {
  const hook = { type: 'command', command: ECHO, env: { SESSION: sessionId } };
  const config = new Config({
    sessionId,
    debugLogger,
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks: [hook] }] },
  });
  const outcomes = [];
  for (let call = 0; call < calls; call++) {
    let observed = 0;
    const { llmContent } = await executeToolWithHooks(config, 'echo', { call }, returnEcho, {
      onHooks: (_, { results }) => {
        observed += results.length;
      },
    });
    outcomes.push({ expected: `${sessionId} ${sessionId} ${call}`, echo: llmContent, observed });
  }
  return outcomes;
}

async function returnEcho({ echo = '' }) {
  return { llmContent: echo, returnDisplay: '' };
}
