import type { ConversationPlace } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PostMethod, PostRules } from '../product.ts';
import { lengthOfMarkdown } from './markup/html.ts';

/** Characters after the conversion to HTML (https://core.telegram.org/bots/api#sendmessage). */
const MAX_LENGTH = 4_096;
const MAX_PARTS = 5;

/** Telegram allows one message per second in a chat and 20 per minute in a group (https://core.telegram.org/bots/faq). */
const PRIVATE_MS = 1_200;
const GROUP_MS = 3_000;
const BURST = 3;

export const telegramRules: PostRules = {
  maxLength: MAX_LENGTH,
  maxParts: MAX_PARTS,
  lengthOf: lengthOfMarkdown,
  // The conversion to HTML disarms mentions, because usernames in code have no effect and stay as they are.
  disarm: (markdown) => markdown,
  editIntervalMs: intervalOf,
  rateOf: (_method: PostMethod, place) => ({ intervalMs: intervalOf(place), burst: BURST }),
};

function intervalOf({ isGroup }: ConversationPlace): number {
  return isGroup ? GROUP_MS : PRIVATE_MS;
}
