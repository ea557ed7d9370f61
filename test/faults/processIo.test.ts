import { describe, expect } from 'vitest';
import { hook } from '../helpers/hooks.js';
import { fault, TIMED, STARTS } from './helpers/host.js';

const MEGABYTE = 1_000_000;
const DENY = '{"decision":"deny","reason":"no"}';
const TIMEOUT_MS = 300;

describe.each(STARTS)('started %s', (start) => {
  fault.override({ start });

  describe('stdin', TIMED, () => {
    const toolInput = { content: 'x'.repeat(10 * MEGABYTE) };

    fault('8 10 MB of stdin unread, exit 0: the output is used', async ({ host }) => {
      const { verdict, text } = await host.callTool([hook(`echo '${DENY}'`)], { toolInput });
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(host.warnings).toEqual([]);
    });

    fault('9 closes stdin, exit 2: blocks', async ({ host }) => {
      const command = 'exec <&-; echo no >&2; sleep 0.1; exit 2';
      const { verdict, text } = await host.callTool([hook(command)], { toolInput });
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(host.warnings).toEqual([]);
    });

    fault('10 10 MB unread and sleeping: timeout, no deadlock', async ({ host }) => {
      const sleeper = hook('sleep 300', { timeout: TIMEOUT_MS });
      const { verdict, answerMs } = await host.callTool([sleeper], { toolInput });
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 500);
      expect(host.runWarnings).toMatchObject([{ details: { kind: 'timeout' } }]);
    });

    fault('11 5 MB of stdout before reading stdin', async ({ host }) => {
      const command = `head -c ${5 * MEGABYTE} /dev/zero; wc -c >&2; exit 2`;
      const { verdict, text } = await host.callTool([hook(command)], { toolInput });
      expect(verdict).toBe('blocked');
      expect(Number(text)).toBeGreaterThan(10 * MEGABYTE);
      expect(host.warnings).toEqual([]);
    });
  });

  describe('stdout', TIMED, () => {
    fault('13 endless output: ended at the deadline', async ({ host }) => {
      const { verdict, answerMs } = await host.callTool([hook('yes', { timeout: TIMEOUT_MS })]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeGreaterThanOrEqual(TIMEOUT_MS);
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 1_000);
      expect(host.runWarnings).toMatchObject([{ details: { kind: 'timeout', truncated: true } }]);
    });

    fault('15 invalid UTF-8', async ({ host }) => {
      const command = String.raw`printf '{"decision":"deny","reason":"a\xff\xfeb\xc3"}'`;
      const { verdict, text } = await host.callTool([hook(command)]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'a\uFFFD\uFFFDb\uFFFD' });
    });

    fault('16 a character split over two writes', async ({ host }) => {
      const first = String.raw`printf '{"decision":"deny","reason":"\xf0\x9f'`;
      const second = String.raw`printf '\x98\x80"}'`;
      const { verdict, text } = await host.callTool([hook(`${first}; sleep 0.2; ${second}`)]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: '😀' });
    });

    fault('17 BOM, CRLF', async ({ host }) => {
      const json = String.raw`{\r\n"decision":"deny",\r\n"reason":"one\\r\\ntwo"\r\n}\r\n`;
      const { verdict, text } = await host.callTool([
        hook(String.raw`printf '\xef\xbb\xbf${json}'`),
      ]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'one\ntwo' });
      expect(host.warnings).toEqual([]);
    });

    fault('17 BOM, CRLF in the reason of an exit 2', async ({ host }) => {
      const command = String.raw`printf '\xef\xbb\xbfone\r\ntwo\r\n' >&2; exit 2`;
      const { verdict, text } = await host.callTool([hook(command)]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'one\ntwo' });
    });

    fault.for([
      ['NUL', String.raw`printf 'a\0b'`, 'ab'],
      ['ANSI', String.raw`printf 'a\033[31mb\033[0m\033]0;title\007c'`, 'abc'],
      ['UTF-16', String.raw`printf '\xff\xfea\0b\0'`, '\uFFFD\uFFFDab'],
    ] as const)('18 %s in plain text', async ([, command, clean], { host }) => {
      const { verdict, text } = await host.callTool([hook(command)]);
      expect(verdict).toBe('allowed');
      expect(text).toMatch(/^done/);
      expect(text).toContain(clean);
      expect(text.split('').filter((character) => character < ' ' && character !== '\n')).toEqual(
        [],
      );
    });

    fault.for([
      ['before', `echo 'loading plugins'; echo '${DENY}'`, 'loading plugins'],
      ['after', `echo '${DENY}'; echo 'that was it'`, 'that was it'],
      ['on both sides of', `echo 'loading'; echo '${DENY}'; echo 'bye'`, 'loading'],
    ] as const)(
      '19 noise %s JSON: plain text, and a warning that it looks like JSON with noise',
      async ([, command, noise], { host }) => {
        const { verdict, text } = await host.callTool([hook(command, { name: 'guard' })]);
        expect(verdict).toBe('allowed');
        expect(text).toContain(noise);
        expect(text).toContain(DENY);
        expect(host.warnings).toEqual([
          expect.stringMatching(/"guard".*looks like JSON with other text/),
        ]);
        expect(host.warnings[0]).toContain(noise);
      },
    );

    fault('20 noise from a shell profile', async ({ host }) => {
      const profile = await host.write('profile', 'echo noise\n');
      await host.write('.bashrc', 'echo noise\n');
      await host.write('.profile', 'echo noise\n');
      const env = { BASH_ENV: profile, ENV: profile, HOME: host.directory, SSH_CLIENT: '::1 1 22' };
      const command = `bash -c 'echo inner >&2'; echo '${DENY}'`;
      const { verdict, text, hooks } = await host.callTool([hook(command, { env })]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(hooks).toMatchObject([{ stdout: `${DENY}\n`, stderr: 'inner\n' }]);
      expect(host.warnings).toEqual([]);
    });
  });
});
