import { createHash } from 'node:crypto';
import { refuse } from '../../../../lib/errors.ts';
import { isId } from '../../../../lib/ids.ts';

/* The id of a response has the characters of its turn. */

const PREFIX = 'resp_';

export const responseIdOf = (turnId: string) => PREFIX + turnId.slice('trn_'.length);
export const messageIdOf = (turnId: string) => `msg_${turnId.slice('trn_'.length)}`;

/** The turn of a response. Refuses with SESSION_NOT_FOUND every text that is no id. */
export function turnOfResponse(responseId: string): string {
  const turnId = `trn_${responseId.slice(PREFIX.length)}`;
  if (responseId.startsWith(PREFIX) && isId('trn', turnId)) return turnId;
  throw refuse('SESSION_NOT_FOUND', 'The response does not exist, or you do not have access to it.');
}

/** The key under which the session of a response is recorded. */
export function responseKey(turnId: string): Buffer {
  return createHash('sha256').update('response').update(turnId).digest();
}
