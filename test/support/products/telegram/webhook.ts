import type { Update, WebhookInfo } from 'grammy/types';
import { type Clock, wait } from '../../../../lib/clock.ts';
import type { FaultPlan } from '../faults.ts';
import type { UpdateQueue } from './updates.ts';

const MAX_DELAY_SECONDS = 60;
const RESPONSE_TIMEOUT_MS = 60_000;
/** A held push lets those of other chats overtake it. */
const HOLD_MS = 40;

export interface WebhookSettings {
  url: string;
  secretToken: string | undefined;
  maxConnections: number;
}

export interface WebhookPush {
  updateId: number;
  /** The status of the response, or undefined if there was none. */
  status: number | undefined;
}

/**
 * Pushes updates to the webhook of a bot. Each chat has a queue: its next update leaves after the one before has been
 * accepted. A push that fails is repeated at once, and then after 2, 4, 8 … seconds.
 */
export interface WebhookPusher {
  settings: WebhookSettings | undefined;
  readonly pushes: readonly WebhookPush[];
  info(): WebhookInfo;
  set(settings: WebhookSettings): void;
  remove(): void;
}

export interface WebhookParts {
  updates: UpdateQueue;
  clock: Clock;
  faults: FaultPlan;
  /** The duration of a second of the retry schedule, in milliseconds. */
  retrySecondMs: number;
  /** Executes the method that a webhook names in its response. */
  execute(values: Record<string, unknown>): Promise<void>;
}

export function createWebhookPusher({
  updates,
  clock,
  faults,
  retrySecondMs,
  execute,
}: WebhookParts): WebhookPusher {
  const pushes: WebhookPush[] = [];
  let lastError: { date: number; message: string } | undefined;
  let stop = new AbortController();
  const busy = new Set<string>();

  async function push(
    update: Update,
    { url, secretToken }: WebhookSettings,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record: WebhookPush = { updateId: update.update_id, status: undefined };
    pushes.push(record);
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          ...(secretToken !== undefined && { 'x-telegram-bot-api-secret-token': secretToken }),
        },
        body: JSON.stringify(update),
        signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
      });
      record.status = response.status;
      const text = await response.text();
      if (response.ok) await executeReply(text);
      else noteError(`Wrong response from the webhook: ${response.status} ${response.statusText}`);
      return response.ok;
    } catch {
      if (!signal.aborted) noteError('Connection refused');
      return false;
    }
  }

  async function executeReply(text: string): Promise<void> {
    const method = /^\s*\{.*"method"\s*:/s.test(text);
    if (method) await execute(JSON.parse(text));
  }

  function noteError(message: string): void {
    lastError = { date: Math.floor(clock.now().getTime() / 1000), message };
  }

  async function drain(chat: string, settings: WebhookSettings, signal: AbortSignal): Promise<void> {
    if (busy.has(chat)) return;
    busy.add(chat);
    for (let failures = 0; !signal.aborted; ) {
      const update = updates.pending.find((one) => chatOf(one) === chat);
      if (!update) break;
      const { copies, isHeld } = faults.forDelivery(`webhook ${chat}`);
      if (isHeld) await wait(clock, HOLD_MS, signal);
      const isAccepted = await push(update, settings, signal);
      if (isAccepted && copies === 2) await push(update, settings, signal);
      if (isAccepted) {
        failures = 0;
        updates.remove(update.update_id);
        continue;
      }
      const seconds = failures === 0 ? 0 : Math.min(2 ** failures, MAX_DELAY_SECONDS);
      failures++;
      if (seconds > 0) await wait(clock, seconds * retrySecondMs, signal);
    }
    busy.delete(chat);
    // The settings have changed meanwhile.
    if (signal.aborted && pusher.settings) start(chat);
  }

  function start(chat: string): void {
    if (pusher.settings) void drain(chat, pusher.settings, stop.signal);
  }

  updates.onAdd = (update) => start(chatOf(update));
  const pusher: WebhookPusher = {
    settings: undefined,
    pushes,
    set(settings) {
      stop.abort();
      stop = new AbortController();
      pusher.settings = settings;
      lastError = undefined;
      for (const chat of new Set(updates.pending.map(chatOf))) start(chat);
    },
    remove() {
      stop.abort();
      pusher.settings = undefined;
    },
    info: () => ({
      url: pusher.settings?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: updates.pending.length,
      ...(pusher.settings && { max_connections: pusher.settings.maxConnections }),
      ...(pusher.settings &&
        lastError && { last_error_date: lastError.date, last_error_message: lastError.message }),
      ...(updates.allowed && { allowed_updates: [...updates.allowed] }),
    }),
  };
  return pusher;
}

function chatOf(update: Update): string {
  const message = update.message ?? update.edited_message ?? update.callback_query?.message;
  return String(message?.chat.id ?? update.callback_query?.from.id ?? 'bot');
}
