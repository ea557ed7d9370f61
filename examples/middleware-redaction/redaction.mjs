// Keeps secrets off the screen, out of the history and from the hooks, while the answer is still arriving. A secret
// may be split across chunks, so what may still become one is held back, and nothing else.

const MARK = '[secret]';

/**
 * A middleware for the model stack. To be added with `{ after: 'afterModel' }`: that is next to the model, so that
 * hooks, screen and history all get what it lets through.
 *
 * @param {readonly string[]} secrets the secrets themselves, such as the values of environment variables
 * @returns {import('hookstack').ModelMiddleware}
 */
export function redaction(secrets) {
  return async function redact(call, next) {
    await next();
    if (call.stream) call.stream = redacted(call.stream, secrets);
  };
}

async function* redacted(chunks, secrets) {
  const text = new RedactedText(secrets);
  let last;
  for await (const chunk of chunks) {
    last = chunk;
    yield withParts(chunk, (parts) => redactParts(parts, text));
  }
  const rest = text.end();
  if (rest) yield withParts(last, () => [{ text: rest }]);
}

function redactParts(parts, text) {
  const passed = parts.flatMap((part) =>
    // Whatever else comes, such as a tool call, ends the text before it.
    part.text === undefined
      ? [{ text: text.end() }, part]
      : [{ ...part, text: text.add(part.text) }],
  );
  return passed.filter((part) => part.text !== '');
}

/** A copy of a chunk, which belongs to the SDK, with its accessors. */
function withParts(chunk, change) {
  const copy = Object.create(Object.getPrototypeOf(chunk), Object.getOwnPropertyDescriptors(chunk));
  copy.candidates = chunk.candidates?.map((candidate) => ({
    ...candidate,
    content: { ...candidate.content, parts: change(candidate.content?.parts ?? []) },
  }));
  return copy;
}

/** A text that arrives in pieces, in which secrets are replaced by a mark. */
class RedactedText {
  #held = '';

  constructor(secrets) {
    this.secrets = secrets.filter((secret) => secret !== '');
  }

  /** What can be let through now that `piece` has arrived. */
  add(piece) {
    const text = this.#redact(this.#held + piece);
    const begun = Math.max(0, ...this.secrets.map((secret) => begunAtEnd(text, secret)));
    this.#held = text.slice(text.length - begun);
    return text.slice(0, text.length - begun);
  }

  /** What was held back, as nothing more comes that would make it a secret. */
  end() {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #redact(text) {
    return this.secrets.reduce((result, secret) => result.replaceAll(secret, MARK), text);
  }
}

/** How many characters at the end of a text are the beginning of a secret. */
function begunAtEnd(text, secret) {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
