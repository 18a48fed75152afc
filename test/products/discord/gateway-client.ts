import { WebSocket } from 'ws';
import type { Discord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';

export interface GatewayPayload {
  op: number;
  s: number | null;
  t: string | null;
  d: Record<string, unknown>;
}

/** A connection to the gateway that does nothing by itself. */
export interface GatewayClient extends Disposable {
  payloads: GatewayPayload[];
  /** The code with which the server has closed the connection. */
  closeCode: number | undefined;
  send(op: number, d?: unknown): void;
  /** Waits for the first payload with this opcode, or of this event. */
  next(kind: number | string): Promise<GatewayPayload>;
  closed(): Promise<number>;
  close(code: number): void;
}

export const ALL_INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);

export function connectGateway(url: string, query = 'v=10&encoding=json'): GatewayClient {
  const socket = new WebSocket(`${url}?${query}`);
  const client: GatewayClient = {
    payloads: [],
    closeCode: undefined,
    send: (op, d) => socket.send(JSON.stringify({ op, d })),
    next: (kind) =>
      until(`payload ${kind} arrives`, () => client.payloads.find(({ op, t }) => op === kind || t === kind)),
    closed: () => until('the connection is closed', () => client.closeCode),
    close: (code) => socket.close(code),
    [Symbol.dispose]: () => socket.terminate(),
  };
  socket.on('message', (data) => client.payloads.push(JSON.parse(String(data))));
  socket.on('close', (code) => {
    client.closeCode = code;
  });
  socket.on('error', () => undefined);
  return client;
}

/** Connects and identifies the first application. Returns after READY and the guilds. */
export async function identifyGateway(discord: Discord, intents = ALL_INTENTS): Promise<GatewayClient> {
  const client = connectGateway(gatewayUrl(discord));
  await client.next(10);
  client.send(2, { token: discord.application.token, intents, properties: {} });
  await client.next('READY');
  return client;
}

export const gatewayUrl = ({ apiUrl }: Discord) => apiUrl.replace('http', 'ws').replace(/\/api$/, '/gateway');
