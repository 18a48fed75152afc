import { createBatcher } from '../../../lib/db/batcher.ts';
import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  type Statement,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, runOnce } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { storedSecret } from '../../../lib/db/sealing-check.ts';
import type { Deployment, DeploymentAddress, Status } from '../domain/deployments.ts';

export type { ReadOptions };

/** The data of a trigger, with the sealed secret. */
interface SealedWebhook {
  deploymentId: string;
  createdBy: string;
  agentId: string;
  status: Status;
  promptPrefix: string | null;
  sealedSecret: string;
}

export interface DeploymentCreation {
  deployment: Deployment;
  /** Null for other types than webhooks. */
  sealedSecret: string | null;
  /** Writes further rows of the deployment in the same transaction. */
  insertDetails?: ((tx: DatabaseSession) => Promise<void>) | undefined;
  idempotencyKey: string;
  /** The encoded request without its key. */
  request: IdempotencyKey['request'];
  /** The response to a repeated request. It contains no secret. */
  response: Uint8Array;
}

/** Writes further rows in the transaction that deletes a deployment. */
export type DeploymentRemoval = (tx: DatabaseSession) => Promise<void>;

/** The deployments in a list: all, or those that a user created and those of agents that the user manages. */
export type ListScope = 'all' | { createdBy: string; agentIds: readonly string[] };

/** Empty filters are not applied. */
interface DeploymentFilter {
  /** A cursor is valid only for its caller. */
  caller: string;
  scope: ListScope;
  agentId: string;
  type: string;
  status: string;
  q: string;
}

interface DeploymentPage {
  filter: DeploymentFilter;
  /** Agents with `q` in their name. */
  namedAgents: readonly string[];
  limit: number;
  cursor: string;
}

type Row = Omit<Deployment, 'promptPrefix' | 'metadata'> & { promptPrefix: string | null; metadata: string };

const COLUMNS = `
  deployment_id as "deploymentId", created_by as "createdBy", agent_id as "agentId", type, status,
  prompt_prefix as "promptPrefix", name, metadata, revision, created_at as "createdAt", updated_at as "updatedAt"`;

/** An empty agent id matches every agent. */
const ADDRESSED = `($1 = '' or agent_id = $1) and deployment_id = $2`;

const INSERT = statement(
  'deployments.insert',
  `insert into deployments (deployment_id, created_by, agent_id, type, status, prompt_prefix, sealed_secret,
                            name, metadata, revision, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
);

const BY_ADDRESS = statement(
  'deployments.by_address',
  `select ${COLUMNS} from deployments where ${ADDRESSED}`,
);

const SET_STATUS = statement(
  'deployments.set_status',
  `update deployments
   set status = $3, updated_at = case when status = $3 then updated_at else greatest(updated_at, $4) end
   where ${ADDRESSED} returning ${COLUMNS}`,
);

/** At most $2: the exact number of more deployments is not needed. */
const COUNT = statement(
  'deployments.count_of_agent',
  `select count(*)::integer as count from (select from deployments where agent_id = $1 limit $2) found`,
);

const LOCK = statement(
  'deployments.lock',
  `select ${COLUMNS} from deployments where deployment_id = $1 for update`,
);

const REPLACE = statement(
  'deployments.replace',
  `update deployments set name = $2, metadata = $3, status = $4, revision = $5, updated_at = greatest(updated_at, $6)
   where deployment_id = $1`,
);

const DELETE = statement('deployments.delete', `delete from deployments where ${ADDRESSED}`);

const SEALED = statement(
  'deployments.sealed_webhooks',
  `select deployment_id as "deploymentId", created_by as "createdBy", agent_id as "agentId", status,
     prompt_prefix as "promptPrefix", sealed_secret as "sealedSecret"
   from deployments where deployment_id = any($1) and type = 'webhook'`,
);

/** One stored secret: one whose key is none of $1, if there is any. */
export const STORED_SECRET = storedSecret({
  name: 'deployments.stored_secret',
  table: 'deployments',
  sealed: 'sealed_secret',
  context: 'deployment_id',
});

/** Every filter adds a condition, so that each combination is a separate statement with its own query plan. */
function listStatement({ filter, namedAgents, limit }: DeploymentPage, before: string | undefined) {
  const { scope } = filter;
  const values: unknown[] = [limit + 1];
  const conditions: string[] = [];
  const names: string[] = [];
  const add = (name: string, value: unknown, condition: (parameter: string) => string) => {
    values.push(value);
    names.push(name);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.agentId) add('agent', filter.agentId, (parameter) => `agent_id = ${parameter}`);
  if (filter.type) add('type', filter.type, (parameter) => `type = ${parameter}`);
  if (filter.status) add('status', filter.status, (parameter) => `status = ${parameter}`);
  if (filter.q) {
    values.push(namedAgents);
    const named = `agent_id = any($${values.length})`;
    add(
      'q',
      likePattern(filter.q),
      (parameter) =>
        `(${named} or name ilike ${parameter} or type ilike ${parameter} or deployment_id ilike ${parameter})`,
    );
  }
  if (before !== undefined) add('before', before, (parameter) => `deployment_id < ${parameter}`);
  const newest = (ownership: string[]) => {
    const where = [...ownership, ...conditions];
    return `select * from deployments ${where.length > 0 ? `where ${where.join(' and ')}` : ''}
            order by deployment_id desc limit $1`;
  };
  let found = newest([]);
  if (scope !== 'all') {
    // Each half uses its own index, so its cost does not depend on the deployments of other users.
    const last = values.push(scope.createdBy, scope.agentIds);
    found = `(${newest([`created_by = $${last - 1}`])}) union (${newest([`agent_id = any($${last})`])})`;
    names.push('reached');
  }
  const query: Statement = statement(
    `deployments.list_${names.join('_')}`,
    `select ${COLUMNS} from (${found}) found order by deployment_id desc limit $1`,
  );
  return { query, values };
}

function deploymentOf({ promptPrefix, metadata, ...row }: Row): Deployment {
  return { ...row, promptPrefix: promptPrefix ?? undefined, metadata: JSON.parse(metadata) };
}

/** Locks a deployment before its schedule and its runs, which is the order in all transactions. */
export async function lockDeployment(
  tx: DatabaseSession,
  deploymentId: string,
): Promise<Deployment | undefined> {
  const [row] = await tx.rows<Row>(LOCK, [deploymentId]);
  return row && deploymentOf(row);
}

/** Writes the members that can change. */
export async function replaceDeployment(tx: DatabaseSession, deployment: Deployment): Promise<void> {
  const { deploymentId, name, metadata, status, revision, updatedAt } = deployment;
  await tx.change(REPLACE, [deploymentId, name, JSON.stringify(metadata), status, revision, updatedAt]);
}

/** A change is not cancelled when the caller leaves. */
function withoutSignal({ trace, viewer }: WriteOptions): WriteOptions {
  return { trace, viewer };
}

export type DeploymentStore = ReturnType<typeof createDeploymentStore>;

export function createDeploymentStore(db: Database) {
  // Requests with unknown ids use at most two connections, however many arrive.
  const lookups = createBatcher<string, SealedWebhook | undefined>({
    name: 'deployments.lookups',
    observer: db.observer,
    async run(deploymentIds, options) {
      const rows = await db.rows<SealedWebhook>(SEALED, [deploymentIds], options);
      const byId = new Map(rows.map((row) => [row.deploymentId, row]));
      return deploymentIds.map((deploymentId) => byId.get(deploymentId));
    },
    sizeOf: () => 1,
    maxItems: 500,
    maxBytes: 500,
  });

  return {
    /** Creates the deployment once per caller and Idempotency-Key. */
    create(
      { deployment, sealedSecret, insertDetails, idempotencyKey, request, response }: DeploymentCreation,
      options?: WriteOptions,
    ) {
      const { deploymentId, createdBy, agentId, type, status, promptPrefix, createdAt } = deployment;
      const { name, metadata, revision } = deployment;
      const key = {
        caller: createdBy,
        key: idempotencyKey,
        method: 'CreateDeployment',
        request,
        now: createdAt,
      };
      const insert = async (tx: DatabaseSession) => {
        await tx.change(INSERT, [
          deploymentId,
          createdBy,
          agentId,
          type,
          status,
          promptPrefix ?? null,
          sealedSecret,
          name,
          JSON.stringify(metadata),
          revision,
          createdAt,
        ]);
        await insertDetails?.(tx);
        return response;
      };
      return runOnce(db, key, insert, options);
    },

    /** The number of deployments of an agent, at most `limit`. */
    async countOfAgent(agentId: string, limit: number, { trace }: WriteOptions): Promise<number> {
      const [row] = await db.rows<{ count: number }>(COUNT, [agentId, limit], { trace });
      return row?.count ?? 0;
    },

    async list(page: DeploymentPage, options?: ReadOptions) {
      const { caller, agentId, type, status, q } = page.filter;
      const scope: CursorScope = ['deployments', caller, agentId, type, status, q];
      const { query, values } = listStatement(page, decodeIdCursor('dep', scope, page.cursor));
      const rows = (await db.rows<Row>(query, values, options)).map(deploymentOf);
      return pageOf(rows, page.limit, scope, (row) => row.deploymentId);
    },

    async find({ agentId, deploymentId }: DeploymentAddress, options?: ReadOptions) {
      const [row] = await db.rows<Row>(BY_ADDRESS, [agentId, deploymentId], options);
      return row && deploymentOf(row);
    },

    async setStatus(address: DeploymentAddress, status: Status, now: Date, options: WriteOptions = {}) {
      const { agentId, deploymentId } = address;
      const values = [agentId, deploymentId, status, now];
      const [row] = await db.rows<Row>(SET_STATUS, values, withoutSignal(options));
      return row && deploymentOf(row);
    },

    /**
     * Deletes the deployment with its refused invocations, runs, or deliveries and posts, unless `check` refuses it. Returns
     * false for an unknown deployment.
     */
    remove(
      { agentId, deploymentId }: DeploymentAddress,
      check: (deployment: Deployment) => void,
      before: DeploymentRemoval | undefined,
      options: WriteOptions = {},
    ): Promise<boolean> {
      return db.transaction(async (tx) => {
        const deployment = await lockDeployment(tx, deploymentId);
        if (!deployment) return false;
        check(deployment);
        await before?.(tx);
        return (await tx.change(DELETE, [agentId, deploymentId])) > 0;
      }, withoutSignal(options));
    },

    /** Concurrent calls share a statement. */
    sealedWebhook: (deploymentId: string, options?: WriteOptions): Promise<SealedWebhook | undefined> =>
      lookups.submit(deploymentId, options),
  };
}
