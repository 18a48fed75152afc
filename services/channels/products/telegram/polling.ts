import type { Update } from 'grammy/types';
import { type Clock, wait } from '../../../../lib/clock.ts';
import type { EventReceiver } from '../product.ts';
import { ProductError } from '../product-error.ts';
import type { BotApi } from './bot-api.ts';
import { ALLOWED_UPDATES } from './commands.ts';

const POLL_SECONDS = 30;
/**
 * A worker that has lost its lease can poll once more, so a few conflicts are normal. Two programs that both poll end each
 * other's requests for ever.
 */
const MAX_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 3_000;

/**
 * Receives updates with getUpdates until the signal aborts. The offset, which confirms the earlier updates, moves only after
 * they are committed.
 */
export async function pollUpdates(
  api: BotApi,
  clock: Clock,
  receiver: EventReceiver,
  signal: AbortSignal,
): Promise<void> {
  let offset = Number(receiver.resumeState ?? 0);
  let conflicts = 0;
  let isConnected = false;

  /** The first request returns at once and shows that Telegram accepts the connection. */
  const poll = () =>
    api.call<Update[] | 'conflict'>(
      (bot, apiSignal) => {
        const timeout = isConnected ? POLL_SECONDS : 0;
        return bot.getUpdates({ offset, timeout, allowed_updates: ALLOWED_UPDATES }, apiSignal);
      },
      signal,
      ({ code, description }) => {
        if (code !== 409) return undefined;
        if (/webhook/i.test(description)) throw webhookConflict();
        return 'conflict';
      },
    );

  while (!signal.aborted) {
    const updates = await poll();
    if (updates === 'conflict') {
      if (++conflicts >= MAX_CONFLICTS) throw pollingConflict();
      await wait(clock, CONFLICT_PAUSE_MS, signal);
      continue;
    }
    conflicts = 0;
    if (!isConnected) receiver.connected();
    isConnected = true;
    const last = updates.at(-1);
    if (last === undefined) continue;
    const next = last.update_id + 1;
    await receiver.accept(
      updates.map((update) => JSON.stringify(update)),
      String(next),
    );
    offset = next;
  }
}

function webhookConflict(): ProductError {
  return new ProductError(
    'unauthorized',
    'Another program has set a webhook for this bot, so polling receives no updates. Remove the bot from that program or ' +
      'replace its token with @BotFather, then change or enable the channel again.',
  );
}

function pollingConflict(): ProductError {
  return new ProductError(
    'unauthorized',
    'Another program polls the updates of this bot. Stop it or replace the token with @BotFather, then change or enable ' +
      'the channel again.',
  );
}
