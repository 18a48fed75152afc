import { createHash, createHmac } from 'node:crypto';
import pg from 'pg';
import { createLog } from '../../../lib/log.ts';
import { createSealer } from '../../../lib/sealing.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type Deployment,
  DeploymentsServiceDefinition,
  type TriggerRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { openDeployments } from '../../../services/deployments/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { connectNeighbours, createNeighbours } from './neighbours.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
export const STRANGER = { userId: 'usr_00000000000000000000000002', roles: ['member'] };
export const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
export const OTHER_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVB';
export const FOREIGN_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVC';
export const UNKNOWN_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVD';
export const UNKNOWN_DEPLOYMENT = 'dep_01M7XYC91CC5TE06JQWDWRTJVA';

const CONFIG = { pool: 4, windowSeconds: 300, maxBodyBytes: 4 * 1024 * 1024 };
export const SEALING_KEY = 'the sealing key of the services under test';

export interface HouseOptions extends Partial<ServiceContext> {
  sealingKey?: string;
  /** Open on the database of another house. */
  databaseUrl?: string;
}

/** The deployments service on a database of its own, with neighbours that know four agents and two users. */
export async function openHouse(transport: TransportName, options: HouseOptions = {}) {
  const { sealingKey = SEALING_KEY, databaseUrl, ...overrides } = options;
  const stack = new AsyncDisposableStack();
  const url = databaseUrl ?? stack.use(await createDatabase()).url;
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    pretty: false,
    destination: { write: (line) => void lines.push(line) },
  });
  const context = createContext(url, {
    log,
    observe: ({ cause, request: _, ...observation }) => log.info({ err: cause, ...observation }),
    ...overrides,
  });
  const neighbours = createNeighbours();
  const clients = await connectNeighbours(neighbours, transport, context, stack);
  const sealer = createSealer(sealingKey);
  const service = await openDeployments(context, CONFIG, clients, sealer, () => 'https://agents.example.org');
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
    neighbours.agents.clear();
    const agent = { enabled: true, version: 7 };
    neighbours.agents.set(AGENT, { ...agent, name: 'Order desk', ownerId: OWNER.userId });
    neighbours.agents.set(OTHER_AGENT, { ...agent, name: 'Night 100%_watch', ownerId: OWNER.userId });
    neighbours.agents.set(FOREIGN_AGENT, { ...agent, name: 'Foreign desk', ownerId: STRANGER.userId });
    neighbours.users.clear();
    neighbours.users.set(OWNER.userId, { enabled: true });
    neighbours.users.set(STRANGER.userId, { enabled: true });
    for (const agentId of neighbours.agents.keys()) context.bus.publish('agents.changed', agentId);
    for (const userId of neighbours.users.keys()) context.bus.publish('users.changed', userId);
  }

  const edge = connection.as('edge');

  /** A webhook of the owner's and its secret. */
  async function create(promptPrefix?: string, agentId = AGENT) {
    const request = { agentId, type: 'webhook', promptPrefix, idempotencyKey: '' };
    const { deployment, sharedSecret } = await edge.createDeployment(request, { caller: OWNER });
    if (!deployment || !sharedSecret) throw new Error('no deployment was created');
    return { deployment, secret: sharedSecret };
  }

  /** A call as the sender of this webhook signs it, unless `changes` say otherwise. */
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
    neighbours,
    edge,
    connection,
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
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type House = Awaited<ReturnType<typeof openHouse>>;

/** Straight from the specification. */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest('base64');
}

export function named(deployment: Deployment) {
  return { agentId: deployment.agentId, deploymentId: deployment.deploymentId };
}
