import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { Sandbox, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  changeEnvironmentStatus,
  type EnvironmentStatus,
  requireLease,
  statusAfterTaking,
} from '../domain/environment.ts';
import { checkPage } from '../domain/page.ts';
import { updateEnvironmentStatuses } from '../environment-status.ts';
import { isSandboxFilter, type SandboxRow, type SandboxStatusReport } from '../store/sandboxes.ts';
import { sessionEnvironments } from '../store/session-environments.ts';
import type { SessionsHandlerContext } from './context.ts';
import { requireSingleLineJson } from './json.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'takeSandbox' | 'reportSandboxes' | 'listSandboxes' | 'getSandbox' | 'terminateSandbox'
>;

const REPORTED: readonly string[] = ['ready', 'suspended', 'lost', 'released'];
/** A report may be older than the newest sandbox, so a sandbox that it does not name is lost only after this time. */
const UNREPORTED_MS = 30_000;

/** Handlers of sandboxes: runners take and report them, administrators list and terminate them. */
export function sandboxHandlers(context: SessionsHandlerContext): Methods {
  const { clock, changes, sandboxes, publishSandboxEnd, record, reservedSpace } = context;

  async function read(sandboxId: string, call: Call): Promise<SandboxRow> {
    const row = await sandboxes.sandbox(sandboxId, call);
    if (!row) throw refuse('SANDBOX_NOT_FOUND', `Unknown sandbox ${sandboxId}.`);
    return row;
  }

  return {
    async takeSandbox({ lease, limitsJson, ...sandbox }, call) {
      requireSingleLineJson(limitsJson, 'limits');
      const { sandboxId, runnerId, provider } = sandbox;
      const sessionId = lease?.sessionId ?? '';
      let granted = true;
      await changes.inOwnTransaction(
        sessionId,
        async (found, tx) => {
          const now = clock.now();
          const { state } = requireLease(found, lease, now);
          const known = await sandboxes.lock(tx, sandboxId);
          const isNew =
            !known && (await sandboxes.insert(tx, { ...sandbox, ownerId: state.ownerId, limitsJson }, now));
          const existing = known || isNew ? known : await sandboxes.lock(tx, sandboxId);
          granted = !existing || isUsable(existing, runnerId);
          if (!granted) return undefined;
          const { status } = await sessionEnvironments.read(tx, sessionId);
          const next = statusAfterTaking(status, { isNew, status: existing?.status ?? 'none' });
          await sessionEnvironments.put(tx, sessionId, next, { sandboxId, provider });
          return changeEnvironmentStatus(state, status, next, isNew ? 'a new sandbox' : '');
        },
        call,
      );
      return { granted };
    },

    async reportSandboxes({ runnerId, sandboxes: messages }) {
      const reports = messages.map(({ sandboxId, status, reason }): SandboxStatusReport => {
        if (!REPORTED.includes(status))
          throw refuse(
            'INVALID_REQUEST',
            `Unknown sandbox status \`${status}\`. Use ${REPORTED.join(', ')}.`,
          );
        return { sandboxId, status, reason };
      });
      const now = clock.now();
      const reportedIds = reports.map(({ sandboxId }) => sandboxId);
      const endReasons = await sandboxes.recordStatuses(runnerId, reports, now);
      const seenBefore = new Date(now.getTime() - UNREPORTED_MS);
      const unreported = await sandboxes.unreportedOf(runnerId, seenBefore, reportedIds);
      if (unreported.length > 0) await sandboxes.markLost(unreported, 'its runner has lost it', now);
      await updateEnvironmentStatuses([...reportedIds, ...unreported], context);
      const hasEnded = ({ status }: SandboxStatusReport) => status === 'lost' || status === 'released';
      // An unknown sandbox has no entry, and is to end like one with an end reason.
      const endSandboxIds = reports
        .filter((report) => !hasEnded(report) && endReasons.get(report.sandboxId) !== null)
        .map(({ sandboxId }) => sandboxId);
      return { endSandboxIds };
    },

    async listSandboxes({ page, status }, call) {
      administratorOf(call);
      if (!isSandboxFilter(status))
        throw refuse(
          'INVALID_REQUEST',
          'Unknown status. Use ended or all, or leave it empty for active sandboxes.',
        );
      const { rows, nextCursor } = await sandboxes.list(status, checkPage(page), call);
      return { sandboxes: rows.map(sandboxMessage), page: { nextCursor } };
    },

    async getSandbox({ sandboxId }, call) {
      administratorOf(call);
      return { sandbox: sandboxMessage(await read(sandboxId, call)) };
    },

    async terminateSandbox({ sandboxId }, call) {
      const { userId } = administratorOf(call);
      await read(sandboxId, call);
      await reservedSpace.use(() => record({ action: 'sandbox.terminate', targetId: sandboxId }, call));
      const reason = `terminated by ${userId}`;
      await reservedSpace.use(() => sandboxes.requestEnd(sandboxId, reason, clock.now()));
      publishSandboxEnd(sandboxId);
      return { sandbox: sandboxMessage(await read(sandboxId, call)) };
    },
  };
}

function isUsable(sandbox: SandboxRow, runnerId: string): boolean {
  return sandbox.runner_id === runnerId && !sandbox.ended_at && sandbox.end_reason === null;
}

/** A sandbox that is to end keeps its status until its runner has ended it. */
function sandboxMessage(row: SandboxRow): Sandbox {
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
