// AfterModel: card numbers are neither shown nor remembered.
import { json } from 'node:stream/consumers';

const { llm_response: response } = await json(process.stdin);

const redact = (text) => text.replaceAll(/\b(?:\d[ -]?){12,18}\d\b/g, '[card number]');
const candidates = response.candidates.map((candidate) => ({
  ...candidate,
  content: { ...candidate.content, parts: candidate.content.parts.map(redact) },
}));

console.log(JSON.stringify({ hookSpecificOutput: { llm_response: { candidates } } }));
