import { ProductError, type ProductErrorKind } from '../product-error.ts';

/** A response of the Bot API that is no success (https://core.telegram.org/bots/api#making-requests). */
export interface TelegramRefusal {
  code: number;
  description: string;
  retryAfterSeconds?: number | undefined;
  migrateToChatId?: number | undefined;
}

const DEFAULT_RETRY_MS = 1_000;
/** Only of messages to edit or to delete. */
const MISSING = /message to (edit|delete) not found|message_id_invalid/i;
const UPGRADED = /group chat was upgraded/i;
const UNKNOWN_PERSON = /chat not found|peer_id_invalid|user not found|input_user_deactivated/i;

/** Translates a refusal. Its description has no secret and no text of messages. */
export function refusalError(refusal: TelegramRefusal): ProductError {
  const { code, retryAfterSeconds } = refusal;
  const message = `Telegram: ${refusal.description.slice(0, 300) || `status ${code}`}`;
  if (code === 429) {
    const retryAfterMs = retryAfterSeconds === undefined ? DEFAULT_RETRY_MS : retryAfterSeconds * 1_000;
    return new ProductError('rate_limited', message, { retryAfterMs });
  }
  return new ProductError(kindOf(refusal), message);
}

function kindOf({ code, description }: TelegramRefusal): ProductErrorKind {
  // The server answers 404 to a token that has not the form of a token.
  if (code === 401 || code === 404) return 'unauthorized';
  if (code >= 500) return 'unavailable';
  return code === 400 && MISSING.test(description) ? 'missing' : 'refused';
}

/** The message has this content already, for example because the answer to the same edit was lost. */
export function isNotModified({ code, description }: TelegramRefusal): boolean {
  return code === 400 && /message is not modified/i.test(description);
}

/** The group has become a supergroup, in which messages have other ids. */
export function isUpgraded({ code, description }: TelegramRefusal): boolean {
  return code === 400 && UPGRADED.test(description);
}

/** The bot may not write to this person: they have not started it, or have blocked it. */
export function isUnreachable({ code, description }: TelegramRefusal): boolean {
  return code === 403 || (code === 400 && UNKNOWN_PERSON.test(description));
}

/** The click is too old to be answered. */
export function isTooOld({ code, description }: TelegramRefusal): boolean {
  return code === 400 && /query is too old|query_id_invalid/i.test(description);
}
