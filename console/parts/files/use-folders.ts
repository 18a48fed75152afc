import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Place } from '../../api/files.ts';
import { Folders } from './folders.ts';

/** However often something changes, lists are asked for again only so often. */
const PAUSE_MS = 300;

/** The folders of a workspace; those in view are read again whenever `change` grows, and when somebody comes back to them. */
export function useFolders(place: Place, change: number): { folders: Folders; renew: () => void } {
  const queries = useQueryClient();
  const [folders] = useState(() => new Folders(place, queries));
  useSyncExternalStore(folders.subscribe, () => folders.all);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const renewSoon = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      folders.renew();
    }, PAUSE_MS);
  }, [folders]);
  const before = useRef(change);
  useEffect(() => {
    if (before.current !== change) renewSoon();
    before.current = change;
  }, [change, renewSoon]);
  useEffect(() => {
    const comeBack = () => {
      if (!document.hidden) renewSoon();
    };
    document.addEventListener('visibilitychange', comeBack);
    return () => {
      document.removeEventListener('visibilitychange', comeBack);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [renewSoon]);
  return { folders, renew: useCallback(() => folders.renew(), [folders]) };
}
