/** What an agent asks before it runs this tool, as JSON: no hook of the policy matches it. */
export const UNGUARDED = 'read_file';
/** A persistent hook of the policy looks at this one. */
export const GUARDED = 'run_shell_command';
/** A rule of the policy denies this one. */
export const RULED = 'execute_command';

/** The event of either tool. */
export const TOOL_INPUT = {
  command: 'npm test -- --run test/fleet/askServer.test.ts --reporter=dot',
  description: 'Runs the tests of what was changed',
};

/** The answer where no hook matches, to a question with an id of the usual length. */
export const NO_HOOKS = {
  hookstack: { version: 1, question: 'asker-12345-12345', success: true, hooks: [] },
};

/**
 * @param {string} toolName
 * @returns {Buffer} what hooks read on stdin
 */
export function questionAbout(toolName) {
  const question = {
    session_id: '7b1d3c66-9d0e-4a4b-8f5a-0c2a6e5f1b11',
    transcript_path: '',
    cwd: '/home/agent/project',
    hook_event_name: 'BeforeTool',
    timestamp: '2026-11-23T12:00:00.000Z',
    tool_name: toolName,
    tool_input: TOOL_INPUT,
  };
  return Buffer.from(JSON.stringify(question));
}
