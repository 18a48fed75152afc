/** The built-in tools of this release, in display order. */
export const BUILT_IN_TOOLS: readonly { name: string; about: string }[] = [
  { name: 'bash', about: 'Runs commands in the sandbox of the session.' },
  { name: 'read_file', about: 'Reads text files in the workspace.' },
  { name: 'write_file', about: 'Writes files in the workspace.' },
  { name: 'edit_file', about: 'Replaces text in a file.' },
  { name: 'list_files', about: 'Lists folders in the workspace.' },
  { name: 'search_files', about: 'Searches text files in the workspace.' },
  { name: 'load_skill', about: 'Reads the skills of the agent. Offered to agents with skills.' },
  { name: 'mcp_list_resources', about: 'Lists resources of MCP servers that offer them.' },
  { name: 'mcp_read_resource', about: 'Reads resources of MCP servers that offer them.' },
  { name: 'ask_user', about: 'Asks you a question with a form and waits for the answer.' },
  { name: 'current_time', about: 'Returns the date and time.' },
  { name: 'calculator', about: 'Evaluates arithmetic exactly.' },
];
