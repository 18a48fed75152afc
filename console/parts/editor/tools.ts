/** The tools of this release, in the order in which they are shown. */
export const TOOLS: readonly { name: string; about: string }[] = [
  { name: 'bash', about: 'Runs commands in the sandbox of the session.' },
  { name: 'read_file', about: 'Reads text files of the workspace.' },
  { name: 'write_file', about: 'Writes files of the workspace.' },
  { name: 'edit_file', about: 'Replaces a piece of a text file.' },
  { name: 'list_files', about: 'Lists folders of the workspace.' },
  { name: 'search_files', about: 'Searches the text files of the workspace.' },
  { name: 'current_time', about: 'Tells the date and the time.' },
  { name: 'calculator', about: 'Calculates exactly.' },
];
