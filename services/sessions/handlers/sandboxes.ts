import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { Sandbox, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type EnvironmentStatus, held, shift, taken } from '../domain/environment.ts';
import { settle } from '../settle.ts';
import { environments, isSandboxFilter, type SandboxRow, type Sighting } from '../store/sandboxes.ts';
import type { HandlerContext } from './context.ts';
import { oneLine } from './json.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'takeSandbox' | 'reportSandboxes' | 'listSandboxes' | 'getSandbox' | 'terminateSandbox'
>;

const REPORTED: readonly string[] = ['ready', 'suspended', 'lost', 'released'];
/** A report may have been written before the newest sandbox was taken. */
const OVERLOOKED_MS = 30_000;
const FIRST_PAGE = { limit: 50, cursor: '' };

/** Which sandboxes there are: what runners say of theirs, and what administrators do about them. */
export function sandboxHandlers(context: HandlerContext): Methods {
  const { clock, changes, sandboxes, ended, record } = context;

  async function found(sandboxId: string, call: Call): Promise<SandboxRow> {
    const row = await sandboxes.sandbox(sandboxId, call);
    if (!row) throw refuse('SANDBOX_NOT_FOUND', `there is no sandbox ${sandboxId}`);
    return row;
  }

  return {
    async takeSandbox({ lease, limitsJson, ...sandbox }, call) {
      oneLine(limitsJson, 'the limits');
      const { sandboxId, runnerId, provider } = sandbox;
      const sessionId = lease?.sessionId ?? '';
      let granted = true;
      await changes.alone(
        sessionId,
        async (found, tx) => {
          const now = clock.now();
          const { state } = held(found, lease, now);
          const known = await sandboxes.locked(tx, sandboxId);
          granted = !known || (known.runner_id === runnerId && !known.ended_at && known.end_reason === null);
          if (!granted) return undefined;
          const { status } = await environments.read(tx, sessionId);
          const isNew = known === undefined;
          if (isNew) await sandboxes.insert(tx, { ...sandbox, ownerId: state.ownerId, limitsJson }, now);
          const next = taken(status, { isNew, status: known?.status ?? 'none' });
          await environments.put(tx, sessionId, next, { sandboxId, provider });
          return shift(state, status, next, isNew ? 'a new sandbox' : '');
        },
        call,
      );
      return { granted };
    },

    async reportSandboxes({ runnerId, sandboxes: reports }) {
      const sightings: Sighting[] = reports.map(({ sandboxId, status, reason }) => {
        if (!REPORTED.includes(status))
          throw refuse('INVALID_REQUEST', `no sandbox is reported as ${status}`);
        return { sandboxId, status, reason };
      });
      const now = clock.now();
      const ids = sightings.map(({ sandboxId }) => sandboxId);
      const theirs = await sandboxes.see(runnerId, sightings, now);
      const overlooked = new Date(now.getTime() - OVERLOOKED_MS);
      const forgotten = await sandboxes.forgotten(runnerId, overlooked, ids);
      if (forgotten.length > 0) await sandboxes.lose(forgotten, 'its runner has lost it', now);
      await settle([...ids, ...forgotten], context);
      const isOver = ({ status }: Sighting) => status === 'lost' || status === 'released';
      const endSandboxIds = sightings
        .filter((one) => !isOver(one) && theirs.get(one.sandboxId) !== null)
        .map(({ sandboxId }) => sandboxId);
      return { endSandboxIds };
    },

    async listSandboxes({ page, status }, call) {
      administratorOf(call);
      if (!isSandboxFilter(status)) throw refuse('INVALID_REQUEST', 'status is one of ended, all');
      const { rows, nextCursor } = await sandboxes.list(status, page ?? FIRST_PAGE, call);
      return { sandboxes: rows.map(sandboxOf), page: { nextCursor } };
    },

    async getSandbox({ sandboxId }, call) {
      administratorOf(call);
      return { sandbox: sandboxOf(await found(sandboxId, call)) };
    },

    async terminateSandbox({ sandboxId }, call) {
      const { userId } = administratorOf(call);
      await found(sandboxId, call);
      await record({ action: 'sandbox.terminate', targetId: sandboxId }, call);
      await sandboxes.requestEnd(sandboxId, `terminated by ${userId}`, clock.now());
      ended(sandboxId);
      return { sandbox: sandboxOf(await found(sandboxId, call)) };
    },
  };
}

/** One that is to end is shown as what it is until its runner has ended it. */
function sandboxOf(row: SandboxRow): Sandbox {
  return {
    sandboxId: row.sandbox_id,
    provider: row.provider,
    isolation: row.isolation,
    status: row.status satisfies EnvironmentStatus,
    reason: row.end_reason ?? row.reason,
    tenancy: row.tenancy,
    tenantId: row.tenant_id,
    ownerId: row.owner_id,
    runnerId: row.runner_id,
    environmentId: row.environment_id,
    environmentVersion: row.environment_version,
    limitsJson: row.limits,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at ?? undefined,
  };
}
