import type { WebSocket } from 'ws';
import type { Clock } from '../../../../../lib/clock.ts';
import { createDeliveryQueue } from '../../deliveries.ts';
import type { FaultPlan } from '../../faults.ts';
import { type DispatchEvent, redact } from './intents.ts';

interface SentEvent {
  op: 0;
  s: number;
  t: string;
  d: unknown;
}

/** A session of a bot at the gateway. It outlives its connections until it is invalidated. */
export interface GatewaySession {
  id: string;
  intents: number;
  /** The sequence number of the last event. */
  readonly sequence: number;
  /** Undefined while the bot is disconnected. */
  socket: WebSocket | undefined;
  /** Sends an event if the intents include it, perhaps twice or after the next one of its channel. */
  dispatch(event: DispatchEvent): void;
  /** Sends an event without faults. */
  send(type: string, data: unknown): void;
  /** Sends READY and the guilds. */
  start(): void;
  /** Whether a client that closes its connection with this code ends the session. */
  isEndedBy(code: number): boolean;
  /** Sends all events after a sequence number, and RESUMED. */
  replay(sequence: number): void;
  close(): void;
}

export interface SessionParts {
  id: string;
  intents: number;
  botId: string;
  clock: Clock;
  faults: FaultPlan;
  /** The first events, READY and the guilds. */
  opening(): { type: string; data: object }[];
}

export function createGatewaySession({
  id,
  intents,
  botId,
  clock,
  faults,
  opening,
}: SessionParts): GatewaySession {
  const events: SentEvent[] = [];

  function transmit(event: SentEvent): void {
    if (session.socket?.readyState === 1) session.socket.send(JSON.stringify(event));
  }
  const queue = createDeliveryQueue<DispatchEvent>(faults, clock, ({ type, data }) =>
    session.send(type, data),
  );

  const session: GatewaySession = {
    id,
    intents,
    socket: undefined,
    start() {
      for (const { type, data } of opening()) session.send(type, data);
    },
    isEndedBy: (code) => code === 1000 || code === 1001,
    get sequence() {
      return events.length;
    },
    dispatch(event) {
      const visible = redact(event, intents, botId);
      if (visible) queue.add(`gateway ${event.channelId ?? ''}`, visible);
    },
    send(type, data) {
      const event: SentEvent = { op: 0, s: events.length + 1, t: type, d: structuredClone(data) };
      events.push(event);
      transmit(event);
    },
    replay(sequence) {
      for (const event of events.slice(sequence)) transmit(event);
      session.send('RESUMED', { _trace: [] });
    },
    close: () => queue.close(),
  };
  return session;
}
