import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { Content, GenerateContentResponse, Part } from '@google/genai';
import type { ChatEvent, ModelTurn } from '../../../src/core/geminiChat.js';

/** Everything that a chat told about one message. */
export interface ChatOutcome {
  /** The texts that were shown, one a chunk. */
  readonly shown: readonly (string | undefined)[];
  readonly retries: readonly ModelTurn[];
  readonly turn: ModelTurn;
}

/** Reads a chat's answer to its end. */
export async function readToEnd(events: AsyncIterable<ChatEvent>): Promise<ChatOutcome> {
  const shown: (string | undefined)[] = [];
  const retries: ModelTurn[] = [];
  for await (const event of events) {
    if (event.type === 'chunk') shown.push(event.value.text);
    else if (event.type === 'retry') retries.push(event.turn);
    else return { shown, retries, turn: event.turn };
  }
  throw new Error('The chat ended without a response');
}

/** The texts of messages, one string a message. */
export function textsOf(contents: readonly Content[] = []): string[] {
  return contents.map(({ parts = [] }) => parts.map((part) => part.text ?? '').join('|'));
}

/** The parts of a response's first candidate. */
export function partsOf({ candidates }: GenerateContentResponse): readonly Part[] {
  return candidates?.[0]?.content?.parts ?? [];
}

/** The server's side of the next exchange, as Node's HTTP server announces it. */
export function nextServerResponse(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    const listener = (message: unknown) => {
      unsubscribe('http.server.request.start', listener);
      resolve((message as { response: ServerResponse }).response);
    };
    subscribe('http.server.request.start', listener);
  });
}
