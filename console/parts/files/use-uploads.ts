import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Place } from '../../api/files.ts';
import { noticeLogout } from '../../api/login.ts';
import { UploadQueue } from './upload-queue.ts';
import type { UploadsView } from './uploads-view.ts';

interface Kept {
  queue: UploadQueue;
  heard: Set<() => void>;
}

/** A queue with something in it lives as long as the page of the browser: whoever comes back finds what is under way. */
const kept = new Map<string, Kept>();

function open(place: Place, queries: QueryClient): Kept {
  const heard = new Set<() => void>();
  const onChange = () => {
    for (const hear of heard) hear();
  };
  return { queue: new UploadQueue(place, onChange, (error) => noticeLogout(queries, error)), heard };
}

/** The uploads to a workspace. `onChange` is called when something of them has arrived. */
export function useUploads(place: Place, onChange: () => void): { queue: UploadQueue; view: UploadsView } {
  const queries = useQueryClient();
  const key = `${place.kind} ${place.id}`;
  const [uploads] = useState(() => kept.get(key) ?? open(place, queries));
  const { queue, heard } = uploads;
  useEffect(() => {
    kept.set(key, uploads);
    heard.add(onChange);
    return () => {
      heard.delete(onChange);
      if (heard.size === 0 && queue.isEmpty) kept.delete(key);
    };
  }, [key, uploads, queue, heard, onChange]);
  const view = useSyncExternalStore(queue.subscribe, () => queue.view);
  return { queue, view };
}
