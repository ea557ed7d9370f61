import { FEEDBACK } from './claudeForms.js';
import { likeClaude, NO_MOMENTS } from './claudeLike.js';

/** The format of hooks for Factory Droid: that of Claude Code, with other names of tools. */
export const droid = likeClaude({
  agent: 'Factory Droid',
  settings: {
    files: ['.factory/hooks.json', '.factory/settings.json'],
    pluginFiles: ['hooks/hooks.json'],
    notRead: 'hooks of the organization, and of installed plugins',
  },
  projectVariable: 'FACTORY_PROJECT_DIR',
  isSender: (_fields, env) => env['FACTORY_PROJECT_DIR'] !== undefined,
  rows: {
    ...NO_MOMENTS,
    PermissionRequest: null,
    PostToolUse: { answer: FEEDBACK },
    PostToolUseFailure: null,
  },
  toolNames: {
    run_shell_command: ['Execute'],
    write_file: ['Create'],
    web_fetch: ['FetchUrl'],
    task: ['Task'],
  },
  otherTools: ['ApplyPatch'],
  replacesArguments: false,
  defaultTimeoutMs: { otherwise: 60_000 },
  environment: ({ cwd }) => ({ FACTORY_PROJECT_DIR: cwd }),
  missingVariables: ['DROID_PLUGIN_ROOT'],
});
