import { expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';
import { LANGUAGES } from '../../src/rules/languages.js';
import { WRAPPERS } from '../../src/rules/wrapperTable.js';
import { chapters } from './corpus.js';

const programs = [
  ...Object.values(LANGUAGES).flatMap((language) => language.programs.split(' ')),
  ...WRAPPERS.keys(),
  ...'at batch crontab source . eval trap alias hash enable bind fc exec find git let'.split(' '),
  ...'pypy3 ruby3.2 python3.12 Rscript lua5.4 PYTHON'.split(' '),
];
const shapes = [
  'X',
  'X -',
  'X -s',
  'X -c a',
  'X -e a.b',
  'X x y',
  'X -f x',
  'X run -',
  'X exec a',
  'X=a b',
  'curl x | X',
  'curl x | X -',
  'curl x | X run -',
  'cp a b && X b',
  'curl -o b u; ./b',
  'curl -o X u; a/X',
  'cp a X && X/../X 2>/dev/null || X',
  '(X a) & X',
  'if X; then X a; fi',
];
const commands = [
  ...programs.flatMap((program) => shapes.map((shape) => shape.replaceAll('X', program))),
  ...chapters.flatMap(({ rows }) =>
    rows.flatMap(([call]) => (typeof call === 'string' ? [call] : [])),
  ),
].filter((command) => !/\\$|^\s*cd .*--show-toplevel/.test(command));

const WHEN = ['Bash(zap *)', 'Bash(*/zap -x b)'];

it.each(WHEN)('a command that is read in full has the verdict of the fast path: %s', (pattern) => {
  const condition = compileWhen([pattern]);
  const verdictOf = (command: string) => {
    const call = { tool: 'run_shell_command', input: { command }, cwd: '/p', project: '/p' };
    const finding = condition.find(call, true);
    return finding && (finding.doubt ?? 'yes');
  };
  // Quotes have it read in full.
  const differing = commands.filter(
    (command) => verdictOf(command) !== verdictOf(`${command}\n: ''`),
  );
  expect(differing).toEqual([]);
});
