import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  CreateConversationRequest,
  type CreateConversationResponse,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { digestedAttachments } from '../attachments.ts';
import { titleTextOf } from '../domain/content.ts';
import { INTERACTIVE, type InitialUpload, type NewSession, TRIGGERED, tokenOf } from '../domain/create.ts';
import { titleFromText } from '../domain/title.ts';
import type { IdempotencyKey } from '../store/creations.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { parseSingleLineJson, requireSingleLineJson } from './json.ts';
import { resolveOverrides } from './overrides.ts';
import { createdSessionMessage } from './proto.ts';
import { senderJsonOf } from './sender.ts';
import { originOf } from './session-origin.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'createConversation' | 'createSession'>;

const FIRST = { limit: 1, cursor: '' };

/** Handlers that create sessions. */
export function creationHandlers({
  clock,
  ids,
  agents,
  creations,
  lists,
  attachments,
  unmadeSessions,
}: SessionsHandlerContext): Methods {
  /** The first answer to a request that is repeated. The first turn is the one of the first message, if there is one. */
  async function repeatedAnswer(answer: Uint8Array, call: Call): Promise<CreateConversationResponse> {
    const session = Session.decode(answer);
    if (session.queuedTurns === 0) return { session, replayed: true };
    const { rows } = await lists.turns(session.sessionId, FIRST, undefined, databaseOptionsOf(call));
    return { session, replayed: true, turnId: rows[0]?.turn_id };
  }

  async function create(
    session: NewSession,
    key: IdempotencyKey,
    call: Call,
  ): Promise<CreateConversationResponse> {
    const turnId = session.contentJson === undefined ? undefined : session.turnId;
    if (key.key === '') {
      await creations.create(session, call);
      return { session: createdSessionMessage(createdShape(session)), replayed: false, turnId };
    }
    const { answer, replayed } = await creations.createOnce(
      session,
      key,
      Session.encode(createdSessionMessage(createdShape(session))).finish(),
      call,
    );
    return replayed ? repeatedAnswer(answer, call) : { session: Session.decode(answer), replayed, turnId };
  }

  /** The answer to an earlier request with the same key. Undefined without one. */
  async function earlierAnswer(
    key: IdempotencyKey,
    call: Call,
  ): Promise<CreateConversationResponse | undefined> {
    const answer = key.key === '' ? undefined : await creations.answerTo(key, call);
    return answer && repeatedAnswer(answer, call);
  }

  /** Stores what the first message and the workspace bring along, and then creates the session. */
  async function createWithBytes(
    { attachments: list, files }: CreateConversationRequest,
    content: unknown,
    session: NewSession,
    key: IdempotencyKey,
    call: Call,
  ): Promise<CreateConversationResponse> {
    const known = await earlierAnswer(key, call);
    if (known) return known;
    // Checked first, because a refusal must leave nothing behind.
    if (list && files) await attachments.checkFiles(files, session, call);
    const contentJson = list ? await attachments.store(content, list, session, call) : session.contentJson;
    let mayHaveStored = list !== undefined;
    try {
      let upload: InitialUpload | undefined;
      if (files) {
        upload = await attachments.place(files, session, call).catch((error: unknown) => {
          mayHaveStored ||= !isRefusedRequest(error);
          throw error;
        });
        mayHaveStored = true;
      }
      if (upload) requireSingleLineJson(upload.dataJson, 'data of files.uploaded');
      const created = await create({ ...session, contentJson, upload }, key, call);
      if (created.replayed) await unmadeSessions.discard(session.sessionId);
      return created;
    } catch (error) {
      if (mayHaveStored) await unmadeSessions.discardIfAbsent(session.sessionId);
      throw error;
    }
  }

  return {
    async createConversation(request, call) {
      const owner = callerOf(call);
      const agent = await agents.resolveAgent({ agentId: request.agentId }, call);
      const settings = { agent_id: agent.agentId, agent_version: agent.version, overrides: null };
      const overridesJson =
        request.overrides && (await resolveOverrides(agents, settings, request.overrides, call));
      const content = request.contentJson ? parseSingleLineJson(request.contentJson, 'content') : undefined;
      const session: NewSession = {
        sessionId: ids('ses'),
        ownerId: owner.userId,
        agentId: agent.agentId,
        agentVersion: agent.version,
        source: owner.protocol ?? 'conversation',
        actor: actorOf(call),
        title: request.title || titleFromText(titleTextOf(content)),
        metadata: request.metadata,
        contentJson: content === undefined ? undefined : request.contentJson,
        turnId: ids('trn'),
        overridesJson,
        priority: INTERACTIVE,
        createdAt: clock.now(),
        traceparent: traceparent(call.trace),
      };
      const key = {
        caller: owner.userId,
        key: request.idempotencyKey,
        method: 'createConversation',
        get request() {
          const attachments = digestedAttachments(request.attachments);
          return CreateConversationRequest.encode({ ...request, attachments, idempotencyKey: '' });
        },
        now: session.createdAt,
      };
      if (!request.attachments && !request.files) return create(session, key, call);
      return createWithBytes(request, content, session, key, call).catch(async (error: unknown) => {
        // A request with the same key may have been answered meanwhile, and its file deleted after that.
        const answer = error instanceof Refusal ? await earlierAnswer(key, call) : undefined;
        if (answer) return answer;
        throw error;
      });
    },

    async createSession(request, call) {
      const origin = originOf(request, call);
      const { text } = request;
      const isChannel = origin.source === 'channel';
      if (!isChannel && request.title !== undefined)
        throw refuseField('/title', 'is only allowed with the actor of a channel');
      const hasMessage = text !== '' || !isChannel;
      await creations.create(
        {
          turnId: ids('trn'),
          ...origin,
          ownerId: request.ownerId,
          agentId: request.agentId,
          agentVersion: request.agentVersion,
          title: titleFromText(request.title ?? text),
          metadata: {},
          requestId: call.requestId,
          contentJson: hasMessage ? `[{"type":"text","text":${JSON.stringify(text)}}]` : undefined,
          senderJson: senderJsonOf(request.sender, request.actor),
          priority: TRIGGERED,
          createdAt: clock.now(),
          traceparent: traceparent(call.trace),
        },
        call,
      );
      return { sessionId: origin.sessionId, turnId: (hasMessage && origin.turnId) || '' };
    },
  };
}

/** Whether the other service has refused the request itself, so that it has stored nothing. */
function isRefusedRequest(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.code === 'CANCELLED') return false;
  return ['request', 'state'].includes(ERRORS[error.code].category);
}

/** Number of events of a new session without and with a first message. An upload has one event more. */
const CREATED_SEQ = { withoutMessage: 1, withMessage: 4 };

function createdShape(session: NewSession) {
  const seq = session.contentJson === undefined ? CREATED_SEQ.withoutMessage : CREATED_SEQ.withMessage;
  const lastSeq = session.upload ? seq + 1 : seq;
  return { ...session, title: session.title ?? null, lastSeq, tokenId: tokenOf(session) };
}
