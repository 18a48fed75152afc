import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, isNotFound } from '../api/client.ts';
import { ErrorState } from '../parts/errors/error-state.tsx';
import { NotFound } from '../parts/errors/not-found.tsx';
import { Page } from '../ui/page.tsx';

/** Error page for errors that a page did not handle. */
export function RouteErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const [isTrying, setTrying] = useState(false);
  if (isNotFound(error)) return <NotFound />;
  // The failed request may belong to a route loader, so the loaders run again.
  const retry = () => {
    setTrying(true);
    void router
      .invalidate()
      .then(reset)
      .finally(() => setTrying(false));
  };
  return (
    <Page title={error instanceof ApiError && error.status === 403 ? 'Not allowed' : 'Something went wrong'}>
      <ErrorState error={error} isRetrying={isTrying} onRetry={retry} />
    </Page>
  );
}
