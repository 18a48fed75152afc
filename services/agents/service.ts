import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentsConfig } from './config.ts';
import { createHandlers } from './handlers.ts';
import { createStore } from './store.ts';

const peers: Peers<AgentsServiceDefinition> = {
  createAgent: ['edge'],
  listAgents: ['edge'],
  getAgent: ['edge', 'deployments'],
  updateAgent: ['edge'],
  deleteAgent: ['edge'],
  listAgentVersions: ['edge'],
  getAgentVersion: ['runner', 'sessions'],
  resolveAgent: ['sessions', 'deployments'],
  lookUpAgents: ['deployments'],
};

/** Others keep for at most this long whether an agent may start. */
const KEPT_MS = 1_000;

/** Opens the service that keeps agents and their versions; its schema is brought up to date first. */
export async function openAgents(context: ServiceContext, config: AgentsConfig): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'agents', migrations, pool: config.pool });
  const endSweeping = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys could not be deleted'),
  );
  const handlers = createHandlers({
    store: createStore(db),
    clock,
    ids,
    endpoints: Object.keys(config.modelEndpoints ?? {}),
    hint: (agentId) => bus.publish('agents.changed', agentId),
    settle: () => bus.settle(KEPT_MS),
  });
  return {
    name: 'agents',
    endpoint: guard({
      contract: AgentsServiceDefinition,
      handlers,
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      endSweeping();
      await db.close();
    },
  };
}
