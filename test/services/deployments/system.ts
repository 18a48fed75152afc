import { createHash, createHmac } from 'node:crypto';
import pg from 'pg';
import { createLog } from '../../../lib/log.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type Deployment,
  DeploymentsServiceDefinition,
  type TriggerRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { openDeployments } from '../../../services/deployments/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { connectFakeServices, createFakeServices, type FakeServices } from './fake-services.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
export const STRANGER = { userId: 'usr_00000000000000000000000002', roles: ['member'] };
export const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
export const OTHER_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVB';
export const FOREIGN_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVC';
export const UNKNOWN_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVD';
export const UNKNOWN_DEPLOYMENT = 'dep_01M7XYC91CC5TE06JQWDWRTJVA';

const CONFIG = {
  pool: 4,
  windowSeconds: 300,
  maxBodyBytes: 4 * 1024 * 1024,
  scheduleMinIntervalSeconds: 60,
  scheduleBatch: 500,
  runHistoryDays: 400,
};
/** The members of a request for a webhook that only schedules use. */
export const NO_SCHEDULE = { name: '', metadata: {}, schedule: undefined };
export const SEALING_KEY = 'the sealing key of the services under test';

interface SystemOptions extends Partial<ServiceContext> {
  sealingKey?: string;
  /** Open on the database of another system. */
  databaseUrl?: string;
  /** Use the fake services of another system. */
  fakes?: FakeServices;
}

/** Opens the deployments service on a new database, with fakes that have three agents and two users. */
export async function openDeploymentsSystem(transport: TransportName, options: SystemOptions = {}) {
  const { sealingKey = SEALING_KEY, databaseUrl, fakes = createFakeServices(), ...overrides } = options;
  const stack = new AsyncDisposableStack();
  const url = databaseUrl ?? stack.use(await createDatabase()).url;
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  });
  const context = createContext(url, {
    log,
    observe: ({ cause, request: _, ...observation }) => log.info({ err: cause, ...observation }),
    ...overrides,
  });
  const clients = await connectFakeServices(fakes, transport, context, stack);
  const sealingKeys = { read: async () => sealingKey, create: async () => sealingKey };
  const service = await openDeployments(
    context,
    CONFIG,
    clients,
    sealingKeys,
    () => 'https://agents.example.org',
  );
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop();
    return stopped;
  };
  stack.defer(stop);
  const connection = stack.use(
    await connect(DeploymentsServiceDefinition, service.endpoint, transport, context),
  );
  reset();

  function reset(): void {
    fakes.agents.clear();
    const agent = { enabled: true, version: 7 };
    fakes.agents.set(AGENT, { ...agent, name: 'Order desk', ownerId: OWNER.userId });
    fakes.agents.set(OTHER_AGENT, { ...agent, name: 'Night 100%_watch', ownerId: OWNER.userId });
    fakes.agents.set(FOREIGN_AGENT, { ...agent, name: 'Foreign desk', ownerId: STRANGER.userId });
    fakes.users.clear();
    fakes.users.set(OWNER.userId, { enabled: true });
    fakes.users.set(STRANGER.userId, { enabled: true });
    for (const agentId of fakes.agents.keys()) context.bus.publish('agents.changed', agentId);
    for (const userId of fakes.users.keys()) context.bus.publish('users.changed', userId);
  }

  const edge = connection.as('edge');

  /** Creates a webhook of OWNER. Returns it with its secret. */
  async function create(promptPrefix?: string, agentId = AGENT) {
    const request = { agentId, type: 'webhook', promptPrefix, ...NO_SCHEDULE, idempotencyKey: '' };
    const { deployment, sharedSecret } = await edge.createDeployment(request, { caller: OWNER });
    if (!deployment || !sharedSecret) throw new Error('no deployment was created');
    return { deployment, secret: sharedSecret };
  }

  /** A correctly signed request to the webhook, with `changes` applied after the signature. */
  function signed(
    { deployment, secret }: { deployment: Deployment; secret: string },
    body: Uint8Array | string = '{}',
    changes: Partial<TriggerRequest> = {},
  ): TriggerRequest {
    const timestamp = String(Math.floor(context.clock.now().getTime() / 1000));
    const bytes = Buffer.from(body);
    return {
      deploymentId: deployment.deploymentId,
      body: bytes,
      oversize: false,
      timestamps: [timestamp],
      signatures: [sign(secret, timestamp, bytes)],
      sourceAddress: '203.0.113.7',
      ...changes,
    };
  }

  return {
    context,
    fakes,
    edge,
    connection,
    optionalParts: service.optionalParts ?? [],
    lines,
    create,
    signed,
    reset,
    stop,
    /** Runs SQL as the owner of the database. */
    async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=deployments' });
      await client.connect();
      try {
        return (await client.query<Row>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    /** Begins a transaction with a statement, as the owner of the database. Its disposal commits it. */
    async begin(text: string, values: unknown[] = []): Promise<AsyncDisposable> {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=deployments' });
      await client.connect();
      await client.query('begin');
      await client.query(text, values);
      return {
        async [Symbol.asyncDispose]() {
          await client.query('commit');
          await client.end();
        },
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type DeploymentsSystem = Awaited<ReturnType<typeof openDeploymentsSystem>>;

/** Signs as the specification says. */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest('base64');
}

/** The ids of a deployment, for every request about it. */
export function referenceTo({ agentId, deploymentId }: Pick<Deployment, 'agentId' | 'deploymentId'>) {
  return { agentId, deploymentId, ifRevisions: undefined, metadata: undefined, schedule: undefined };
}
