/** Where the specification has it. */
export { HookPlanner } from '../../middleware/planner.js';
