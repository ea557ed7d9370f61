import { FEEDBACK } from './claudeForms.js';
import { likeClaude, NO_MOMENTS } from './claudeLike.js';
import type { ArgumentForm, Fields } from './dialect.js';
import type { ReplyVerdict } from '../protocol/received.js';

const FILE = { file_path: 'filePath' } as const;

/** One tool that edits several files, of which it tells the names. */
const edits: ArgumentForm = {
  toTheirs: (_tool, { file_path: file, ...others }) => ({ files: [file], ...others }),
  toOurs: ({ files, ...others }) =>
    Array.isArray(files) && files.length > 0 && files.every((file) => typeof file === 'string')
      ? files.map((file_path) => ({ tool: 'replace', input: { ...others, file_path } }))
      : undefined,
};

const BLOCK = { block: 'block', stop: 'block' } as const;

/** Some of its versions read a block at these events in another place. */
function beside({ kind }: ReplyVerdict, more: Fields): Fields {
  return kind === 'block' ? more : {};
}

/** The format of hooks for agents in VS Code: that of Claude Code, with other tools, and matchers that it ignores. */
export const vscode = likeClaude({
  agent: 'VS Code',
  installedAs: 'copilot',
  settings: {
    files: ['.github/hooks/*.json'],
    userFiles: [],
    // As Copilot CLI calls them.
    eventNames: {
      sessionStart: 'SessionStart',
      userPromptSubmitted: 'UserPromptSubmit',
      preToolUse: 'PreToolUse',
      postToolUse: 'PostToolUse',
      preCompact: 'PreCompact',
      subagentStart: 'SubagentStart',
      subagentStop: 'SubagentStop',
      agentStop: 'Stop',
    },
    foundBy: ['.vscode', '.github/hooks'],
    runsClaude: { scopes: ['project', 'local', 'user'], lacksVariable: true },
    isFlat: true,
    head: { version: 1 },
    pluginFiles: [],
    notRead: 'hooks for Claude Code, which it runs as well, and those of plugins',
  },
  isSender: ({ hookEventName, sessionId, tool_name: tool }) =>
    (typeof hookEventName === 'string' && typeof sessionId === 'string') ||
    VS_CODE_TOOLS.has(String(tool)),
  rows: {
    ...NO_MOMENTS,
    SubagentStart: {},
    PermissionRequest: null,
    PostToolUse: { answer: FEEDBACK },
    PostToolUseFailure: null,
    UserPromptSubmit: {
      answer: {
        words: BLOCK,
        more: (said) => beside(said, { continue: false, stopReason: said.reason }),
      },
    },
    Stop: {
      answer: {
        words: { block: 'block' },
        contextWith: ['block'],
        more: (said) =>
          beside(said, {
            'hookSpecificOutput.decision': 'block',
            'hookSpecificOutput.reason': said.reason,
          }),
      },
    },
    SessionEnd: null,
    Notification: null,
  },
  common: [
    'timestamp',
    'cwd',
    ['session_id', 'sessionId'],
    ['hook_event_name', 'hookEventName'],
    'transcript_path',
  ],
  tools: [
    { ours: 'run_shell_command', theirs: ['runTerminalCommand', 'run_in_terminal'] },
    { ours: 'write_file', theirs: ['createFile', 'create_file'], arguments: FILE },
    { ours: 'replace', theirs: ['editFiles'], form: edits },
    {
      ours: 'replace',
      theirs: ['replace_string_in_file', 'replaceString'],
      arguments: { ...FILE, old_string: 'oldString', new_string: 'newString' },
    },
    { ours: 'read_file', theirs: ['readFile', 'read_file'], arguments: FILE },
    { ours: 'glob', theirs: ['fileSearch', 'file_search'], arguments: { pattern: 'query' } },
    {
      ours: 'search_file_content',
      theirs: ['textSearch', 'grep_search'],
      arguments: { pattern: 'query', include: 'includePattern' },
    },
    { ours: 'list_directory', theirs: ['listDirectory', 'list_dir'] },
    { ours: 'web_fetch', theirs: ['fetch', 'fetch_webpage'] },
    { ours: 'write_todos', theirs: ['todos', 'manage_todo_list'] },
    { ours: 'task', theirs: ['runSubagent'] },
  ],
  readMatcher: () => 'all',
  defaultTimeoutMs: { otherwise: 30_000 },
});

const VS_CODE_TOOLS = new Set(
  vscode.tools.flatMap(({ ours, theirs }) => theirs.filter((name) => name !== ours)),
);
