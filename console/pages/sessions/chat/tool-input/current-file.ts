import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { files, type WorkspaceRef } from '../../../../api/files.ts';
import type { FileEntry } from '../../../../gen/index.ts';

/** The file that a write replaces: its text, no file, or a file that is not compared. */
export type CurrentFile = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'not compared' };

/** Larger files are not compared. */
const MAX_BYTES = 1024 * 1024;
/** Maximum number of pages of a folder that are searched for an entry. */
const MAX_PAGES = 5;

/** Query of the file that a call will replace. `callSeq` keeps the results of different calls apart. */
export const currentFile = (workspace: WorkspaceRef, path: string, callSeq: number) =>
  queryOptions({
    queryKey: ['files', workspace.kind, workspace.id, 'current', path, callSeq],
    queryFn: async ({ client, signal }): Promise<CurrentFile> => {
      const entry = await findEntry(client, workspace, path);
      if (!entry) return { kind: 'absent' };
      if (entry.kind !== 'file' || entry.size > MAX_BYTES) return { kind: 'not compared' };
      if (entry.size === 0) return { kind: 'text', text: '' };
      const range = { first: 0, length: entry.size };
      const bytes = await (await files.readRange(workspace, path, range, signal)).arrayBuffer();
      const text = decode(new Uint8Array(bytes));
      return text === undefined ? { kind: 'not compared' } : { kind: 'text', text };
    },
  });

/**
 * Looks for the entry in the lists of the folders above it, because the request of a missing entry is an error that the
 * browser logs. An entry that is not in the first pages of its folder is requested individually.
 */
async function findEntry(
  client: QueryClient,
  workspace: WorkspaceRef,
  path: string,
): Promise<FileEntry | undefined> {
  const parts = path.split('/');
  for (const [index] of parts.entries()) {
    const folder = parts.slice(0, index).join('/');
    const found = await findInFolder(client, workspace, folder, parts.slice(0, index + 1).join('/'));
    if (found === 'unknown')
      return await client.fetchQuery({ ...files.entry(workspace, path, 0), staleTime: 0 });
    if (!found || index === parts.length - 1) return found;
    if (found.kind !== 'directory') return undefined;
  }
  return undefined;
}

async function findInFolder(
  client: QueryClient,
  workspace: WorkspaceRef,
  folder: string,
  path: string,
): Promise<FileEntry | 'unknown' | undefined> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, next } = await client.fetchQuery({
      ...files.page(workspace, folder, cursor),
      staleTime: 0,
    });
    const found = items.find((entry) => entry.path === path);
    if (found || next === undefined) return found;
    cursor = next;
  }
  return 'unknown';
}

/** Returns undefined for content that is not text. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
