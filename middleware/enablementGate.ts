/** The first stage, under the name by which hosts import it. */
export { enablementGate } from './planner.js';
