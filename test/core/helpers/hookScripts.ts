import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type {
  CommandHookConfig,
  HookDefinition,
  HookEventInput,
  HookEventName,
} from '../../../src/protocol/types.js';

/** A hook script on disk that keeps what it reads. */
export interface HookScript {
  readonly config: CommandHookConfig;
  /** What the script has read so far, one entry a run. */
  inputs<E extends HookEventName>(): HookEventInput<E>[];
}

/** One group with these hooks, which run at once. */
export function atOnce(...scripts: HookScript[]): HookDefinition[] {
  return [{ hooks: scripts.map((script) => script.config) }];
}

/** One group with these hooks, which run one after the other. */
export function inSequence(...scripts: HookScript[]): HookDefinition[] {
  return [{ sequential: true, hooks: scripts.map((script) => script.config) }];
}

/** Writes a hook of shell commands, which find what the hook read in `$input`. */
export function writeShellScript(directory: string, name: string, commands: string): HookScript {
  const file = path.join(directory, `${name}.sh`);
  // One write an entry, so that those of hooks that run at the same time do not mix.
  writeFileSync(file, `input=$(cat)\nprintf '%s\\n' "$input" >>"$0.inputs"\n${commands}\n`);
  return toHookScript(name, `sh '${file}'`, `${file}.inputs`);
}

/** Writes a hook that prints `output`, whatever it reads. */
export function writeAnsweringScript(directory: string, name: string, output: object): HookScript {
  writeFileSync(path.join(directory, `${name}.sh.answer`), JSON.stringify(output));
  return writeShellScript(directory, name, 'cat "$0.answer"');
}

/** Writes a hook that prints what `answer` makes of its input. `answer` must not use anything around it. */
export function writeComputingScript<E extends HookEventName>(
  directory: string,
  name: string,
  answer: (input: HookEventInput<E>) => object,
): HookScript {
  const file = path.join(directory, `${name}.mjs`);
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from 'node:fs';
const input = readFileSync(0, 'utf8');
appendFileSync(import.meta.filename + '.inputs', input + '\\n');
const answer = ${String(answer)};
process.stdout.write(JSON.stringify(answer(JSON.parse(input))));
`,
  );
  return toHookScript(name, `'${process.execPath}' '${file}'`, `${file}.inputs`);
}

function toHookScript(name: string, command: string, inputsFile: string): HookScript {
  return {
    config: { type: 'command', name, command },
    inputs: () =>
      existsSync(inputsFile)
        ? readFileSync(inputsFile, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : [],
  };
}
