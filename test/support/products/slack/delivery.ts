import type { Clock } from '../../../../lib/clock.ts';
import { createDeliveryQueue } from '../deliveries.ts';
import type { FaultPlan } from '../faults.ts';
import type { Json } from './objects.ts';
import type { AttemptResult, FailureReason, PayloadKind, Transport } from './transport.ts';

/** One attempt to deliver a payload. */
export interface DeliveryRecord {
  kind: PayloadKind;
  transport: 'http' | 'socket';
  /** The type of the event, such as `app_mention`, or of the interaction. */
  type: string;
  eventId?: string;
  retryNum: number;
  outcome: 'pending' | 'accepted' | FailureReason;
  payload: Json;
}

/** Slack's waits before the first, second and third retry (https://docs.slack.dev/apis/events-api#retries). */
export const RETRY_DELAYS_MS = [0, 60_000, 300_000] as const;

interface DeliveryOptions {
  plan: FaultPlan;
  clock: Clock;
  transport: () => Transport;
  retryDelaysMs: readonly number[];
  newEventId: () => string;
}

export interface Delivery {
  readonly records: DeliveryRecord[];
  /** Events that failed after the last retry. */
  readonly lost: Json[];
  /** Sends an event, with the faults of the plan and Slack's retries. */
  event(payload: Json): void;
  /** Sends an interaction or a command once. Slack does not repeat them. */
  once(kind: 'interactive' | 'slash_commands', payload: Json): Promise<AttemptResult>;
  /** Resolves when no attempt is running. Retries that wait for their time do not count. */
  settled(): Promise<void>;
  close(): void;
}

export function createDelivery({
  plan,
  clock,
  transport,
  retryDelaysMs,
  newEventId,
}: DeliveryOptions): Delivery {
  const records: DeliveryRecord[] = [];
  const lost: Json[] = [];
  const running = new Set<Promise<unknown>>();
  const timers = new Set<() => void>();
  let isClosed = false;
  let copies = 0;

  async function attempt(
    kind: PayloadKind,
    payload: Json,
    retryNum = 0,
    retryReason: FailureReason | '' = '',
  ): Promise<AttemptResult> {
    const { name, send } = transport();
    const record: DeliveryRecord = {
      kind,
      transport: name,
      type: typeOf(kind, payload),
      ...(typeof payload.event_id === 'string' && { eventId: payload.event_id }),
      retryNum,
      outcome: 'pending',
      payload,
    };
    records.push(record);
    const sending = send({ kind, payload, retryNum, retryReason });
    running.add(sending);
    const result = await sending;
    running.delete(sending);
    record.outcome = result.ok ? 'accepted' : result.reason;
    return result;
  }

  async function deliver(payload: Json, retryNum: number, reason: FailureReason | ''): Promise<void> {
    const result = await attempt('events_api', payload, retryNum, reason);
    if (result.ok || isClosed) return;
    const delay = retryDelaysMs[retryNum];
    if (delay === undefined || result.isFinal) return void lost.push(payload);
    const cancel = clock.after(delay, () => {
      timers.delete(cancel);
      void deliver(payload, retryNum + 1, result.reason);
    });
    timers.add(cancel);
  }

  const queue = createDeliveryQueue<{ payload: Json; isSent: boolean }>(plan, clock, (one) => {
    // Every second copy has another event id: Slack has sent one message under several ids.
    const isRenamed = one.isSent && copies++ % 2 === 0;
    one.isSent = true;
    void deliver(isRenamed ? { ...one.payload, event_id: newEventId() } : one.payload, 0, '');
  });

  return {
    records,
    lost,
    event(payload) {
      const { channel } = (payload.event ?? {}) as { channel?: string };
      if (!isClosed) queue.add(channel ?? '', { payload, isSent: false });
    },
    once: (kind, payload) => attempt(kind, payload),
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
    close() {
      isClosed = true;
      queue.close();
      for (const cancel of timers) cancel();
    },
  };
}

function typeOf(kind: PayloadKind, payload: Json): string {
  if (kind === 'slash_commands') return String(payload.command);
  const { type } = (payload.event ?? payload) as { type?: string };
  return String(type);
}
