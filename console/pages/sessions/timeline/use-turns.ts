import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Turn } from '../../../gen/index.ts';
import type { DurableEvent } from '../../../journal/event.ts';
import { mergedTurns } from '../../../journal/merged-turns.ts';
import { allTurns, readTurn } from '../../../journal/turn-pages.ts';
import type { JournalView } from '../../../journal/view.ts';
import { type QueryFailure, useQueryFailure } from '../../../parts/errors/use-query-failure.ts';

/** Returns the turns of a session, oldest first; undefined until all have loaded. Each change of a turn is loaded again. */
export function useTurns(
  sessionId: string,
  { events, lastSeq, streamStatus }: JournalView,
): { turns: readonly Turn[] | undefined; failure: QueryFailure | undefined } {
  const queries = useQueryClient();
  // The newest known event tells which changes the list contains.
  const query = useQuery({ ...allTurns(sessionId, lastSeq), enabled: streamStatus !== 'opening' });
  const failure = useQueryFailure(query);
  const { data } = query;
  const upToSeq = data?.upToSeq;
  const changes = useMemo(
    () => (upToSeq === undefined ? undefined : turnsChangedAfter(events, upToSeq)),
    [events, upToSeq],
  );
  const changedIds = changes?.turnIds.join(' ') ?? '';
  const changedUpTo = changes?.upToSeq ?? 0;
  useEffect(() => {
    if (changedIds === '') return;
    const controller = new AbortController();
    const { signal } = controller;
    const { queryKey } = allTurns(sessionId, 0);
    Promise.all(changedIds.split(' ').map((turnId) => readTurn(sessionId, turnId, signal))).then(
      (newer) =>
        queries.setQueryData(
          queryKey,
          (before) => before && { turns: mergedTurns(before.turns, newer), upToSeq: changedUpTo },
        ),
      () => {
        if (!signal.aborted) void queries.invalidateQueries({ queryKey, exact: true });
      },
    );
    return () => controller.abort();
  }, [queries, sessionId, changedIds, changedUpTo]);
  return { turns: data?.turns, failure };
}

/** The turns that have changed after a seq, and the seq of the last change. */
function turnsChangedAfter(events: readonly DurableEvent[], seq: number) {
  const turnIds = new Set<string>();
  let upToSeq = seq;
  for (const event of events) {
    if (event.seq <= seq || event.turn_id === undefined || !event.type.startsWith('turn.')) continue;
    turnIds.add(event.turn_id);
    upToSeq = event.seq;
  }
  return { turnIds: [...turnIds], upToSeq };
}
