import { type CursorScope, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type ReadOptions,
  type Session,
  type Statement,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { type IdempotencyKey, once } from '../../../lib/db/idempotency.ts';
import { likePattern } from '../../../lib/db/like.ts';
import type { Address, Deployment, Status } from '../domain.ts';
import { placeOf } from './place.ts';

/** For whom, and in which trace, something is read. */
export type { ReadOptions };

/** What a trigger needs, with the secret still sealed. */
export interface SealedWebhook {
  deploymentId: string;
  createdBy: string;
  agentId: string;
  status: Status;
  promptPrefix: string | null;
  sealedSecret: string;
}

export interface Creation {
  deployment: Deployment;
  sealedSecret: string;
  idempotencyKey: string;
  /** The encoded request without its key. */
  request: IdempotencyKey['request'];
  /** What a repeated request is answered with. It holds no secret. */
  answer: Uint8Array;
}

/** Whose deployments a list shows: everybody's, or those that a user has made and those of agents that they manage. */
export type Reach = 'all' | { createdBy: string; agentIds: readonly string[] };

/** Empty filters are not applied. */
export interface DeploymentFilter {
  /** Who asks: a cursor is good for nobody else. */
  caller: string;
  reach: Reach;
  agentId: string;
  type: string;
  status: string;
  q: string;
}

export interface DeploymentPage {
  filter: DeploymentFilter;
  /** Agents whose name holds `q`. */
  namedAgents: readonly string[];
  limit: number;
  cursor: string;
}

type Row = Omit<Deployment, 'promptPrefix'> & { promptPrefix: string | null };

const COLUMNS = `
  deployment_id as "deploymentId", created_by as "createdBy", agent_id as "agentId", type, status,
  prompt_prefix as "promptPrefix", created_at as "createdAt", updated_at as "updatedAt"`;

/** With an agent only when it is that agent's. */
const ADDRESSED = `($1 = '' or agent_id = $1) and deployment_id = $2`;

const INSERT = statement(
  'deployments.insert',
  `insert into deployments (deployment_id, created_by, agent_id, type, status, prompt_prefix, sealed_secret,
                            created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
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

const DELETE = statement('deployments.delete', `delete from deployments where ${ADDRESSED}`);

const SEALED = statement(
  'deployments.sealed_webhooks',
  `select deployment_id as "deploymentId", created_by as "createdBy", agent_id as "agentId", status,
     prompt_prefix as "promptPrefix", sealed_secret as "sealedSecret"
   from deployments where deployment_id = any($1)`,
);

/** Each filter that is set adds its line, so that each combination is a statement with a plan of its own. */
function listStatement({ filter, namedAgents, limit }: DeploymentPage, before: string | undefined) {
  const { reach } = filter;
  const values: unknown[] = [limit + 1];
  const lines: string[] = [];
  const names: string[] = [];
  const add = (name: string, value: unknown, line: (place: string) => string) => {
    values.push(value);
    names.push(name);
    lines.push(line(`$${values.length}`));
  };
  if (filter.agentId) add('agent', filter.agentId, (place) => `agent_id = ${place}`);
  if (filter.type) add('type', filter.type, (place) => `type = ${place}`);
  if (filter.status) add('status', filter.status, (place) => `status = ${place}`);
  if (filter.q) {
    values.push(namedAgents);
    const named = `agent_id = any($${values.length})`;
    add(
      'q',
      likePattern(filter.q),
      (place) => `(${named} or type ilike ${place} or deployment_id ilike ${place})`,
    );
  }
  if (before !== undefined) add('before', before, (place) => `deployment_id < ${place}`);
  const newest = (whose: string[]) => {
    const where = [...whose, ...lines];
    return `select * from deployments ${where.length > 0 ? `where ${where.join(' and ')}` : ''}
            order by deployment_id desc limit $1`;
  };
  let found = newest([]);
  if (reach !== 'all') {
    // Each is found by an index of its own, whatever there is of others.
    const place = values.push(reach.createdBy, reach.agentIds);
    found = `(${newest([`created_by = $${place - 1}`])}) union (${newest([`agent_id = any($${place})`])})`;
    names.push('reached');
  }
  const query: Statement = statement(
    `deployments.list_${names.join('_')}`,
    `select ${COLUMNS} from (${found}) found order by deployment_id desc limit $1`,
  );
  return { query, values };
}

function deploymentOf({ promptPrefix, ...row }: Row): Deployment {
  return { ...row, promptPrefix: promptPrefix ?? undefined };
}

/** What is changed is not given up half-way. */
function uncancelled({ trace, viewer }: WriteOptions): WriteOptions {
  return { trace, viewer };
}

export type DeploymentStore = ReturnType<typeof createDeploymentStore>;

export function createDeploymentStore(db: Database) {
  // Whoever calls with ids that nobody has gets no more than these two connections, whatever their number.
  const lookups = createGroup<string, SealedWebhook | undefined>({
    name: 'deployments.lookups',
    watch: db.watch,
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
    /** Creates it once per caller and Idempotency-Key. */
    create({ deployment, sealedSecret, idempotencyKey, request, answer }: Creation, options?: WriteOptions) {
      const { deploymentId, createdBy, agentId, type, status, promptPrefix, createdAt } = deployment;
      const key = {
        caller: createdBy,
        key: idempotencyKey,
        method: 'CreateDeployment',
        request,
        now: createdAt,
      };
      const insert = async (tx: Session) => {
        await tx.change(INSERT, [
          deploymentId,
          createdBy,
          agentId,
          type,
          status,
          promptPrefix ?? null,
          sealedSecret,
          createdAt,
        ]);
        return answer;
      };
      return once(db, key, insert, options);
    },

    async list(page: DeploymentPage, options?: ReadOptions) {
      const { caller, agentId, type, status, q } = page.filter;
      const scope: CursorScope = ['deployments', caller, agentId, type, status, q];
      const { query, values } = listStatement(page, placeOf('dep', scope, page.cursor));
      const rows = (await db.rows<Row>(query, values, options)).map(deploymentOf);
      return pageOf(rows, page.limit, scope, (row) => row.deploymentId);
    },

    async find({ agentId, deploymentId }: Address, options?: ReadOptions) {
      const [row] = await db.rows<Row>(BY_ADDRESS, [agentId, deploymentId], options);
      return row && deploymentOf(row);
    },

    async setStatus(address: Address, status: Status, now: Date, options: WriteOptions = {}) {
      const { agentId, deploymentId } = address;
      const values = [agentId, deploymentId, status, now];
      const [row] = await db.rows<Row>(SET_STATUS, values, uncancelled(options));
      return row && deploymentOf(row);
    },

    /** False when it is not there. Its refused calls go with it. */
    async remove({ agentId, deploymentId }: Address, options?: WriteOptions): Promise<boolean> {
      return (await db.change(DELETE, [agentId, deploymentId], options)) > 0;
    },

    /** Many calls at the same time share a statement. */
    sealedWebhook: (deploymentId: string, options?: WriteOptions): Promise<SealedWebhook | undefined> =>
      lookups.submit(deploymentId, options),
  };
}
