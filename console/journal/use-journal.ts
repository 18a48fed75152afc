import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Journal } from './journal.ts';
import { newestPage } from './pages.ts';
import type { JournalView } from './view.ts';

/** The journal of a session, as long as somebody looks at it. Undefined for the moment before it is opened. */
export function useJournal(sessionId: string): { view: JournalView | undefined; loadEarlier: () => void } {
  const queries = useQueryClient();
  const [journal, setJournal] = useState<Journal>();
  useEffect(() => {
    const opened = new Journal(sessionId, () => queries.fetchQuery(newestPage(sessionId)));
    setJournal(opened);
    return () => {
      opened.close();
      setJournal(undefined);
    };
  }, [queries, sessionId]);
  const view = useSyncExternalStore(journal?.subscribe ?? never, () => journal?.view);
  return { view, loadEarlier: () => void journal?.loadEarlier() };
}

const never = () => () => {};
