import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DeriveKey } from '../../../../lib/derived-key.ts';
import type { AwaitedTurn } from '../waiting.ts';

const PURPOSE = 'agent-hosting-service mcp task id v1';
const SHAPE = /^task_([0-9A-HJKMNP-TV-Z]{26})([0-9A-HJKMNP-TV-Z]{26})[\w-]{43}$/;

/**
 * The id of a task: the ids of its session and turn with a MAC (HMAC-SHA-256) that binds them to a user. Every edge
 * understands it, and a client cannot make one.
 */
export function taskIdOf(deriveKey: DeriveKey, userId: string, turn: AwaitedTurn): string {
  const mac = createHmac('sha256', deriveKey(PURPOSE))
    .update(`${userId}|${turn.sessionId}|${turn.turnId}`)
    .digest('base64url');
  return `task_${ulidOf(turn.sessionId)}${ulidOf(turn.turnId)}${mac}`;
}

/** The turn of a task of this user. Undefined for any other text. */
export function turnOfTask(deriveKey: DeriveKey, userId: string, taskId: string): AwaitedTurn | undefined {
  const [, session, turn] = SHAPE.exec(taskId) ?? [];
  if (session === undefined || turn === undefined) return undefined;
  const named = { sessionId: `ses_${session}`, turnId: `trn_${turn}` };
  const expected = taskIdOf(deriveKey, userId, named);
  return timingSafeEqual(Buffer.from(taskId), Buffer.from(expected)) ? named : undefined;
}

const ulidOf = (id: string) => id.slice(id.indexOf('_') + 1);
