import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { WorkspaceRef } from '../../../api/files.ts';
import { recheckLoginOn401 } from '../../../api/login.ts';
import { UploadQueue } from './upload-queue.ts';
import type { UploadsView } from './uploads-view.ts';

interface SharedQueue {
  queue: UploadQueue;
  listeners: Set<() => void>;
}

/** Non-empty queues, kept for the lifetime of the page so that uploads continue while other pages are shown. */
const sharedQueues = new Map<string, SharedQueue>();

function open(workspace: WorkspaceRef, queries: QueryClient): SharedQueue {
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of listeners) listener();
  };
  return {
    queue: new UploadQueue(workspace, onChange, (error) => recheckLoginOn401(queries, error)),
    listeners,
  };
}

/** The upload queue of a workspace. `onChange` is called after each successful request. */
export function useUploads(
  workspace: WorkspaceRef,
  onChange: () => void,
): { queue: UploadQueue; view: UploadsView } {
  const queries = useQueryClient();
  const key = `${workspace.kind} ${workspace.id}`;
  const [uploads] = useState(() => sharedQueues.get(key) ?? open(workspace, queries));
  const { queue, listeners } = uploads;
  useEffect(() => {
    sharedQueues.set(key, uploads);
    listeners.add(onChange);
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0 && queue.isEmpty) sharedQueues.delete(key);
    };
  }, [key, uploads, queue, listeners, onChange]);
  const view = useSyncExternalStore(queue.subscribe, () => queue.view);
  return { queue, view };
}
