import { isId } from '../../../lib/ids.ts';
import type { SessionChange } from './apply.ts';
import type { Hints } from './hints.ts';
import type { SessionStateCache } from './session-state-cache.ts';

export interface PublisherContext {
  hints: Hints;
  stateCache: SessionStateCache;
  counters: { committed(change: SessionChange): void };
  /** Agents with ready turns that wait for the end of another turn of the agent. */
  fullAgents: ReadonlySet<string>;
}

/** Publishes committed changes: to the cache of states, to the counters, and as hints to other processes. */
export function createChangePublisher({ hints, stateCache, counters, fullAgents }: PublisherContext) {
  /** Updates the cache and publishes hints after the commit. */
  function publish(committed: SessionChange): void {
    stateCache.put(committed);
    counters.committed(committed);
    const { state, change, row } = committed;
    if (row) hints.appended(state.sessionId);
    if (committed.signals.length > 0) hints.signalled();
    const ready =
      change.newTurn?.ready || change.promote !== undefined || change.turns.some((turn) => turn.ready);
    if (ready || freesAgent(committed)) hints.ready();
  }

  /**
   * Publishes a change that the turn's runner did not report. Tells the runner if it has lost the turn, or if a message waits
   * for it.
   */
  function publishExternal(committed: SessionChange): void {
    publish(committed);
    const { current } = committed.state;
    if (current?.status !== 'in_progress') return;
    const { head, newTurn } = committed.change;
    if (head.currentTurnId === null) hints.stopped(current.turnId);
    else if (newTurn?.steersTurnId === current.turnId) hints.steered(current.turnId);
  }

  /**
   * The end of a turn makes room for another turn of its agent. Only one session of an assistant has a turn in progress at a
   * time, so its other sessions always wait for it.
   */
  function freesAgent({ state: { agentId, current }, change }: SessionChange): boolean {
    const isFull = fullAgents.has(agentId) || isId('ast', agentId);
    if (current?.status !== 'in_progress' || !isFull) return false;
    return (
      change.head.currentTurnId === null ||
      change.turns.some((turn) => turn.turnId === current.turnId && turn.status !== 'in_progress')
    );
  }

  return { publish, publishExternal };
}
