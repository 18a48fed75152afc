import type { PostRules } from '../product.ts';
import { disarm, toDiscordMarkdown } from './markup.ts';

/** https://discord.com/developers/docs/resources/message#create-message */
export const MAX_LENGTH = 2_000;
const MAX_PARTS = 5;
const EDIT_INTERVAL_MS = 1_200;

/** Discord allows about five messages in five seconds in a channel. */
const RATES = {
  create: { intervalMs: 1_000, burst: 3 },
  edit: { intervalMs: EDIT_INTERVAL_MS, burst: 1 },
  upload: { intervalMs: 1_000, burst: 1 },
} as const;

export const discordRules: PostRules = {
  maxLength: MAX_LENGTH,
  maxParts: MAX_PARTS,
  lengthOf: (markdown) => toDiscordMarkdown(markdown).length,
  disarm,
  editIntervalMs: () => EDIT_INTERVAL_MS,
  rateOf: (method) => RATES[method],
};
