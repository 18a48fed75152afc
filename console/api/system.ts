import { queryOptions } from '@tanstack/react-query';
import { isReady } from '../gen/index.ts';
import { unwrapData } from './client.ts';

/** Readiness of each module of the service and its implementation. In team mode for administrators only. */
export const readiness = queryOptions({
  queryKey: ['readiness'],
  queryFn: ({ signal }) => unwrapData(isReady({ baseUrl: location.origin, query: { verbose: '' }, signal })),
});
