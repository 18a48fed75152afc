import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../api/client.ts';
import { describeFile, listDirectory, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import type { Folders } from './folders.ts';
import { folderOf, foldersAbove, nameOf } from './paths.ts';

const UNKNOWN = { size: 0, sha256: null, media_type: null, executable: false, target: null, modified_at: '' };

/** The workspace itself, as if it were an entry of something. */
const ROOT: FileEntry = { ...UNKNOWN, path: '', name: '', kind: 'directory' };

/** What stands at a path: as its list says or, where it has not been read so far, as the service says of it alone. */
export function useEntry(
  place: Place,
  folders: Folders,
  path: string,
): { entry: FileEntry | undefined; error: unknown; retry: () => void } {
  const listed = path === '' ? ROOT : folders.find(path);
  const asked = useQuery({
    queryKey: ['files', place.kind, place.id, 'entry', path, folders.round],
    queryFn: ({ signal }) => ask(place, path, signal),
    enabled: !listed && isSearched(folders, path),
    retry: false,
    placeholderData: (before) => (before?.path === path ? before : undefined),
  });
  if (listed) return { entry: listed, error: undefined, retry: () => {} };
  return { entry: asked.data, error: asked.error, retry: () => void asked.refetch() };
}

/** Its list has been read, or there is nothing that leads to it. */
function isSearched(folders: Folders, path: string): boolean {
  const isKnown = (folder: string) => {
    const { pages, error } = folders.folder(folder);
    return pages.length > 0 || error !== undefined;
  };
  const isUnlisted = (folder: string) => isKnown(folderOf(folder)) && !folders.find(folder);
  return isKnown(folderOf(path)) || foldersAbove(path).some(isUnlisted);
}

async function ask(place: Place, path: string, signal: AbortSignal): Promise<FileEntry> {
  const entry = { ...UNKNOWN, path, name: nameOf(path) };
  try {
    return { ...entry, kind: 'file', ...(await describeFile(place, path, signal)) };
  } catch (error) {
    // What is no file has no content.
    if (!(error instanceof ApiError) || error.code !== 'INVALID_REQUEST') throw error;
    await listDirectory(place, path, undefined, signal);
    return { ...entry, kind: 'directory' };
  }
}
