import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions } from '../../../../lib/grpc/contract.ts';
import type { Agent } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { interruptOnDisconnect } from '../../../ai-stream/interrupt-on-disconnect.ts';
import { callOf } from '../../../authentication/authenticator.ts';
import { idempotencyKey } from '../../../input/headers.ts';
import { receiveJson } from '../../../register-route.ts';
import type { RouteContext } from '../../../route.ts';
import { MESSAGE_BYTES } from '../../../schemas/content.ts';
import { AnswerFold } from '../answer-fold.ts';
import { type ChatPlace, destinationOfPast, destinationOfResponse, sessionOfAgent } from '../destination.ts';
import { findModel } from '../models.ts';
import { turnOverrides } from '../overrides.ts';
import { setIgnoredHeader } from '../parameters.ts';
import { readAnswer } from '../read-answer.ts';
import { refuseRetry } from '../refuse-retry.ts';
import { sendJson } from '../send-json.ts';
import { type StartedTurn, startTurn } from '../start-turn.ts';
import { instructionsOf, withTranscript } from '../transcript.ts';
import { sentenceAfter } from '../waiting.ts';
import { type ResponseRequest, readResponseRequest } from './request.ts';
import { responseKey, turnOfResponse } from './response-id.ts';
import { finalStatus, type ResponseHead, type ResponseState, responseObject } from './response-object.ts';
import { streamResponse } from './stream.ts';

/** Answers POST /responses. */
export async function createResponse(context: RouteContext, request: FastifyRequest, reply: FastifyReply) {
  const { clients, clock } = context;
  const call = callOf(request);
  const wanted = readResponseRequest(await receiveJson(request.raw, MESSAGE_BYTES));
  const agent = await findModel(clients, call, wanted.model);
  const key = idempotencyKey(request.raw);
  const instructions = [wanted.instructions, instructionsOf(wanted.past)].filter(
    (text) => text !== undefined,
  );
  const { overrides, ignored } = turnOverrides(agent, {
    instructions: instructions.length > 0 ? instructions.join('\n\n') : undefined,
    name: 'instructions',
    outputSchema: wanted.outputSchema,
  });
  const place = await placeOf(context, call, wanted, agent, key || request.id);
  const started = await startTurn(clients, call, place.destination, {
    agent,
    content: withTranscript(place.earlier, wanted.message),
    pointer: wanted.pointer,
    overrides,
    idempotencyKey: key,
  });
  const { sessionId, turnId } = started;
  const keepTurn = wanted.background ? () => {} : interruptOnDisconnect(context, reply.raw, started, call);
  try {
    // Before the client learns the id.
    await clients.sessions.recordChat({ record: { key: responseKey(turnId), sessionId, turnId } }, call);
    setIgnoredHeader(reply, wanted.body, ignored);
    const head: ResponseHead = {
      turnId,
      sessionId,
      model: wanted.model,
      createdAt: Math.floor(clock.now().getTime() / 1_000),
      background: wanted.background,
      instructions: wanted.instructions ?? null,
      previousResponseId: wanted.previousResponseId ?? null,
      metadata: wanted.metadata,
      outputSchema: wanted.outputSchema,
    };
    const fold = new AnswerFold(turnId, { isStructured: wanted.outputSchema !== undefined });
    if (wanted.stream)
      return await streamResponse(context, request, reply, { started, head, fold, keepTurn });
    const state = wanted.background
      ? { status: 'queued' as const, text: '', fold }
      : await awaitResponse(context, call, started, fold);
    return sendJson(reply, responseObject(head, state));
  } catch (error) {
    refuseRetry(reply);
    throw error;
  } finally {
    if (!call.signal.aborted) keepTurn();
  }
}

async function awaitResponse(
  context: RouteContext,
  call: CallOptions,
  started: StartedTurn,
  fold: AnswerFold,
): Promise<ResponseState> {
  const endWait = context.protocolMetrics.beginWait('openai');
  try {
    for await (const _ of readAnswer(context.clients, call, started, fold, { passive: true }));
    const sentence = await sentenceAfter(context, call, started, fold);
    return { status: finalStatus(fold), text: fold.text + sentence, fold };
  } finally {
    endWait();
  }
}

/** Where the input goes, and those of its messages that are not known there. */
async function placeOf(
  { clients }: RouteContext,
  call: CallOptions,
  { conversation, previousResponseId, past, metadata }: ResponseRequest,
  agent: Agent,
  claim: string,
): Promise<ChatPlace> {
  if (conversation !== undefined)
    return { destination: await sessionOfAgent(clients, call, agent, conversation), earlier: past };
  if (previousResponseId === undefined)
    return destinationOfPast(clients, call, { agent, past, metadata, claim });
  const key = responseKey(turnOfResponse(previousResponseId));
  return { destination: await destinationOfResponse(clients, call, { agent, key, claim }), earlier: past };
}
