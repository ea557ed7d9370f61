import type { DialectName } from '../../../protocol/types.js';
import type { Api, Part } from './model.js';

/** The folders of a run. */
export interface Places {
  readonly home: string;
  readonly project: string;
  /** Address of the model. */
  readonly url: string;
  /** A server of MCP, named `live`, with the tool `touch`, which makes a file. */
  readonly mcp: { readonly command: string; readonly args: readonly string[] };
}

/** How a program is started for one prompt. */
export interface Start {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How the program of an agent is started against a model on this machine, and what its tools are called. */
export interface AgentProgram {
  /** Its name on the search path. */
  readonly command: string;
  readonly api: Api;
  /** What has to be there before, by path in the home directory. */
  readonly files?: (places: Places) => Readonly<Record<string, unknown>>;
  readonly start: (prompt: string, places: Places, mode?: string) => Start;
  /** Its modes in which tools run, by the names of its options; the first is the one of all other runs. */
  readonly modes: readonly string[];
  readonly shell: (command: string) => Part;
  readonly write: (file: string, content: string) => Part;
  readonly read: (file: string) => Part;
  /** Calls `touch` of the server. */
  readonly mcp: (file: string) => Part;
  readonly subagent?: (prompt: string) => Part;
  /** The same, started so that a person answers its questions on stdin. */
  readonly person?: (start: Start) => Start;
}

const call = (name: string, input: unknown): Part => ({ name, input });

/** What Gemini CLI and Qwen Code are started with. */
function itsArguments(prompt: string, mode: string): string[] {
  const allowed = mode === 'yolo' ? [] : ['--allowed-tools', 'run_shell_command'];
  return ['-p', prompt, '-o', 'stream-json', '--approval-mode', mode, ...allowed];
}

/** What stands in their settings. */
function itsSettings(selectedType: string, live: object): object {
  return { ...QUIET, security: { auth: { selectedType } }, mcpServers: { live } };
}

/** Those of Gemini CLI, which Qwen Code took over. */
const ITS_TOOLS = {
  write: (file_path: string, content: string) => call('write_file', { file_path, content }),
  read: (file_path: string) => call('read_file', { file_path }),
};
const QUIET = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
};

export const PROGRAMS: { readonly [A in DialectName]?: AgentProgram } = {
  claude: {
    command: 'claude',
    api: 'anthropic',
    modes: ['bypassPermissions', 'default', 'acceptEdits', 'plan'],
    files: ({ mcp }) => ({ 'mcp.json': { mcpServers: { live: mcp } } }),
    start: (prompt, { url, home }, mode = 'bypassPermissions') => ({
      args: [
        '-p',
        prompt,
        '--output-format',
        'stream-json',
        '--verbose',
        '--permission-mode',
        mode,
        '--mcp-config',
        `${home}/mcp.json`,
        ...(mode === 'bypassPermissions' ? [] : ['--allowedTools', 'Bash']),
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        IS_SANDBOX: '1',
      },
    }),
    shell: (command) => call('Bash', { command, description: 'A command' }),
    write: (file_path, content) => call('Write', { file_path, content }),
    read: (file_path) => call('Read', { file_path }),
    mcp: (file) => call('mcp__live__touch', { file }),
    subagent: (prompt) =>
      call('Agent', { description: 'A task', prompt, subagent_type: 'general-purpose' }),
    person: ({ args: [, , ...args], env = {} }) => ({
      args: ['-p', ...args, '--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
      env,
    }),
  },
  gemini: {
    command: 'gemini',
    api: 'gemini',
    modes: ['yolo', 'auto_edit', 'default'],
    files: ({ mcp }) => ({ '.gemini/settings.json': itsSettings('gemini-api-key', mcp) }),
    start: (prompt, { url }, mode = 'yolo') => ({
      args: itsArguments(prompt, mode),
      env: {
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: 'none',
        GEMINI_MODEL: 'gemini-2.5-flash',
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    }),
    ...ITS_TOOLS,
    shell: (command) => call('run_shell_command', { command }),
    mcp: (file) => call('mcp_live_touch', { file }),
    subagent: (prompt) => call('invoke_agent', { agent_name: 'generalist', prompt }),
  },
  codex: {
    command: 'codex',
    api: 'responses',
    modes: ['danger-full-access', 'read-only'],
    files: ({ project, url, mcp }) => ({
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "loopback"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        `[projects.${JSON.stringify(project)}]`,
        'trust_level = "trusted"',
        '[model_providers.loopback]',
        'name = "loopback"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "MODEL_KEY"',
        '[mcp_servers.live]',
        `command = ${JSON.stringify(mcp.command)}`,
        `args = ${JSON.stringify(mcp.args)}`,
      ].join('\n'),
    }),
    start: (prompt, _places, mode = 'danger-full-access') => ({
      args: [
        'exec',
        '--json',
        '--dangerously-bypass-hook-trust',
        '--skip-git-repo-check',
        ...(mode === 'danger-full-access'
          ? ['--dangerously-bypass-approvals-and-sandbox']
          : ['--sandbox', mode]),
        prompt,
      ],
      env: { MODEL_KEY: 'none' },
    }),
    shell: (cmd) => call('exec_command', { cmd }),
    write: (file, content) =>
      call('apply_patch', `*** Begin Patch\n*** Add File: ${file}\n+${content}\n*** End Patch\n`),
    read: (file) => call('exec_command', { cmd: `cat ${file}` }),
    mcp: (file) => ({ name: 'touch', namespace: 'mcp__live', input: { file } }),
    subagent: (message) => ({
      name: 'spawn_agent',
      namespace: 'multi_agent_v1',
      input: { message },
    }),
  },
  qwen: {
    command: 'qwen',
    api: 'chat',
    modes: ['yolo', 'auto-edit', 'default'],
    files: ({ mcp }) => ({ '.qwen/settings.json': itsSettings('openai', mcp) }),
    start: (prompt, { url }, mode = 'yolo') => ({
      args: itsArguments(prompt, mode),
      env: {
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: 'none',
        OPENAI_MODEL: 'stand-in',
      },
    }),
    ...ITS_TOOLS,
    shell: (command) => call('run_shell_command', { command, is_background: false }),
    mcp: (file) => call('mcp__live__touch', { file }),
    subagent: (prompt) =>
      call('agent', { description: 'A task', prompt, subagent_type: 'general-purpose' }),
  },
  copilot: {
    command: 'copilot',
    api: 'chat',
    modes: ['allow-all'],
    files: ({ mcp }) => ({
      '.copilot/mcp-config.json': {
        mcpServers: { live: { type: 'local', ...mcp, tools: ['*'] } },
      },
    }),
    start: (prompt, { url }) => ({
      args: ['-p', prompt, '--allow-all', '--no-auto-update', '--output-format', 'json'],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_MODEL: 'stand-in',
        COPILOT_OFFLINE: 'true',
        // Trusts the project as well, without which its hooks are not read.
        COPILOT_ALLOW_ALL: 'true',
      },
    }),
    shell: (command) => call('bash', { command, description: 'A command' }),
    write: (path, file_text) => call('create', { path, file_text }),
    read: (path) => call('view', { path }),
    mcp: (file) => call('live-touch', { file }),
    subagent: (prompt) =>
      call('task', { description: 'A task', prompt, agent_type: 'task', name: 'helper' }),
  },
  cline: {
    command: 'cline',
    api: 'chat',
    modes: ['act'],
    files: ({ url, mcp }) => {
      const provider = 'openai-compatible';
      const settings = { provider, apiKey: 'none', model: 'stand-in', baseUrl: `${url}/v1` };
      const entry = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' };
      return {
        '.cline/data/settings/providers.json': {
          version: 1,
          lastUsedProvider: provider,
          modes: {},
          providers: { [provider]: entry },
        },
        '.cline/data/settings/cline_mcp_settings.json': { mcpServers: { live: mcp } },
      };
    },
    start: (prompt) => ({
      args: ['--json', '--auto-approve', 'true', prompt],
      // Else a process stays behind.
      env: { CLINE_SESSION_BACKEND_MODE: 'local' },
    }),
    shell: (command) => call('run_commands', { commands: [command] }),
    write: (path, new_text) => call('editor', { path, new_text }),
    read: (path) => call('read_files', { files: [{ path }] }),
    mcp: (file) => call('live__touch', { file }),
    subagent: (task) => call('spawn_agent', { systemPrompt: 'You are a helper.', task }),
  },
  opencode: {
    command: 'opencode',
    api: 'chat',
    modes: ['build', 'plan'],
    files: ({ url, mcp }) => ({
      '.config/opencode/opencode.json': {
        autoupdate: false,
        model: 'loopback/stand-in',
        mcp: { live: { type: 'local', command: [mcp.command, ...mcp.args] } },
        provider: {
          loopback: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { 'stand-in': { tool_call: true } },
          },
        },
      },
      // Else it waits for the registry, for types that a plugin may want.
      '.npmrc': 'offline=true\nfetch-retries=0\n',
    }),
    start: (prompt, _places, mode = 'build') => ({
      args: ['run', '--format', 'json', '--auto', '--agent', mode, prompt],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1' },
    }),
    shell: (command) => call('bash', { command, description: 'A command' }),
    write: (filePath, content) => call('write', { filePath, content }),
    read: (filePath) => call('read', { filePath }),
    mcp: (file) => call('live_touch', { file }),
    subagent: (prompt) => call('task', { description: 'A task', prompt, subagent_type: 'general' }),
  },
};

/** Why those that are no program which can be pointed at another model are told by their documentation alone. */
export const NOT_HERE: { readonly [A in DialectName]?: string } = {
  vscode: 'it is an editor, whose agent asks the models of its maker',
  cursor: 'its agent asks the servers of its maker',
  antigravity: 'its agent asks the servers of its maker',
  droid: 'its program is no package of the registry, and wants an account',
  openhands: 'its program is no package of npm',
  devin: 'its agent asks the servers of its maker',
  windsurf: 'it is an editor, whose agent asks the servers of its maker',
  kiro: 'its agent asks the servers of its maker',
  goose: 'its program is no package of npm',
};
