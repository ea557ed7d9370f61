import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SilentLogger } from '../../../src/cli/shared/cliLogger.js';
import { Config, type ConfigOptions } from '../../../src/config/config.js';
import { InProcessMessageBus } from '../../../src/confirmation-bus/messageBus.js';
import { loadSettings } from '../../../src/config/settings/settings.js';
import { dialects, theirEventName } from '../../../src/dialects/dialects.js';
import { parseHookDefinitions } from '../../../src/hooks/hookSettings.js';
import { HookEventName, type DialectName } from '../../../src/protocol/types.js';
import { GONE, READ, SECRET, type HostileSet } from './sets.js';

const HOOK = fileURLToPath(new URL('hook.mjs', import.meta.url));

/** Where a hook is written, from the most trusted place to the least. */
type Place = 'system' | 'user' | 'extension' | 'project' | 'project extension';

interface Slot {
  readonly at: Place;
  readonly dialect?: DialectName;
  /** Whether its failure blocks, or withholds. */
  readonly isGuard?: boolean;
  /** The server that is asked, in place of a process. */
  readonly url?: string;
}

/** Which hooks there are, and how they run. */
export interface Shape {
  readonly users: readonly Slot[];
  readonly others: readonly Slot[];
  readonly sequential?: boolean;
  /** Whether nobody can be asked. */
  readonly isAlone?: boolean;
  /** Whether answers of the model are held until hooks have seen them. */
  readonly isHeld?: boolean;
}

/** Hooks of the user and of the project, in every format. */
export const FORMATS: Readonly<Record<string, Shape>> = {
  'own formats': { users: [{ at: 'user' }], others: [{ at: 'project' }], isHeld: true },
  'a guard of the user, and Claude of the project': {
    users: [{ at: 'user', isGuard: true }],
    others: [{ at: 'project', dialect: 'claude' }, { at: 'project' }],
  },
  'Claude of the user, and both of the project': {
    users: [{ at: 'user', dialect: 'claude' }],
    others: [
      { at: 'project', dialect: 'gemini' },
      { at: 'project extension', dialect: 'claude' },
    ],
  },
  'Gemini of the user, and all of the project': {
    users: [{ at: 'user', dialect: 'gemini', isGuard: true }],
    others: [
      { at: 'project', dialect: 'claude' },
      { at: 'project', dialect: 'gemini' },
    ],
  },
};

/** Every scope, side by side and in a chain. */
export const SCOPES: Readonly<Record<string, Shape>> = {
  'system and user': {
    users: [{ at: 'system', isGuard: true }, { at: 'user' }],
    others: [
      { at: 'project', isGuard: true },
      { at: 'project', dialect: 'gemini' },
    ],
  },
  'an extension of the user, and one of the project': {
    users: [{ at: 'user', dialect: 'claude' }, { at: 'extension' }],
    others: [{ at: 'project extension', dialect: 'gemini' }],
    isAlone: true,
    isHeld: true,
  },
  'a chain': {
    users: [{ at: 'user' }],
    others: [{ at: 'project' }, { at: 'project', dialect: 'claude' }],
    sequential: true,
  },
  'a chain of all formats': {
    users: [
      { at: 'system', dialect: 'gemini' },
      { at: 'user', dialect: 'claude', isGuard: true },
    ],
    others: [{ at: 'project extension' }, { at: 'project', dialect: 'gemini' }],
    sequential: true,
  },
};

/** A host in which only hooks of the user are, and one in which others are as well. */
export class World {
  #runs = 0;
  /** Over which a host is asked. */
  readonly buses = new Map<Config, InProcessMessageBus>();

  private constructor(
    readonly shape: Shape,
    readonly alone: Config,
    readonly all: Config,
  ) {}

  static async open(shape: Shape, directory: string, options: ConfigOptions = {}): Promise<World> {
    const make = async (name: string, others: readonly Slot[]) => {
      const messageBus = new InProcessMessageBus();
      const at = path.join(directory, name);
      const config = await makeConfig(at, { ...shape, others }, { messageBus, ...options });
      return [config, messageBus] as const;
    };
    const [alone, all] = [await make('alone', []), await make('all', shape.others)];
    const world = new World(shape, alone[0], all[0]);
    for (const [config, bus] of [alone, all]) world.buses.set(config, bus);
    return world;
  }

  /** Has the hooks of a host say what a set says. */
  play(config: Config, { user, others }: HostileSet): void {
    this.#runs += 1;
    const slots = Object.fromEntries([
      ...user.map((each, index) => [`user ${index}`, { user: each }]),
      ...others.map((each, index) => [`other ${index}`, { says: each }]),
    ]) as object;
    const json = JSON.stringify({ run: this.#runs, secret: SECRET, gone: GONE, read: READ, slots });
    config.setTranscriptPath(json.replaceAll(/[^ -~]/gu, asEscape));
  }

  async close(): Promise<void> {
    await Promise.all([this.alone.dispose(), this.all.dispose()]);
  }
}

/** What stays persistent reads lines faster where there is nothing but ASCII. */
function asEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

async function makeConfig(
  directory: string,
  { users, others, sequential = false, isAlone = false, isHeld = false }: Shape,
  options: ConfigOptions,
): Promise<Config> {
  const slots = [
    ...users.map((slot, index) => ({ ...slot, name: `user ${index}` })),
    ...others.map((slot, index) => ({ ...slot, name: `other ${index}` })),
  ];
  const at = (place: Place) =>
    joined(
      slots.filter((slot) => slot.at === place),
      sequential,
    );
  const workingDir = path.join(directory, 'project');
  const home = path.join(directory, 'home');
  const systemPath = path.join(directory, 'system.json');
  await write(systemPath, { hooks: at('system') });
  await write(path.join(home, '.llxprt/settings.json'), { enableHooks: true, hooks: at('user') });
  await write(path.join(workingDir, '.llxprt/settings.json'), { hooks: at('project') });
  const loaded = await loadSettings({ workingDir, home, systemPath, trustProject: true });
  if (loaded.problems.length > 0) throw new Error(JSON.stringify(loaded.problems));
  const extension = (name: string, scope: 'user' | 'project', place: Place) => ({
    name,
    scope,
    directory,
    isActive: true,
    hooks: parseHookDefinitions(at(place)).hooks,
  });
  return new Config({
    ...loaded.settings,
    workingDir,
    sessionId: 'hostile',
    trustedFolder: true,
    debugLogger: new SilentLogger('hostile'),
    extensions: [
      extension('own', 'user', 'extension'),
      extension('theirs', 'project', 'project extension'),
    ],
    ...(isHeld && { afterModelDisplay: 'hold' }),
    ...(!isAlone && {
      // A yes is remembered where there is an `ls`, and never given for `never`.
      approver: ({ input }) => {
        const asked = JSON.stringify(input);
        if (asked.includes('never')) return { decision: 'deny' };
        return { decision: 'allow', ...(asked.includes('ls') && { remember: 'session' }) };
      },
    }),
    ...options,
  });
}

async function write(file: string, value: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(value), { mode: 0o600 });
}

const OWN_EVENTS = [
  HookEventName.BeforeTool,
  HookEventName.AfterTool,
  HookEventName.BeforeModel,
  HookEventName.AfterModel,
  HookEventName.BeforeToolSelection,
  HookEventName.BeforeAgent,
];
const { BeforeTool, AfterTool, BeforeAgent } = HookEventName;
const THEIR_EVENTS = [
  ...[BeforeTool, AfterTool, BeforeAgent].map((event) => theirEventName(dialects.claude, event)),
  theirEventName(dialects.claude, BeforeTool, 'asked'),
  theirEventName(dialects.claude, AfterTool, 'failed'),
];

function joined(slots: readonly (Slot & { readonly name: string })[], sequential: boolean) {
  const hooks: Record<string, object[]> = {};
  for (const { name, dialect, isGuard, url } of slots) {
    const args = [HOOK, name, ...(dialect ? [dialect] : [])];
    const hook = url
      ? { type: 'remote', name, url }
      : { type: 'command', name, command: process.execPath, args, persistent: true };
    for (const event of dialect === 'claude' ? THEIR_EVENTS : OWN_EVENTS) {
      const canFail = event !== HookEventName.BeforeToolSelection;
      const guard = { ...hook, ...(isGuard && canFail && { onFailure: 'deny' }) };
      const group = { sequential, ...(dialect && { dialect }), hooks: [guard] };
      (hooks[event] ??= []).push(group);
    }
  }
  return hooks;
}
