import { refuse } from '../../../lib/errors.ts';
import { callerOf, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import { isId, withPrefix } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Located, ReadOptions } from '../store/workspaces.ts';

/** Finds out whose workspace is meant, and whether this call may see it. */
export type Locate = (place: Place | undefined, lease: Lease | undefined, call: Call) => Promise<Located>;

export interface LocateClients {
  sessions: Pick<Client<SessionsServiceDefinition>, 'locateWorkspace'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'getAssistant'>;
}

export function createLocate({ sessions, agents }: LocateClients): Locate {
  async function ofSession(sessionId: string, lease: Lease | undefined, call: Call): Promise<Located> {
    if (!isId('ses', sessionId)) throw refuse('SESSION_NOT_FOUND', 'there is no such session');
    if (lease && lease.sessionId !== sessionId)
      throw refuse('INVALID_REQUEST', 'the lease is one of another session');
    const { assistantId, ...whose } = await sessions.locateWorkspace({ sessionId, lease }, call);
    return { ...whose, workspaceId: workspaceOf(assistantId || sessionId), sessionId };
  }

  async function ofAssistant(assistantId: string, call: Call): Promise<Located> {
    if (!isId('ast', assistantId)) throw refuse('ASSISTANT_NOT_FOUND', 'there is no such assistant');
    const { userId } = callerOf(call);
    const { assistant } = await agents.getAssistant({ assistantId }, call);
    const ownerId = assistant?.createdBy ?? '';
    const foreign = ownerId !== userId;
    return { workspaceId: workspaceOf(assistantId), ownerId, sessionId: '', readOnly: false, foreign };
  }

  return async (place, lease, call) => {
    if (place?.of?.$case === 'sessionId') return ofSession(place.of.value, lease, call);
    if (lease) throw refuse('INVALID_REQUEST', 'a lease is one of a session');
    if (place?.of?.$case === 'assistantId') return ofAssistant(place.of.value, call);
    throw refuse('INVALID_REQUEST', 'the request says of no workspace');
  };
}

/** The same, where something is to be changed. Refused with FORBIDDEN, SESSION_ARCHIVED besides. */
export async function locateToChange(
  locate: Locate,
  place: Place | undefined,
  lease: Lease | undefined,
  call: Call,
): Promise<Located> {
  const located = await locate(place, lease, call);
  if (located.foreign) throw refuse('FORBIDDEN', 'the files are somebody else’s and can only be read');
  if (located.readOnly) throw refuse('SESSION_ARCHIVED', 'the session can only be read');
  return located;
}

/** How more of it is read: on behalf of its owner where they ask, otherwise as the service itself. */
export function readingOf({ ownerId }: Located, call: Call): ReadOptions {
  return call.caller?.userId === ownerId ? onBehalf(call) : call;
}

/** wsp_…: a workspace has the 26 characters of whose it is. */
export function workspaceOf(id: string): string {
  return withPrefix('wsp', id);
}
