import { files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { readText } from './read-text.ts';
import { TextContent } from './text-content.tsx';

/** The beginning of a text file of a workspace. */
export function TextPreview({ workspace, entry }: { workspace: WorkspaceRef; entry: FileEntry }) {
  const { path, name, size } = entry;
  const options = files.content(workspace, entry, 'text', (signal) =>
    readText((range) => files.readRange(workspace, path, range, signal), size),
  );
  return <TextContent options={{ ...options, gcTime: 60_000 }} name={name} size={size} />;
}
