import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCommand } from '../../src/shell/readCommand.js';
import { NOT_PROGRAMS, splitSimpleCommand } from '../../src/shell/shellWords.js';

const references = new Map([['LLXPRT_PROJECT_DIR', '/a b']]);

it('takes for simple only what the parser reads as one program with as many words', () => {
  const pieces =
    `a ./x echo if ' " \\ $ { } ( ) [ ] * ? ~ # ! = : , / . - + @ % ^ & | ; < > 'y z' "y" time`
      .split(' ')
      .concat(
        ' ',
        '  ',
        '\t',
        '\n',
        '"${LLXPRT_PROJECT_DIR}"',
        '${LLXPRT_PROJECT_DIR}',
        'A=b',
        '2>&1',
      );
  const text = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
    .map((each) => each.join(''));
  let simple = 0;
  fc.assert(
    fc.property(text, (command) => {
      const words = splitSimpleCommand(command);
      if (!words) return;
      simple++;
      const { commands } = readCommand(command, references);
      expect(commands).toMatchObject([{ variables: [], inputs: [], outputs: [] }]);
      expect(commands?.[0]?.words).toHaveLength(words.length);
      expect(NOT_PROGRAMS.has(commands?.[0]?.words[0] ?? '')).toBe(false);
    }),
    { numRuns: 20_000 },
  );
  expect(simple).toBeGreaterThan(200);
});
