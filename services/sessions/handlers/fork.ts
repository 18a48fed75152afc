import { refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  ForkSessionRequest,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ForkResult } from '../store/forks.ts';
import type { SessionRow } from '../store/lists.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { createdSessionMessage } from './proto.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'forkSession'>;

interface WorkspaceFork {
  /** The session that is forked. */
  sessionId: string;
  afterSeq: number;
  /** The version of the workspace at the checkpoint. */
  checkpointVersion: number;
}

export function forkHandlers({
  clock,
  ids,
  agents,
  files,
  forks,
  lists,
  access,
  unmadeSessions,
}: SessionsHandlerContext): Methods {
  /** Whether nothing has happened in the session since this event and no turn is running. */
  async function isCurrent({ sessionId, afterSeq }: WorkspaceFork, call: Call): Promise<boolean> {
    const row = await lists.session(sessionId, databaseOptionsOf(call));
    return row?.last_seq === afterSeq && row.status === 'idle';
  }

  /**
   * Forks the workspace and returns the id of the new session. The current workspace is taken if the session has not
   * moved on since `afterSeq`, which includes uploads that have no event yet. That is checked again after the fork of
   * the workspace: if the session has moved on meanwhile, its files may be newer than the history of the fork, and the
   * workspace is forked again as it was at the checkpoint.
   */
  async function forkWorkspace(from: WorkspaceFork, call: Call): Promise<string> {
    if (await isCurrent(from, call)) {
      const toSessionId = ids('ses');
      const request = { fromSessionId: from.sessionId, toSessionId, version: undefined };
      await files.forkWorkspace(request, call);
      if (await isCurrent(from, call)) return toSessionId;
      await unmadeSessions.discard(toSessionId);
    }
    const toSessionId = ids('ses');
    const request = { fromSessionId: from.sessionId, toSessionId, version: from.checkpointVersion };
    await files.forkWorkspace(request, call);
    return toSessionId;
  }

  /** The sessions of an assistant share one workspace, so that a fork only needs the parts of its messages. */
  async function forkParts(fromSessionId: string, call: Call): Promise<string> {
    const toSessionId = ids('ses');
    await files.forkWorkspace({ fromSessionId, toSessionId, version: undefined, partsOnly: true }, call);
    return toSessionId;
  }

  return {
    async forkSession({ sessionId, afterSeq, idempotencyKey }, call) {
      const row = await access.requireOwner(sessionId, call);
      if (afterSeq > row.last_seq) {
        throw refuseField('/after_seq', `is after the newest event of the session, which is ${row.last_seq}`);
      }
      // Refuses callers who may not start a session with the agent.
      await agents.resolveAgent({ agentId: row.agent_id }, call);
      const checkpoint = await forks.checkpoint(sessionId, afterSeq, databaseOptionsOf(call));
      const from = { sessionId, afterSeq, checkpointVersion: checkpoint.workspaceVersion };
      const forkId = isId('ast', row.agent_id)
        ? await forkParts(sessionId, call)
        : await forkWorkspace(from, call);
      const fork = { ...copiedFields(row), ...origin(row, checkpoint.seq, call), sessionId: forkId };
      const createdAt = clock.now();
      const key = {
        caller: callerOf(call).userId,
        key: idempotencyKey,
        method: 'forkSession',
        request: ForkSessionRequest.encode({ sessionId, afterSeq, idempotencyKey: '' }),
        now: createdAt,
      };
      const answerFor = ({ lastSeq }: ForkResult) => {
        const metadata = JSON.parse(row.metadata);
        return Session.encode(
          createdSessionMessage({ ...fork, source: 'fork', createdAt, metadata, lastSeq }),
        ).finish();
      };
      try {
        const { answer, replayed } = await forks.fork({ ...fork, createdAt }, key, answerFor, call);
        if (replayed) await unmadeSessions.discard(forkId);
        return { session: Session.decode(answer), replayed };
      } catch (error) {
        await unmadeSessions.discardIfAbsent(forkId);
        throw error;
      }
    },
  };
}

function copiedFields(row: SessionRow) {
  return {
    ownerId: row.owner_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    title: row.title,
    metadataJson: row.metadata,
  };
}

function origin({ session_id: fromSessionId }: SessionRow, fromSeq: number, call: Call) {
  return { fromSessionId, fromSeq, actor: actorOf(call), traceparent: traceparent(call.trace) };
}
