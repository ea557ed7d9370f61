/** Requests to fire an event and their answers, where the specification has it; see `protocol/`. */
export * from '../protocol/hookBusContracts.js';
