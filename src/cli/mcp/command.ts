import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, traceOption, workspaceOptions } from '../shared/options.js';

const installCommand: CommandSpec = {
  name: 'install',
  description: "Put hookstack between a client of MCP and its servers, in the client's settings",
  arguments: { '[server...]': 'names of servers; default all that are started by a command' },
  options: [
    new Option('--into <file>', 'the file that lists the servers, such as .mcp.json'),
    new Option('--undo', 'write the servers as they were'),
    new Option('--dry-run', 'show what would change as a diff, and write nothing'),
    jsonOption,
  ],
  notes: 'Comments and all other lines of the file stay as they are.',
  exitCodes: '0 written, or nothing to do; 1 the file cannot be changed; 2 wrong usage',
  example: 'hookstack mcp install --into .mcp.json --dry-run',
  load: async () => (await import('./install.js')).install,
};

export const mcpCommand: CommandSpec = {
  name: 'mcp',
  description: 'Run hooks around the tools of an MCP server, for any client of MCP',
  arguments: { '[server...]': 'behind --: the command that starts the server, and its arguments' },
  options: [
    new Option('--name <server>', 'what hooks call the server: its tools are mcp__SERVER__TOOL'),
    ...workspaceOptions,
    traceOption(),
  ],
  notes: 'Reads what a client says from stdin, and answers on stdout. The client starts it.',
  exitCodes: `0 the client has ended the session; 1 the server could not be started, has ended, or was given up;
2 wrong usage or settings`,
  example:
    'hookstack mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .\nhookstack mcp install --into .mcp.json',
  subcommands: [installCommand],
  load: async () => (await import('./mcp.js')).mcp,
};
