/** The model of `run`, and of the requests that `fire` makes up. */
export const DEFAULT_MODEL = 'gemini-2.5-flash';

/** The tool that `fire` makes up an event for, where none is named. */
export const DEFAULT_TOOL = 'write_file';

/** The prompt that `fire` makes up. */
export const DEFAULT_PROMPT = 'Hello';
