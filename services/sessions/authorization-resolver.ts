import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { requireOwned } from './domain/access.ts';
import { type ApprovalDecision, decide } from './domain/decide.ts';
import type { Approvals } from './store/approvals.ts';
import type { Changes } from './store/changes.ts';

type SubmitOptions = Parameters<Changes['change']>[3];

/** Authorizations that are decided at the same time. The changes of different sessions share transactions. */
const BATCH = 100;
/** About how many bytes a decision writes. */
const DECISION_BYTES = 1_000;
/** A turn that found no credential just before the user connected has requested its authorization by then. */
const SECOND_PASS_MS = 2_000;
/** An authorization with one of these errors was decided at the same time, or its session was deleted. */
const CLOSED: ReadonlySet<string> = new Set(['APPROVAL_ALREADY_DECIDED', 'SESSION_NOT_FOUND']);

interface Connection {
  /** usr_… */
  userId: string;
  /** mcp_… */
  mcpServerId: string;
}

interface ResolverContext {
  approvals: Pick<Approvals, 'waiting'>;
  changes: Pick<Changes, 'change'>;
  clock: Clock;
  log: Log;
}

export type AuthorizationResolver = ReturnType<typeof createAuthorizationResolver>;

/** Resumes the turns that wait for a server to which their user has connected. */
export function createAuthorizationResolver({ approvals, changes, clock, log }: ResolverContext) {
  const pending = new Set<() => void>();

  async function resolveAll(connection: Connection, options?: SubmitOptions): Promise<number> {
    let resolved = 0;
    for (let after = ''; ; ) {
      const waiting = await approvals.waiting({ ...connection, after }, BATCH, options);
      const results = await Promise.all(waiting.map((one) => resolveOne(one, connection.userId, options)));
      resolved += results.filter((isResolved) => isResolved).length;
      const last = waiting.at(-1);
      if (!last || waiting.length < BATCH) return resolved;
      after = last.approvalId;
    }
  }

  /** Returns false if the authorization was closed meanwhile. */
  async function resolveOne(
    { sessionId, approvalId }: { sessionId: string; approvalId: string },
    userId: string,
    options: SubmitOptions,
  ): Promise<boolean> {
    const decision: ApprovalDecision = {
      approvalId,
      decision: 'retry',
      reason: 'connected',
      editedInputJson: '',
      editedSha256: '',
      actor: { type: 'user', id: userId },
      decidedBy: userId,
      now: clock.now(),
    };
    try {
      await changes.change(
        sessionId,
        DECISION_BYTES,
        (state) => ({ change: decide(requireOwned(state, sessionId, userId), decision) }),
        options,
      );
      return true;
    } catch (error) {
      if (error instanceof Refusal && CLOSED.has(error.code)) return false;
      throw error;
    }
  }

  function scheduleSecondPass(connection: Connection): void {
    const cancel = clock.after(SECOND_PASS_MS, () => {
      pending.delete(cancel);
      resolveAll(connection).catch((error: unknown) =>
        log.warn({ err: error }, 'authorizations that were requested while a user connected stay open'),
      );
    });
    pending.add(cancel);
  }

  return {
    /** Decides the waiting authorizations with `retry`, and once more later. Returns how many were decided at once. */
    async resolve(connection: Connection, options?: SubmitOptions): Promise<number> {
      const resolved = await resolveAll(connection, options);
      scheduleSecondPass(connection);
      return resolved;
    },

    close(): void {
      for (const cancel of pending) cancel();
    },
  };
}
