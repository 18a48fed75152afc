import type { Client } from '../../../lib/grpc/contract.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RunProgress } from './run-progress.ts';

/** Turn ids in one request (LookUpTurnsRequest). */
const MAX_TURNS = 500;

interface TurnLookupContext {
  sessions: Pick<Client<SessionsServiceDefinition>, 'lookUpTurns'>;
  progress: RunProgress;
}

export type TurnLookup = ReturnType<typeof createTurnLookup>;

/** Reads the states of turns from the sessions service, for runs whose signals have not arrived. */
export function createTurnLookup({ sessions, progress }: TurnLookupContext) {
  return {
    /** Applies the states of the turns to their runs. A turn that is missing was deleted with its session. */
    async lookUp(turnIds: readonly string[], trace?: Trace): Promise<void> {
      for (let start = 0; start < turnIds.length; start += MAX_TURNS) {
        const asked = turnIds.slice(start, start + MAX_TURNS);
        const { turns } = await sessions.lookUpTurns({ turnIds: asked }, { trace });
        const found = new Set(turns.map(({ turnId }) => turnId));
        await progress.applyTurns(turns, trace);
        await progress.applyDeleted(
          asked.filter((turnId) => !found.has(turnId)),
          trace,
        );
      }
    },
  };
}
