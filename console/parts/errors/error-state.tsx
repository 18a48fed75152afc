import { RotateCw, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

/** Returns the message of an error as a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError
    ? sentenceOf(error.message)
    : 'An unexpected error occurred in the console.';
}

/** Adds the capital letter and the full stop that messages of the service may lack. */
export function sentenceOf(text: string): string {
  const capitalized = text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  return /[.!?…]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

/** The request id, by which the error is found in logs and traces. */
export function RequestId({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || !error.requestId) return null;
  return <span className="font-mono text-xs text-muted"> · {error.requestId}</span>;
}

export interface ErrorStateProps {
  error: unknown;
  /** A retry is in progress. */
  isRetrying?: boolean;
  onRetry: () => void;
  curl?: string | undefined;
}

/** Button that retries a failed request. It is disabled while a retry is in progress. */
export function RetryButton({ isRetrying, onRetry }: { isRetrying: boolean; onRetry: () => void }) {
  return (
    <Button busy={isRetrying} onClick={onRetry} className="min-w-36">
      {!isRetrying && <RotateCw aria-hidden />}
      {isRetrying ? 'Retrying' : 'Try again'}
    </Button>
  );
}

/** Announces to screen readers that a retry has failed. */
export function RetryFailedText({ isRetrying }: { isRetrying: boolean }) {
  const [wasRetried, setWasRetried] = useState(isRetrying);
  if (isRetrying && !wasRetried) setWasRetried(true);
  return wasRetried && !isRetrying ? <span className="sr-only">The retry failed. </span> : null;
}

/** Shown in place of content that could not be loaded. It stays visible during a retry. */
export function ErrorState({ error, isRetrying = false, onRetry, curl }: ErrorStateProps) {
  const action = <RetryButton isRetrying={isRetrying} onRetry={onRetry} />;
  return (
    <EmptyState icon={<TriangleAlert />} action={action} curl={curl}>
      {/* Screen readers announce only the changed part. */}
      <span role="alert" aria-atomic={false}>
        <RetryFailedText isRetrying={isRetrying} />
        {messageOf(error)}
        <RequestId error={error} />
      </span>
    </EmptyState>
  );
}

/** Shown next to an action that failed. Renders nothing without an error. */
export function ErrorAlert({ error }: { error: unknown }) {
  if (!error) return null;
  const details = error instanceof ApiError ? error.details : [];
  return (
    <div
      role="alert"
      className="mt-3 rounded-lg border border-bad bg-bad-soft px-3 py-2 text-bad wrap-anywhere"
    >
      {messageOf(error)}
      <RequestId error={error} />
      {details.length > 0 && (
        <ul className="mt-1 list-disc ps-5">
          {details.map(({ pointer, message }) => (
            <li key={pointer + message}>
              <code className="font-mono">{pointer || 'body'}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
