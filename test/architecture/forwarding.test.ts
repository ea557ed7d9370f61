import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The places in `src/cli/mcp` where something stands, as `file: line`. */
function placesOf(pattern: RegExp): string[] {
  return globSync('src/cli/mcp/*.ts', { cwd: ROOT })
    .toSorted()
    .flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${path.basename(file)}: ${line.trim()}`),
    );
}

describe('what the proxy of MCP sends on of a call', () => {
  it('is what callToSend has made, or the line of one that nobody looks at', () => {
    expect(placesOf(/\.sendToServer\(/)).toEqual([
      'toolCalls.ts: this.host.sendToServer(route, id, line, (_answer, answered) => {',
      'toolCalls.ts: this.host.sendToServer(route, id, callToSend(message, input), receive);',
    ]);
    expect(placesOf(/server\?\.send\(/)).toEqual([
      // Answers to requests of the server, notifications, and what has been looked at above.
      'proxy.ts: } else if (!this.#calls.questions.take(id, message)) route.server?.send(line);',
      'proxy.ts: route.server?.send(line);',
      'proxy.ts: route.server?.send(message);',
    ]);
  });

  it('is written in forwarding.ts, beside own errors and questions', () => {
    const files = placesOf(/jsonrpc: '2\.0'/).map((place) => place.replace(/:.*/, ''));
    expect([...new Set(files)]).toEqual([
      'forwarding.ts',
      'questions.ts',
      'rpc.ts',
      // A question as an answer, since 2026-07-28.
      'toolCalls.ts',
    ]);
    expect(placesOf(/#finish\(call, /)).toEqual([
      "toolCalls.ts: this.#finish(call, { jsonrpc: '2.0', id: call.id, result });",
      'toolCalls.ts: if (answer) this.#finish(call, answer);',
      'toolCalls.ts: if (error instanceof Untouched) this.#finish(call, error.answer);',
      'toolCalls.ts: this.#finish(call, errorAnswer(call.id, RpcError.Internal, message));',
      'toolCalls.ts: this.#finish(call, errorAnswer(call.id, RpcError.ConnectionClosed, message));',
    ]);
  });
});
