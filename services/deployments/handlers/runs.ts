import { refuse } from '../../../lib/errors.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import {
  ReplayRunRequest,
  ReplayRunResponse,
  RunNowRequest,
  RunNowResponse,
} from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { checkedPage } from '../domain/deployments.ts';
import { checkPrompt } from '../domain/schedules/check.ts';
import type { StoredRun } from '../store/runs.ts';
import type { FoundSchedule } from './access.ts';
import type { DeploymentsHandlerContext } from './context.ts';
import { runMessage } from './schedule-messages.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'runNow' | 'listRuns' | 'getRun' | 'replayRun' | 'cancelRun'
>;

export function runHandlers(context: DeploymentsHandlerContext): Methods {
  const { runs, access, record, clock, ids, wakeTickers, interruptRun } = context;

  async function findRun({ deployment, options }: FoundSchedule, runId: string): Promise<StoredRun> {
    const run = isId('run', runId) ? await runs.find(deployment.deploymentId, runId, options) : undefined;
    if (!run) throw refuse('RUN_NOT_FOUND', 'The schedule has no such run.');
    return run;
  }

  function newRun(deploymentId: string, call: Call) {
    const { userId } = callerOf(call);
    return {
      runId: ids('run'),
      deploymentId,
      createdBy: userId,
      createdAt: clock.now(),
      traceparent: traceparent(call.trace),
    };
  }

  return {
    async runNow(request, call) {
      const { prompt } = request;
      if (prompt !== undefined) checkPrompt(prompt);
      const { deployment, options } = await access.findSchedule(request, call);
      const { deploymentId } = deployment;
      const run = { ...newRun(deploymentId, call), trigger: 'manual', replayedFromRunId: null } as const;
      const key = {
        caller: run.createdBy,
        key: request.idempotencyKey,
        method: 'RunNow',
        request: RunNowRequest.encode({ ...request, idempotencyKey: '' }),
        now: run.createdAt,
      };
      await record({ action: 'schedule.run', targetId: deploymentId, data: { run_id: run.runId } }, call);
      const respond = (stored: StoredRun) =>
        RunNowResponse.encode({ run: runMessage(stored), replayed: false }).finish();
      const { answer, replayed } = await runs.queue({ ...run, prompt }, key, respond, options);
      if (!replayed) wakeTickers(deploymentId);
      return { ...RunNowResponse.decode(answer), replayed };
    },

    async replayRun(request, call) {
      const found = await access.findSchedule(request, call);
      const { deploymentId } = found.deployment;
      const { runId: replayedFromRunId } = await findRun(found, request.runId);
      const run = { ...newRun(deploymentId, call), trigger: 'replay', replayedFromRunId } as const;
      const key = {
        caller: run.createdBy,
        key: request.idempotencyKey,
        method: 'ReplayRun',
        request: ReplayRunRequest.encode({ ...request, idempotencyKey: '' }),
        now: run.createdAt,
      };
      const data = { run_id: run.runId, replayed_from_run_id: replayedFromRunId };
      await record({ action: 'schedule.run', targetId: deploymentId, data }, call);
      const respond = (stored: StoredRun) =>
        ReplayRunResponse.encode({ run: runMessage(stored), replayed: false }).finish();
      const { answer, replayed } = await runs.queue(
        { ...run, prompt: undefined },
        key,
        respond,
        found.options,
      );
      if (!replayed) wakeTickers(deploymentId);
      return { ...ReplayRunResponse.decode(answer), replayed };
    },

    async listRuns(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, options } = await access.viewSchedule(request, call);
      const { status, trigger, from, until } = request;
      const { deploymentId } = deployment;
      const { userId: caller } = callerOf(call);
      const page = { caller, deploymentId, status, trigger, from, until, limit, cursor };
      const { rows, nextCursor } = await runs.list(page, options);
      return { runs: rows.map(runMessage), page: { nextCursor } };
    },

    async getRun(request, call) {
      return { run: runMessage(await findRun(await access.viewSchedule(request, call), request.runId)) };
    },

    async cancelRun(request, call) {
      const found = await access.findSchedule(request, call);
      const { deploymentId, createdBy } = found.deployment;
      let run = await findRun(found, request.runId);
      if (run.finishedAt) return { run: runMessage(run) };
      const data = { run_id: run.runId, cancelled: true };
      await record({ action: 'schedule.run', targetId: deploymentId, data }, call);
      await runs.cancel(run.runId, clock.now(), found.options);
      run = await findRun(found, request.runId);
      const { sessionId, turnId } = run;
      if (!run.finishedAt && sessionId && turnId) {
        await interruptRun({ deploymentId, sessionId, turnId }, createdBy, call);
        run = await findRun(found, request.runId);
      }
      wakeTickers(deploymentId);
      return { run: runMessage(run) };
    },
  };
}
