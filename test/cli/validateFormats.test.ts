import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

interface Sarif {
  readonly version: string;
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly { readonly ruleId: string; readonly ruleIndex: number }[];
    },
  ];
}

/** Two errors and a warning, in the settings of the project. */
const FLAWED = `{
  "enableHooks": true,
  "hooks": {
    "BeforTool": [{ "hooks": [{ "type": "command", "command": "cat" }] }],
    "AfterTool": [{ "hooks": [{ "type": "command", "command": "no-such-tool", "timeout": 5 }] }]
  }
}
`;

describe('validate --format github', () => {
  it('makes an annotation of each finding, with file, line, column and rule', async () => {
    await cli.write('.llxprt/settings.json', FLAWED);
    const { exitCode, stdout, stderr } = await cli.run(['validate', '--format', 'github']);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^::error file=\.llxprt\/settings\.json,line=4,col=5,title=unknown-event::hooks\.BeforTool: .*did you mean 'BeforeTool'\?$/u,
      ),
      expect.stringMatching(/^::error file=\S+,line=5,col=\d+,title=command-not-found::hooks/u),
      expect.stringMatching(/^::warning file=\S+,line=5,col=\d+,title=unlikely-value::hooks/u),
      '1 file: 2 errors, 1 warning',
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  });

  it('escapes what GitHub would read as its own, and what a terminal would obey', async () => {
    const folder = 'a,b: 100%\nc';
    const file = await cli.write(`${folder}/settings.json`, {
      enableHooks: true,
      hooks: { ['x\n::error::forged %0A \u001b[2J']: [] },
    });
    const { stdout } = await cli.run(['validate', '--format', 'github', file]);
    expect(stdout).toContain(' file=a%2Cb%3A 100%25%0Ac/settings.json,line=1,');
    expect(stdout.split('\n').filter((line) => line.startsWith('::error::'))).toEqual([]);
    expect(stdout).toMatch(/^[\P{Cc}\n]+$/u);
    expect(stdout).toContain('forged %250A ');
  });

  it('names files from the root of the repository', async () => {
    await cli.write('sub/.llxprt/settings.json', '{');
    const env = { GITHUB_WORKSPACE: cli.project };
    const cwd = path.join(cli.project, 'sub');
    const { stdout } = await cli.run(['validate', '--format', 'github'], { env, cwd });
    expect(stdout).toContain('file=sub/.llxprt/settings.json,line=1,');
  });
});

describe('validate --format sarif', () => {
  it('writes a log with the rules, and the place of each result', async () => {
    await cli.write('a b/.llxprt/settings.json', FLAWED);
    const args = ['validate', '--format', 'sarif', '--cwd', 'a b'];
    const { exitCode, stdout, stderr } = await cli.run(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
    const { version, runs } = JSON.parse(stdout) as Sarif;
    expect(version).toBe('2.1.0');
    const [{ tool, results, ...run }] = runs;
    expect(run).toEqual({
      columnKind: 'utf16CodeUnits',
      originalUriBaseIds: { '%SRCROOT%': { uri: `${pathToFileURL(cli.project).href}/` } },
    });
    for (const { ruleId, ruleIndex } of results) {
      expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
    }
    expect(results[0]).toEqual({
      ruleId: 'unknown-event',
      ruleIndex: expect.any(Number),
      level: 'error',
      message: { text: expect.stringContaining("did you mean 'BeforeTool'?") },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a%20b/.llxprt/settings.json', uriBaseId: '%SRCROOT%' },
            region: { startLine: 4, startColumn: 5 },
          },
        },
      ],
    });
  });

  it('names every rule of the page, with its severity', async () => {
    const { stdout } = await cli.run(['validate', '--format', 'sarif']);
    const [{ tool, results }] = (JSON.parse(stdout) as Sarif).runs;
    expect(results).toEqual([]);
    const ids = tool.driver.rules.map(({ id }) => id);
    expect(ids).toEqual(
      expect.arrayContaining(['file', 'value', 'untrusted', 'matcher-unanchored']),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(tool.driver.rules).toContainEqual({
      id: 'matcher-unanchored',
      name: 'matcher-unanchored',
      shortDescription: { text: 'matcher unanchored' },
      defaultConfiguration: { level: 'warning' },
    });
  });

  it('gives files outside of the repository by their whole address', async () => {
    const file = await cli.write(path.join(cli.home, 'c d.json'), '{');
    const { stdout } = await cli.run(['validate', '--format', 'sarif', file]);
    expect(stdout).toContain(`{"uri":"${pathToFileURL(file).href}"}`);
  });
});

describe('validate', () => {
  it('takes either --json or --format', async () => {
    const args = ['validate', '--json', '--format', 'sarif'];
    expect(await cli.run(args)).toMatchObject({ exitCode: 2 });
  });

  it('exits with 1 for more warnings than --max-warnings allows', async () => {
    await cli.userSettings({ BeforeTool: group('cat', { timeout: 5 }) });
    const check = (count: string) => cli.run(['validate', '--max-warnings', count]);
    expect(await check('1')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await check('0')).toMatchObject({
      exitCode: 1,
      stderr: 'error: 1 warning, and --max-warnings allows 0: fix them, or allow more',
    });
    const { exitCode, stderr } = await check('-1');
    expect(stderr).toContain('Write a whole number of 0 or more');
    expect(exitCode).toBe(2);
  });
});
