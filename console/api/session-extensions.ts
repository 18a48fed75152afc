import { queryOptions } from '@tanstack/react-query';
import { getSessionExtensions } from '../gen/index.ts';
import { unwrapData } from './client.ts';

/** API path below /api/v1. */
export const sessionExtensionsPath = (sessionId: string) => `/sessions/${sessionId}/extensions`;

/** The servers, skills and variables that a session can use now. */
export const sessionExtensions = (sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', sessionId, 'extensions'],
    queryFn: ({ signal }) => unwrapData(getSessionExtensions({ path: { session_id: sessionId }, signal })),
    // States change without an action of the user.
    staleTime: 0,
  });
