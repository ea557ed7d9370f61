import { anyObject, listOfText, objectOf, oneOf } from '../../../util/checks.js';
import { isRecord } from '../../../util/records.js';
import type { Person } from './people.js';

/** What a group, or a person, may do with which questions. */
interface Role {
  readonly may: 'answer' | 'view';
  /** `TEAM/AGENT`, or the begin of it and `*`. Default all. */
  readonly from?: readonly string[];
  /** Names of tools, or of events that are about none, in the same way. Default all. */
  readonly tools?: readonly string[];
}

interface RolesFile {
  readonly groups?: Readonly<Record<string, unknown>>;
  readonly people?: Readonly<Record<string, unknown>>;
  /** Who runs an agent, and so is nobody who may allow what it asks. */
  readonly runBy?: Readonly<Record<string, unknown>>;
}

const file = objectOf<RolesFile>(
  'an object { "groups", "people", "runBy" }',
  { groups: anyObject, people: anyObject, runBy: anyObject },
  { isClosed: true },
);
const role = objectOf<Role>(
  '{ "may": "answer" | "view", "from": [TEAM/AGENT], "tools": [name] }',
  { may: oneOf('answer', 'view'), from: listOfText, tools: listOfText },
  { isClosed: true },
);

/** Who may see and answer which questions. */
export class Roles {
  #groups: ReadonlyMap<string, Role>;
  #people: ReadonlyMap<string, Role>;
  #runBy: ReadonlyMap<string, readonly string[]>;

  /** @throws Error for what is no such file */
  constructor(json: string) {
    const [failure, said] = file.validate(JSON.parse(json));
    if (failure) throw new Error(failure.message);
    this.#groups = rolesOf('groups', said.groups);
    this.#people = rolesOf('people', said.people);
    const runBy = Object.entries(said.runBy ?? {});
    const wrong = runBy.find(([, names]) => !listOfText.is(names));
    if (wrong) throw new Error(`"runBy" of ${wrong[0]}: expected an array of names`);
    this.#runBy = new Map(runBy as [string, string[]][]);
  }

  /** Has those of others count in place of its own. */
  replaceBy(others: Roles): void {
    this.#groups = others.#groups;
    this.#people = others.#people;
    this.#runBy = others.#runBy;
  }

  /** Whether somebody has any role. */
  knows({ name, groups }: Person): boolean {
    return this.#people.has(name) || groups.some((group) => this.#groups.has(group));
  }

  /**
   * What somebody may do with a question; `undefined`: not even see it.
   *
   * @param about the tool, else the event. Default: any
   */
  of({ name, groups }: Person, from: string, about?: string): Role['may'] | undefined {
    const own = [this.#people.get(name), ...groups.map((group) => this.#groups.get(group))];
    const fitting = own.filter((each) => each && fits(each.from, from) && fits(each.tools, about));
    if (fitting.some((each) => each?.may === 'answer')) return 'answer';
    return fitting.length > 0 ? 'view' : undefined;
  }

  /** Whether somebody runs the agent that asks. */
  isRunBy({ name }: Person, from: string): boolean {
    return this.#runBy.get(from)?.includes(name) ?? false;
  }
}

function rolesOf(key: string, said: Readonly<Record<string, unknown>> = {}): Map<string, Role> {
  return new Map(
    Object.entries(said).map(([name, value]) => {
      const [failure, read] = role.validate(value);
      if (!failure && isRecord(value) && value['may'] !== undefined) return [name, read];
      throw new Error(`"${key}" of ${name}: ${failure?.message ?? 'it lacks "may"'}`);
    }),
  );
}

function fits(patterns: readonly string[] | undefined, name: string | undefined): boolean {
  if (!patterns || name === undefined) return true;
  return patterns.some((each) =>
    each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each,
  );
}
