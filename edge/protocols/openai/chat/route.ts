import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Refusal, refuse } from '../../../../lib/errors.ts';
import type { CallOptions } from '../../../../lib/grpc/contract.ts';
import type { Agent } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { interruptOnDisconnect } from '../../../ai-stream/interrupt-on-disconnect.ts';
import { callOf } from '../../../authentication/authenticator.ts';
import { idempotencyKey } from '../../../input/headers.ts';
import { receiveJson } from '../../../register-route.ts';
import type { RouteContext } from '../../../route.ts';
import { MESSAGE_BYTES } from '../../../schemas/content.ts';
import { AnswerFold, type TurnEnd } from '../answer-fold.ts';
import { destinationOfPast, sessionOfAgent } from '../destination.ts';
import { openaiError } from '../errors.ts';
import { firstKey, nextKey } from '../keys.ts';
import type { ChatMessage } from '../messages.ts';
import { findModel } from '../models.ts';
import { turnOverrides } from '../overrides.ts';
import { setIgnoredHeader } from '../parameters.ts';
import { readAnswer } from '../read-answer.ts';
import { refuseRetry } from '../refuse-retry.ts';
import { sendJson } from '../send-json.ts';
import { type StartedTurn, startTurn } from '../start-turn.ts';
import { ObjectStream } from '../stream-writer.ts';
import { instructionsOf, withTranscript } from '../transcript.ts';
import { sentenceAfter } from '../waiting.ts';
import {
  type CompletionHead,
  chunkObject,
  completionObject,
  finishReason,
  usageChunk,
} from './completion.ts';
import { type ChatRequest, readChatRequest } from './request.ts';

/** A chat whose last message has been sent. */
interface AnsweredChat {
  chat: ChatRequest;
  agent: Agent;
  started: StartedTurn;
  head: CompletionHead;
  fold: AnswerFold;
  /** Keeps the turn running when the response ends in another way than by its client. */
  keepTurn: () => void;
}

/** Answers POST /chat/completions. */
export async function answerChat(context: RouteContext, request: FastifyRequest, reply: FastifyReply) {
  const call = callOf(request);
  const chat = readChatRequest(await receiveJson(request.raw, MESSAGE_BYTES));
  const agent = await findModel(context.clients, call, chat.model);
  const key = idempotencyKey(request.raw);
  const { overrides, ignored } = turnOverrides(agent, {
    instructions: instructionsOf(chat.past),
    name: 'messages',
    outputSchema: chat.outputSchema,
  });
  const { destination, earlier } = await placeOf(context, call, chat, agent, key || request.id);
  const started = await startTurn(context.clients, call, destination, {
    agent,
    content: withTranscript(earlier, chat.message),
    pointer: `/messages/${chat.past.length}/content`,
    overrides,
    idempotencyKey: key,
  });
  setIgnoredHeader(reply, chat.body, ignored);
  const answered: AnsweredChat = {
    chat,
    agent,
    started,
    head: {
      id: `chatcmpl-${started.turnId.slice('trn_'.length)}`,
      created: Math.floor(context.clock.now().getTime() / 1_000),
      model: chat.model,
      session_id: started.sessionId,
    },
    fold: new AnswerFold(started.turnId, { isStructured: chat.outputSchema !== undefined }),
    keepTurn: interruptOnDisconnect(context, reply.raw, started, call),
  };
  return chat.stream
    ? streamChat(context, request, reply, answered)
    : sendCompletion(context, call, reply, answered);
}

/** Where the chat goes on, and those of its messages that are not known there. */
async function placeOf(
  { clients }: RouteContext,
  call: CallOptions,
  { past, metadata: { session_id: sessionId, ...metadata } }: ChatRequest,
  agent: Agent,
  claim: string,
) {
  if (sessionId === undefined) return destinationOfPast(clients, call, { agent, past, metadata, claim });
  return { destination: await sessionOfAgent(clients, call, agent, sessionId), earlier: [] };
}

async function sendCompletion(
  context: RouteContext,
  call: CallOptions,
  reply: FastifyReply,
  answered: AnsweredChat,
): Promise<FastifyReply> {
  const { started, head, fold, keepTurn } = answered;
  const endWait = context.protocolMetrics.beginWait('openai');
  try {
    for await (const _ of readAnswer(context.clients, call, started, fold, { passive: true }));
    if (fold.end?.kind === 'failed') throw turnFailed(fold.end);
    const text = await finishAnswer(context, call, answered);
    return sendJson(reply, completionObject(head, text, fold));
  } catch (error) {
    refuseRetry(reply);
    throw error;
  } finally {
    endWait();
    if (!call.signal?.aborted) keepTurn();
  }
}

async function streamChat(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  answered: AnsweredChat,
): Promise<FastifyReply> {
  const { clients, liveStreams, stallMonitor, log, protocolMetrics } = context;
  const { chat, started, head, fold, keepTurn } = answered;
  const call = callOf(request);
  reply.hijack();
  const stream = new ObjectStream(reply.raw, { ...reply.getHeaders() }, stallMonitor, keepTurn);
  liveStreams.add(stream);
  const endStream = protocolMetrics.beginStream('openai');
  try {
    stream.write(chunkObject(head, { role: 'assistant', content: '' }));
    for await (const { texts } of readAnswer(clients, call, started, fold)) {
      if (texts.length === 0) continue;
      stream.write(chunkObject(head, { content: texts.map(({ text }) => text).join('') }));
      await stream.flushed();
    }
    if (fold.end?.kind === 'failed') {
      stream.write({ error: openaiError(turnFailed(fold.end), request.id) });
    } else {
      const written = fold.text.length;
      const rest = (await finishAnswer(context, call, answered)).slice(written);
      if (rest !== '') stream.write(chunkObject(head, { content: rest }));
      stream.write(chunkObject(head, {}, finishReason(fold)));
      if (chat.includesUsage) stream.write(usageChunk(head, fold));
    }
    stream.end('[DONE]');
  } catch (error) {
    if (!request.raw.destroyed) log.warn({ err: error }, 'a stream of a chat ended before its answer');
    stream.drain();
  } finally {
    endStream();
    liveStreams.delete(stream);
  }
  return reply;
}

/** Returns the whole answer, and records the chat, so that a request that contains the answer finds the session. */
async function finishAnswer(
  context: RouteContext,
  call: CallOptions,
  { chat, agent, started, fold }: AnsweredChat,
): Promise<string> {
  const text = fold.text + (await sentenceAfter(context, call, started, fold));
  const answer: ChatMessage = { role: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] };
  const key = [...chat.past, chat.message, answer].reduce(nextKey, firstKey(agent.agentId));
  const { sessionId, turnId } = started;
  const { clients, log } = context;
  // The client gets its answer in any case. A chat that is not recorded goes on in a new session.
  await clients.sessions.recordChat({ record: { key, sessionId, turnId } }, call).catch((error: unknown) => {
    if (!call.signal?.aborted) log.warn({ err: error, session_id: sessionId }, 'a chat was not recorded');
  });
  return text;
}

/** The error with which a request ends whose turn has failed. */
function turnFailed({ message, code }: Extract<TurnEnd, { kind: 'failed' }>): Refusal {
  return refuse('DEPENDENCY_UNAVAILABLE', `The turn failed: ${message} (${code})`);
}
