import type { Bus } from '../../../lib/bus/bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { SessionsServiceDefinition, Signal } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RunStateStore } from '../store/run-states.ts';
import type { RunProgress } from './run-progress.ts';

/** Hints make the delay short; the poll finds signals whose hint was lost. */
const POLL_MS = 5_000;
const BATCH = 500;
const LEASE_SECONDS = 30;

interface SignalConsumerContext {
  sessions: Pick<Client<SessionsServiceDefinition>, 'claimSignals' | 'ackSignals'>;
  states: Pick<RunStateStore, 'ofSessions'>;
  progress: RunProgress;
  /** Applies the signals to the conversations of channels. */
  engageConversations: (signals: readonly Signal[]) => Promise<void>;
  bus: Bus;
  clock: Clock;
  log: Log;
}

/**
 * Moves runs to the states of their turns, and engages the conversations of channels whose sessions have changed. Each
 * signal is applied at least once: it is acknowledged after the changes are committed, and applying it again does no harm.
 */
export function startSignalConsumer(context: SignalConsumerContext): { stop(): Promise<void> } {
  const { sessions, states, progress, engageConversations, bus, clock, log } = context;

  async function consume(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const claim = { limit: BATCH, leaseSeconds: LEASE_SECONDS };
      const { signals } = await sessions.claimSignals(claim, { signal });
      if (signals.length === 0) return;
      await Promise.all([apply(signals), engageConversations(signals)]);
      await sessions.ackSignals({ signalIds: signals.map(({ signalId }) => signalId) });
      if (signals.length < BATCH) return;
    }
  }

  async function apply(signals: readonly Signal[]): Promise<void> {
    // The last signal of a turn has its newest state.
    const turns = new Map(signals.flatMap(({ turn }) => (turn ? [[turn.turnId, turn]] : [])));
    await progress.applyTurns([...turns.values()]);
    const deleted = signals
      .filter(({ kind }) => kind === 'session_deleted')
      .map(({ sessionId }) => sessionId);
    if (deleted.length === 0) return;
    const runs = await states.ofSessions(deleted);
    await progress.applyDeleted(runs.map(({ turnId }) => turnId));
  }

  const task = startPeriodicTask({
    clock,
    everyMs: POLL_MS,
    firstAfterMs: 0,
    work: consume,
    onFailure: (error) =>
      log.warn({ err: error }, 'signals of sessions could not be read; they are read again'),
  });
  const unsubscribe = bus.subscribe('sessions.signals', () => task.request());
  return {
    async stop() {
      unsubscribe();
      await task.stop();
    },
  };
}
