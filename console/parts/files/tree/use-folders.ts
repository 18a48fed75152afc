import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { WorkspaceRef } from '../../../api/files.ts';
import { FolderCache } from './folders.ts';

/** Minimum time between two invalidations, however often files change. */
const THROTTLE_MS = 300;

/** The folders of a workspace. Visible folders reload when `change` grows and when the page becomes visible again. */
export function useFolders(
  workspace: WorkspaceRef,
  change: number,
): { folders: FolderCache; renew: () => void } {
  const queries = useQueryClient();
  const [folders] = useState(() => new FolderCache(workspace, queries));
  useSyncExternalStore(folders.subscribe, () => folders.all);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const invalidateSoon = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      folders.invalidate();
    }, THROTTLE_MS);
  }, [folders]);
  const before = useRef(change);
  useEffect(() => {
    if (before.current !== change) invalidateSoon();
    before.current = change;
  }, [change, invalidateSoon]);
  useEffect(() => {
    const onVisible = () => {
      if (!document.hidden) invalidateSoon();
    };
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      document.removeEventListener('visibilitychange', onVisible);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [invalidateSoon]);
  return { folders, renew: useCallback(() => folders.invalidate(), [folders]) };
}
