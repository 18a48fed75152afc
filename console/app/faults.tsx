import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, isMissing } from '../api/client.ts';
import { Failure } from '../parts/faults/failure.tsx';
import { NotFound } from '../parts/faults/not-found.tsx';
import { Page } from '../ui/page.tsx';

/** For what no page has caught. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const [isTrying, setTrying] = useState(false);
  if (isMissing(error)) return <NotFound />;
  // What has failed may be what is read before any page.
  const retry = () => {
    setTrying(true);
    void router
      .invalidate()
      .then(reset)
      .finally(() => setTrying(false));
  };
  return (
    <Page title={error instanceof ApiError && error.status === 403 ? 'Not allowed' : 'Something went wrong'}>
      <Failure error={error} isTrying={isTrying} onRetry={retry} />
    </Page>
  );
}
