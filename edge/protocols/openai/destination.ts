import { refuse } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { ContinueChatResponse } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../../clients.ts';
import { requireExposedSession } from '../exposure.ts';
import { keysOf } from './keys.ts';
import type { ChatMessage } from './messages.ts';

/** Where a message goes. */
export type Destination =
  /** A new session. */
  | { kind: 'new'; metadata: Record<string, string> }
  | { kind: 'session'; sessionId: string }
  /** A new session with the history of this one up to a seq. */
  | { kind: 'fork'; sessionId: string; afterSeq: number };

/** Where a chat goes on, and those of its messages that are not known there. */
export interface ChatPlace {
  destination: Destination;
  earlier: readonly ChatMessage[];
}

interface Past {
  agent: Agent;
  past: readonly ChatMessage[];
  /** Of a new session. */
  metadata: Record<string, string>;
  /** Identifies the request. */
  claim: string;
}

/** The place of a chat by its earlier messages. */
export async function destinationOfPast(
  { sessions }: Pick<Clients, 'sessions'>,
  call: CallOptions,
  { agent, past, metadata, claim }: Past,
): Promise<ChatPlace> {
  const keys = keysOf(agent.agentId, past);
  if (keys.length > 0) {
    const request = { keys: keys.map(({ key }) => key), claim };
    const found = await sessions.continueChat(request, call);
    const known = keys.find(({ key }) => found.record?.key.equals(key));
    const destination = placeOf(found);
    if (destination && known) return { destination, earlier: past.slice(known.length) };
  }
  return { destination: { kind: 'new', metadata }, earlier: past };
}

/** The place of what follows a response. Refuses with SESSION_NOT_FOUND. */
export async function destinationOfResponse(
  { sessions }: Pick<Clients, 'sessions'>,
  call: CallOptions,
  { agent, key, claim }: { agent: Agent; key: Buffer; claim: string },
): Promise<Destination> {
  const found = await sessions.continueChat({ keys: [key], claim }, call);
  const destination = placeOf(found);
  if (destination && found.agentId === agent.agentId) return destination;
  throw refuse('SESSION_NOT_FOUND', 'The previous response does not exist, or it belongs to another model.');
}

function placeOf({ record, forkAfterSeq }: ContinueChatResponse): Destination | undefined {
  if (!record) return undefined;
  const { sessionId } = record;
  return forkAfterSeq === undefined
    ? { kind: 'session', sessionId }
    : { kind: 'fork', sessionId, afterSeq: forkAfterSeq };
}

/** A session of the caller with this agent. Refuses with SESSION_NOT_FOUND. */
export async function sessionOfAgent(
  clients: Pick<Clients, 'agents' | 'sessions'>,
  call: CallOptions,
  agent: Agent,
  sessionId: string,
): Promise<Destination> {
  const session = await requireExposedSession(clients, call, sessionId, 'openai');
  if (session.agentId !== agent.agentId)
    throw refuse('SESSION_NOT_FOUND', 'The session belongs to another model.');
  return { kind: 'session', sessionId };
}
