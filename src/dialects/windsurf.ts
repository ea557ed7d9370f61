import { HookEventName } from '../protocol/types.js';
import { recordOf, resultOfText, textOf } from './answers.js';
import { common } from './claudeLike.js';
import type { Dialect, EventWords, Fields, OurCall } from './dialect.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent } = HookEventName;

/** What an action is here, and what its hooks read of it. */
interface Action {
  readonly about: RegExp;
  readonly tool: string;
  /** Our arguments, and its names of them. */
  readonly names: Readonly<Record<string, string>>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  run_command: {
    about: /^run_shell_command$/,
    tool: 'run_shell_command',
    names: { command: 'command_line', directory: 'cwd' },
  },
  write_code: {
    about: /^(?:replace|write_file)$/,
    tool: 'replace',
    names: { file_path: 'file_path' },
  },
  read_code: { about: /^read_file$/, tool: 'read_file', names: { file_path: 'file_path' } },
  mcp_tool_use: { about: /^mcp__/, tool: '', names: {} },
};

function rowsOf(event: typeof BeforeTool | typeof AfterTool, when: string): EventWords[] {
  return Object.entries(ACTIONS).map(([action, { about, tool, names }]) => ({
    event,
    name: `${when}_${action}`,
    about,
    toCall: ({ tool_info: info }) => callOf(recordOf(info), tool, names),
    toInput: (fields) => ({ tool_info: infoOf(fields, names) }),
    toResponse: ({ tool_info: info }) =>
      resultOfText(textOf(recordOf(info)['result']) || textOf(recordOf(info)['mcp_result'])),
    exitCode: 'nothing',
  }));
}

function callOf(info: Fields, known: string, names: Action['names']): OurCall {
  const { mcp_server_name: server, mcp_tool_name: name, mcp_tool_arguments: args } = info;
  if (known === '') {
    return { tool: `mcp__${textOf(server)}__${textOf(name)}`, input: { ...recordOf(args) } };
  }
  const ours = Object.entries(names).map(([our, theirs]) => [our, info[theirs]] as const);
  const given = Object.fromEntries(ours.filter(([, value]) => value !== undefined));
  const [edit, ...others] = Array.isArray(info['edits']) ? info['edits'].map(recordOf) : [];
  const edits = others.length > 0 ? { edits: info['edits'] } : { ...edit };
  return { tool: known, input: { ...edits, ...given } };
}

function infoOf({ tool_name: tool, tool_input: input }: Fields, names: Action['names']): Fields {
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(textOf(tool)) ?? [];
  const given = recordOf(input);
  if (server !== undefined) {
    return { mcp_server_name: server, mcp_tool_name: name, mcp_tool_arguments: given };
  }
  const theirs = Object.entries(names).map(([our, their]) => [their, given[our]] as const);
  const { old_string = '', new_string = given['content'] } = given;
  const isEdit = new_string !== undefined && { edits: [{ old_string, new_string }] };
  return { ...Object.fromEntries(theirs.filter(([, value]) => value !== undefined)), ...isEdit };
}

/** The format of hooks for Windsurf, now Devin Desktop: nothing but an exit code is an answer. */
export const windsurf: Dialect = {
  ...common,
  agent: 'Windsurf',
  settings: {
    files: ['.windsurf/hooks.json'],
    userFiles: ['.codeium/windsurf/hooks.json'],
    foundBy: ['.windsurf', '.codeium/windsurf'],
    isFlat: true,
    timeoutKey: null,
    pluginFiles: [],
    notRead: 'hooks of the machine, and those of the team',
  },
  // Others name a tool beside its arguments.
  isSender: ({ agent_action_name: action, trajectory_id: id, tool_name: tool }) =>
    typeof action === 'string' && typeof id === 'string' && tool === undefined,
  events: [
    ...rowsOf(BeforeTool, 'pre'),
    ...rowsOf(AfterTool, 'post'),
    {
      event: BeforeAgent,
      name: 'pre_user_prompt',
      fields: [['prompt', 'tool_info.user_prompt']],
      exitCode: 'nothing',
    },
    {
      event: AfterAgent,
      name: 'post_cascade_response',
      fields: [['prompt_response', 'tool_info.response']],
      exitCode: 'nothing',
    },
  ],
  otherEvents: ['post_cascade_response_with_transcript', 'post_setup_worktree'],
  common: [['hook_event_name', 'agent_action_name'], ['session_id', 'trajectory_id'], 'timestamp'],
  tools: [],
  // There are none; those of hooks that were taken over say which tools their event was about.
  readMatcher: (expression) => ({ expression, otherwise: 'nothing' }),
};
