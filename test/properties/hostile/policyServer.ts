import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { marked } from '../../helpers/marked.js';
import { callTool } from './engine.js';
import { compare, violation } from './judge.js';
import { FAULTS, SECRET, type HostileSet, type ModelCallOf } from './sets.js';
import type { World } from './worlds.js';

/** A server that the guards of a user ask, and what it has to say. */
export class PolicyServer {
  #set: HostileSet | undefined;
  readonly #server = http.createServer((request, response) => void this.#answer(request, response));

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/policy`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { hook_event_name: event, tool_input: input } = JSON.parse(await text(request)) as {
      readonly hook_event_name: string;
      readonly tool_input: unknown;
    };
    const { user = [], faults = ['none', 'none'] } = this.#set ?? {};
    const id = String(request.headers['hookstack-question']);
    const { deny = [], results } = user[0] ?? {};
    const isBefore = event === 'BeforeTool';
    const isDenied = isBefore && deny.some((word) => JSON.stringify(input).includes(word));
    const said = {
      ...(isDenied && { decision: 'deny' }),
      ...(!isBefore && results === 'hide' && { suppressOutput: true }),
      ...(!isBefore && results === 'stop' && { continue: false }),
    };
    const fault = faults[isBefore ? 0 : 1];
    const answer = fault === 'none' ? marked(id, said) : FAULTS[fault](said, id);
    response.statusCode = fault === 'a refusal' ? 500 : 200;
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  /** A call of a tool that the server is asked about: what is no answer lets nothing run, and nothing be read. */
  readonly check = async (world: World, set: HostileSet): Promise<void> => {
    this.#set = set;
    const { call, faults } = set;
    const all = await callTool(world, world.all, set, call);
    if (faults[0] !== 'none' && all.ran.length > 0) throw violation('ran unasked', all, faults);
    if (faults[1] !== 'none' && all.read.includes(SECRET)) {
      throw violation('is read unasked', all, faults);
    }
    const again = (ran: unknown) => callTool(world, world.alone, set, ran as ModelCallOf);
    await compare(all, () => again(call), again);
  };
}
