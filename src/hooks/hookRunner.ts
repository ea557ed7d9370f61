/** Where the specification has it. */
export { HookRunner } from '../../middleware/runner.js';
