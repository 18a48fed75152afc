import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { noticeLogout } from '../api/login.ts';
import { Journal } from './journal.ts';
import { newestPage } from './pages.ts';
import type { JournalView } from './view.ts';

export interface OpenJournal {
  /** Undefined for the moment before it is opened. */
  view: JournalView | undefined;
  loadEarlier: () => void;
  /** Begins anew, after the service has refused to go on. What is there stays until something has come of it. */
  reopen: () => void;
  isReopening: boolean;
}

/** The journal of a session, as long as somebody looks at it. */
export function useJournal(sessionId: string): OpenJournal {
  const queries = useQueryClient();
  const [journal, setJournal] = useState<Journal>();
  const [attempt, setAttempt] = useState(0);
  const [isReopening, setReopening] = useState(false);
  useEffect(() => {
    const opened = new Journal(
      sessionId,
      () => queries.fetchQuery(newestPage(sessionId)),
      (error) => noticeLogout(queries, error),
    );
    function show(): void {
      if (attempt > 0 && opened.view.link === 'opening') return;
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
  const view = useSyncExternalStore(journal?.subscribe ?? never, () => journal?.view);
  const loadEarlier = useCallback(() => void journal?.loadEarlier(), [journal]);
  const reopen = useCallback(() => {
    setReopening(true);
    setAttempt((before) => before + 1);
  }, []);
  return { view, loadEarlier, reopen, isReopening };
}

const never = () => () => {};
