import { refuse } from '../../../lib/errors.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { FileEvent, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { appendFileEvents, type WorkspaceFileEvent } from '../domain/environment.ts';
import { sessionEnvironments } from '../store/session-environments.ts';
import type { SessionsHandlerContext } from './context.ts';
import { requireSingleLineJson } from './json.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'locateWorkspace' | 'appendFileEvents' | 'listReferencedParts'
>;

const MAX_DIGESTS = 1_000;

const TYPES = ['files.uploaded', 'file.created', 'file.modified', 'file.deleted'] as const;

/** The RPCs of the files service: locate a workspace, append its file events and find the parts in use. */
export function workspaceHandlers({ changes, leases, access, events }: SessionsHandlerContext): Methods {
  return {
    async locateWorkspace({ sessionId, lease }, call) {
      if (lease) {
        const turn = await leases.turn({ ...lease, sessionId }, call);
        if (!turn) throw refuse('LEASE_LOST', 'The runner no longer holds the turn under this fence.');
        const { owner_id: ownerId, agent_id: agentId, agent_version: agentVersion } = turn;
        const access = { readOnly: false, foreign: false };
        return { ownerId, assistantId: assistantIdOf(agentId), ...access, agentId, agentVersion };
      }
      const row = await access.requireReader(sessionId, call);
      const readOnly = row.archived_at !== null || row.status === 'terminated';
      const foreign = row.owner_id !== callerOf(call).userId;
      return { ownerId: row.owner_id, assistantId: assistantIdOf(row.agent_id), readOnly, foreign };
    },

    async appendFileEvents({ sessionId, events: messages }) {
      const fileEvents = messages.map(parseFileEvent);
      const lastSeq = fileEvents.at(-1)?.seq ?? 0;
      let gone = false;
      await changes.inOwnTransaction(sessionId, async (state, tx) => {
        gone = !state || state.deleted;
        if (!state || gone || fileEvents.length === 0) return undefined;
        const { files_seq: appendedSeq } = await sessionEnvironments.read(tx, sessionId);
        if (lastSeq > appendedSeq) await sessionEnvironments.setFilesSeq(tx, sessionId, lastSeq);
        return appendFileEvents(state, fileEvents, appendedSeq);
      });
      return { gone };
    },

    async listReferencedParts({ sessionId, sha256 }, call) {
      if (sha256.length > MAX_DIGESTS)
        throw refuse('INVALID_REQUEST', `The request must have at most ${MAX_DIGESTS} digests.`);
      return { sha256: await events.referencedParts(sessionId, sha256, call) };
    },
  };
}

function assistantIdOf(agentId: string): string {
  return isId('ast', agentId) ? agentId : '';
}

function parseFileEvent({ seq, type: name, dataJson, userId, createdAt }: FileEvent): WorkspaceFileEvent {
  const type = TYPES.find((one) => one === name);
  if (!type) throw refuse('INVALID_REQUEST', `Unknown file event type \`${name}\`.`);
  requireSingleLineJson(dataJson, `data of ${type}`);
  return { seq, type, dataJson, userId, createdAt: createdAt ?? new Date(0) };
}
