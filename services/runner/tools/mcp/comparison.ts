import type { Clock } from '../../../../lib/clock.ts';
import type { Client } from '../../../../lib/grpc/contract.ts';
import type { Log } from '../../../../lib/log.ts';
import { LruCache } from '../../../../lib/lru.ts';
import type {
  AgentsServiceDefinition,
  McpServerRuntime,
} from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { LentCredential } from '../../credentials/lent-credentials.ts';
import type { CallingTurn } from '../../tool-calls/tool-call.ts';
import type { RemoteServers } from './remote-server.ts';

interface ComparisonContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'reportCatalogue'>;
  servers: RemoteServers;
  clock: Clock;
  log: Log;
}

/** A runner compares the catalogue of a server at most this often. */
const INTERVAL_MS = 300_000;
const MAX_SERVERS = 1_000;

/** Reports what servers offer now, so that tools that differ from their review are not called any more. */
export class Comparison {
  readonly #context: ComparisonContext;
  readonly #startedAt = new LruCache<string, number>(MAX_SERVERS);
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(context: ComparisonContext) {
    this.#context = context;
  }

  /**
   * Reads and reports the catalogue in the background, with the credential of the call. A server can list other tools for a
   * user, so nothing is compared with a personal credential.
   */
  startUnlessRecent(
    server: McpServerRuntime,
    credential: LentCredential | undefined,
    { trace }: Pick<CallingTurn, 'trace'>,
  ): void {
    if (credential?.source === 'personal') return;
    const now = this.#context.clock.now().getTime();
    const { mcpServerId } = server;
    if (now - (this.#startedAt.get(mcpServerId) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    this.#startedAt.set(mcpServerId, now);
    const running = this.#compare(server, credential, trace).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted)
        this.#context.log.warn(
          { err: error, mcp_server_id: mcpServerId },
          'a catalogue could not be compared',
        );
    });
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running);
  }

  async #compare(
    server: McpServerRuntime,
    credential: LentCredential | undefined,
    trace: CallingTurn['trace'],
  ): Promise<void> {
    const { signal } = this.#stopped;
    const { json, protocolVersion } = await this.#context.servers.exchange(
      server,
      credential,
      signal,
      async (connection) => ({
        ...(await connection.readCatalogue(signal)),
        protocolVersion: connection.protocolVersion,
      }),
    );
    const report = { mcpServerId: server.mcpServerId, protocolVersion, catalogueJson: json };
    await this.#context.agents.reportCatalogue(report, { trace, signal });
  }
}
