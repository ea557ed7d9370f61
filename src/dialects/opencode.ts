import { resultOfText } from './answers.js';
import { CONTEXT, OUTPUT, PERMISSION } from './claudeForms.js';
import { likeClaude, NO_MOMENTS, patchForm } from './claudeLike.js';

const FILE = { file_path: 'filePath' };
const patches = patchForm('patchText');

/** What the plugin of hookstack tells of opencode, which has no other hooks than functions: nearly what Claude Code says. */
export const opencode = likeClaude({
  agent: 'opencode',
  settings: {
    files: ['.opencode/plugins/hookstack.js'],
    userFiles: ['.config/opencode/plugins/hookstack.js'],
    foundBy: ['.opencode', '.config/opencode'],
    form: 'plugin',
    pluginFiles: [],
    notRead: 'plugins, which are functions of opencode',
  },
  rows: {
    // It cannot ask its user for a plugin.
    PreToolUse: {
      answer: { ...PERMISSION, words: { allow: 'allow', block: 'deny', stop: 'deny' } },
    },
    PermissionRequest: null,
    PostToolUse: {
      toResponse: ({ exit_code: exitCode }, _tool, text) => ({
        ...resultOfText(text),
        ...(typeof exitCode === 'number' && { metadata: { exitCode } }),
      }),
    },
    PostToolUseFailure: { answer: { words: { block: 'block' }, context: CONTEXT, output: OUTPUT } },
    ...NO_MOMENTS,
    SubagentStop: null,
    PreCompact: null,
    Notification: null,
  },
  tools: [
    { ours: 'run_shell_command', theirs: ['bash'], arguments: { directory: 'workdir' } },
    { ours: 'write_file', theirs: ['write'], arguments: FILE },
    { ours: 'write_file', theirs: ['apply_patch'], form: patches },
    {
      ours: 'replace',
      theirs: ['edit'],
      arguments: {
        ...FILE,
        old_string: 'oldString',
        new_string: 'newString',
        replace_all: 'replaceAll',
      },
    },
    { ours: 'read_file', theirs: ['read'], arguments: FILE },
    { ours: 'glob', theirs: ['glob'] },
    { ours: 'search_file_content', theirs: ['grep'] },
    { ours: 'list_directory', theirs: ['list'] },
    { ours: 'web_fetch', theirs: ['webfetch'] },
    { ours: 'google_web_search', theirs: ['websearch'] },
    { ours: 'write_todos', theirs: ['todowrite'] },
    { ours: 'task', theirs: ['task'] },
  ],
  otherTools: ['skill', 'question', 'lsp', 'list_mcp_resources', 'read_mcp_resource'],
});
