import { type Clock, wait } from '../../../../lib/clock.ts';
import { type McpConnection, McpError } from '../../../../lib/mcp/open.ts';
import type { LentCredential, LentCredentials } from '../../credentials/lent-credentials.ts';
import type { CallingTurn } from '../../tool-calls/tool-call.ts';
import {
  headersOf,
  isOutage,
  type OpenConnection,
  type RemoteEndpoint,
  type RemoteServers,
} from './remote-server.ts';

/** The call that needs a connection. */
interface Caller {
  turn: Pick<CallingTurn, 'lease' | 'trace'>;
  signal: AbortSignal;
}

type CredentialSource = Pick<LentCredentials, 'lend' | 'known'>;

/** The end of a turn waits this long for the credentials with which sessions are ended. */
const MAX_CLOSE_MS = 2_000;

/**
 * The connections of one turn, one per server as it is now and credential. Those of the transport `sse` end with their exchange. Turns
 * share no connections.
 */
export class TurnConnections {
  readonly #servers: RemoteServers;
  readonly #credentials: CredentialSource;
  readonly #clock: Clock;
  /** By server with its address, and credential. Undefined for a connection that is not kept. */
  readonly #kept = new Map<string, Promise<McpConnection | undefined>>();
  /** The kept connections, and how they get their headers. */
  readonly #open = new Map<McpConnection, () => Promise<unknown>>();
  #isClosed = false;

  constructor(servers: RemoteServers, credentials: CredentialSource, clock: Clock) {
    this.#servers = servers;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  /** Runs an exchange. Rejects as RemoteServers does. */
  exchange<Result>(
    server: RemoteEndpoint,
    credential: LentCredential | undefined,
    caller: Caller,
    run: (connection: McpConnection) => Promise<Result>,
  ): Promise<Result> {
    const { mcpServerId, url, transport, timeoutSeconds } = server;
    const key = JSON.stringify([mcpServerId, credential?.credentialId, url, transport, timeoutSeconds]);
    const headers = () => this.#headers(mcpServerId, credential, caller);
    return this.#servers.attempt(server, credential, async (open) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const connection = await this.#connection(key, headers, caller, open);
        try {
          return await run(connection);
        } catch (error) {
          // Other exchanges may still use the connection, so it is closed with the turn.
          if (isOutage(error)) this.#kept.delete(key);
          // A message in an unknown session has no effect.
          if (isRepeated || !(error instanceof McpError) || !error.isSessionLost) throw error;
        } finally {
          if (!this.#open.has(connection)) void connection.close();
        }
      }
    });
  }

  /**
   * Ends the sessions of the servers, in the background. Credentials whose time is over are lent once more before, unless the
   * lease is lost. Never rejects.
   */
  async close({ isLeaseLost }: { isLeaseLost: boolean }): Promise<void> {
    const connections = [...this.#open];
    this.#open.clear();
    this.#kept.clear();
    const withSession = connections.filter(([connection]) => connection.hasSession);
    if (withSession.length > 0 && !isLeaseLost) {
      const lent = new AbortController();
      void Promise.allSettled(withSession.map(([, headers]) => headers())).then(() => lent.abort());
      await wait(this.#clock, MAX_CLOSE_MS, lent.signal);
    }
    this.#isClosed = true;
    for (const [connection] of connections) void connection.close();
  }

  async #connection(
    key: string,
    headers: () => Promise<Record<string, string>>,
    { signal }: Caller,
    open: OpenConnection,
  ): Promise<McpConnection> {
    for (;;) {
      const kept = this.#kept.get(key);
      if (!kept) break;
      const connection = await kept;
      if (connection) return connection;
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    }
    const opening = open(headers, signal).then((connection) => {
      if (connection.isReusable && !this.#isClosed) this.#open.set(connection, headers);
      return connection;
    });
    const kept = opening.then(
      (connection) => (this.#open.has(connection) ? connection : undefined),
      () => undefined,
    );
    this.#kept.set(key, kept);
    return opening;
  }

  /** The headers with the credential of the turn. After the end of the turn, only those that are still in memory. */
  async #headers(
    mcpServerId: string,
    credential: LentCredential | undefined,
    { turn }: Caller,
  ): Promise<Record<string, string>> {
    if (!credential) return {};
    const lending = this.#isClosed
      ? await this.#credentials.known(turn, mcpServerId)
      : await this.#credentials.lend(turn, mcpServerId);
    // Another credential can be that of another account.
    if (lending?.kind !== 'lent' || lending.lent.credentialId !== credential.credentialId)
      throw new Error('the credential of the session is not available');
    return headersOf(lending.lent);
  }
}
