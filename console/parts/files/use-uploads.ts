import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Place } from '../../api/files.ts';
import { noticeLogout } from '../../api/login.ts';
import { UploadQueue, type UploadsView } from './upload-queue.ts';

/** A queue lives as long as the page of the browser: whoever comes back finds what is under way. */
const kept = new Map<string, { queue: UploadQueue; heard: Set<() => void> }>();

function queueOf(place: Place, queries: QueryClient) {
  const key = `${place.kind} ${place.id}`;
  let found = kept.get(key);
  if (!found) {
    const heard = new Set<() => void>();
    const queue = new UploadQueue(
      place,
      () => {
        for (const hear of heard) hear();
      },
      (error) => noticeLogout(queries, error),
    );
    found = { queue, heard };
    kept.set(key, found);
  }
  return found;
}

/** The uploads to a workspace. `onChange` is called when something of them has arrived. */
export function useUploads(place: Place, onChange: () => void): { queue: UploadQueue; view: UploadsView } {
  const queries = useQueryClient();
  const [{ queue, heard }] = useState(() => queueOf(place, queries));
  useEffect(() => {
    heard.add(onChange);
    return () => void heard.delete(onChange);
  }, [heard, onChange]);
  const view = useSyncExternalStore(queue.subscribe, () => queue.view);
  return { queue, view };
}
