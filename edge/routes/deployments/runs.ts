import { Type } from 'typebox';
import { list, ok } from '../../envelope.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { type Exchange, route } from '../../route.ts';
import { closed, optional, pageRequest, paging, time } from '../../schemas/common.ts';
import {
  RUN_STATUSES,
  RUN_TRIGGERS,
  RunRequestBody,
  RunShape,
  serializeRun,
} from '../../schemas/deployments/runs.ts';
import { dateOf } from '../../schemas/deployments/timing.ts';
import { replayed } from '../replayed.ts';
import { deploymentRef, ONE } from './address.ts';

const RUN = `${ONE}/runs/{run_id}`;
const OF_DEPLOYMENT = ['DEPLOYMENT_NOT_FOUND', 'NOT_A_SCHEDULE'] as const;
const OF_RUN = [...OF_DEPLOYMENT, 'RUN_NOT_FOUND'] as const;

const runRef = (exchange: Exchange) => ({ ...deploymentRef(exchange), runId: exchange.param('run_id') });

const filters = {
  status: optional(Type.Enum([...RUN_STATUSES], { description: 'Only runs with this status.' })),
  trigger: optional(Type.Enum([...RUN_TRIGGERS], { description: 'Only runs with this trigger.' })),
  from: optional(time('Only runs for this time or later. A run by hand counts by its creation.')),
  until: optional(time('Only runs for earlier times.')),
};

export const runRoutes = [
  route({
    method: 'POST',
    path: `${ONE}/run`,
    access: 'write',
    operationId: 'runSchedule',
    tag: 'Deployments',
    summary: 'Run a schedule now',
    description:
      'Queues a run outside of the schedule, also while the schedule is disabled. `overlap` has no effect on it.',
    headers: ['Idempotency-Key'],
    body: RunRequestBody,
    bodyOptional: true,
    example: { prompt: 'Summarize the open issues.' },
    success: { status: 202, description: 'The queued run.', data: RunShape },
    errors: [...OF_DEPLOYMENT, 'INVALID_SCHEDULE'],
    async answer(exchange) {
      const { body, clients, call, request } = exchange;
      const response = await clients.deployments.runNow(
        {
          ...deploymentRef(exchange),
          prompt: body?.prompt,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(serializeRun(response.run), replayed(response.replayed));
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/runs`,
    access: 'read',
    operationId: 'listRuns',
    tag: 'Deployments',
    summary: 'List the runs of a schedule',
    description:
      'Returns runs, newest first. Every scheduled time is a run, was skipped with a reason, or is part of an entry of missed times.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of runs.', data: RunShape, list: true },
    errors: [...OF_DEPLOYMENT, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const { runs, page } = await clients.deployments.listRuns(
        {
          ...deploymentRef(exchange),
          page: pageRequest(query),
          status: query.status ?? '',
          trigger: query.trigger ?? '',
          from: dateOf(query.from),
          until: dateOf(query.until),
        },
        call,
      );
      return list(runs.map(serializeRun), page);
    },
  }),

  route({
    method: 'GET',
    path: RUN,
    access: 'read',
    operationId: 'getRun',
    tag: 'Deployments',
    summary: 'Get a run',
    description: 'Returns the run.',
    success: { status: 200, description: 'The run.', data: RunShape },
    errors: OF_RUN,
    async answer(exchange) {
      const { run } = await exchange.clients.deployments.getRun(runRef(exchange), exchange.call);
      return ok(serializeRun(run));
    },
  }),

  route({
    method: 'POST',
    path: `${RUN}/replay`,
    access: 'write',
    operationId: 'replayRun',
    tag: 'Deployments',
    summary: 'Replay a run',
    description: 'Queues a run with the prompt and the scheduled time of this one.',
    headers: ['Idempotency-Key'],
    success: { status: 202, description: 'The queued run.', data: RunShape },
    errors: OF_RUN,
    async answer(exchange) {
      const response = await exchange.clients.deployments.replayRun(
        { ...runRef(exchange), idempotencyKey: idempotencyKey(exchange.request.raw) },
        exchange.call,
      );
      return ok(serializeRun(response.run), replayed(response.replayed));
    },
  }),

  route({
    method: 'POST',
    path: `${RUN}/cancel`,
    access: 'write',
    operationId: 'cancelRun',
    tag: 'Deployments',
    summary: 'Cancel a run',
    description:
      'Cancels a queued run and interrupts a running one. A run that has ended is returned unchanged.',
    success: { status: 200, description: 'The run.', data: RunShape },
    errors: OF_RUN,
    async answer(exchange) {
      const { run } = await exchange.clients.deployments.cancelRun(runRef(exchange), exchange.call);
      return ok(serializeRun(run));
    },
  }),
];
