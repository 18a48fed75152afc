import { sha256 } from '../../../lib/digest.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { MessageOverrides } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../../clients.ts';
import { type ContentParts, readContent, refuseContentAt } from '../../schemas/content.ts';
import type { Destination } from './destination.ts';

/** A turn that a request has started, or started before with the same Idempotency-Key. */
export interface StartedTurn {
  sessionId: string;
  turnId: string;
  /** The events of the turn have a greater seq. */
  from: number;
}

interface TurnInput {
  agent: Agent;
  content: ContentParts;
  /** The place of the content in the request. */
  pointer: string;
  overrides: MessageOverrides | undefined;
  /** Empty for none. */
  idempotencyKey: string;
}

/** Sends a message, and creates its session first if it has none. */
export async function startTurn(
  { sessions }: Pick<Clients, 'sessions'>,
  call: CallOptions,
  destination: Destination,
  { agent, content, pointer, overrides, idempotencyKey }: TurnInput,
): Promise<StartedTurn> {
  const message = { ...readContent(content, pointer), overrides };
  const atContent = refuseContentAt(pointer);
  if (destination.kind === 'new') {
    const { session, turnId = '' } = await sessions
      .createConversation(
        { agentId: agent.agentId, ...message, title: '', metadata: destination.metadata, idempotencyKey },
        call,
      )
      .catch(atContent);
    return { sessionId: session?.sessionId ?? '', turnId, from: 0 };
  }
  const sessionId =
    destination.kind === 'session'
      ? destination.sessionId
      : await fork(sessions, call, destination, idempotencyKey);
  const sent = await sessions
    .sendMessage({ sessionId, ...message, busyPolicy: 'enqueue', idempotencyKey }, call)
    .catch(atContent);
  return { sessionId, turnId: sent.turnId, from: sent.seq };
}

async function fork(
  sessions: Clients['sessions'],
  call: CallOptions,
  { sessionId, afterSeq }: Extract<Destination, { kind: 'fork' }>,
  idempotencyKey: string,
): Promise<string> {
  // The message is sent with the same key, so the fork needs one of its own.
  const key = idempotencyKey === '' ? '' : sha256(`fork ${idempotencyKey}`);
  const { session } = await sessions.forkSession({ sessionId, afterSeq, idempotencyKey: key }, call);
  return session?.sessionId ?? '';
}
