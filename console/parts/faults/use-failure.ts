import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

/** Why there is nothing to show, and the way to try it again. */
export interface Failed {
  error: unknown;
  /** It is tried again at the moment. */
  isTrying: boolean;
  onRetry: () => void;
}

type Asked = Pick<UseQueryResult, 'data' | 'error' | 'errorUpdateCount' | 'fetchStatus' | 'isPending'> & {
  refetch: () => unknown;
};

/**
 * Why a query has nothing to show; undefined when it has something, or is asked for the first time. While it is tried again,
 * it is still what it was: nothing on the page goes away before something else is there. `isEmpty`: what it has is nothing.
 */
export function useFailure(
  { data, error, errorUpdateCount, fetchStatus, isPending, refetch }: Asked,
  isEmpty = false,
): Failed | undefined {
  const [last, setLast] = useState(error);
  if (error && error !== last) setLast(error);
  const shown = error ?? (isPending && errorUpdateCount > 0 ? last : null);
  if (!shown || !(data === undefined || isEmpty)) return undefined;
  return { error: shown, isTrying: fetchStatus !== 'idle', onRetry: () => void refetch() };
}
