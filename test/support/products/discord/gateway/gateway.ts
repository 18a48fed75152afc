import type { WebSocket } from 'ws';
import type { Clock } from '../../../../../lib/clock.ts';
import type { FaultPlan } from '../../faults.ts';
import type { ProductHandlers } from '../../http-server.ts';
import type { DiscordApplication } from '../application.ts';
import { guildObject } from '../objects.ts';
import type { DiscordState } from '../state.ts';
import { acceptConnection, type GatewayCommand } from './connection.ts';
import { GUILDS } from './intents.ts';
import { createGatewaySession, type GatewaySession } from './session.ts';

const PATH = '/gateway';
const RESUME_PATH = '/gateway/resume';

/** Controls of the gateway. Those that name no application act on all. */
export interface Gateway {
  /** Whether heartbeats are acknowledged. Without acknowledgements, a client finds that its connection is dead. */
  acknowledgesHeartbeats: boolean;
  /** The commands of clients in order, with heartbeats. */
  readonly received: readonly GatewayCommand[];
  /** The number of connected sessions. */
  connected(application?: DiscordApplication): number;
  /** Asks the clients to reconnect and resume. */
  requestReconnect(application?: DiscordApplication): void;
  /** Asks the clients for a heartbeat. */
  requestHeartbeat(application?: DiscordApplication): void;
  /** Tells the clients that their sessions are invalid. Those that are not resumable end. */
  invalidate(isResumable: boolean, application?: DiscordApplication): void;
  /** Closes the connections with a code, or without a close frame. Sessions stay. */
  disconnect(code?: number, application?: DiscordApplication): void;
}

export interface GatewayParts {
  state: DiscordState;
  clock: Clock;
  faults: FaultPlan;
  heartbeatMs: number;
  /** Returns the origin for WebSockets. */
  socketUrl(): string;
}

export interface GatewayServer {
  gateway: Gateway;
  upgrade: NonNullable<ProductHandlers['upgrade']>;
  /** The URL that `GET /gateway/bot` returns. */
  url(): string;
}

export function createGateway({ state, clock, faults, heartbeatMs, socketUrl }: GatewayParts): GatewayServer {
  const received: GatewayCommand[] = [];
  const sessionsOf = (application?: DiscordApplication): GatewaySession[] =>
    state.applications
      .filter((one) => application === undefined || one === application)
      .flatMap((one) => one.sessions);
  const socketsOf = (application?: DiscordApplication): WebSocket[] =>
    sessionsOf(application).flatMap(({ socket }) => socket ?? []);
  function sendAll(op: number, d: unknown, application?: DiscordApplication): void {
    for (const socket of socketsOf(application)) socket.send(JSON.stringify({ op, d, s: null, t: null }));
  }

  function identify(application: DiscordApplication, intents: number): GatewaySession {
    const id = Array.from({ length: 32 }, () => Math.floor(state.random() * 16).toString(16)).join('');
    const guilds = [...state.guilds.values()].filter((guild) => guild.applications.has(application));
    const session = createGatewaySession({
      ...{ id, intents, botId: application.bot.id, clock, faults },
      opening: () => [
        { type: 'READY', data: ready(id, application, guilds) },
        ...guilds
          .filter(() => intents & GUILDS)
          .map((guild) => ({ type: 'GUILD_CREATE', data: guildObject(state, guild, application) })),
      ],
    });
    application.sessions.push(session);
    return session;
  }

  function ready(session_id: string, { id, bot }: DiscordApplication, guilds: { id: string }[]) {
    return {
      v: 10,
      user: { ...bot, verified: true, mfa_enabled: false, email: null, flags: 0 },
      user_settings: {},
      session_type: 'normal',
      session_id,
      resume_gateway_url: state.overrides.resumeUrl ?? `${socketUrl()}${RESUME_PATH}`,
      relationships: [],
      private_channels: [],
      presences: [],
      guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
      application: { id, flags: 0 },
      shard: [0, 1],
      _trace: [],
    };
  }

  const gateway: Gateway = {
    acknowledgesHeartbeats: true,
    received,
    connected: (application) => socketsOf(application).length,
    requestReconnect: (application) => sendAll(7, null, application),
    requestHeartbeat: (application) => sendAll(1, null, application),
    invalidate(isResumable, application) {
      sendAll(9, isResumable, application);
      if (isResumable) return;
      for (const one of state.applications) {
        if (application === undefined || one === application) one.sessions = [];
      }
    },
    disconnect(code, application) {
      for (const socket of socketsOf(application))
        code === undefined ? socket.terminate() : socket.close(code);
    },
  };

  return {
    gateway,
    url: () => state.overrides.gatewayUrl ?? `${socketUrl()}${PATH}`,
    upgrade({ path, query }) {
      const normalized = path.replace(/\/$/, '');
      if (normalized !== PATH && normalized !== RESUME_PATH) return 404;
      return (socket) =>
        acceptConnection({
          ...{ socket, path: normalized, query, clock, heartbeatMs, received, identify },
          applications: state.applications,
          acknowledges: () => gateway.acknowledgesHeartbeats,
        });
    },
  };
}
