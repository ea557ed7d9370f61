export const DEFAULT_MODEL = 'gemini-2.5-flash';

export const DEFAULT_TOOL = 'write_file';

export const DEFAULT_PROMPT = 'Hello';
