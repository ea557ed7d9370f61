import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandCommand } from '../../src/shell/expandCommand.js';
import { readHook } from '../../src/validate/readCommand.js';

const PROJECT = '/a b/$(x)\'"*';
const read = (command: string) => readHook({ command }, { project: PROJECT });

describe('the words of what a command starts first', () => {
  it.each<[string, string[][]]>([
    ['jq -e .x', [['jq', '-e', '.x']]],
    [`b'a's"h" 'a "b"' "c 'd'" e\\ f`, [['bash', 'a "b"', "c 'd'", 'e f']]],
    ['bash "${LLXPRT_PROJECT_DIR}"/x.sh', [['bash', `${PROJECT}/x.sh`]]],
    ['bash "$LLXPRT_PROJECT_DIR/x.sh"', [['bash', `${PROJECT}/x.sh`]]],
    ['bash $LLXPRT_PROJECT_DIR/x.sh', [['bash', `${PROJECT}/x.sh`]]],
    ['a | b && c || ! d; e & (f); { g; }', [['a'], ['b']]],
    ['a && b', [['a']]],
    ['time a', [['a']]],
    ['a \\\n b # c', [['a', 'b']]],
    ['A=1 B="x y" cmd < in >> out 2>&1', [['cmd']]],
    ['grep -q "\\.env$" x#y a~', [['grep', '-q', '\\.env$', 'x#y', 'a~']]],
    ["cat <<'END'\n$(touch pwned)\nEND", [['cat']]],
    ['', []],
  ])('%s', (command, programs) => {
    expect(read(command)).toMatchObject({ programs });
    expect(read(command).unknown).toBeUndefined();
  });

  it('are those of a program without a shell', () => {
    const hook = { command: '$LLXPRT_PROJECT_DIR/x', args: ['$(a)', '${CLAUDE_PROJECT_DIR}'] };
    expect(readHook(hook, { project: PROJECT }).programs).toEqual([
      [`${PROJECT}/x`, '$(a)', PROJECT],
    ]);
  });

  it('leave out what stands in single quotes, which is told besides', () => {
    const { singleQuoted } = read(`jq '.a' && (echo "it's" 'b c')`);
    expect(singleQuoted).toEqual(['.a', 'b c']);
  });
});

describe('a word of which only the shell knows what becomes of it', () => {
  it.each([
    ['an expansion', '$x'],
    ['one in double quotes', '"$x/y.sh"'],
    ['a default', '${X:-hooks}/x.sh'],
    ['a reference with more to it', '"${LLXPRT_PROJECT_DIR%/*}"/x.sh'],
    ['an indirect one', '"${!LLXPRT_PROJECT_DIR}"'],
    ['a home directory', '~/x.sh'],
    ['a directory of the shell', '~+/x.sh'],
    ['a substitution', '$(echo x.sh)'],
    ['the older one', '`echo x.sh`'],
    ['one of a process', '<(cat x.sh)'],
    ['arithmetic', '$((1)).sh'],
    ['arithmetic of old', '"$[1].sh"'],
    ['a pattern', 'hooks/*.sh'],
    ['a question mark', 'hooks/?.sh'],
    ['a bracket', 'hooks/[x].sh'],
    ['an extended pattern', 'hooks/@(x).sh'],
    ['braces', 'hooks/{x,y}.sh'],
    ['a range', 'hooks/{1..3}.sh'],
    ['a quote with escapes', "$'x\\x2esh'"],
    ['a quote of a locale', '$"x.sh"'],
  ])('%s', (_, word) => {
    expect(read(`bash ${word}`).programs).toEqual([['bash', undefined]]);
  });
});

describe('a command that is not understood', () => {
  it.each([
    ['an unfinished quote', "bash 'x.sh"],
    ['an escape of nothing', 'bash x.sh\\'],
    ['an unfinished list', 'bash x.sh &&'],
    ['a word that begins with a no-break space', 'bash \u00a0x.sh'],
    ['a vertical tab', 'bash\u000bx.sh'],
    ['a carriage return', 'bash x.sh\r'],
    ['a NUL', 'bash x\0.sh'],
    ['a mark of direction', 'bash \u202ex.sh'],
    ['half a character', 'bash \ud800x.sh'],
    ['twenty here-documents', 'cat <<a '.repeat(20)],
    ['more than 8 KB', `true ${'-'.repeat(8 * 1024)}`],
  ])('%s', (_, command) => {
    expect(read(command)).toMatchObject({ programs: [], unknown: expect.stringMatching(/^[a-z]/) });
  });

  it.each([
    ['a loop', 'for f in a b; do bash x.sh; done'],
    ['a case', 'case x in *) bash x.sh;; esac'],
    ['a function', 'f() { bash x.sh; }; f'],
    ['a test', '[[ -v a[$(bash x.sh)] ]]'],
    ['an arithmetic command', '(( a[$(bash x.sh)] ))'],
  ])('or that surely starts nothing: %s', (_, command) => {
    expect(read(command).programs).toEqual([]);
  });
});

it('has the words that bash has, for whatever is taken for known', () => {
  const piece = fc.constantFrom(
    ...`a b ' " \\ $ { } ( ) [ ] * ? ~ # ! = : , / . - + @ % ^ & | ; < > \t \n é $' $" \${ $( 1 .. {a,b} ~+ \\\n "x" 'y' LLXPRT_PROJECT_DIR "\${LLXPRT_PROJECT_DIR}"`
      .split(' ')
      .concat(' ', '`'),
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join(''));
  const known: [string, string[]][] = [];
  fc.assert(
    fc.property(text, (words) => {
      const command = `set -- ${words}`;
      const [first, ...more] = read(command).programs;
      const isOne = first?.[0] === 'set' && more.length === 0;
      // What runs beside the shell sets nothing in it, and what is written or comes after it may do something else.
      if (isOne && !/[&;<>|\n]/.test(words) && first.every((each) => each !== undefined)) {
        known.push([expandCommand(command), [...first]]);
      }
    }),
    { numRuns: 20_000 },
  );
  expect(known.length).toBeGreaterThan(300);
  // One bash for all of them; each answer is the number of words, and the words.
  const script =
    'while IFS= read -r -d "" each; do set --; eval "$each"; printf "%s\\0" "$#" "$@"; done';
  const output = execFileSync('bash', ['-c', script], {
    input: known.map(([command]) => `${command}\0`).join(''),
    env: {
      PATH: process.env['PATH'],
      LLXPRT_PROJECT_DIR: PROJECT,
      HOME: '/home/x',
      LC_ALL: 'C.UTF-8',
    },
    maxBuffer: 8 * 1024 * 1024,
  });
  const said = output.toString().split('\0');
  for (const [command, [, , ...words]] of known) {
    const [count, ...rest] = said;
    expect([command, ...rest.slice(0, Number(count))]).toEqual([command, ...words]);
    said.splice(0, Number(count) + 1);
  }
});

it('reads the longest commands of any shape', () => {
  const shapes = '( $( "$( {a, ${a:- ` if_ a| @( \\ (( [[_!_ $\'\\ <<a'.split(' ');
  for (const shape of shapes) {
    const command = shape
      .replaceAll('_', ' ')
      .repeat(8 * 1024)
      .slice(0, 8 * 1024);
    expect(read(command).unknown ?? 'known').toMatch(/./);
  }
});
