import type { WebSocket } from 'ws';
import type { Clock } from '../../../../lib/clock.ts';
import type { Attempt, AttemptResult, Transport } from './transport.ts';
import type { Workspace } from './workspace.ts';

/** An app may have this many connections. */
const MAX_CONNECTIONS = 10;
/** The time between a warning and the end of the connection. */
const WARNING_MS = 10_000;
/** Slack's pings. The client ends a connection without pings for 30 s. */
const PING_MS = 5_000;

export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled' | 'too_many_websockets';

interface Connection {
  socket: WebSocket;
  /** Receives no further payloads. */
  isLeaving: boolean;
}

/** The WebSocket connections of an app in Socket Mode. */
export interface SocketMode extends Transport {
  /** Returns a ticket for one connection. */
  issueTicket(): string;
  /** Accepts a connection with an unused ticket, or returns the status of the refusal. */
  accept(ticket: string | null): ((socket: WebSocket) => void) | number;
  /** The number of connections that receive payloads. */
  readonly connections: number;
  /** Envelopes that were sent and not acknowledged yet. */
  readonly unacknowledged: number;
  /** Asks the app to reconnect. A warning precedes the end of the connections by 10 s of the clock. */
  disconnect(reason: DisconnectReason): void;
  /** Ends the connections without a close frame. */
  cut(): void;
}

interface SocketModeOptions {
  workspace: Workspace;
  clock: Clock;
  random: () => number;
  timeoutMs: number;
}

export function createSocketMode({ workspace, clock, random, timeoutMs }: SocketModeOptions): SocketMode {
  const tickets = new Set<string>();
  const connections = new Set<Connection>();
  const waiting = new Map<string, { connection: Connection; settle: (result: AttemptResult) => void }>();
  const { ids, app } = workspace;
  const host = `applink-${ids.hex(8)}`;

  function open(socket: WebSocket): void {
    if (ready().length >= MAX_CONNECTIONS) {
      send(socket, { type: 'disconnect', reason: 'too_many_websockets', debug_info: { host } });
      socket.close(1000);
      return;
    }
    const connection: Connection = { socket, isLeaving: false };
    connections.add(connection);
    const ping = setInterval(() => socket.ping(`Ping from ${host}`), PING_MS);
    ping.unref();
    socket.on('message', (data) => acknowledge(String(data)));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(ping);
      connections.delete(connection);
      for (const { connection: owner, settle } of waiting.values())
        if (owner === connection) settle({ ok: false, reason: 'timeout' });
    });
    const debug_info = {
      host,
      started: clock.now().toISOString(),
      build_number: 132,
      approximate_connection_time: 18060,
    };
    const connection_info = { app_id: app.appId };
    send(socket, { type: 'hello', num_connections: ready().length, debug_info, connection_info });
  }

  function acknowledge(text: string): void {
    const { envelope_id, payload } = parse(text);
    const response = payload === undefined ? '' : JSON.stringify(payload);
    waiting.get(envelope_id ?? '')?.settle({ ok: true, response });
  }

  /** A payload can be sent to any connection. */
  function ready(): Connection[] {
    return [...connections].filter(
      ({ isLeaving, socket }) => !isLeaving && socket.readyState === socket.OPEN,
    );
  }

  return {
    name: 'socket',
    issueTicket() {
      const ticket = ids.uuid();
      tickets.add(ticket);
      return ticket;
    },
    accept: (ticket) => (ticket !== null && tickets.delete(ticket) ? open : 408),
    get connections() {
      return ready().length;
    },
    get unacknowledged() {
      return waiting.size;
    },
    send({ kind, payload, retryNum, retryReason }: Attempt): Promise<AttemptResult> {
      const choices = ready();
      const connection = choices[Math.floor(random() * choices.length)];
      if (!connection) return Promise.resolve({ ok: false, reason: 'timeout' });
      return new Promise((resolve) => {
        const envelope_id = ids.uuid();
        const cancel = clock.after(timeoutMs, () => settle({ ok: false, reason: 'timeout' }));
        const settle = (result: AttemptResult) => {
          cancel();
          waiting.delete(envelope_id);
          resolve(result);
        };
        waiting.set(envelope_id, { connection, settle });
        const retry = { retry_attempt: retryNum, retry_reason: retryReason };
        const isEvent = kind === 'events_api';
        const members = { envelope_id, payload, type: kind, accepts_response_payload: !isEvent };
        send(connection.socket, isEvent ? { ...members, ...retry } : members);
      });
    },
    disconnect(reason) {
      for (const connection of connections) {
        send(connection.socket, { type: 'disconnect', reason, debug_info: { host } });
        if (reason === 'warning') clock.after(WARNING_MS, () => connection.socket.close(1000));
        else {
          connection.isLeaving = true;
          connection.socket.close(1000);
        }
      }
    },
    cut() {
      for (const { socket } of connections) socket.terminate();
    },
  };
}

function send(socket: WebSocket, message: unknown): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
}

/** A message that is no JSON acknowledges nothing. */
function parse(text: string): { envelope_id?: string; payload?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
