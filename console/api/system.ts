import { queryOptions } from '@tanstack/react-query';
import { isReady } from '../gen/index.ts';
import { ask } from './client.ts';

/** How every part of the service is doing, and which part fills which role. In team mode for administrators. */
export const readiness = queryOptions({
  queryKey: ['readiness'],
  queryFn: ({ signal }) => ask(isReady({ baseUrl: location.origin, query: { verbose: '' }, signal })),
});
