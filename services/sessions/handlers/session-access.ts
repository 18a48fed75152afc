import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import { callerOf, databaseOptionsOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { sessionNotFound } from '../domain/access.ts';
import type { Lists, ReadOptions, SessionRow } from '../store/lists.ts';

/**
 * Authorizes access to a session. Its owner may do everything with it. Users who manage its agent and administrators
 * may read it. To every other user it does not exist. Reads by administrators are recorded in the audit log.
 */
export interface SessionAccess {
  /** Returns the session. Refuses with SESSION_NOT_FOUND when the caller may not read it. */
  requireReader(sessionId: string, call: Call): Promise<SessionRow>;
  /** Like `requireReader`, and returns the options with which the rest of the session is read. */
  readAccess(sessionId: string, call: Call): Promise<ReadAccess>;
  /** Returns the session. Refuses with FORBIDDEN a caller who may only read it. */
  requireOwner(sessionId: string, call: Call): Promise<SessionRow>;
  /**
   * Returns the owner of a session that the caller may stop: the owner, an administrator or a user who manages the
   * agent. An interrupt of another user's session is recorded in the audit log. `options` read on behalf of the owner,
   * or as the service.
   */
  requireStopper(sessionId: string, call: Call): Promise<{ ownerId: string; options: ReadOptions }>;
  /** Runs `work` for the owner. Refuses like `requireOwner`. Reads the session only if its owner is not known yet. */
  asOwner<Result>(sessionId: string, call: Call, work: () => Promise<Result>): Promise<Result>;
}

interface ReadAccess {
  row: SessionRow;
  /** Reads on behalf of the owner, or as the service for another user who may read the session. */
  options: ReadOptions;
}

interface SessionAccessContext {
  lists: Pick<Lists, 'session' | 'agentOfSession' | 'knownOwner'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'getLevel'>;
  record: AuditRecorder;
}

export function createSessionAccess({ lists, agents, record }: SessionAccessContext): SessionAccess {
  async function readAccess(sessionId: string, call: Call): Promise<ReadAccess> {
    const ownerOptions = databaseOptionsOf(call);
    const own = await lists.session(sessionId, ownerOptions);
    if (own) return { row: own, options: ownerOptions };
    await requireForeignReader(sessionId, call);
    if (isAdministrator(call)) await record({ action: 'session.look', targetId: sessionId }, call);
    const row = await lists.session(sessionId, call);
    if (!row) throw sessionNotFound(sessionId);
    return { row, options: call };
  }

  /** Refuses with SESSION_NOT_FOUND a caller who may not read a session of another user. */
  async function requireForeignReader(sessionId: string, call: Call): Promise<void> {
    // The same statements run for an unknown session, so that the response time does not reveal whether a session exists.
    const { agentId, exists } = await lists.agentOfSession(sessionId, call);
    const { level } = await agents.getLevel({ agentId }, call);
    if (!exists || (level !== 'manage' && !isAdministrator(call))) throw sessionNotFound(sessionId);
  }

  async function requireStopper(sessionId: string, call: Call) {
    const ownerOptions = databaseOptionsOf(call);
    const callerId = callerOf(call).userId;
    if (lists.knownOwner(sessionId) === callerId) return { ownerId: callerId, options: ownerOptions };
    if (await lists.session(sessionId, ownerOptions)) return { ownerId: callerId, options: ownerOptions };
    await requireForeignReader(sessionId, call);
    await record({ action: 'session.interrupt', targetId: sessionId }, call);
    const row = await lists.session(sessionId, call);
    if (!row) throw sessionNotFound(sessionId);
    return { ownerId: row.owner_id, options: call };
  }

  async function requireReader(sessionId: string, call: Call): Promise<SessionRow> {
    return (await readAccess(sessionId, call)).row;
  }

  async function requireOwner(sessionId: string, call: Call): Promise<SessionRow> {
    const row = await requireReader(sessionId, call);
    if (row.owner_id !== callerOf(call).userId) throw ownerRequired();
    return row;
  }

  return {
    requireReader,
    readAccess,
    requireOwner,
    requireStopper,

    async asOwner(sessionId, call, work) {
      // `work` locks an existing session, which takes longer than the refusal for an unknown one.
      if (lists.knownOwner(sessionId) !== callerOf(call).userId) await requireOwner(sessionId, call);
      return work();
    },
  };
}

function ownerRequired(): Refusal {
  return refuse('FORBIDDEN', 'Only the owner of the session may do this.');
}
