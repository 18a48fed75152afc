import { createHash } from 'node:crypto';
import type { ChatMessage } from './messages.ts';

/*
 * A chat is recognised by its messages: the key of a position is a digest of the agent and of all messages up to it. Each
 * key contains the one before, so that all keys of a chat take one pass.
 */

/** At most this many positions of a chat are looked up, the newest first. */
const MAX_KEYS = 1_000;

/** The key of an empty chat with an agent. */
export function firstKey(agentId: string): Buffer {
  return digest([Buffer.from('chat'), Buffer.from(agentId)]);
}

/** The key after one more message. */
export function nextKey(key: Buffer, { role, parts }: ChatMessage): Buffer {
  const content = parts.map((part) =>
    // Clients trim the texts that they show.
    part.type === 'text' ? { type: 'text', text: part.text.trim() } : { ...part, ...shortened(part) },
  );
  return digest([key, Buffer.from(JSON.stringify([role, content]))]);
}

/**
 * The keys of the positions at which a chat can go on, the newest first: after the whole past, and after each earlier
 * answer. None for a past without an answer. `length` is the number of messages before the position.
 */
export function keysOf(agentId: string, past: readonly ChatMessage[]): { key: Buffer; length: number }[] {
  const keys: { key: Buffer; length: number }[] = [];
  let key = firstKey(agentId);
  for (const [index, message] of past.entries()) {
    key = nextKey(key, message);
    const isWhole = index === past.length - 1;
    if (message.role === 'assistant' || isWhole) keys.push({ key, length: index + 1 });
  }
  const hasAnswer = past.some(({ role }) => role === 'assistant');
  return hasAnswer ? keys.reverse().slice(0, MAX_KEYS) : [];
}

/** Bytes are compared by their digest. */
function shortened(part: object): object {
  return 'data' in part && typeof part.data === 'string'
    ? { data: digest([Buffer.from(part.data)]).toString('base64') }
    : {};
}

function digest(parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
