import { refuseField } from '../../../lib/errors.ts';
import type { MessageSender } from '../../../lib/event-parts.ts';
import { CHANNEL_PROVIDERS } from '../../../lib/event-types.ts';
import { isId } from '../../../lib/ids.ts';
import { firstCharacters, oneLine } from './title.ts';

/** Maximum number of characters of a name. */
const MAX_NAME_CHARACTERS = 80;
const MAX_ID_CHARACTERS = 200;
/** Characters that are read for the name. */
const READ_CHARACTERS = 1_000;
/** Brackets, and the marks that change the order in which the text around them is shown. */
const REMOVED_FROM_NAMES = /[\p{Ps}\p{Pe}<>\p{Bidi_Control}]/gu;

/** The sender of a message as a channel names it. */
interface GivenSender {
  provider: string;
  externalId: string;
  name: string;
  userId?: string | undefined;
  group: boolean;
}

/**
 * Returns the sender in the form of the journal. Refuses with INVALID_REQUEST an unknown provider and malformed ids. A
 * sender without a visible name gets the id of the account.
 */
export function senderOf({ provider: given, externalId, name, userId, group }: GivenSender): MessageSender {
  const provider = CHANNEL_PROVIDERS.find((one) => one === given);
  if (!provider) throw refuseField('/sender/provider', `must be one of ${CHANNEL_PROVIDERS.join(', ')}`);
  requireAccountId(externalId, '/sender/external_id');
  if (userId !== undefined && !isId('usr', userId))
    throw refuseField('/sender/user_id', 'must be a usr_… id');
  const shown = cleanName(name) || cleanName(externalId) || provider;
  return {
    provider,
    external_id: externalId,
    name: shown,
    ...(userId !== undefined && { user_id: userId }),
    group,
  };
}

/** Refuses an id of an account that is empty, too long or not one line of text. */
export function requireAccountId(id: string, pointer: string): void {
  const isValid = id !== '' && id.length <= MAX_ID_CHARACTERS && oneLine(id) === id;
  if (!isValid)
    throw refuseField(pointer, `must be 1 to ${MAX_ID_CHARACTERS} characters without control characters`);
}

/** Returns a name on one line without brackets, so that the model cannot take a part of it for something else. */
function cleanName(name: string): string {
  return firstCharacters(
    oneLine(name.slice(0, READ_CHARACTERS).replace(REMOVED_FROM_NAMES, '')),
    MAX_NAME_CHARACTERS,
  ).trim();
}
