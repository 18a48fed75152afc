import { Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  type AttachmentList,
  type DeploymentActor,
  SendMessageRequest,
  SendMessageResponse,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { digestedAttachments } from '../attachments.ts';
import { requireOwned, requireWritable, sessionNotFound } from '../domain/access.ts';
import { titleTextOf } from '../domain/content.ts';
import { pinnedBytesOf } from '../domain/pinned.ts';
import { type BusyPolicy, busyRefusal, send } from '../domain/send.ts';
import { titleFromText } from '../domain/title.ts';
import type { SessionChange } from '../store/apply.ts';
import type { IdempotencyKey } from '../store/creations.ts';
import type { DecideWithContext } from '../store/decisions.ts';
import { setTitleIfMissing } from '../store/session-updates.ts';
import { idsOfCause, userOrDeployment } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { parseSingleLineJson } from './json.ts';
import { resolveOverrides } from './overrides.ts';
import { senderJsonOf } from './sender.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'sendMessage'>;

/** About how many bytes a message writes beside its content. */
const MESSAGE_OVERHEAD_BYTES = 1_000;
const BUSY_POLICIES: readonly string[] = ['enqueue', 'reject', 'interrupt', 'steer'] satisfies BusyPolicy[];

/** The overrides in force for a message, and the agent version for which they were resolved. */
interface MessageSettings {
  agentVersion: number;
  overridesJson: string | undefined;
}

export function messageHandlers({
  clock,
  ids,
  agents,
  changes,
  lists,
  access,
  attachments,
  signalledTurns,
}: SessionsHandlerContext): Methods {
  /**
   * Sends the message, and checks that the assistant exists if the session is one of an assistant: after its deletion
   * an assistant has no version to go on with. Sessions of agents skip the check, as sending first finds out which
   * kind of session it is.
   */
  async function sendChecked<Answer>(
    sessionId: string,
    call: Call,
    sendMessage: (assistantExists: boolean) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await sendMessage(false);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'ASSISTANT_NOT_FOUND') throw error;
      const { agent_id: agentId } = await access.requireOwner(sessionId, call);
      await agents.resolveAgent({ agentId }, call);
      return sendMessage(true);
    }
  }

  /** The settings of the turn if the message has overrides, which are resolved by a call of the agents service. */
  async function settingsOf(
    { sessionId, overrides }: SendMessageRequest,
    call: Call,
  ): Promise<MessageSettings | undefined> {
    if (!overrides) return undefined;
    const settings = await lists.turnSettings(sessionId, databaseOptionsOf(call));
    if (!settings) throw sessionNotFound(sessionId);
    const overridesJson = await resolveOverrides(agents, settings, overrides, call);
    return { agentVersion: settings.agent_version, overridesJson };
  }

  function decideSend(
    { sessionId, busyPolicy, actor, sender, pinned }: SendMessageRequest,
    contentJson: string,
    turnId: string,
    call: Call,
    assistantExists: boolean,
    settings: MessageSettings | undefined,
  ): DecideWithContext {
    const content = parseSingleLineJson(contentJson, 'content');
    const title = titleFromText(titleTextOf(content));
    const message = {
      turnId,
      contentJson,
      senderJson: senderJsonOf(sender, actor),
      busyPolicy: busyPolicy as BusyPolicy,
      actor: userOrDeployment(actor, call),
      isTriggered: actor !== undefined,
      traceparent: traceparent(call.trace),
      overridesJson: settings?.overridesJson,
      pinnedBytes: pinned ? pinnedBytesOf(content) : undefined,
    };
    return (state, context) => {
      const session = requireWritable(requireOwned(state, sessionId, callerOf(call).userId));
      if (!assistantExists && isId('ast', session.agentId))
        throw refuse('ASSISTANT_NOT_FOUND', 'The existence of the assistant was not checked.');
      if (settings && settings.agentVersion !== session.agentVersion)
        throw refuse('SESSION_BUSY', 'The agent version of the session has changed. Send the message again.');
      const change = send(session, context, { ...message, now: clock.now() });
      return session.hasTitle || !title
        ? { change }
        : { change, update: setTitleIfMissing(sessionId, title) };
    };
  }

  function keyOf(request: SendMessageRequest, call: Call): IdempotencyKey {
    const list = digestedAttachments(request.attachments);
    return {
      caller: callerOf(call).userId,
      key: request.idempotencyKey,
      method: 'sendMessage',
      request: SendMessageRequest.encode({ ...request, attachments: list, idempotencyKey: '' }),
      now: clock.now(),
    };
  }

  /** The answer to an earlier request with the same key, run or delivery. Undefined without one. */
  async function earlierAnswer(
    request: SendMessageRequest,
    call: Call,
  ): Promise<SendMessageResponse | undefined> {
    if (request.actor) {
      const { turnId } = idsOfCause(request.actor);
      const queued = await signalledTurns.find(turnId, call);
      return queued && { turnId, seq: queued.seq, replayed: true };
    }
    if (request.idempotencyKey === '') return undefined;
    const answer = await changes.answerTo(keyOf(request, call), call);
    return answer && { ...SendMessageResponse.decode(answer), replayed: true };
  }

  /** Sends the message of a run or a delivery, which has one turn however often its message is sent. */
  async function sendForCause(
    request: SendMessageRequest,
    actor: DeploymentActor,
    contentJson: string,
    settings: MessageSettings | undefined,
    assistantExists: boolean,
    call: Call,
  ): Promise<SendMessageResponse> {
    const { turnId } = idsOfCause(actor);
    const decide = decideSend(request, contentJson, turnId, call, assistantExists, settings);
    const queued = await changes.queueOnce(request.sessionId, turnId, decide, call);
    return 'seq' in queued
      ? { turnId, seq: queued.seq, replayed: true }
      : { turnId, seq: newTurnSeq(queued), replayed: false };
  }

  /** Sends a message whose content is in the form of the journal. */
  async function sendOnce(
    request: SendMessageRequest,
    contentJson: string,
    settings: MessageSettings | undefined,
    assistantExists: boolean,
    call: Call,
  ): Promise<SendMessageResponse> {
    if (request.actor)
      return sendForCause(request, request.actor, contentJson, settings, assistantExists, call);
    const turnId = ids('trn');
    const decide = decideSend(request, contentJson, turnId, call, assistantExists, settings);
    const reads = { interrupt: request.busyPolicy === 'interrupt', pinned: request.pinned === true };
    if (request.idempotencyKey === '') {
      const overrideBytes = 2 * (settings?.overridesJson?.length ?? 0);
      const bytes = contentJson.length + overrideBytes + MESSAGE_OVERHEAD_BYTES;
      const changed = await changes.changeWithContext(request.sessionId, bytes, reads, decide, call);
      return { turnId, seq: newTurnSeq(changed), replayed: false };
    }
    const key = keyOf(request, call);
    const answerFor = (changed: SessionChange) =>
      SendMessageResponse.encode({ turnId, seq: newTurnSeq(changed), replayed: false }).finish();
    const { answer, replayed } = await changes.changeOnce(
      request.sessionId,
      key,
      reads,
      decide,
      answerFor,
      call,
    );
    return { ...SendMessageResponse.decode(answer), replayed };
  }

  /** Stores the parts of a message and then sends it. A repeated request with the same key stores nothing. */
  async function sendWithParts(
    request: SendMessageRequest,
    list: AttachmentList,
    call: Call,
  ): Promise<SendMessageResponse> {
    const { sessionId, contentJson, busyPolicy } = request;
    const row = await access.requireOwner(sessionId, call);
    userOrDeployment(request.actor, call);
    const known = await earlierAnswer(request, call);
    if (known) return known;
    requireWritable({ archived: row.archived_at !== null, status: row.status });
    const isBusy = row.status !== 'idle' || row.current_turn_id !== null || row.queue_held;
    const isRefused = row.queue_held && request.actor !== undefined;
    if (isRefused || (isBusy && busyPolicy === 'reject')) throw busyRefusal(row.queue_held);
    const settings = await settingsOf(request, call);
    const ofSession = settings ? undefined : await lists.turnSettings(sessionId, databaseOptionsOf(call));
    const session = {
      sessionId,
      ownerId: row.owner_id,
      agentId: row.agent_id,
      agentVersion: row.agent_version,
      overridesJson: settings?.overridesJson ?? ofSession?.overrides ?? undefined,
    };
    const content = parseSingleLineJson(contentJson, 'content');
    // Checked first, because a refusal must leave nothing behind.
    senderJsonOf(request.sender, request.actor);
    try {
      const journaled = await attachments.store(content, list, session, call);
      return await sendChecked(sessionId, call, (assistantExists) =>
        sendOnce(request, journaled, settings, assistantExists, call),
      );
    } catch (error) {
      // The same message may have been sent meanwhile, and its file deleted after that.
      const answer = error instanceof Refusal ? await earlierAnswer(request, call) : undefined;
      if (answer) return answer;
      throw error;
    }
  }

  return {
    async sendMessage(request, call) {
      const { sessionId, contentJson, attachments: list } = request;
      checkBusyPolicy(request);
      if (request.pinned && request.actor)
        throw refuseField('/pinned', 'must not be true in a message of a deployment');
      if (list) return sendWithParts(request, list, call);
      return access.asOwner(sessionId, call, async () => {
        const settings = await settingsOf(request, call);
        return sendChecked(sessionId, call, (assistantExists) =>
          sendOnce(request, contentJson, settings, assistantExists, call),
        );
      });
    },
  };
}

/**
 * Refuses an unknown policy, and overrides of a message that steers: the settings of a turn do not change while it runs. The
 * turns of a deployment answer their own messages.
 */
function checkBusyPolicy({ busyPolicy, overrides, actor }: SendMessageRequest): void {
  if (!BUSY_POLICIES.includes(busyPolicy))
    throw refuseField('/busy_policy', `must be one of ${BUSY_POLICIES.join(', ')}`);
  if (busyPolicy !== 'steer') return;
  if (overrides)
    throw refuseField(
      '/busy_policy',
      'must not be steer in a message with overrides, because the settings of the running turn are fixed',
    );
  if (actor) throw refuseField('/busy_policy', 'must not be steer in a message of a deployment');
}

/** The position of the turn that a change queued: the seq of its first event. */
export function newTurnSeq({ change, row }: SessionChange): number {
  return (row?.firstSeq ?? 0) + (change.newTurn?.draftIndex ?? 0);
}
