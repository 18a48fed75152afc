import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { recheckLoginOn401 } from '../api/login.ts';
import { newestPage } from './event-pages.ts';
import { Journal } from './journal.ts';
import type { JournalView } from './view.ts';

export interface OpenJournal {
  /** Undefined until the journal is open. */
  view: JournalView | undefined;
  loadEarlier: () => void;
  loadLater: () => void;
  /** Opens the stream again after an error. The loaded events stay until the new journal has loaded. */
  reopen: () => void;
  isReopening: boolean;
}

/**
 * The journal of a session. It is open while the component is mounted. With `event`, the seq of an event, it shows the events
 * around that one.
 */
export function useJournal(sessionId: string, event?: number): OpenJournal {
  const queries = useQueryClient();
  const [journal, setJournal] = useState<Journal>();
  const [attempt, setAttempt] = useState(0);
  const [isReopening, setReopening] = useState(false);
  useEffect(() => {
    const opened = new Journal(
      sessionId,
      () => queries.fetchQuery(newestPage(sessionId)),
      (error) => recheckLoginOn401(queries, error),
    );
    function show(): void {
      if (attempt > 0 && opened.view.streamStatus === 'opening') return;
      setJournal(opened);
      setReopening(false);
    }
    const stop = opened.subscribe(show);
    show();
    return () => {
      stop();
      opened.close();
    };
  }, [queries, sessionId, attempt]);
  useEffect(() => void journal?.showEvent(event), [journal, event]);
  const view = useSyncExternalStore(journal?.subscribe ?? noSubscription, () => journal?.view);
  const loadEarlier = useCallback(() => void journal?.loadEarlier(), [journal]);
  const loadLater = useCallback(() => void journal?.loadLater(), [journal]);
  const reopen = useCallback(() => {
    setReopening(true);
    setAttempt((before) => before + 1);
  }, []);
  return { view, loadEarlier, loadLater, reopen, isReopening };
}

const noSubscription = () => () => {};
