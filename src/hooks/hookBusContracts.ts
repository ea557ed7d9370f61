/** Requests to fire an event and their answers, where the specification has it; see `confirmation-bus/`. */
export * from '../confirmation-bus/types.js';
