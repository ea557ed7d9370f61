import {
  anyObject,
  expecting,
  listOfText,
  objectOf,
  oneOf,
  type Path,
} from '../../../util/checks.js';
import { isAskerName, LOCAL } from '../../../fleet/address.js';
import { isRecord } from '../../../util/records.js';
import { wildcards } from '../../../util/wildcards.js';
import { PeopleFile } from './peopleFile.js';
import type { Person } from './people.js';

/** What a group, or a person, may do with which questions. */
interface Role {
  readonly may: 'answer' | 'view';
  /** `TEAM/AGENT`, in which `*` is any text; or `*`. Default all. */
  readonly from?: readonly string[];
  /** Names of tools, or of events that are about none, in the same way. Default all. */
  readonly tools?: readonly string[];
}

interface RolesFile {
  readonly groups?: Readonly<Record<string, unknown>>;
  readonly people?: Readonly<Record<string, unknown>>;
  /** Who runs which agents (as in `from`), and so is nobody who may allow what they ask. */
  readonly runBy?: Readonly<Record<string, unknown>>;
}

const ASKERS = 'TEAM/AGENT, in which * is any text, or *';
const isAskers = (text: string) =>
  text === '*' || text === LOCAL || isAskerName(text.replaceAll('*', 'x'));

const shape = objectOf<RolesFile>(
  'an object { "groups", "people", "runBy" }',
  { groups: anyObject, people: anyObject, runBy: anyObject },
  { isClosed: true },
);
const role = objectOf<Role>(
  '{ "may": "answer" | "view", "from": [TEAM/AGENT], "tools": [name] }',
  {
    may: oneOf('answer', 'view'),
    from: expecting<readonly string[]>(
      `an array of ${ASKERS}`,
      (value) => listOfText.is(value) && value.every(isAskers),
    ),
    tools: listOfText,
  },
  { isClosed: true },
);

/** Who may see and answer which questions. */
export class Roles {
  readonly #groups: ReadonlyMap<string, Role>;
  readonly #people: ReadonlyMap<string, Role>;
  readonly #runBy: ReadonlyMap<string, readonly string[]>;

  /**
   * @param name of the file, for messages
   * @throws Error for what is no such file
   */
  constructor(json: string, name = 'roles') {
    const text = new PeopleFile(json, name);
    const [failure, said] = shape.validate(text.value);
    if (failure) throw text.fault(failure.path as Path, failure.message);
    this.#groups = rolesOf(text, 'groups', said.groups);
    this.#people = rolesOf(text, 'people', said.people);
    const runBy = Object.entries(said.runBy ?? {});
    const wrong = runBy.find(([who, names]) => !isAskers(who) || !listOfText.is(names));
    if (wrong) {
      const what = isAskers(wrong[0]) ? 'an array of names' : ASKERS;
      throw text.fault(['runBy', wrong[0]], `"runBy" of ${wrong[0]}: expected ${what}`);
    }
    this.#runBy = new Map(runBy as [string, string[]][]);
  }

  /** Whether somebody has any role. */
  knows(person: Person): boolean {
    return this.#people.has(person.name) || this.groupsOf(person).length > 0;
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

  /** Those groups of somebody that have a role. */
  groupsOf({ groups }: Person): readonly string[] {
    return groups.filter((group) => this.#groups.has(group));
  }

  /** Whether somebody runs the agent that asks. How a name is written may be for that person to choose. */
  isRunBy({ name }: Person, from: string): boolean {
    const own = name.toLowerCase();
    return [...this.#runBy].some(
      ([who, names]) => fits([who], from) && names.some((each) => each.toLowerCase() === own),
    );
  }
}

function rolesOf(
  text: PeopleFile,
  key: string,
  said: Readonly<Record<string, unknown>> = {},
): Map<string, Role> {
  return new Map(
    Object.entries(said).map(([name, value]) => {
      const [failure, read] = role.validate(value);
      if (!failure && isRecord(value) && value['may'] !== undefined) return [name, read];
      const why = `"${key}" of ${name}: ${failure?.message ?? 'it lacks "may"'}`;
      throw text.fault([key, name], why);
    }),
  );
}

function fits(patterns: readonly string[] | undefined, name: string | undefined): boolean {
  if (!patterns || name === undefined) return true;
  return patterns.some((each) => wildcards(each)(name));
}
