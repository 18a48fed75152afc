import { refuse } from '../../../lib/errors.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type {
  FileEvent as FileEventMessage,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type FileEvent, tell } from '../domain/environment.ts';
import { environments } from '../store/sandboxes.ts';
import type { HandlerContext } from './context.ts';
import { oneLine } from './json.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'locateWorkspace' | 'appendFileEvents'>;

const TYPES = ['file.created', 'file.modified', 'file.deleted'] as const;

/** What the keeper of files asks and tells. */
export function workspaceHandlers({ changes, claims, reach }: HandlerContext): Methods {
  return {
    async locateWorkspace({ sessionId, lease }, call) {
      if (lease) {
        const turn = await claims.heldTurn({ ...lease, sessionId }, call);
        if (!turn) throw refuse('LEASE_LOST', 'the turn is no longer held under this fence');
        const assistantId = assistantOf(turn.agent_id);
        return { ownerId: turn.owner_id, assistantId, readOnly: false, foreign: false };
      }
      const row = await reach.readable(sessionId, call);
      const readOnly = row.archived_at !== null || row.status === 'terminated';
      const foreign = row.owner_id !== callerOf(call).userId;
      return { ownerId: row.owner_id, assistantId: assistantOf(row.agent_id), readOnly, foreign };
    },

    async appendFileEvents({ sessionId, events }) {
      const told = events.map(eventOf);
      const last = told.at(-1)?.seq ?? 0;
      let gone = false;
      await changes.alone(sessionId, async (state, tx) => {
        gone = !state || state.deleted;
        if (!state || gone) return undefined;
        const { files_seq: toldSeq } = await environments.read(tx, sessionId);
        if (last > toldSeq) await environments.setFilesSeq(tx, sessionId, last);
        return tell(state, told, toldSeq);
      });
      return { gone };
    },
  };
}

function assistantOf(agentId: string): string {
  return isId('ast', agentId) ? agentId : '';
}

function eventOf({ seq, type: named, dataJson, userId, createdAt }: FileEventMessage): FileEvent {
  const type = TYPES.find((one) => one === named);
  if (!type) throw refuse('INVALID_REQUEST', `${named} is no event of a file`);
  oneLine(dataJson, `the data of ${type}`);
  return { seq, type, dataJson, userId, createdAt: createdAt ?? new Date(0) };
}
