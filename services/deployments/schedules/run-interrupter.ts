import { Refusal } from '../../../lib/errors.ts';
import type { Caller, CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { startTrace } from '../../../lib/trace.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';
import type { TurnLookup } from './turn-lookup.ts';

/** The turn of a run. */
interface RunTurn {
  deploymentId: string;
  sessionId: string;
  turnId: string;
}

interface RunInterrupterContext {
  admission: Pick<Admission, 'owner'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'interruptSession'>;
  turns: Pick<TurnLookup, 'lookUp'>;
}

export type RunInterrupter = ReturnType<typeof createRunInterrupter>;

/** Interrupts the turns of runs on behalf of their owners. */
export function createRunInterrupter({ admission, sessions, turns }: RunInterrupterContext) {
  async function interrupt(
    { deploymentId, sessionId, turnId }: RunTurn,
    options: CallOptions,
  ): Promise<void> {
    const actor = { type: 'schedule', deploymentId, runId: '' };
    try {
      await sessions.interruptSession({ sessionId, turnId, actor }, options);
    } catch (error) {
      if (!(error instanceof Refusal) || !HAS_NO_TURN.has(error.code)) throw error;
    }
  }

  /** The turns of a disabled user can be interrupted, too. */
  async function callerOf(ownerId: string, options: CallOptions): Promise<Caller> {
    const { trace = startTrace(), requestId } = options;
    const owner = await admission.owner(ownerId, { trace, requestId });
    return 'caller' in owner ? owner.caller : { userId: ownerId, roles: ['member'] };
  }

  return {
    /** `options` have the owner as the caller. */
    interrupt,

    /** Interrupts the turn and stores the new state of its run. */
    async interruptAsOwner(turn: RunTurn, ownerId: string, options: CallOptions): Promise<void> {
      await interrupt(turn, { ...options, caller: await callerOf(ownerId, options) });
      await turns.lookUp([turn.turnId], options.trace);
    },
  };
}

/** A session that is deleted, terminated or archived has no running turn. */
const HAS_NO_TURN = new Set(['SESSION_NOT_FOUND', 'SESSION_TERMINATED', 'SESSION_ARCHIVED']);
