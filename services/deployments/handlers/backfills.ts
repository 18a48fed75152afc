import { refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import {
  CreateBackfillRequest,
  CreateBackfillResponse,
} from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { checkedPage } from '../domain/deployments.ts';
import { refuseSchedule } from '../domain/schedules/refusal.ts';
import type { StoredBackfill } from '../store/backfills.ts';
import type { FoundSchedule } from './access.ts';
import type { DeploymentsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'createBackfill' | 'listBackfills' | 'getBackfill' | 'deleteBackfill'
>;

const MAX_TIMES = 1_000;
const OVERLAPS = ['allow', 'buffer_all'] as const;
type BackfillOverlap = (typeof OVERLAPS)[number];

export function backfillHandlers(context: DeploymentsHandlerContext): Methods {
  const { backfills, access, times, record, clock, ids, wakeTickers } = context;

  async function findBackfill(
    { deployment, options }: FoundSchedule,
    backfillId: string,
  ): Promise<StoredBackfill> {
    const found = isId('bkf', backfillId)
      ? await backfills.find(deployment.deploymentId, backfillId, options)
      : undefined;
    if (!found) throw refuse('BACKFILL_NOT_FOUND', 'The schedule has no such backfill.');
    return found;
  }

  /** The scheduled times of the range that get a run. */
  async function timesOf(
    { deployment, schedule, options }: FoundSchedule,
    { from, until, skipExisting }: { from: Date; until: Date; skipExisting: boolean },
  ): Promise<Date[]> {
    const { createdAt, deploymentId } = deployment;
    const all = times.between(schedule.settings.timing, createdAt, from, until, MAX_TIMES + 1);
    if (all.length > MAX_TIMES)
      throw refuse(
        'BACKFILL_TOO_LARGE',
        `The range has more than ${MAX_TIMES} scheduled times. Split it into several backfills.`,
      );
    if (!skipExisting || all.length === 0) return all;
    const existing = await backfills.existingTimes(deploymentId, all, options);
    return all.filter((time) => !existing.has(time.getTime()));
  }

  return {
    async createBackfill(request, call) {
      const { from, until, overlap } = checkRequest(request);
      const { skipExisting, dryRun } = request;
      const found = await access.findSchedule(request, call);
      const { deploymentId } = found.deployment;
      const scheduled = await timesOf(found, { from, until, skipExisting });
      const backfillId = dryRun ? '' : ids('bkf');
      const response = {
        backfillId,
        count: scheduled.length,
        first: scheduled[0],
        last: scheduled.at(-1),
        replayed: false,
      };
      if (dryRun) return response;
      const { userId: createdBy } = callerOf(call);
      const createdAt = clock.now();
      const key = {
        caller: createdBy,
        key: request.idempotencyKey,
        method: 'CreateBackfill',
        request: CreateBackfillRequest.encode({ ...request, idempotencyKey: '' }),
        now: createdAt,
      };
      const data = { backfill_id: backfillId, count: scheduled.length };
      await record({ action: 'schedule.backfill', targetId: deploymentId, data }, call);
      const backfill = { backfillId, deploymentId, from, until, overlap, skipExisting, createdBy, createdAt };
      const runs = scheduled.map((scheduledFor) => ({ runId: ids('run'), scheduledFor }));
      const { answer, replayed } = await backfills.create(
        backfill,
        runs,
        key,
        CreateBackfillResponse.encode(response).finish(),
        traceparent(call.trace),
        found.options,
      );
      if (!replayed) wakeTickers(deploymentId);
      return { ...CreateBackfillResponse.decode(answer), replayed };
    },

    async listBackfills(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, options } = await access.viewSchedule(request, call);
      const { deploymentId } = deployment;
      const page = { caller: callerOf(call).userId, deploymentId, limit, cursor };
      const { rows, nextCursor } = await backfills.list(page, options);
      return { backfills: rows, page: { nextCursor } };
    },

    async getBackfill(request, call) {
      return { backfill: await findBackfill(await access.viewSchedule(request, call), request.backfillId) };
    },

    async deleteBackfill(request, call) {
      const found = await access.findSchedule(request, call);
      const { backfillId } = await findBackfill(found, request.backfillId);
      const { deploymentId } = found.deployment;
      const data = { backfill_id: backfillId, cancelled: true };
      await record({ action: 'schedule.backfill', targetId: deploymentId, data }, call);
      await backfills.cancel(backfillId, clock.now(), found.options);
      return { backfill: await findBackfill(found, backfillId) };
    },
  };
}

function checkRequest({ from, until, overlap }: CreateBackfillRequest) {
  const problems = new FieldProblems();
  problems.oneOf('/overlap', overlap, OVERLAPS);
  problems.throwIfAny();
  if (!from) throw refuseSchedule('/from', 'must be a time');
  if (!until || until <= from) throw refuseSchedule('/until', 'must be after from');
  return { from, until, overlap: overlap as BackfillOverlap };
}
