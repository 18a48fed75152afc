import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ContinuedSessionStore } from '../store/continued-sessions.ts';
import type { ClaimedRun } from '../store/run-queue.ts';

type SessionObstacle = 'session_archived' | 'session_terminated' | 'session_deleted';

/** The turn of the run; the reason why there can be none; or the session cannot take the message yet. */
type OpenedTurn = { sessionId: string; turnId: string } | { obstacle: SessionObstacle } | { postponed: true };

interface Start {
  agentVersion: number;
  /** The first message of the run. */
  text: string;
}

interface RunSessionsContext {
  sessions: Pick<Client<SessionsServiceDefinition>, 'createSession' | 'getSession' | 'sendMessage'>;
  store: ContinuedSessionStore;
  clock: Clock;
}

const POSTPONED = { postponed: true } as const;
const DELETED = { obstacle: 'session_deleted' } as const;

export type RunSessions = ReturnType<typeof createRunSessions>;

/** Opens the session of a run, or sends its message to the session that the schedule continues. */
export function createRunSessions({ sessions, store, clock }: RunSessionsContext) {
  const actorOf = ({ deploymentId, runId }: ClaimedRun) => ({ type: 'schedule', deploymentId, runId });

  async function create(
    run: ClaimedRun,
    { agentVersion, text }: Start,
    options: CallOptions,
  ): Promise<OpenedTurn> {
    const { deploymentId, agentId, ownerId } = run;
    const request = { invocationId: '', deploymentId, agentId, agentVersion, ownerId, text };
    const webhook = { bodyBytes: 0, sourceAddress: '' };
    const created = await sessions.createSession({ ...request, ...webhook, actor: actorOf(run) }, options);
    return { sessionId: created.sessionId, turnId: created.turnId };
  }

  /** A session of another user or agent counts as deleted. */
  async function send(
    run: ClaimedRun,
    sessionId: string,
    { text }: Start,
    options: CallOptions,
  ): Promise<OpenedTurn> {
    try {
      const { session } = await sessions.getSession({ sessionId }, options);
      if (!session || session.createdBy !== run.ownerId || session.agentId !== run.agentId) return DELETED;
      if (session.status === 'terminated') return { obstacle: 'session_terminated' };
      if (session.archivedAt) return { obstacle: 'session_archived' };
      if (session.queueHeld) return POSTPONED;
      const contentJson = JSON.stringify([{ type: 'text', text }]);
      const message = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
      const { turnId } = await sessions.sendMessage({ ...message, actor: actorOf(run) }, options);
      return { sessionId, turnId };
    } catch (error) {
      const obstacle = error instanceof Refusal ? OBSTACLES[error.code] : undefined;
      if (!obstacle) throw error;
      return { obstacle };
    }
  }

  /** Several runs can find that the schedule has no session. The first one to reserve its own session creates it. */
  async function continueOwn(run: ClaimedRun, start: Start, options: CallOptions): Promise<OpenedTurn> {
    const { deploymentId, runId } = run;
    const { trace } = options;
    const own = withPrefix('ses', runId);
    const current = run.sessionId ?? (await store.reserve(deploymentId, own, null, { trace }));
    if (current === undefined) return DELETED;
    if (current === own) return create(run, start, options);
    const sent = await send(run, current, start, options);
    if (!isDeleted(sent)) return sent;
    if (await store.isBeingCreated(withPrefix('run', current), clock.now(), { trace })) return POSTPONED;
    // The session can have been created since the message was refused.
    const again = await send(run, current, start, options);
    if (!isDeleted(again)) return again;
    const replacement = await store.reserve(deploymentId, own, current, { trace });
    return replacement === own ? create(run, start, options) : POSTPONED;
  }

  return {
    open(run: ClaimedRun, start: Start, options: CallOptions): Promise<OpenedTurn> {
      if (run.sessionMode === 'new') return create(run, start, options);
      if (run.sessionIsGiven) return send(run, run.sessionId ?? '', start, options);
      return continueOwn(run, start, options);
    },
  };
}

function isDeleted(opened: OpenedTurn): boolean {
  return 'obstacle' in opened && opened.obstacle === 'session_deleted';
}

const OBSTACLES: Partial<Record<string, SessionObstacle>> = {
  SESSION_NOT_FOUND: 'session_deleted',
  SESSION_TERMINATED: 'session_terminated',
  SESSION_ARCHIVED: 'session_archived',
};
