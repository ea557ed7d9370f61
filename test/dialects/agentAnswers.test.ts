import { describe, expect, it } from 'vitest';
import { dialects, sentEvent } from '../../src/dialects/dialects.js';
import { receive, reply } from '../../src/dialects/reverse.js';
import type { Received, ReplyVerdict } from '../../src/protocol/received.js';
import { textInPlace } from '../../src/protocol/hookOutput.js';
import { DIALECT_NAMES, HookEventName, type HookPayload } from '../../src/protocol/types.js';
import { PAYLOADS } from './agentPayloads.js';

/** What hooks say, by the word for it. */
const SAID: Readonly<Record<string, ReplyVerdict>> = {
  allow: { kind: 'allow', reason: 'Fine.' },
  ask: { kind: 'ask', reason: 'Really?' },
  block: { kind: 'block', reason: 'No.' },
  stop: { kind: 'stop', reason: 'Enough.' },
  rewrite: { kind: 'none' },
  replace: { kind: 'none', output: textInPlace('***') },
  context: { kind: 'none', context: ['Mind it.'] },
};

function saidOf(said: string, { event, payload }: Received): ReplyVerdict {
  const verdict = SAID[said] as ReplyVerdict;
  if (said !== 'rewrite' || event !== HookEventName.BeforeTool) return verdict;
  const { toolInput } = payload as HookPayload<HookEventName.BeforeTool>;
  const [[first] = ['']] = Object.entries(toolInput);
  return { ...verdict, input: { ...toolInput, [first]: 'changed' } };
}

/** What the agent is answered, in one line. */
function answerTo(received: Received, said: string): string {
  const { json, text, refusal, lost } = reply(received, saidOf(said, received));
  const answer = refusal === undefined ? (text ?? JSON.stringify(json)) : `exit 2: ${refusal}`;
  return [answer, ...lost.map((note) => `(${note})`)].join(' ');
}

describe.each(DIALECT_NAMES)('%s', (name) => {
  const cases = Object.entries(PAYLOADS[name]);

  it('has a payload of each of its events', () => {
    const sent = new Set(cases.map(([title]) => title.split(' ')[0]));
    expect(sent).toEqual(new Set(dialects[name].events.map((words) => words.sentAs ?? words.name)));
  });

  it.each(cases)('sends %s, which is read', (title, fields) => {
    const received = receive(name, fields);
    const words = sentEvent(dialects[name], title.split(' ')[0]);
    expect(received).toMatchObject({ event: words?.event, identity: { sessionId: 's1' } });
    const { toolInput, prompt, toolResponse } = (received?.payload ?? {}) as Record<
      string,
      unknown
    >;
    if (received?.event === HookEventName.BeforeTool) {
      expect(JSON.stringify(toolInput)).toMatch(/push|one|x|\.env|"a":1|shop/);
      expect(toolInput).not.toEqual({});
    }
    if (received?.event === HookEventName.BeforeAgent) expect(prompt).toBe('Go.');
    const text = JSON.stringify(fields);
    if (toolResponse !== undefined && text.includes('secret')) {
      expect(JSON.stringify(toolResponse)).toContain('secret');
    }
  });

  it('is answered what the file of its answers says', async () => {
    const answers = cases.map(([title, fields]) => {
      const received = receive(name, fields);
      if (!received) throw new Error(`${title} is none of ours`);
      return [
        title,
        Object.fromEntries(Object.keys(SAID).map((said) => [said, answerTo(received, said)])),
      ];
    });
    const text = `${JSON.stringify(Object.fromEntries(answers), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`answered/${name}.json`);
  });
});
