/** Requests and responses of the model in the format of hooks, where the specification has it; see `protocol/`. */
export * from '../protocol/hookTranslator.js';
