/** What the tools of the reference agent are called. */
export const referenceToolNames: readonly string[] = [
  'read_file',
  'write_file',
  'replace',
  'list_directory',
  'search_file_content',
  'glob',
  'run_shell_command',
];

/** What the tool that starts sub-agents is called. */
export const SUBAGENT_TOOL = 'task';
