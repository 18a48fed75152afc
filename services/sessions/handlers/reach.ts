import { Refusal, refuse } from '../../../lib/errors.ts';
import { callerOf, isAdministrator, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { Recorder } from '../../../lib/grpc/recorder.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { sessionNotFound } from '../domain/access.ts';
import type { Lists, ReadOptions, SessionRow } from '../store/lists.ts';

/** The id of no agent. */
const NO_AGENT = `agt_${'0'.repeat(26)}`;

/**
 * Who gets at which session: it belongs to its owner; who manages its agent, and administrators, read it. To everybody
 * else it is not there.
 */
export interface Reach {
  /** Refused with SESSION_NOT_FOUND. */
  readable(sessionId: string, call: Call): Promise<SessionRow>;
  /** The same, with how more of the session is read. */
  reading(sessionId: string, call: Call): Promise<Reading>;
  /** The same, as its owner. Refused with FORBIDDEN when they only read it. */
  own(sessionId: string, call: Call): Promise<SessionRow>;
  /** Work that refuses what is not the caller's with SESSION_NOT_FOUND: who reads it hears FORBIDDEN instead. */
  asOwner<Result>(sessionId: string, call: Call, work: () => Promise<Result>): Promise<Result>;
}

export interface Reading {
  row: SessionRow;
  /** On behalf of its owner; as the service itself for those who have been allowed to read what is somebody else's. */
  by: ReadOptions;
}

export interface ReachContext {
  lists: Pick<Lists, 'session'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'getLevel'>;
  record: Recorder;
}

export function createReach({ lists, agents, record }: ReachContext): Reach {
  async function reading(sessionId: string, call: Call): Promise<Reading> {
    const mine = onBehalf(call);
    const own = await lists.session(sessionId, mine);
    if (own) return { row: own, by: mine };
    const row = await lists.session(sessionId, call);
    // Asked also when there is none: one that they may not see takes as long as one that is not there.
    const { level } = await agents.getLevel({ agentId: row?.agent_id ?? NO_AGENT }, call);
    if (!row || (level !== 'manage' && !isAdministrator(call))) throw sessionNotFound(sessionId);
    if (isAdministrator(call)) await record({ action: 'session.look', targetId: sessionId }, call);
    return { row, by: call };
  }

  async function readable(sessionId: string, call: Call): Promise<SessionRow> {
    return (await reading(sessionId, call)).row;
  }

  return {
    readable,
    reading,

    async own(sessionId, call) {
      const row = await readable(sessionId, call);
      if (row.owner_id !== callerOf(call).userId) throw notTheirs();
      return row;
    },

    async asOwner(sessionId, call, work) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'SESSION_NOT_FOUND') throw error;
        await readable(sessionId, call);
        throw notTheirs();
      }
    },
  };
}

function notTheirs(): Refusal {
  return refuse('FORBIDDEN', 'only who has begun the session may do this');
}
