import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, refuse } from '../../../../lib/errors.ts';
import type { Turn } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { callOf } from '../../../authentication/authenticator.ts';
import type { RouteContext } from '../../../route.ts';
import { requireExposedSession } from '../../exposure.ts';
import { AnswerFold } from '../answer-fold.ts';
import { readAnswer } from '../read-answer.ts';
import { sendJson } from '../send-json.ts';
import type { StartedTurn } from '../start-turn.ts';
import { sentenceAfter } from '../waiting.ts';
import { responseIdOf, responseKey, turnOfResponse } from './response-id.ts';
import { finalStatus, type ResponseHead, type ResponseStatus, responseObject } from './response-object.ts';
import { streamResponse } from './stream.ts';

/* Responses by their id. Those of other users, deleted ones and those older than 30 days do not exist. */

interface StoredResponse {
  turn: Turn;
  started: StartedTurn;
  head: ResponseHead;
}

/** Answers GET /responses/{id}. */
export async function retrieveResponse(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { stream, startingAfter }: { stream: boolean; startingAfter: number | undefined },
) {
  const stored = await storedResponse(context, request);
  if (!stream) return sendResponse(context, request, reply, stored);
  const fold = foldOf(stored.turn);
  return streamResponse(context, request, reply, { ...stored, fold, keepTurn: () => {}, startingAfter });
}

/** Answers POST /responses/{id}/cancel. A response that has ended is returned as it is. */
export async function cancelResponse(context: RouteContext, request: FastifyRequest, reply: FastifyReply) {
  const { sessions } = context.clients;
  const call = callOf(request);
  const stored = await storedResponse(context, request);
  const { sessionId, turnId } = stored.started;
  await sessions.interruptSession({ sessionId, turnId }, call);
  // A turn that waits behind others is not interrupted. It is removed from the queue.
  await sessions.cancelTurn({ sessionId, turnId }, call).catch(ignoreStarted);
  return sendResponse(context, request, reply, await storedResponse(context, request));
}

/** Answers DELETE /responses/{id}. The session keeps the turn. */
export async function deleteResponse(
  { clients }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const call = callOf(request);
  const turnId = turnOfResponse(idIn(request));
  await clients.sessions.forgetChat({ key: responseKey(turnId) }, call).catch(notFound);
  return sendJson(reply, { id: responseIdOf(turnId), object: 'response.deleted', deleted: true });
}

async function storedResponse({ clients }: RouteContext, request: FastifyRequest): Promise<StoredResponse> {
  const call = callOf(request);
  const turnId = turnOfResponse(idIn(request));
  const found = await clients.sessions.findChat({ key: responseKey(turnId) }, call).catch(notFound);
  const sessionId = found.record?.sessionId ?? '';
  const session = await requireExposedSession(clients, call, sessionId, 'openai').catch(notFound);
  const { turn } = await clients.sessions.getTurn({ sessionId, turnId }, call).catch(notFound);
  if (!turn) return notFound(refuse('TURN_NOT_FOUND', 'The session has no such turn.'));
  return {
    turn,
    started: { sessionId, turnId, from: turn.position },
    head: {
      turnId,
      sessionId,
      model: session.agentId,
      createdAt: Math.floor((turn.createdAt?.getTime() ?? 0) / 1_000),
      background: true,
      instructions: null,
      previousResponseId: null,
      metadata: session.metadata,
    },
  };
}

async function sendResponse(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { turn, started, head }: StoredResponse,
): Promise<FastifyReply> {
  const call = callOf(request);
  const fold = foldOf(turn);
  const read = readAnswer(context.clients, call, started, fold, { untilCaughtUp: true });
  for await (const _ of read);
  const status = statusOf(turn, fold);
  const sentence = status === 'incomplete' ? await sentenceAfter(context, call, started, fold) : '';
  return sendJson(reply, responseObject(head, { status, text: fold.text + sentence, fold }));
}

/** Overrides of the request tell a structured output before it exists. */
function foldOf({ turnId, outputJson, overridesJson = '{}' }: Turn): AnswerFold {
  const isStructured = outputJson !== undefined || 'output_schema' in JSON.parse(overridesJson);
  return new AnswerFold(turnId, { isStructured });
}

/** The journal is newer than the turn that was read before it. */
function statusOf({ status }: Turn, fold: AnswerFold): ResponseStatus {
  if (fold.end || fold.isWaiting) return finalStatus(fold);
  return status === 'queued' && fold.lastSeq === 0 ? 'queued' : 'in_progress';
}

const idIn = ({ params }: FastifyRequest) => (params as { response_id: string }).response_id;

function ignoreStarted(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'TURN_NOT_QUEUED') throw error;
}

function notFound(error: unknown): never {
  const codes = ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND'];
  if (!(error instanceof Refusal) || !codes.includes(error.code)) throw error;
  throw refuse('SESSION_NOT_FOUND', 'The response does not exist, or you do not have access to it.');
}
