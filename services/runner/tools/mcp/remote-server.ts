import type { Clock } from '../../../../lib/clock.ts';
import { LruCache } from '../../../../lib/lru.ts';
import {
  type ConnectMcp,
  type CredentialHeaders,
  type KnownProtocol,
  type McpConnection,
  McpError,
} from '../../../../lib/mcp/open.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { LentCredential } from '../../credentials/lent-credentials.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

export type RemoteEndpoint = Pick<
  McpServerRuntime,
  'mcpServerId' | 'name' | 'url' | 'transport' | 'timeoutSeconds'
>;

/** Connects to the server of an exchange. */
export type OpenConnection = (headers: CredentialHeaders, signal: AbortSignal) => Promise<McpConnection>;

const MAX_KNOWN = 1_000;
/** The state of a server does not matter for these failures: they are those of the credential or of one result. */
const NO_OUTAGE = new Set(['unauthorized', 'too_large']);

/** Whether a failure means that the server, or the way to it, does not work. */
export function isOutage(error: unknown): boolean {
  return error instanceof McpError && !NO_OUTAGE.has(error.problem);
}

/** Connects to MCP servers. */
export class RemoteServers {
  readonly #connect: ConnectMcp;
  readonly #breaker: CircuitBreaker;
  /** The protocols of servers, which save requests. */
  readonly #known = new LruCache<string, KnownProtocol>(MAX_KNOWN);

  constructor(connect: ConnectMcp, clock: Clock) {
    this.#connect = connect;
    this.#breaker = new CircuitBreaker(clock);
  }

  /**
   * Runs an exchange over a connection of its own. Rejects with McpError, with the reason of the signal, and with a ToolError
   * while the server is not called because it has failed repeatedly.
   */
  exchange<Result>(
    server: RemoteEndpoint,
    credential: LentCredential | undefined,
    signal: AbortSignal,
    run: (connection: McpConnection) => Promise<Result>,
  ): Promise<Result> {
    return this.attempt(server, credential, async (open) => {
      const connection = await open(headersOf(credential), signal);
      try {
        return await run(connection);
      } finally {
        // The result does not wait for the end of the server's session. Closing never fails.
        void connection.close();
      }
    });
  }

  /** Runs an exchange over connections that `run` opens and closes. Rejects as `exchange` does. */
  async attempt<Result>(
    server: RemoteEndpoint,
    credential: Pick<LentCredential, 'credentialId'> | undefined,
    run: (open: OpenConnection) => Promise<Result>,
  ): Promise<Result> {
    const { mcpServerId, name, url, transport, timeoutSeconds } = server;
    const circuit = `${mcpServerId} ${credential?.credentialId ?? ''}`;
    if (!this.#breaker.allows(circuit))
      throw new ToolError(
        `The MCP server ${name} has failed repeatedly. It is not called now; try again later.`,
      );
    try {
      const result = await run(async (headers, signal) => {
        const known = this.#known.get(mcpServerId);
        const connection = await this.#connect({ url, transport, timeoutSeconds, headers }, signal, known);
        this.#known.set(mcpServerId, connection.known);
        return connection;
      });
      this.#breaker.succeeded(circuit);
      return result;
    } catch (error) {
      if (!(error instanceof McpError)) this.#breaker.abandoned(circuit);
      else if (isOutage(error)) {
        // The server may speak another protocol now.
        this.#known.delete(mcpServerId);
        this.#breaker.failed(circuit);
      } else this.#breaker.succeeded(circuit);
      throw error;
    }
  }
}

/** The only place outside of vaults in which a credential is revealed: the headers of requests to its server. */
export function headersOf(credential: LentCredential | undefined): Record<string, string> {
  const headers = Object.entries(credential?.headers ?? {});
  return Object.fromEntries(headers.map(([name, value]) => [name, value.reveal()]));
}
