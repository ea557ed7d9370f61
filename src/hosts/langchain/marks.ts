// The types are the host's own.
// @ts-ignore
import type { BaseMessage } from 'langchain';
import type { Maybe } from '../either.js';
import type { Allowed } from '../allowed.js';
import type { HooksMark } from '../mark.js';
import { copyWith } from './messages.js';

/** What hooks decided, and what the next steps of the agent have to know of it. It is part of what the host stores. */
export interface MessageMark extends HooksMark {
  /** What the model is to read with the next request. */
  readonly notes?: readonly string[];
  /** The only tools whose calls may run. Where hooks may restrict them, calls of an answer without it do not. */
  readonly allowedTools?: Allowed;
}

/** A copy of a message that carries what hooks decided; without anything to carry, the message. */
export function addMark<M extends BaseMessage>(message: M, hookstack: MessageMark): M {
  if (Object.keys(hookstack).length === 0) return message;
  return copyWith(message, { response_metadata: { ...message.response_metadata, hookstack } });
}

/** What hooks decided about a message. */
export function readMark(message: Maybe<BaseMessage>): MessageMark {
  const metadata: { readonly hookstack?: MessageMark } = message?.response_metadata ?? {};
  return metadata.hookstack ?? {};
}

/** Why the agent is to end: a tool of the last turn has said so. */
export function stopOf(messages: readonly BaseMessage[]): string | undefined {
  const last = messages.findLastIndex(({ type }) => type !== 'tool');
  const marks = messages.slice(last + 1).map(readMark);
  return marks.find(({ stopped }) => stopped !== undefined)?.stopped;
}

/** The model's last answer. */
export function lastAnswer(messages: readonly BaseMessage[]): Maybe<BaseMessage> {
  return messages.findLast(({ type }) => type === 'ai');
}
