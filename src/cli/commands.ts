import { Option } from 'commander';
import { DIALECT_NAMES, HOOK_SCOPES, HookEventName } from '../protocol/types.js';
import { STACK_NAMES } from '../protocol/stages.js';
import { GUARD_NAMES } from './add/guardNames.js';
import { COLUMNS } from './record/columns.js';
import type { CommandSpec } from './shared/addCommand.js';
import { peopleOptions } from './shared/people/peopleOptions.js';
import { natsServerOptions, natsTlsOptions } from './shared/natsServer.js';
import {
  countOption,
  cwdOption,
  DEFAULT_MODEL,
  DEFAULT_PROMPT,
  DEFAULT_TOOL,
  jsonOption,
  logOption,
  otlpOption,
  traceOption,
  workspaceOptions,
} from './shared/options.js';

/** Of `enable` and `disable`. */
const ofSwitch = {
  arguments: { '[name]': 'the name of the hook, or its command where it has none' },
  options: [
    new Option('--all', 'all hooks, in place of a name'),
    new Option('--scope <scope>', 'whose hook, where several have the name').choices([
      ...HOOK_SCOPES,
    ]),
    new Option('--project', "change the project's settings").conflicts('user'),
    new Option('--user', "change the user's settings"),
    cwdOption,
    jsonOption,
  ],
};

const mcpInstall: CommandSpec = {
  name: 'install',
  description: "Put hookstack between a client of MCP and its servers, in the client's settings",
  arguments: { '[server...]': 'names of servers; default all' },
  options: [
    new Option('--into <file>', 'the file that lists the servers, such as .mcp.json'),
    new Option('--undo', 'write the servers as they were'),
    new Option('--dry-run', 'show what would change as a diff, and write nothing'),
    jsonOption,
  ],
  notes: 'Comments and all other lines of the file stay as they are.',
  exitCodes: '0 written, or nothing to do; 1 the file cannot be changed; 2 wrong usage',
  example: 'hookstack mcp install --into .mcp.json --dry-run',
  load: async () => (await import('./mcp/install.js')).install,
};

/** In the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'add',
    group: 'Start:',
    description:
      'Add guards that are ready to use, or the hooks of a plugin of Claude Code; or list what there is',
    arguments: {
      '[name...]':
        'guards, such as protect-secrets; or the folder of a plugin, or of a marketplace and then its plugins; default: list the guards',
    },
    choices: GUARD_NAMES,
    options: [
      new Option('--user', 'into your own settings, for all projects; plugins always are'),
      new Option('--yes', 'allow a plugin as it is, without a question'),
      new Option('--dry-run', 'show what would change, and write nothing'),
      cwdOption,
      jsonOption,
    ],
    notes: `Writes rules to .llxprt/settings.json, scripts to .llxprt/hooks where rules are not enough, and tests to
.llxprt/tests. All of it is yours to edit. A guard that is there already stays as it is.
A plugin is shown, and copied to ~/.llxprt/extensions once you allow it.`,
    exitCodes: `0 added, listed, or there already; 1 a plugin was not allowed, or a file could not be written; 2 wrong usage, a file is in the way,
or a link leads out of the project`,
    example: 'hookstack add protect-secrets protect-git',
    load: async () => (await import('./add/add.js')).add,
  },
  {
    name: 'init',
    group: 'Start:',
    description: 'Write a first working hook for a project, with an event to test it',
    options: [
      new Option('--language <language>', 'what the hook is written in, and all that it needs')
        .choices(['bash', 'node', 'python', 'typescript'])
        .default('node'),
      new Option('--event <event>', 'what the hook waits for')
        .choices(Object.values(HookEventName))
        .default(HookEventName.BeforeTool),
      new Option('--name <name>', 'what the hook and its files are called; for a second one'),
      new Option(
        '--matcher <expression>',
        'for which tools a hook of BeforeTool or AfterTool runs, such as ^run_shell_command$',
      ),
      new Option('--dialect <agent>', 'write it for another agent as well, with its names').choices(
        DIALECT_NAMES,
      ),
      cwdOption,
      jsonOption,
    ],
    notes: `Adds to .llxprt/settings.json, and changes no file or hook that is there already. For guards that are ready to
use, see hookstack add; without options, it offers them on a terminal first.`,
    exitCodes: `0 written; 1 a file could not be written; 2 wrong usage, the hook is there already, or a link leads
out of the project`,
    example: 'hookstack init --language python',
    load: async () => (await import('./init/init.js')).init,
  },
  {
    name: 'migrate',
    group: 'Other agents:',
    description: 'Take over the hooks of another agent',
    options: [
      new Option('--from <agent>', 'whose settings to read').choices([...DIALECT_NAMES]),
      new Option('--scope <scope>', 'whose hooks to take over')
        .choices(['project', 'local', 'user', 'all'])
        .default('project'),
      new Option('--dry-run', 'show what would change as a diff, and write nothing'),
      cwdOption,
      jsonOption,
    ],
    notes: `Reads .claude/settings.json or .gemini/settings.json, and adds their hooks to .llxprt/settings.json: those of
the project (project), those of .claude/settings.local.json into the file of the project (local), those in
your home directory (user), or of the project and the home directory (all). The scripts stay as they are.
What is there already is never changed; what cannot be carried over is listed with its line.`,
    exitCodes: `0 done, also where there was nothing to do; 1 a file could not be written, or only
plugins may have hooks, which are not taken over;
2 wrong usage, settings that cannot be read, or a link leads out of the project`,
    example: 'hookstack migrate --from claude --dry-run',
    load: async () => (await import('./migrate/migrate.js')).migrate,
  },
  {
    name: 'install',
    group: 'Other agents:',
    description: 'Have another agent run all hooks of the project',
    options: [
      new Option(
        '--into <agent>',
        'whose settings to write; all: of each agent that is used here',
      ).choices(['all', ...DIALECT_NAMES]),
      new Option('--strict', 'have the agent blocked where hookstack cannot be started'),
      new Option('--mod', 'for claude: as a mod of its user, which asks about the model as well'),
      new Option('--undo', 'take it out of the settings again'),
      new Option(
        '--scope <scope>',
        'whose settings: those of the project, yours in it, or your own',
      )
        .choices(['project', 'local', 'user'])
        .default('project'),
      new Option('--dry-run', 'show what would change as a diff, and write nothing'),
      cwdOption,
      jsonOption,
    ],
    notes: `Writes the command "hookstack-hook", with the agent's name, into the agent's file of hooks, such as
.claude/settings.json, for each event of that agent that is an event here. Everything else in the file stays.`,
    exitCodes: `0 done, also where there was nothing to do; 1 a file could not be written, or an agent of all was
not taken; 2 wrong usage, settings that cannot be read, or a link leads out of the project`,
    example: 'hookstack install --into claude --dry-run',
    load: async () => (await import('./install/install.js')).install,
  },
  {
    name: 'run',
    group: 'Start:',
    description: 'Run the agent for one prompt, with all hooks',
    arguments: { '[prompt]': 'what to do; read from stdin when that is not a terminal' },
    options: [
      ...workspaceOptions,
      new Option('--model <name>', 'name of the Gemini model').default(DEFAULT_MODEL),
      new Option(
        '--responses <file>',
        'answer from recorded model calls instead of calling Gemini',
      ),
      countOption('--max-turns <n>', 'give up after this many model calls; default 50'),
      new Option('--output-format <format>', 'what to write to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
      traceOption(),
      otlpOption,
      new Option(
        '--ask <decision>',
        'what counts in this run where hooks want a person to be asked; default: ask on a terminal, else "approvals" of the settings',
      ).choices(['allow', 'deny']),
      new Option(
        '--approvals <from>',
        'take answers from stdin, a JSON object on each line; with --output-format stream-json',
      )
        .choices(['stdin'])
        .conflicts('ask'),
      new Option(
        '--transcript <file>',
        'append what is said to this file, for hooks to read; default ~/.llxprt/sessions/ID/transcript.jsonl, where there are hooks',
      ),
      new Option('--no-transcript', 'write no transcript'),
    ],
    notes: `Environment:
  GEMINI_API_KEY          the key to call Gemini with
  GOOGLE_GEMINI_BASE_URL  where to call it, instead of Google`,
    exitCodes: `0 done, or stopped by a hook; 1 failed: the model cannot be called, --max-turns is reached, or the run
was aborted; 2 wrong usage or settings, or a file that was named cannot be used`,
    example: 'hookstack run "Write a haiku to haiku.txt" --output-format json',
    load: async () => (await import('./run/run.js')).run,
  },
  {
    name: 'fire',
    group: 'Write hooks:',
    description: 'Fire one event, and show what each hook said and what that means',
    arguments: { '[event]': 'what happens; not needed with --from-trace' },
    choices: Object.values(HookEventName),
    options: [
      ...workspaceOptions,
      new Option('--tool <name>', `the tool of BeforeTool and AfterTool; default ${DEFAULT_TOOL}`),
      new Option(
        '--input <json>',
        'the input of the tool; for other events, the fields of the event',
      ),
      new Option(
        '--request <json>',
        'the GenerateContentParameters of the model events; what is missing is filled in',
      ),
      new Option(
        '--response <json>',
        "AfterModel: the GenerateContentResponse; AfterTool: the tool's result; AfterAgent and SubagentStop: the text; ModelError: the error",
      ),
      new Option('--prompt <text>', `what the user asked; default ${DEFAULT_PROMPT}`),
      new Option(
        '--from-trace <file>',
        'fire the last blocked event of a trace again, else its last one',
      ),
      new Option('--span <id>', 'the event of the trace, or a hook of it'),
      new Option('--explain', 'say as well which hooks run, and why not the others'),
      countOption('--repeat <n>', 'fire the event this often, and tell how long that took'),
      new Option('--record <file>', 'write the event and the verdict to a *.hooktest.json'),
      jsonOption,
      traceOption(),
    ],
    notes: 'In place of JSON, @FILE reads a file and - reads stdin.',
    exitCodes:
      '0 proceed; 2 blocked; 3 stopped, also where a hook blocked; 1 wrong usage or settings',
    example: `hookstack fire BeforeTool --tool write_file --input '{"file_path": ".env"}'`,
    load: async () => (await import('./fire/fire.js')).fire,
  },
  {
    name: 'test',
    group: 'Write hooks:',
    description: 'Fire recorded events, and compare what the hooks say with what is expected',
    arguments: {
      '[path...]': '*.hooktest.json files, or directories with some; default the project',
    },
    options: [
      ...workspaceOptions,
      new Option('-u, --update', 'write what the hooks say into the expectations that differ'),
      new Option(
        '--watch',
        'run again when a test, a script or settings change; ^C ends',
      ).conflicts(['json', 'update']),
      new Option('--junit <file>', 'write the results as JUnit XML as well'),
      jsonOption,
    ],
    exitCodes:
      '0 all as expected, or made so with -u; 1 not all; 2 wrong usage or settings, or no file found',
    example: 'hookstack test .llxprt/hooks --trust',
    load: async () => (await import('./test/test.js')).test,
  },
  {
    name: 'explain',
    group: 'Write hooks:',
    description: 'Say which hooks an event would run, and why not the others; starts nothing',
    arguments: { '<event>': 'what happens' },
    choices: Object.values(HookEventName),
    options: [
      ...workspaceOptions,
      new Option('--tool <name>', 'the tool of BeforeTool and AfterTool'),
      new Option('--input <json>', 'its arguments, for hooks with "when"; @FILE, or - for stdin'),
      jsonOption,
    ],
    exitCodes: '0 explained; 2 wrong usage, or settings that count and cannot be read',
    example: 'hookstack explain BeforeTool --tool write_file',
    load: async () => (await import('./explain/explain.js')).explain,
  },
  {
    name: 'doctor',
    group: 'Write hooks:',
    description: 'Run each hook in a scratch directory, and say what is wrong with it',
    options: [
      new Option(
        '--live <agent>',
        "try each verdict in the agent's own program, in a scratch home and project",
      ).choices([...DIALECT_NAMES]),
      ...workspaceOptions,
      jsonOption,
    ],
    exitCodes: `0 nothing is wrong, though there may be warnings; 1 something is, or no hook was run; 2 wrong usage or
settings`,
    example: 'hookstack doctor --trust',
    load: async () => (await import('./doctor/doctor.js')).doctor,
  },
  {
    name: 'validate',
    group: 'Write hooks:',
    description: 'Check settings files, and tell where what is wrong; starts nothing',
    arguments: { '[file...]': 'what to check; default the settings of project, user and system' },
    options: [
      new Option(
        '--cwd <dir>',
        'where to look for the project; default the current directory, or where a file belongs',
      ),
      new Option('--trust', 'take the project as trusted: all keys of its settings count'),
      new Option('--format <format>', 'github: annotations of a workflow; sarif: SARIF 2.1.0')
        .choices(['text', 'github', 'sarif'])
        .default('text')
        .conflicts('json'),
      countOption('--max-warnings <n>', 'exit with 1 where there are more warnings than this', 0),
      jsonOption,
    ],
    exitCodes: '0 nothing, or warnings only; 1 errors, or too many warnings; 2 wrong usage',
    example: 'hookstack validate .llxprt/settings.json',
    load: async () => (await import('./validate/validate.js')).validate,
  },
  {
    name: 'list',
    group: 'Look and allow:',
    description: 'List the configured hooks, and why some of them do not run',
    options: [
      ...workspaceOptions,
      traceOption('tell how often each hook has run, by this trace'),
      jsonOption,
    ],
    exitCodes: '0 listed; 2 wrong usage, or settings that count and cannot be read',
    example: 'hookstack list --trust',
    load: async () => (await import('./list/list.js')).list,
  },
  {
    ...ofSwitch,
    name: 'enable',
    group: 'Look and allow:',
    description: 'Take a hook, or all, out of disabledHooks of the project and the user',
    exitCodes:
      '0 not disabled any more; 1 still disabled elsewhere, or a file cannot be changed; 2 wrong usage, or no such hook',
    example: 'hookstack enable protect-env',
    load: async () => (await import('./switch/switchHook.js')).enable,
  },
  {
    ...ofSwitch,
    name: 'disable',
    group: 'Look and allow:',
    description: 'Add a hook, or all, to disabledHooks',
    notes:
      "Without --project or --user: the project's settings for a hook of the project, else the user's. Where hooks of several scopes have the name, it asks whose is meant; without a terminal, say it with --scope.",
    exitCodes:
      '0 disabled; 1 the file cannot be changed, or does not count before hookstack trust; 2 wrong usage, or no such hook',
    example: 'hookstack disable protect-env --user',
    load: async () => (await import('./switch/switchHook.js')).disable,
  },
  {
    name: 'trust',
    group: 'Look and allow:',
    description: "Show what a project's hooks and middleware would run, and allow it",
    options: [
      cwdOption,
      new Option(
        '--yes',
        'allow without being asked what is pinned, and renew what an earlier version allowed',
      ),
      new Option(
        '--open',
        'allow also what is open: hooks of which only the definition is covered; with --lock, put it in',
      ),
      new Option('--check', 'ask nothing, and list what is not allowed; for CI'),
      new Option(
        '--lock',
        'write .llxprt/hooks.lock, for machines that know the digest that is printed; allows nothing here',
      ),
      jsonOption,
    ],
    notes: `Environment:
  HOOKSTACK_TRUST_LOCK  sha256:… of a .llxprt/hooks.lock, whose hooks need no consent`,
    exitCodes: `0 all is allowed, or the lock is written; 1 something is not allowed, or the lock would
leave a guard out; 2 wrong usage or settings`,
    example: 'hookstack trust --check || hookstack trust',
    load: async () => (await import('./trust/trust.js')).trust,
  },
  {
    name: 'trace',
    group: 'Look and allow:',
    description:
      'Tell what happened, from a file that --trace has written, or what happens in a fleet',
    arguments: {
      '[file]':
        'the trace; with --diff also the directory of a record, with --query that or its database. Default: the one that HOOKSTACK_TRACE names',
    },
    options: [
      countOption('--slowest <n>', 'list what itself took longest').conflicts(['nats', 'follow']),
      new Option('--html <out>', 'write it as one page').conflicts(['nats', 'follow', 'slowest']),
      new Option(
        '--query <conditions>',
        'list what fits all of "NAME=VALUE NAME!=VALUE …" in a file, or of what hookstack collect has written',
      ).conflicts(['nats', 'follow', 'slowest', 'html', 'diff']),
      new Option('--follow', 'go on with what is added to it, a line for each span, until ^C'),
      new Option(
        '--diff',
        'tell which questions the shadow of a policy server ("serve --shadow") would have answered otherwise',
      ).conflicts(['follow', 'slowest', 'html']),
      ...natsServerOptions,
      jsonOption,
    ],
    notes: `Names in --query: ${COLUMNS.join(', ')}, and since and until: 1h ago, or a date. In a value, * is any text, a
comma is "or", and what is missing is empty: "approver!=" lists what people have answered.`,
    exitCodes:
      '0 told; 1 the file holds no spans, none fits, or with --diff none of a shadow; 2 wrong usage, or a file that cannot be read or written',
    example: `hookstack run "Write a haiku to haiku.txt" --trace trace.jsonl
  hookstack trace trace.jsonl --html trace.html
  hookstack trace record --query "verdict=block tool=run_shell_command since=1h from=acme/*"
  hookstack trace --nats nats://127.0.0.1:4222 --token-file policy.token`,
    load: async () => (await import('./trace/trace.js')).trace,
  },
  {
    name: 'mcp',
    group: 'Other agents:',
    description: 'Run hooks around the tools of an MCP server, for any client of MCP',
    arguments: {
      '[server...]': 'behind --: the command that starts the server, and its arguments',
    },
    options: [
      new Option('--name <server>', 'what hooks call the server: its tools are mcp__SERVER__TOOL'),
      new Option('--url <url>', 'where the server is, in place of a command; speaks HTTP'),
      new Option(
        '--listen <host:port>',
        'speak HTTP with clients too, which log in themselves; on this machine alone',
      ),
      new Option('--was <keys>', 'what "mcp install" has replaced, for its --undo').hideHelp(),
      ...workspaceOptions,
      traceOption(),
    ],
    notes: `Reads what a client says from stdin, and answers on stdout. The client starts it.
With --url, the variables HOOKSTACK_MCP_HEADER_1, _2 … hold headers ("Authorization: Bearer …").`,
    exitCodes: `0 the client has ended the session; 1 the server could not be started, has ended, or was given up;
2 wrong usage or settings`,
    example:
      'hookstack mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .\nhookstack mcp install --into .mcp.json',
    subcommands: [mcpInstall],
    load: async () => (await import('./mcp/mcp.js')).mcp,
  },
  {
    name: 'serve',
    group: 'Fleet:',
    description: 'Answer events of agents on other machines with the hooks of a settings file',
    options: [
      new Option('--settings <file>', 'whose hooks answer; required'),
      new Option('--watch', 'have a change of the file count within a second').default(true),
      new Option('--no-watch', 'have it count with SIGHUP only'),
      new Option(
        '--shadow <file>',
        'put each question to these settings as well; what they say is recorded, and has no effect',
      ),
      new Option('--check <file>', 'say whether a server would start with this file, and end'),
      cwdOption,
      new Option('--listen <host:port>', 'where to listen; port 0 is a free one').default(
        '127.0.0.1:8787',
      ),
      new Option('--tokens <file>', 'who may ask: lines TEAM/AGENT TOKEN, in a file of mode 600'),
      new Option('--cert <file>', "the server's certificate, as PEM"),
      new Option('--key <file>', 'its key, in a file of mode 600'),
      new Option(
        '--client-ca <file>',
        'who may ask: clients with a certificate of this authority, whose CN is TEAM/AGENT',
      ),
      countOption('--max-body <mib>', 'the largest body of a request over HTTP').default(16),
      countOption('--max-concurrent <n>', 'how many questions hooks work on at a time').default(64),
      new Option('--nats <url>', 'answer over NATS, too: nats://HOST:PORT'),
      new Option('--token-file <file>', 'the secret for NATS, in a file of mode 600'),
      ...natsTlsOptions,
      new Option('--no-record', 'do not send what hooks of this server do to the record at NATS'),
      new Option('--name <name>', 'what this server is called at NATS').default('policy'),
      new Option(
        '--approvers <file>',
        'who may answer questions at /approvals: lines NAME TOKEN, in a file of mode 600',
      ),
      new Option(
        '--origin <url>',
        'where browsers find /approvals, behind a proxy: https://HOST; default where it listens; needs --tokens or --client-ca',
      ),
      ...peopleOptions,
      traceOption(),
      otlpOption,
      logOption,
    ],
    notes: `Answers POST /v1/events, POST /v1/events/<Event>, POST /v1/claude, GET /healthz, GET /readyz and GET /metrics.
The first line of stdout says where. On addresses that other machines can reach, it wants TLS, and tokens or client
certificates. SIGHUP has it read its files anew. SIGTERM ends it once what was asked is answered; a second one ends it at
once.`,
    exitCodes:
      '0 ended by a signal, or checked; 1 it cannot listen there, or the file to check is no policy; 2 wrong usage or settings',
    example: 'hookstack serve --settings policy.json --listen 127.0.0.1:8787',
    load: async () => (await import('./serve/serve.js')).serve,
  },
  {
    name: 'untrust',
    description: 'Take back what was allowed for a project',
    options: [cwdOption, jsonOption],
    exitCodes: '0 nothing is allowed any more; 2 wrong usage',
    example: 'hookstack untrust',
    load: async () => (await import('./trust/trust.js')).untrust,
  },
  {
    name: 'stack',
    description: 'Show what each call passes through, from the outside in',
    arguments: { '[stack]': 'default all three' },
    choices: STACK_NAMES,
    options: [...workspaceOptions, jsonOption],
    notes:
      'Imports the middleware of extensions, except for those of a project that is not trusted.',
    exitCodes: '0 shown; 2 wrong usage or settings',
    example: 'hookstack stack tool',
    load: async () => (await import('./stack/stack.js')).stack,
  },
  {
    name: 'hook',
    description:
      'Run all hooks of the project as one hook of another agent, which reads its events',
    options: [
      new Option(
        '--from <agent>',
        'the agent that runs this command as a hook, or AGENT_EVENT; else who it is is seen by what it sends',
      ),
      ...workspaceOptions,
      traceOption(),
    ],
    notes: `Reads the JSON of one event on stdin, runs the hooks of the project, the user and the system, and answers in
the JSON of that agent. "hookstack install" has agents start "hookstack-hook", which asks the process that stays, or else runs this command.`,
    exitCodes: `0 answered, on stdout; 2 blocked, for the reason on stderr: an event that could not be read, where a guard
had to be asked, an answer that could not be written, a process that ended before, or wrong usage`,
    example: 'hookstack hook --from claude < event.json',
    load: async () => (await import('./hook/runHooks.js')).runHooks,
  },
  {
    name: 'resident',
    description: 'Show, or stop, the process that answers the events of agents',
    arguments: { '[action]': '"status" (default) or "stop"' },
    choices: ['status', 'stop'],
    options: [
      jsonOption,
      new Option('--socket <file>').hideHelp(),
      new Option('--job <file>').hideHelp(),
    ],
    notes: `The first event that an agent hands to "hookstack-hook" starts it; it ends ten minutes after the last one. With
HOOKSTACK_RESIDENT=0 in the environment of an agent, each event is answered by a process of its own.`,
    exitCodes: '0 shown, or stopped; 1 none is there; 2 wrong usage',
    example: 'hookstack resident',
    load: async () => (await import('./resident/resident.js')).resident,
  },
  {
    name: 'collect',
    description: 'Write the record of a fleet into trace files, one for each day, and a database',
    options: [
      ...natsServerOptions,
      new Option('--out <dir>', 'where the files are: <day>.jsonl, of days in UTC'),
      new Option('--sqlite <file>', 'a database, whose table "records" has a row for each span'),
      new Option('--keep <time>', 'remove whole older days (UTC), such as 90d; not in the stream'),
      new Option(
        '--forget <session>',
        'write nothing, and remove this session, from the stream, too, where --nats is, and from what waits on this machine',
      ),
      new Option(
        '--of <team/agent>',
        'with --forget: which agent, where several have named one so',
      ),
      new Option('--once', 'end when nothing more is there; default: go on until ^C'),
      otlpOption,
      logOption,
    ],
    notes:
      'It makes the stream HOOKS_RECORD where there is none. Several may run at once: for one directory, or database, each span is written once. SQLite needs Node.js 22.13 or the package better-sqlite3.',
    exitCodes:
      '0 all that was there is written, or removed; 1 a file, the database or the server fails; 2 wrong usage, or no connection (without --once it waits for a server that is not there yet)',
    example: `hookstack collect --nats nats://127.0.0.1:4222 --token-file policy.token --out record
  hookstack trace record/2026-11-22.jsonl`,
    load: async () => (await import('./collect/collect.js')).collect,
  },
  {
    name: 'completion',
    description: 'Print a script that completes commands, options and values in your shell',
    arguments: {
      '<shell>': 'which shell',
      '[word...]': 'behind it, for the script: a command line, of which the last word is completed',
    },
    choices: ['bash', 'zsh', 'fish'],
    options: [],
    notes: `Where to load it:
  bash  in ~/.bashrc: source <(hookstack completion bash)
  zsh   in ~/.zshrc, behind compinit: source <(hookstack completion zsh)
  fish  hookstack completion fish > ~/.config/fish/completions/hookstack.fish`,
    exitCodes: '0 printed; 1 nothing is known for the last word; 2 wrong usage',
    example: 'hookstack completion bash > ~/.local/share/bash-completion/completions/hookstack',
    load: async () => (await import('./completion/completion.js')).completion,
  },
];
