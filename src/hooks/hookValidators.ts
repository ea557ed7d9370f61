/** Checks of what requests to fire events bring, where the specification has it; see `protocol/`. */
export * from '../protocol/hookValidators.js';
