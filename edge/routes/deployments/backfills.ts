import { list, ok } from '../../envelope.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { type Exchange, route } from '../../route.ts';
import { closed, pageRequest, paging } from '../../schemas/common.ts';
import {
  BackfillCreationBody,
  BackfillShape,
  CreatedBackfillShape,
  serializeBackfill,
  serializeCreatedBackfill,
} from '../../schemas/deployments/runs.ts';
import { replayed } from '../replayed.ts';
import { deploymentRef, ONE } from './address.ts';

const ALL = `${ONE}/backfills`;
const BACKFILL = `${ALL}/{backfill_id}`;
const OF_DEPLOYMENT = ['DEPLOYMENT_NOT_FOUND', 'NOT_A_SCHEDULE'] as const;
const OF_BACKFILL = [...OF_DEPLOYMENT, 'BACKFILL_NOT_FOUND'] as const;

const backfillRef = (exchange: Exchange) => ({
  ...deploymentRef(exchange),
  backfillId: exchange.param('backfill_id'),
});

export const backfillRoutes = [
  route({
    method: 'POST',
    path: ALL,
    access: 'write',
    operationId: 'createBackfill',
    tag: 'Deployments',
    summary: 'Create a backfill',
    description:
      'Queues a run for each scheduled time of a range, at most 1,000. With `dry_run`, the times are only counted and the ' +
      'status is 200.',
    headers: ['Idempotency-Key'],
    body: BackfillCreationBody,
    example: { from: '2026-01-01T00:00:00Z', until: '2026-01-08T00:00:00Z', dry_run: true },
    success: {
      status: 202,
      description: 'The runs are queued.',
      data: CreatedBackfillShape,
      alternative: { status: 200, description: 'The times were only counted.' },
    },
    errors: [...OF_DEPLOYMENT, 'BACKFILL_TOO_LARGE'],
    async answer(exchange) {
      const { body, clients, call, request } = exchange;
      const response = await clients.deployments.createBackfill(
        {
          ...deploymentRef(exchange),
          from: new Date(body.from),
          until: new Date(body.until),
          overlap: body.overlap ?? 'buffer_all',
          skipExisting: body.skip_existing ?? true,
          dryRun: body.dry_run ?? false,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      const answer = ok(serializeCreatedBackfill(response), replayed(response.replayed));
      return body.dry_run ? { ...answer, status: 200 } : answer;
    },
  }),

  route({
    method: 'GET',
    path: ALL,
    access: 'read',
    operationId: 'listBackfills',
    tag: 'Deployments',
    summary: 'List the backfills of a schedule',
    description: 'Returns backfills, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of backfills.', data: BackfillShape, list: true },
    errors: [...OF_DEPLOYMENT, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { backfills, page } = await exchange.clients.deployments.listBackfills(
        { ...deploymentRef(exchange), page: pageRequest(exchange.query) },
        exchange.call,
      );
      return list(backfills.map(serializeBackfill), page);
    },
  }),

  route({
    method: 'GET',
    path: BACKFILL,
    access: 'read',
    operationId: 'getBackfill',
    tag: 'Deployments',
    summary: 'Get a backfill',
    description: 'Returns the backfill with the numbers of its runs.',
    success: { status: 200, description: 'The backfill.', data: BackfillShape },
    errors: OF_BACKFILL,
    async answer(exchange) {
      const { backfill } = await exchange.clients.deployments.getBackfill(
        backfillRef(exchange),
        exchange.call,
      );
      return ok(serializeBackfill(backfill));
    },
  }),

  route({
    method: 'DELETE',
    path: BACKFILL,
    access: 'write',
    operationId: 'deleteBackfill',
    tag: 'Deployments',
    summary: 'Cancel a backfill',
    description: 'Cancels the runs of the backfill that have not started. Its other runs go on.',
    success: { status: 200, description: 'The backfill.', data: BackfillShape },
    errors: OF_BACKFILL,
    async answer(exchange) {
      const { backfill } = await exchange.clients.deployments.deleteBackfill(
        backfillRef(exchange),
        exchange.call,
      );
      return ok(serializeBackfill(backfill));
    },
  }),
];
