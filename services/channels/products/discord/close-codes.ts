import { ProductError } from '../product-error.ts';
import { tokenRefused } from './errors.ts';

const FATAL: Readonly<Record<number, () => ProductError>> = {
  4004: tokenRefused,
  4010: () => sharded(),
  4011: () => sharded(),
  4012: () =>
    new ProductError('unauthorized', 'Discord does not support this version of its gateway any more.'),
  4013: () => new ProductError('unauthorized', 'Discord does not know one of the intents.'),
  4014: () =>
    new ProductError(
      'unauthorized',
      'The application lacks the Message Content Intent. Turn it on under Bot in the developer portal, and save the channel again.',
    ),
};

/** After these codes, the next connection starts a new session. */
const SESSION_ENDED: readonly number[] = [1000, 1001, 4003, 4005, 4007, 4009];

/**
 * The meaning of a closed connection (https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway): the error
 * of a connection that must not be tried again, or whether its session can be resumed.
 */
export function meaningOf(closeCode: number): { error: ProductError } | { canResume: boolean } {
  const error = Object.hasOwn(FATAL, closeCode) ? FATAL[closeCode]?.() : undefined;
  return error ? { error } : { canResume: !SESSION_ENDED.includes(closeCode) };
}

function sharded(): ProductError {
  return new ProductError(
    'unauthorized',
    'The bot is on too many servers for one connection to the gateway. Use another application for this agent.',
  );
}
