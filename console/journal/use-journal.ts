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
  /** Begins anew, after the service has refused to go on. */
  reopen: () => void;
}

/** The journal of a session, as long as somebody looks at it. */
export function useJournal(sessionId: string): OpenJournal {
  const queries = useQueryClient();
  const [journal, setJournal] = useState<Journal>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt is another journal
  useEffect(() => {
    const opened = new Journal(
      sessionId,
      () => queries.fetchQuery(newestPage(sessionId)),
      (error) => noticeLogout(queries, error),
    );
    setJournal(opened);
    return () => {
      opened.close();
      setJournal(undefined);
    };
  }, [queries, sessionId, attempt]);
  const view = useSyncExternalStore(journal?.subscribe ?? never, () => journal?.view);
  const loadEarlier = useCallback(() => void journal?.loadEarlier(), [journal]);
  const reopen = useCallback(() => setAttempt((before) => before + 1), []);
  return { view, loadEarlier, reopen };
}

const never = () => () => {};
