// All that is loaded where a hook has conditions, or is a rule.
export { answerRule } from './rule.js';
export { callOf, findMatch } from './match.js';
