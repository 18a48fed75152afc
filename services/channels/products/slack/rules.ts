import type { PostRules } from '../product.ts';
import { disarm } from './disarm.ts';

/** The limit of `markdown_text` (https://docs.slack.dev/reference/methods/chat.postMessage). */
const MAX_LENGTH = 12_000;
const MAX_PARTS = 5;
/** `chat.update` allows about 50 calls a minute. */
const EDIT_INTERVAL_MS = 1_200;

/** https://docs.slack.dev/apis/web-api/rate-limits */
const RATES = {
  create: { intervalMs: 1_000, burst: 1 },
  edit: { intervalMs: EDIT_INTERVAL_MS, burst: 1 },
  upload: { intervalMs: 1_000, burst: 1 },
} as const;

export const slackRules: PostRules = {
  maxLength: MAX_LENGTH,
  maxParts: MAX_PARTS,
  lengthOf: (markdown) => markdown.length,
  disarm,
  editIntervalMs: () => EDIT_INTERVAL_MS,
  rateOf: (method) => RATES[method],
};
