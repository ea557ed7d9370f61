import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatQuestion } from '../../src/cli/run/questionText.js';
import type { ApprovalRequest } from '../../src/protocol/approval.js';
import { HookEventName } from '../../src/protocol/types.js';

const REQUEST: ApprovalRequest = {
  id: '1',
  event: HookEventName.BeforeTool,
  hooks: [{ name: 'production', source: 'user', reason: 'It is production.' }],
  reason: 'It is production.',
  toolName: 'deploy',
  input: { to: 'eu' },
  originalInput: { to: 'eu' },
  sessionId: 's',
  workingDir: '/shop',
  expiresAt: 0,
};

const saying = (reason: string): Partial<ApprovalRequest> => ({
  hooks: [{ name: 'production', source: 'user', reason }],
});

function format(others: Partial<ApprovalRequest> = {}, columns = 80): string {
  return stripVTControlCharacters(
    formatQuestion({ ...REQUEST, expiresAt: Date.now() + 300_000, ...others }, columns),
  );
}

/** What stands at the left, without a mark. */
function ownLines(text: string): string[] {
  return text.split('\n').filter((line) => !line.startsWith('  | '));
}

const OWN = [
  'hook:',
  'configured by:',
  'which says:',
  'tool:',
  'changed by hooks:',
  'input:',
  'in:',
  'No answer within 5 minutes means no.',
];

describe('a question on the terminal', () => {
  it('shows hook, reason, tool, arguments and directory', () => {
    expect(format()).toBe(`Hooks ask you before this tool runs.
hook:
  | production
configured by:
  | user
which says:
  | It is production.
tool:
  | deploy
input:
  | {
  |   "to": "eu"
  | }
in:
  | /shop
No answer within 5 minutes means no.`);
  });

  it('names the event where there is no tool', () => {
    const { toolName: _toolName, ...request } = REQUEST;
    const text = formatQuestion({ ...request, event: HookEventName.BeforeModel });
    expect(text).toContain('Hooks ask you before the model is called.');
    expect(text).not.toContain('tool:');
    const first = formatQuestion({ ...request, event: HookEventName.BeforeAgent });
    expect(first).toContain('Hooks ask you before the agent begins.');
  });

  it('shows numbers that JSON has no word for', () => {
    expect(format({ input: { limit: Infinity } })).toContain('"limit": "Infinity"');
  });

  it('does not compare what is too long, and is there at once', () => {
    const [before = {}, after = {}] = ['a\n', 'b\n'].map((line) => ({
      content: line.repeat(1_000_000),
    }));
    const startedAt = performance.now();
    const shown = format({ originalInput: before, input: after });
    expect(shown).toContain('  | (too long to be compared)\n');
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('shows what hooks have changed', () => {
    const changed = format({ input: { to: 'us', fast: true } });
    expect(changed).toContain(`changed by hooks:
  | @@ input.to
  | - eu
  | + us
  | @@ input.fast
  | + true`);
  });

  it.each(['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', '\u001b[2J\u001b[H'])(
    'has no line of its own from a hook, a model or a directory that writes %j',
    (end) => {
      const text = `x${end}tool:${end}Allow it? (Y)es`;
      const { toolName, workingDir, hooks } = {
        toolName: text,
        workingDir: text,
        hooks: [{ name: text, source: text, reason: text }],
      };
      const shown = format({ toolName, workingDir, hooks, input: { [text]: text } });
      expect(ownLines(shown)).toEqual([expect.stringContaining('Hooks ask you before'), ...OWN]);
      expect(shown).toMatch(/^[\P{C}\n]+$/u);
    },
  );

  it('wraps long lines itself, as what a terminal wraps begins at the left', () => {
    const shown = format(saying(`${'x'.repeat(36)}tool:  ls`), 40);
    expect(shown).toContain(`  | ${'x'.repeat(36)}\n  | tool:  ls\n`);
    const wide = format(saying('部'.repeat(40)), 40);
    expect(wide).toContain(
      `  | ${'部'.repeat(18)}\n  | ${'部'.repeat(18)}\n  | ${'部'.repeat(4)}\n`,
    );
  });

  it('has no line that is wider than the terminal, whatever is said', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 40, max: 200 }), (reason, name, columns) => {
        const hooks = [{ name, source: name, reason }];
        const shown = format({ hooks, input: { [name]: reason } }, columns);
        expect(ownLines(shown)).toEqual([expect.stringContaining('Hooks ask you before'), ...OWN]);
        for (const line of shown.split('\n'))
          expect(Array.from(line).length).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it.each([
    ['terminal sequences', 'a\u001b[31mb', String.raw`a\x1b[31mb`],
    ['the direction of text', 'a\u202eb\u2066c', String.raw`a\u202eb\u2066c`],
    ['what has no shape', 'a\u200bb\u{e0041}', String.raw`a\u200bb\u{e0041}`],
    ['a letter of another alphabet', 'p\u0430ypal', String.raw`p\u{430}ypal`],
    ['a whole word of twins', '\u0441\u043e\u0440\u0443', String.raw`\u{441}\u{43e}\u{440}\u{443}`],
    ['twins beside digits', '\u0435\u0032\u0435', String.raw`\u{435}2\u{435}`],
    ['phonetic letters', '\u0261oogle', String.raw`\u{261}oogle`],
    ['signs that are none', 'a\u2024b \u2212rf', String.raw`a\u{2024}b \u{2212}rf`],
    ['wide and bold letters', '\uff52m \u{1d42b}m', String.raw`\u{ff52}m \u{1d42b}m`],
    ['a slash that is none', 'a\u2215b', String.raw`a\u{2215}b`],
    ['a blank that is none', 'a\u00a0b', String.raw`a\u{a0}b`],
    ['marks in piles', `e${'\u0301'.repeat(5)}`, `e${'\u0301'.repeat(3)}\\u{301}\\u{301}`],
  ])('marks %s', (_, text, shown) => {
    expect(format(saying(text))).toContain(`  | ${shown}\n`);
    expect(format({ toolName: text })).toContain(`  | ${shown}\n`);
  });

  it.each([
    'Это производство',
    'с Ада и у Боба',
    'Αυτό είναι παραγωγή',
    '本番環境です。',
    'é ü ß ñ',
    'שלום',
    '5 m²',
  ])('leaves text of other languages alone: %s', (text) => {
    expect(format(saying(text))).toContain(`  | ${text}\n`);
  });

  it('says how much is not shown, of lines and of characters', () => {
    expect(format(saying('x'.repeat(2_001)))).toContain('  (not shown: 1 more character)\n');
    expect(format(saying('a\n'.repeat(70)))).toContain(
      '  (not shown: 59 more lines, 116 more characters)\n',
    );
    expect(format({ ...saying(''), input: { all: Array(70).fill(1) } })).toContain(
      '  (not shown: 14 more lines',
    );
    const hooks = Array.from({ length: 7 }, () => ({ name: 'production', source: 'user' }));
    expect(format({ ...saying(''), hooks })).toContain('  (not shown: 2 more hooks)\n');
    const half = format(saying(`${'x'.repeat(1_999)}\u{1f600}`));
    expect(half).toContain('  (not shown: 2 more characters)\n');
    expect(half).not.toContain(String.raw`\ud83d`);
  });

  it('is there at once, however much is said', () => {
    const huge = 'p\u0430y '.repeat(1_000_000);
    const lines = 'x\n'.repeat(1_000_000);
    const startedAt = performance.now();
    const shown = format({
      ...saying(huge),
      toolName: huge,
      input: { huge, lines },
      originalInput: { huge: `${huge}!`, lines: `${lines}y\n` },
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(shown.length).toBeLessThan(200_000);
    expect(shown).toContain('more characters)');
  });
});
