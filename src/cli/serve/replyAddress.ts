/**
 * Whether an answer may go where a message of an agent wants it: to its own inbox. A server may publish anywhere, so that an
 * agent could write through it where it may not: to JetStream, for instance, as a command.
 */
export function mayReply(reply: string | undefined, team: string, agent: string): boolean {
  return reply?.startsWith(`_INBOX.${team}.${agent}.`) === true;
}
