import { Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  SendMessageRequest,
  SendMessageResponse,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { open, owned, sessionNotFound } from '../domain/access.ts';
import { NOTHING_SEEN } from '../domain/interrupt.ts';
import { amend, remove } from '../domain/leave.ts';
import { type BusyPolicy, send } from '../domain/send.ts';
import { titleOf } from '../domain/title.ts';
import type { Decided } from '../store/apply.ts';
import type { Decide, DecideAlone, DecideStop } from '../store/changes.ts';
import { markDeleted, queuedTurns } from '../store/removal.ts';
import { amendment, archival, titling } from '../store/writes.ts';
import { actorOf } from './actor.ts';
import type { HandlerContext } from './context.ts';
import { parseLine, textIn } from './json.ts';
import { sessionOf } from './shapes.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'sendMessage' | 'updateSession' | 'archiveSession' | 'deleteSession'
>;

const SMALL = 1_000;
const BUSY_POLICIES: readonly string[] = ['enqueue', 'reject', 'interrupt'] satisfies BusyPolicy[];

/** What a user does with a session of theirs. */
export function workingHandlers({
  clock,
  ids,
  agents,
  changes,
  lists,
  reach,
  sandboxes,
}: HandlerContext): Methods {
  async function read(sessionId: string, call: Call) {
    const row = await lists.session(sessionId, onBehalf(call));
    if (!row) throw sessionNotFound(sessionId);
    return { session: sessionOf(row) };
  }

  /**
   * Sends, and asks after the assistant where the session turns out to be of one: it takes no more messages when that
   * is gone, as it has no version to go on with. All other sessions are spared the question.
   */
  async function asking<Answer>(
    sessionId: string,
    call: Call,
    send: (isThere: boolean) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await send(false);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'ASSISTANT_NOT_FOUND') throw error;
      const { agent_id: agentId } = await reach.own(sessionId, call);
      await agents.resolveAgent({ agentId }, call);
      return send(true);
    }
  }

  function sending(request: SendMessageRequest, turnId: string, call: Call, isThere: boolean): DecideStop {
    const { sessionId, contentJson, busyPolicy } = request;
    if (!BUSY_POLICIES.includes(busyPolicy))
      throw refuseField('/busy_policy', 'is none of enqueue, reject, interrupt');
    const title = titleOf(textIn(parseLine(contentJson, 'the content')));
    const message = {
      turnId,
      contentJson,
      busyPolicy: busyPolicy as BusyPolicy,
      actor: actorOf(call),
      traceparent: traceparent(call.trace),
    };
    return (state, seen) => {
      const session = open(owned(state, sessionId, callerOf(call).userId));
      if (!isThere && isId('ast', session.agentId))
        throw refuse('ASSISTANT_NOT_FOUND', 'the assistant has not been asked for');
      const change = send(session, seen, { ...message, now: clock.now() });
      return session.titled || !title ? { change } : { change, update: titling(sessionId, title) };
    };
  }

  async function sendOnce(
    request: SendMessageRequest,
    isThere: boolean,
    call: Call,
  ): Promise<SendMessageResponse> {
    const turnId = ids('trn');
    const decide = sending(request, turnId, call, isThere);
    if (request.idempotencyKey === '') {
      const bytes = request.contentJson.length + SMALL;
      const changed =
        request.busyPolicy === 'interrupt'
          ? await changes.stop(request.sessionId, bytes, decide, call)
          : await changes.change(request.sessionId, bytes, (state) => decide(state, NOTHING_SEEN), call);
      return { turnId, seq: seqOf(changed), replayed: false };
    }
    const key = {
      caller: callerOf(call).userId,
      key: request.idempotencyKey,
      method: 'sendMessage',
      request: SendMessageRequest.encode({ ...request, idempotencyKey: '' }),
      now: clock.now(),
    };
    const answerFor = (changed: Decided) =>
      SendMessageResponse.encode({ turnId, seq: seqOf(changed), replayed: false }).finish();
    const { answer, replayed } = await changes.changeOnce(request.sessionId, key, decide, answerFor, call);
    return { ...SendMessageResponse.decode(answer), replayed };
  }

  return {
    async sendMessage(request, call) {
      const send = (isThere: boolean) => sendOnce(request, isThere, call);
      return reach.asOwner(request.sessionId, call, () => asking(request.sessionId, call, send));
    },

    async updateSession({ sessionId, title, metadata }, call) {
      const caller = callerOf(call).userId;
      const row = await lists.session(sessionId, onBehalf(call));
      const decide: Decide = (state) => {
        const session = open(owned(state, sessionId, caller));
        const changed = [
          ...(title === undefined ? [] : ['title']),
          ...(metadata === undefined ? [] : ['metadata']),
        ];
        const nextTitle = title === undefined ? (row?.title ?? null) : title || null;
        const nextMetadata = metadata ? JSON.stringify(metadata.entries) : (row?.metadata ?? '{}');
        return {
          change: amend(session, changed, actorOf(call)),
          update: amendment(sessionId, nextTitle, nextMetadata),
        };
      };
      await reach.asOwner(sessionId, call, () => changes.change(sessionId, SMALL, decide, call));
      return read(sessionId, call);
    },

    async archiveSession({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: Decide = (state) => {
        const session = owned(state, sessionId, caller);
        const change = amend(session, session.archived ? [] : ['archived_at'], actorOf(call));
        return session.archived ? { change } : { change, update: archival(sessionId, clock.now()) };
      };
      await reach.asOwner(sessionId, call, () => changes.change(sessionId, SMALL, decide, call));
      return read(sessionId, call);
    },

    async deleteSession({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideAlone = async (found, tx) => {
        const now = clock.now();
        const state = owned(found, sessionId, caller);
        const queued = await queuedTurns(tx, state);
        await markDeleted(tx, state, now);
        await sandboxes.endOf(tx, sessionId, 'its session is deleted', now);
        return remove(state, queued, actorOf(call), now);
      };
      await reach.asOwner(sessionId, call, () => changes.alone(sessionId, decide, call));
      return {};
    },
  };
}

/** The seq of the user.message that a change appended. */
function seqOf({ change, entry }: Decided): number {
  return (entry?.firstSeq ?? 0) + (change.newTurn?.draft ?? 0);
}
