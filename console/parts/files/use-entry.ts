import { useQuery } from '@tanstack/react-query';
import { files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { type Failed, useFailure } from '../faults/use-failure.ts';
import { type Folders, folderAt } from './folders.ts';

/** The workspace itself, as if it were an entry of something. */
const ROOT = folderAt('');

/** What stands at a path: as its list says or, where it has not been read so far, as the service says of it alone. */
export function useEntry(
  place: Place,
  folders: Folders,
  path: string,
): { entry: FileEntry | undefined; failure: Failed | undefined } {
  const listed = path === '' ? ROOT : folders.find(path);
  const asked = useQuery({
    ...files.one(place, path, folders.round),
    enabled: !listed,
    retry: false,
    placeholderData: (before) => (before?.path === path ? before : undefined),
  });
  const failure = useFailure(asked);
  return listed ? { entry: listed, failure: undefined } : { entry: asked.data, failure };
}
