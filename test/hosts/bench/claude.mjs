import { claudeHooks } from '../../../dist/claude.js';
import { Config } from '../../../dist/index.js';

const EVENT = { session_id: 'one', cwd: '/', transcript_path: '/transcript.jsonl' };
const CALL = { tool_name: 'Read', tool_input: { file_path: '/notes.txt' }, tool_use_id: '1' };
const file = { filePath: '/notes.txt', content: 'A note.', numLines: 1, startLine: 1 };
const BEFORE = { hook_event_name: 'PreToolUse', ...EVENT, ...CALL };
const AFTER = {
  hook_event_name: 'PostToolUse',
  ...EVENT,
  ...CALL,
  tool_response: { type: 'text', file },
};

/** What the SDK calls around a tool call, with hooks of its own that do nothing, and with ours. */
export function rows() {
  const elsewhere = [{ matcher: '^write_file$', hooks: [{ type: 'command', command: 'exit 0' }] }];
  const hooks = { BeforeTool: elsewhere, AfterTool: elsewhere };
  const ours = claudeHooks(new Config({ enableHooks: true, hooks }));
  const [[before], [after]] = [ours.PreToolUse, ours.PostToolUse].map(([each]) => each.hooks);
  return [
    {
      title: 'Claude Agent SDK: both hooks of a tool call',
      isToolCall: true,
      bare: around(nothing, nothing),
      hooked: around(before, after),
    },
  ];
}

async function nothing() {
  return {};
}

function around(before, after) {
  return async () => {
    await before(BEFORE, '1', { signal: new AbortController().signal });
    await after(AFTER, '1', { signal: new AbortController().signal });
  };
}
