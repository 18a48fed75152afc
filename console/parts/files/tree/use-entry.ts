import { useQuery } from '@tanstack/react-query';
import { files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { type QueryFailure, useQueryFailure } from '../../errors/use-query-failure.ts';
import { type FolderCache, folderAt } from './folders.ts';

/** Entry for the root of the workspace. */
const ROOT = folderAt('');

/** Returns the entry at a path from its loaded folder, or requests the entry individually. */
export function useEntry(
  workspace: WorkspaceRef,
  folders: FolderCache,
  path: string,
): { entry: FileEntry | undefined; failure: QueryFailure | undefined } {
  const listed = path === '' ? ROOT : folders.find(path);
  const single = useQuery({
    ...files.entry(workspace, path, folders.revision),
    enabled: !listed,
    retry: false,
    placeholderData: (before) => (before?.path === path ? before : undefined),
  });
  const failure = useQueryFailure(single);
  return listed ? { entry: listed, failure: undefined } : { entry: single.data, failure };
}
