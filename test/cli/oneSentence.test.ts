import { describe, expect, it } from 'vitest';
import { Cli } from './helpers.js';

const cli = new Cli();

/** What each hook does, and what is said of it everywhere. */
const HOOKS = {
  noisy: {
    command: `cat > /dev/null; echo hello; echo '{"decision": "block"}'`,
    says: 'stdout looks like JSON with other text around it',
  },
  broken: {
    command: `cat > /dev/null; echo '{"decision": "block",'`,
    says: 'stdout begins like a JSON object and cannot be read as one',
  },
  accident: {
    command: 'cat > /dev/null; grep --nope x',
    says: "blocks by accident, as exit code 2 means block: grep: unrecognized option '--nope'",
  },
  plain: {
    command: 'cat > /dev/null; echo "the list is empty" >&2; exit 3',
    says: 'the list is empty',
  },
};

describe('a hook that failed or had no effect', () => {
  it('is told of in the same words by fire, its warning, test, JUnit, doctor and the trace', async () => {
    const hooks = Object.entries(HOOKS).map(([name, { command }]) => ({
      type: 'command' as const,
      name,
      command,
    }));
    const settings = await cli.settings({ BeforeTool: [{ hooks }] });
    await cli.write('a.hooktest.json', { event: 'BeforeTool', expect: { decision: 'allow' } });
    const env = { HOOKSTACK_TRACE: 'trace.jsonl', LC_ALL: 'C' };
    const fired = await cli.run(['fire', 'BeforeTool', '--settings', settings], { env });
    const trace = await cli.run(['trace', 'trace.jsonl']);
    const tested = await cli.run(['test', '--settings', settings, '--junit', 'junit.xml']);
    const examined = await cli.run(['doctor', '--settings', settings]);
    const junit = (await cli.read('junit.xml')).replaceAll('&apos;', "'");
    const told = {
      fire: fired.stdout,
      warning: fired.stderr,
      trace: trace.stdout,
      test: tested.stdout,
      junit,
      doctor: examined.stdout,
    };
    for (const [where, text] of Object.entries(told)) {
      for (const { says } of Object.values(HOOKS)) expect(text, where).toContain(says);
    }
  });
});
