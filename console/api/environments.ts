import { queryOptions } from '@tanstack/react-query';
import {
  type CreateEnvironmentData,
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  listEnvironmentVersions,
  type UpdateEnvironmentData,
  updateEnvironment,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

const pathOf = (environmentId: string) => ({ path: { environment_id: environmentId } });

/** Queries and mutations of environments, for administrators. Query keys begin with `environments`. */
export const environments = {
  list: (q?: string) =>
    pagedQuery(['environments', 'list', q], (cursor, signal) =>
      unwrapPage(listEnvironments({ query: { q, cursor }, signal })),
    ),
  detail: (environmentId: string) =>
    queryOptions({
      queryKey: ['environments', environmentId],
      queryFn: ({ signal }) => unwrapData(getEnvironment({ ...pathOf(environmentId), signal })),
    }),
  versions: (environmentId: string) =>
    pagedQuery(['environments', environmentId, 'versions'], (cursor, signal) =>
      unwrapPage(listEnvironmentVersions({ ...pathOf(environmentId), query: { cursor }, signal })),
    ),
  create: (body: CreateEnvironmentData['body'], key: string) =>
    unwrapData(createEnvironment({ body, headers: { 'Idempotency-Key': key } })),
  /** Fails with VERSION_CONFLICT when the environment's current revision is not `revision`. */
  update: (environmentId: string, revision: number, body: UpdateEnvironmentData['body']) =>
    unwrapData(
      updateEnvironment({ ...pathOf(environmentId), body, headers: { 'If-Match': `"${revision}"` } }),
    ),
  remove: (environmentId: string) => unwrapData(deleteEnvironment(pathOf(environmentId))),
};
