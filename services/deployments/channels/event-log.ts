import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { type CountedLog, createCountedLog } from '../counted-log.ts';
import type { CountedDelivery } from '../store/counted-deliveries.ts';

/** An event that is not for the agent, or a repetition. */
export type UnusedEvent = Omit<CountedDelivery, 'deliveryId' | 'slot' | 'count' | 'createdAt'>;

export type EventLog = CountedLog<UnusedEvent>;

interface EventLogContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  write(rows: CountedDelivery[]): Promise<void>;
}

/** Lists events that start nothing among the deliveries of their channel. */
export function createEventLog({ write, ...context }: EventLogContext): EventLog {
  return createCountedLog<UnusedEvent>({
    ...context,
    prefix: 'dlv',
    subject: 'unused events of channels',
    // Products report each answer of the bot.
    isUsual: ({ reason }) => reason === 'own_message',
    write: (rows) => write(rows.map(({ id: deliveryId, ...row }) => ({ ...row, deliveryId }))),
  });
}
