import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { AuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Log } from '../../lib/log.ts';
import { type PeriodicTask, startPeriodicTask } from '../../lib/periodic-task.ts';
import type { ServerProbe } from './handlers/server-probe.ts';
import type { McpComparisonStore } from './store/mcp-comparisons.ts';
import type { McpServerStore } from './store/mcp-servers.ts';

interface CatalogueComparisonContext {
  comparisons: McpComparisonStore;
  mcpServers: Pick<McpServerStore, 'server'>;
  probe: ServerProbe;
  record: AuditRecorder;
  clock: Clock;
  log: Log;
}

/** Each server is compared this often, by one replica. */
const COMPARE_EVERY_MS = 60 * 60_000;
/** A comparison that another service prevented is repeated after this time. */
const REPEAT_AFTER_MS = 5 * 60_000;
const LOOK_EVERY_MS = 60_000;

/**
 * Compares the catalogues of MCP servers that agents and assistants have with the reviewed ones, and stores what it saw, as
 * ReportCatalogue does. Servers without authorization are probed without a credential, others with a shared one.
 */
export function startCatalogueComparison(context: CatalogueComparisonContext): PeriodicTask {
  const { comparisons, clock, log } = context;
  return startPeriodicTask({
    clock,
    everyMs: LOOK_EVERY_MS,
    async work(signal) {
      while (!signal.aborted) {
        const now = clock.now();
        const mcpServerId = await comparisons.claim(now, new Date(now.getTime() - COMPARE_EVERY_MS));
        if (mcpServerId === undefined) return;
        await compare(mcpServerId, signal, context).catch(async (error: unknown) => {
          const repeatAt = now.getTime() + REPEAT_AFTER_MS;
          await comparisons.setCompared(mcpServerId, new Date(repeatAt - COMPARE_EVERY_MS));
          throw error;
        });
      }
    },
    onFailure: (error) =>
      log.warn({ err: error }, 'the catalogue of an MCP server could not be compared and will be retried'),
  });
}

async function compare(
  mcpServerId: string,
  signal: AbortSignal,
  { mcpServers, probe, record }: CatalogueComparisonContext,
): Promise<void> {
  try {
    const server = await mcpServers.server(mcpServerId, { signal });
    const anyShared = server.authorization !== 'none';
    const data = { credential: 'shared', reason: 'comparison' };
    if (anyShared) await record({ action: 'mcp-server.probe', targetId: mcpServerId, data }, { signal });
    await probe(server, { credentialId: '', anyShared }, { signal });
  } catch (error) {
    // The server was deleted, or no vault has a credential for it.
    const code = error instanceof Refusal ? error.code : undefined;
    if (code !== 'MCP_SERVER_NOT_FOUND' && code !== 'CREDENTIAL_NOT_FOUND') throw error;
  }
}
