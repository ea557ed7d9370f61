import { randomUUID } from 'node:crypto';
import { closeSync, writeFileSync } from 'node:fs';
import type { FunctionCall, Part } from '@google/genai';
import type { Config } from '../config/config.js';
import { theirArguments, theirToolNames } from '../dialects/translate.js';
import { dialects } from '../dialects/dialects.js';
import { errorMessage } from '../util/errorMessage.js';
import { transcriptPathOf, sessionIdOf } from '../../middleware/translator.js';
import { openPrivately } from '../trace/privateFile.js';
import type { CompletedToolCall } from '../core/coreToolScheduler.js';
import type { ModelTurn } from '../core/geminiChat.js';
import { toParts } from '../protocol/llmContent.js';
import { answerParts, answerText, isAnswerText } from '../protocol/response.js';

/**
 * JSON Lines in Claude Code's format, in the file that the `Config` names. Each line is written at once, for the hooks
 * that start next. A file that cannot be written costs a warning, and hooks get no path from then on.
 */
export class Transcript {
  #descriptor: number | undefined;
  #last: string | null = null;

  constructor(private readonly config: Config) {
    this.#try(() => {
      const file = config.getTranscriptPath();
      if (file !== undefined) this.#descriptor = openPrivately(file, 'append');
    });
  }

  /** @param mark `isMeta` for what hooks say, `isCompactSummary` for earlier history; none for the user's words */
  addMessage(text: string, mark?: 'isMeta' | 'isCompactSummary'): void {
    this.#add('user', () => ({ role: 'user', content: text }), mark && { [mark]: true });
  }

  /** Adds nothing where the model said nothing. `calls` have ids. */
  addAnswer({ response, request }: ModelTurn, calls: readonly FunctionCall[]): void {
    // An image comes with an empty text, and is an answer.
    const hasText = answerParts(response).some(isAnswerText);
    if (!hasText && calls.length === 0) return;
    this.#add('assistant', () => ({
      role: 'assistant',
      type: 'message',
      model: request.model,
      content: [
        ...(hasText ? [textBlock(answerText(response))] : []),
        ...calls.map((call) => toUse(call, this.config.getWorkingDir())),
      ],
      stop_reason: calls.length > 0 ? 'tool_use' : stopReasonOf(response),
      usage: usageOf(response),
    }));
  }

  addResult({ callId, result }: CompletedToolCall): void {
    this.#add('user', () => {
      const { llmContent, error } = result;
      const content = typeof llmContent === 'string' ? llmContent : toBlocks(toParts(llmContent));
      const is_error = error !== undefined;
      return {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: callId, content, is_error }],
      };
    });
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #add(type: 'user' | 'assistant', message: () => object, marks?: object): void {
    if (this.#descriptor === undefined) return;
    const descriptor = this.#descriptor;
    const uuid = randomUUID();
    const line = this.#toLine(() => ({
      type,
      uuid,
      parentUuid: this.#last,
      sessionId: sessionIdOf(this.config),
      timestamp: new Date().toISOString(),
      cwd: this.config.getWorkingDir(),
      isSidechain: false,
      userType: 'external',
      ...marks,
      message: message(),
    }));
    if (line === undefined) return;
    this.#try(() => {
      writeFileSync(descriptor, `${line}\n`);
      this.#last = uuid;
    });
  }

  /** What JSON cannot hold, such as a cycle, costs only its own line. */
  #toLine(build: () => object): string | undefined {
    try {
      return toJson(build());
    } catch (error) {
      const file = transcriptPathOf(this.config);
      this.config
        .getDebugLogger()
        .warn(
          `A line of the transcript ${file} is left out, as it is no JSON (${errorMessage(error)}): the transcript goes on; let tools give plain data`,
        );
      return undefined;
    }
  }

  #try(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      const file = transcriptPathOf(this.config) ?? 'of the session';
      this.close();
      this.config.setTranscriptPath(undefined);
      this.config
        .getDebugLogger()
        .warn(
          `The transcript ${file} cannot be written (${errorMessage(error)}): the session goes on, and hooks get no path any more; name a file that can be written`,
        );
    }
  }
}

/** In Claude Code's words; `tool` is our name. */
function toUse({ id, name = '', args }: FunctionCall, cwd: string): object {
  return {
    type: 'tool_use',
    id,
    name: theirToolNames(dialects.claude, name)[0],
    input: theirArguments(dialects.claude, name, args ?? {}, cwd),
    tool: name,
  };
}

function toBlocks(parts: readonly Part[]): object[] {
  return parts.map((part) => {
    if (part.text !== undefined) return textBlock(part.text);
    const { mimeType: media_type = '', data = '' } = part.inlineData ?? {};
    if (!media_type.startsWith('image/')) return textBlock(toJson(part));
    return { type: 'image', source: { type: 'base64', media_type, data } };
  });
}

/** JSON cannot hold BigInt. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
}

function textBlock(text: string): object {
  return { type: 'text', text };
}

function stopReasonOf({ candidates }: ModelTurn['response']): string | null {
  const reason: string | undefined = candidates?.[0]?.finishReason;
  return reason === 'STOP' ? 'end_turn' : (reason?.toLowerCase() ?? null);
}

/** Claude Code counts cached tokens apart. */
function usageOf({ usageMetadata: tokens = {} }: ModelTurn['response']): object {
  const cached = tokens.cachedContentTokenCount ?? 0;
  return {
    input_tokens: Math.max(0, (tokens.promptTokenCount ?? 0) - cached),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: (tokens.candidatesTokenCount ?? 0) + (tokens.thoughtsTokenCount ?? 0),
  };
}
