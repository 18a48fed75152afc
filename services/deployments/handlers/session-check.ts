import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, Caller, Client } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';

interface SessionCheckContext {
  admission: Pick<Admission, 'owner'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'getSession'>;
}

export type SessionCheck = ReturnType<typeof createSessionCheck>;

/** Returns a check that refuses a session of another user or agent than those of the schedule with SESSION_NOT_FOUND. */
export function createSessionCheck({ admission, sessions }: SessionCheckContext) {
  async function ownerOf(ownerId: string, call: Call): Promise<Caller> {
    if (call.caller?.userId === ownerId) return call.caller;
    const owner = await admission.owner(ownerId, call);
    if ('obstacle' in owner) throw sessionNotFound();
    return owner.caller;
  }

  return async (
    sessionId: string,
    { ownerId, agentId }: { ownerId: string; agentId: string },
    call: Call,
  ) => {
    if (!isId('ses', sessionId)) throw sessionNotFound();
    const caller = await ownerOf(ownerId, call);
    const { session } = await sessions
      .getSession({ sessionId }, { ...call, caller })
      .catch((error: unknown) => {
        throw error instanceof Refusal && error.code === 'SESSION_NOT_FOUND' ? sessionNotFound() : error;
      });
    if (session?.createdBy !== ownerId || session.agentId !== agentId) throw sessionNotFound();
  };
}

function sessionNotFound(): Refusal {
  return refuse('SESSION_NOT_FOUND', 'The creator of the schedule has no such session with its agent.', {
    details: [
      {
        pointer: '/session_id',
        message: 'must name a session of the creator of the schedule with its agent',
      },
    ],
  });
}
