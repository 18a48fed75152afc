import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../../../../lib/clock.ts';
import type { DiscordApplication } from '../application.ts';
import { PRIVILEGED_INTENTS } from '../application.ts';
import { areKnownIntents } from './intents.ts';
import type { GatewaySession } from './session.ts';

export interface GatewayCommand {
  op: number;
  /** The path of the connection, which tells connections to `resume_gateway_url`. */
  path: string;
  d: unknown;
}

export interface ConnectionParts {
  socket: WebSocket;
  path: string;
  query: URLSearchParams;
  clock: Clock;
  heartbeatMs: number;
  /** Commands of all connections, in order. */
  received: GatewayCommand[];
  applications: DiscordApplication[];
  acknowledges(): boolean;
  identify(application: DiscordApplication, intents: number): GatewaySession;
}

const MAX_COMMANDS_PER_MINUTE = 120;
/** Commands that need a session and have no effect here: presence, voice state, members of a guild. */
const IGNORED_OPS = [3, 4, 8];
const PRIVILEGED =
  PRIVILEGED_INTENTS.members | PRIVILEGED_INTENTS.presences | PRIVILEGED_INTENTS.messageContent;

interface Identify {
  token?: unknown;
  intents?: unknown;
  properties?: unknown;
  shard?: unknown;
}

/** Closes a connection with a code of the product. */
class GatewayClosure extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** Speaks version 10 of the gateway's protocol with one connection, in JSON without compression. */
export function acceptConnection(parts: ConnectionParts): void {
  const { socket, path, query, clock, heartbeatMs, received, applications } = parts;
  let session: GatewaySession | undefined;
  let application: DiscordApplication | undefined;
  const commandTimes: number[] = [];
  const send = (op: number, d?: unknown) => socket.send(JSON.stringify({ op, d, s: null, t: null }));

  if (query.get('v') !== '10') {
    socket.close(4012, 'Invalid API version.');
    return;
  }
  if ((query.get('encoding') ?? 'json') !== 'json' || query.has('compress')) {
    socket.close(4002, 'Error while decoding payload.');
    return;
  }
  send(10, { heartbeat_interval: heartbeatMs, _trace: [] });
  // The interval has a tolerance for the latency of the network.
  const watch = () => clock.after(heartbeatMs * 1.5, () => socket.close(4009, 'Session timed out.'));
  let cancelWatch = watch();

  function heartbeat(): void {
    cancelWatch();
    cancelWatch = watch();
    if (parts.acknowledges()) send(11);
  }

  function identify({ token, intents, shard }: Identify): void {
    if (session) throw new GatewayClosure(4005, 'Already authenticated.');
    const found = applications.find((one) => one.token === token);
    if (!found) throw new GatewayClosure(4004, 'Authentication failed.');
    if (!areKnownIntents(intents)) throw new GatewayClosure(4013, 'Invalid intent(s).');
    if (intents & PRIVILEGED & ~found.privilegedIntents)
      throw new GatewayClosure(4014, 'Disallowed intent(s).');
    if (shard !== undefined && JSON.stringify(shard) !== '[0,1]')
      throw new GatewayClosure(4010, 'Invalid shard.');
    found.remainingIdentifies--;
    application = found;
    session = parts.identify(found, intents);
    session.socket = socket;
    session.start();
  }

  function resume({
    token,
    session_id,
    seq,
  }: {
    token?: unknown;
    session_id?: unknown;
    seq?: unknown;
  }): void {
    const found = applications.find((one) => one.token === token);
    if (!found) throw new GatewayClosure(4004, 'Authentication failed.');
    const known = found.sessions.find(({ id }) => id === session_id);
    if (!known) {
      send(9, false);
      return;
    }
    if (typeof seq !== 'number' || seq > known.sequence) throw new GatewayClosure(4007, 'Invalid seq.');
    if (known.socket !== socket) known.socket?.close(4000, 'Resumed by another connection.');
    application = found;
    session = known;
    known.socket = socket;
    known.replay(seq);
  }

  function receive(data: RawData): void {
    const now = clock.now().getTime();
    commandTimes.push(now);
    while ((commandTimes[0] ?? now) < now - 60_000) commandTimes.shift();
    if (commandTimes.length > MAX_COMMANDS_PER_MINUTE) throw new GatewayClosure(4008, 'Rate limited.');
    let command: { op?: unknown; d?: unknown };
    try {
      command = JSON.parse(String(data));
    } catch {
      throw new GatewayClosure(4002, 'Error while decoding payload.');
    }
    const { op, d } = command;
    received.push({ op: Number(op), path, d });
    if (op === 1) heartbeat();
    else if (op === 2) identify((d ?? {}) as Identify);
    else if (op === 6) resume(d ?? {});
    else if (!IGNORED_OPS.includes(Number(op))) throw new GatewayClosure(4001, 'Unknown opcode.');
    else if (!session) throw new GatewayClosure(4003, 'Not authenticated.');
  }

  socket.on('message', (data) => {
    try {
      receive(data);
    } catch (error) {
      if (!(error instanceof GatewayClosure)) throw error;
      socket.close(error.code, error.message);
    }
  });
  socket.on('close', (code) => {
    cancelWatch();
    if (session?.socket !== socket) return;
    session.socket = undefined;
    // These codes of the client end the session. After others it can be resumed.
    if (application && session.isEndedBy(code)) {
      session.close();
      application.sessions.splice(application.sessions.indexOf(session), 1);
    }
  });
}
