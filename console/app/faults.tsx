import type { ErrorComponentProps } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { ApiError } from '../api/client.ts';
import { Failure } from '../parts/failure.tsx';
import { ButtonLink } from '../parts/links.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  const back = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title="Not found">
      <Empty icon={<Compass />} action={back}>
        Nothing is here, or it is not shared with you.
      </Empty>
    </Page>
  );
}

/** For what no page has caught. */
export function Crash({ error, reset }: ErrorComponentProps) {
  if (error instanceof ApiError && error.status === 404) return <NotFound />;
  return (
    <Page title={error instanceof ApiError && error.status === 403 ? 'Not allowed' : 'Something went wrong'}>
      <Failure error={error} onRetry={reset} />
    </Page>
  );
}
