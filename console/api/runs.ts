import { queryOptions } from '@tanstack/react-query';
import {
  cancelRun,
  createBackfill,
  deleteBackfill,
  listBackfills,
  listRuns,
  listUpcomingTimes,
  type NewBackfill,
  previewSchedule,
  type Run,
  replayRun,
  runSchedule,
  type SchedulePreview,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { type DeploymentRef, pathOf } from './deployments.ts';
import { type ListPolling, pagedQuery } from './pages.ts';

const runPathOf = (schedule: DeploymentRef, runId: string) => ({
  path: { ...pathOf(schedule).path, run_id: runId },
});
const keyOf = (key: string) => ({ headers: { 'Idempotency-Key': key } });

const UNFINISHED: readonly Run['status'][] = ['queued', 'running', 'waiting'];

export const isUnfinished = ({ status }: Run): boolean => UNFINISHED.includes(status);

const POLLING: ListPolling<Run> = {
  active: 2_000,
  idle: 15_000,
  recent: 10_000,
  isActive: isUnfinished,
};

/** Queries and mutations of the runs of schedules. Query keys begin with the key of the deployment. */
export const runs = {
  list: (schedule: DeploymentRef, status?: Run['status']) =>
    pagedQuery(
      ['deployments', schedule.deployment_id, 'runs', status],
      (cursor, signal) => unwrapPage(listRuns({ ...pathOf(schedule), query: { status, cursor }, signal })),
      POLLING,
    ),
  upcoming: (schedule: DeploymentRef, count: number) =>
    queryOptions({
      queryKey: ['deployments', schedule.deployment_id, 'upcoming', count],
      queryFn: async ({ signal }) =>
        (await unwrapPage(listUpcomingTimes({ ...pathOf(schedule), query: { count }, signal }))).items,
    }),
  preview: (timing: SchedulePreview) =>
    queryOptions({
      queryKey: ['schedule-preview', timing],
      queryFn: async ({ signal }) => (await unwrapPage(previewSchedule({ body: timing, signal }))).items,
      retry: false,
      staleTime: 0,
    }),
  run: (schedule: DeploymentRef, prompt: string | undefined, key: string) =>
    unwrapData(runSchedule({ ...pathOf(schedule), body: { prompt }, ...keyOf(key) })),
  replay: (schedule: DeploymentRef, runId: string, key: string) =>
    unwrapData(replayRun({ ...runPathOf(schedule, runId), ...keyOf(key) })),
  cancel: (schedule: DeploymentRef, runId: string) => unwrapData(cancelRun(runPathOf(schedule, runId))),
  backfills: (schedule: DeploymentRef) =>
    pagedQuery(['deployments', schedule.deployment_id, 'backfills'], (cursor, signal) =>
      unwrapPage(listBackfills({ ...pathOf(schedule), query: { cursor }, signal })),
    ),
  backfill: (schedule: DeploymentRef, body: NewBackfill, key: string) =>
    unwrapData(createBackfill({ ...pathOf(schedule), body, ...(key && keyOf(key)) })),
  cancelBackfill: (schedule: DeploymentRef, backfillId: string) =>
    unwrapData(deleteBackfill({ path: { ...pathOf(schedule).path, backfill_id: backfillId } })),
};
