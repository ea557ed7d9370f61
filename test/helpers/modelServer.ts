import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that speaks as Gemini's does, until the test has ended: it answers the same to everything. */
export async function startModel(text: string, totalTokenCount = 12) {
  const seen: { url: string; key: unknown; body: string }[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ url: request.url ?? '', key: request.headers['x-goog-api-key'], body });
      const content = { role: 'model', parts: [{ text }] };
      const usageMetadata = { totalTokenCount };
      const answer = { candidates: [{ content, finishReason: 'STOP' }], usageMetadata };
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify(answer)}\n\n`);
    });
  });
  onTestFinished(() => server.closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, seen };
}
