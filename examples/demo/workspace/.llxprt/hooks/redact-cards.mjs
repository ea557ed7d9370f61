// AfterModel: card numbers are neither shown nor remembered.
import { defineHook } from 'hookstack/author';

const redact = (text) => text.replaceAll(/\b(?:\d[ -]?){12,18}\d\b/g, '[card number]');

await defineHook('AfterModel', ({ llm_response: response }) => {
  const candidates = response.candidates.map((candidate) => ({
    ...candidate,
    content: { ...candidate.content, parts: candidate.content.parts.map(redact) },
  }));
  return { hookSpecificOutput: { llm_response: { candidates } } };
});
