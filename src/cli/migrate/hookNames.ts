import { basename } from 'node:path';
import { commandLine, hookIdentity, isAsked } from '../../protocol/identity.js';
import { commandKey } from '../../run/sameCommand.js';
import type { CommandHookConfig } from '../../protocol/types.js';

/** Names for hooks that have none, by the script or the program that they run. Other commands have other names. */
export class HookNames {
  readonly #commands = new Map<string, string>();

  /**
   * @param hooks those whose names are taken
   * @param disabled names that stay as they are: a hook without a name is disabled by its command
   */
  constructor(
    hooks: Iterable<CommandHookConfig>,
    private readonly disabled: ReadonlySet<unknown>,
  ) {
    for (const hook of hooks) if (hook.name) this.#commands.set(hook.name, whatRuns(hook));
  }

  /** @param matcher of its group: of a command without a script, it says more than the program */
  named(hook: CommandHookConfig, matcher = ''): CommandHookConfig {
    if (hook.name || this.disabled.has(hookIdentity(hook))) return hook;
    const { type, ...rest } = hook;
    return { type, name: this.#nameFor(hook, matcher), ...rest };
  }

  #nameFor(hook: CommandHookConfig, matcher: string): string {
    const line = whatRuns(hook);
    const { url } = hook;
    const words = [hook.command, ...(hook.args ?? [])].join(' ');
    const asked = hook.type === 'mcp_tool' ? `${hook.server}-${hook.tool}` : hook.type;
    const stem = !isAsked(hook)
      ? stemOf(words, matcher)
      : url === undefined
        ? asked.slice(0, MAX_LENGTH)
        : hostOf(url);
    let name = stem;
    for (let count = 2; (this.#commands.get(name) ?? line) !== line; count++) {
      name = `${stem}-${count}`;
    }
    this.#commands.set(name, line);
    return name;
  }
}

/** Of servers, the address alone does not tell in whose name they are asked; of plugins, a command not whose it is. */
function whatRuns(hook: CommandHookConfig): string {
  const isMore = isAsked(hook) || hook.env !== undefined;
  return (isMore && commandKey(hook)) || commandLine(hook);
}

const MAX_LENGTH = 40;
/** In characters, of a command: the time to look through a word grows with its square. */
const MAX_LOOKED_AT = 1000;

const SCRIPT = /([\w.-]+)\.(?:bash|cjs|cts|fish|js|mjs|mts|php|pl|py|rb|sh|ts|zsh)(?![\w.-])/u;

/** Words that start something else, or are part of the shell's language. */
const STARTERS = new Set(
  'bash bun cd command deno do env exec for if node npx python python3 set sh sudo test then time timeout uv uvx while zsh'.split(
    ' ',
  ),
);

function hostOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return host.slice(0, MAX_LENGTH) || 'remote';
}

function stemOf(line: string, matcher: string): string {
  const command = line.slice(0, MAX_LOOKED_AT);
  const [, script] = SCRIPT.exec(command) ?? [];
  const words = command.split(/[\s"'`;&|()<>{}[\]!]+/u).filter((word) => !/^[-$]|=/u.test(word));
  const programs = words.map((word) => basename(word)).filter((word) => /^\w[\w.-]*$/u.test(word));
  if (script !== undefined) return script.slice(0, MAX_LENGTH);
  const program = programs.find((word) => !STARTERS.has(word)) ?? programs[0] ?? 'hook';
  const [tool] = matcher.match(/[a-z_]\w*/iu) ?? [];
  return [program, ...(tool === undefined ? [] : [tool])].join('-').slice(0, MAX_LENGTH);
}
