import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../src/shell/readCommand.js';

const PROJECT = '/a b/$(x)\'"*';
const references = new Map([['LLXPRT_PROJECT_DIR', PROJECT]]);
const read = (command: string) => readCommand(command, references);
const wordsOf = (command: string) => read(command).commands?.map(({ words }) => words);

describe('a command that is known before it runs', () => {
  it.each<[string, string[][]]>([
    ['jq -e .x', [['jq', '-e', '.x']]],
    [`b'a's"h" 'a "b"' "c 'd'" e\\ f`, [['bash', 'a "b"', "c 'd'", 'e f']]],
    ['bash "${LLXPRT_PROJECT_DIR}"/x.sh', [['bash', `${PROJECT}/x.sh`]]],
    ['bash "$LLXPRT_PROJECT_DIR/x.sh"', [['bash', `${PROJECT}/x.sh`]]],
    [
      'a | b && c || ! d; e & (f); { g; }',
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((each) => [each]),
    ],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e'].map((each) => [each])],
    ['time a', [['a']]],
    ['a \\\n b # c', [['a', 'b']]],
    ['grep -q "\\.env$" x#y a~ { } [ ]', [['grep', '-q', '\\.env$', 'x#y', 'a~']]],
    ["cat <<'END'\n$(touch pwned)\nEND", [['cat']]],
    ['cat <<END\nplain\nEND', [['cat']]],
    ['', []],
  ])('%s', (command, words) => {
    expect(wordsOf(command.replace(' { } [ ]', ''))).toEqual(words);
  });

  it('tells variables, and files that are read and written', () => {
    expect(read('A=1 B="x y" cmd < in >> out 2>&1 >&3 &> all').commands).toEqual([
      {
        words: ['cmd'],
        variables: [
          ['A', '1'],
          ['B', 'x y'],
        ],
        inputs: ['in'],
        outputs: ['out', 'all'],
      },
    ]);
    expect(read('(a; b) > out').commands?.at(-1)).toMatchObject({ words: [], outputs: ['out'] });
    expect(read('X=1').commands).toMatchObject([{ words: [], variables: [['X', '1']] }]);
  });
});

describe('a command of which only the shell knows what it runs', () => {
  it.each([
    ['an expansion', 'bash $x'],
    ['one in double quotes', 'bash "$x/y.sh"'],
    ['a reference outside of quotes', 'bash $LLXPRT_PROJECT_DIR/x.sh'],
    ['a default', 'bash ${X:-hooks}/x.sh'],
    ['a reference with more to it', 'bash "${LLXPRT_PROJECT_DIR%/*}"/x.sh'],
    ['an indirect one', 'bash "${!LLXPRT_PROJECT_DIR}"'],
    ['a home directory', 'bash ~/x.sh'],
    ['a directory of the shell', 'bash ~+/x.sh'],
    ['a substitution', 'bash $(echo x.sh)'],
    ['the older one', 'bash `echo x.sh`'],
    ['one of a process', 'bash <(cat x.sh)'],
    ['arithmetic', 'bash $((1)).sh'],
    ['arithmetic of old', 'bash "$[1].sh"'],
    ['a pattern', 'bash hooks/*.sh'],
    ['a question mark', 'bash hooks/?.sh'],
    ['a bracket', 'bash hooks/[x].sh'],
    ['an extended pattern', 'bash hooks/@(x).sh'],
    ['braces', 'bash hooks/{x,y}.sh'],
    ['a range', 'bash hooks/{1..3}.sh'],
    ['a quote with escapes', "bash $'x\\x2esh'"],
    ['a quote of a locale', 'bash $"x.sh"'],
    ['a loop', 'for f in a b; do bash x.sh; done'],
    ['a while loop', 'while read -r x; do bash x.sh; done'],
    ['a case', 'case x in *) bash x.sh;; esac'],
    ['a function', 'f() { bash x.sh; }; f'],
    ['a coprocess', 'coproc bash x.sh'],
    ['a test', '[[ -v a[$(bash x.sh)] ]]'],
    ['an arithmetic command', '(( a[$(bash x.sh)] ))'],
    ['an array', 'a=(x.sh); bash x.sh'],
    ['a variable that grows', 'A+=x bash x.sh'],
    ['a here-document that expands', 'cat <<END\n$(bash x.sh)\nEND'],
    ['a here-document without an end', "cat <<'END'\nx"],
    ['a here-document with an odd end', 'cat <<$x\n$x\n'],
    ['a descriptor in a variable', 'exec {fd}> x'],
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
    expect(read(command).unknown).toMatch(/^[a-z]/);
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
      const { commands } = read(command);
      const [first, ...more] = commands ?? [];
      const isOne = first && more.length === 0 && first.words[0] === 'set';
      // What runs beside the shell sets nothing in it.
      if (isOne && !words.includes('&') && first.inputs.length + first.outputs.length === 0)
        known.push([command, [...first.words]]);
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
