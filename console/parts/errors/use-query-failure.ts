import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

/** Error of a query without data, and its retry. */
export interface QueryFailure {
  error: unknown;
  /** A retry is in progress. */
  isRetrying: boolean;
  onRetry: () => void;
}

type FailableQuery = Pick<
  UseQueryResult,
  'data' | 'error' | 'errorUpdateCount' | 'fetchStatus' | 'isPending'
> & {
  refetch: () => unknown;
};

/**
 * Returns the error of a query that has no data; undefined when it has data or its first request is in progress. During a
 * retry the previous error stays, so that the page does not flicker. `isEmpty` treats loaded but empty data as no data.
 */
export function useQueryFailure(
  { data, error, errorUpdateCount, fetchStatus, isPending, refetch }: FailableQuery,
  isEmpty = false,
): QueryFailure | undefined {
  const [last, setLast] = useState(error);
  if (error && error !== last) setLast(error);
  const shown = error ?? (isPending && errorUpdateCount > 0 ? last : null);
  if (!shown || !(data === undefined || isEmpty)) return undefined;
  return { error: shown, isRetrying: fetchStatus !== 'idle', onRetry: () => void refetch() };
}
