import { RotateCw, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';

/** What is said of an error, in a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError
    ? sentenceOf(error.message)
    : 'Something went wrong in the console itself.';
}

/** What the service says is mostly no more than a clause. */
function sentenceOf(text: string): string {
  const begun = text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** The number under which the service's log and traces know it. */
export function RequestId({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || !error.requestId) return null;
  return <span className="font-mono text-xs text-muted"> · {error.requestId}</span>;
}

export interface FailureProps {
  error: unknown;
  /** It is tried again at the moment. */
  isTrying?: boolean;
  onRetry: () => void;
  curl?: string | undefined;
}

/** Tries again what has failed, once at a time. */
export function TryAgain({ isTrying, onRetry }: { isTrying: boolean; onRetry: () => void }) {
  return (
    <Button busy={isTrying} onClick={onRetry} className="min-w-36">
      {!isTrying && <RotateCw aria-hidden />}
      {isTrying ? 'Trying again' : 'Try again'}
    </Button>
  );
}

/** For who does not see that an error has gone and come back. */
export function FailedAgain({ isTrying }: { isTrying: boolean }) {
  const [isTried, setTried] = useState(isTrying);
  if (isTrying && !isTried) setTried(true);
  return isTried && !isTrying ? <span className="sr-only">It has failed again. </span> : null;
}

/** What stands where something could not be loaded. It stays while that is tried again. */
export function Failure({ error, isTrying = false, onRetry, curl }: FailureProps) {
  const action = <TryAgain isTrying={isTrying} onRetry={onRetry} />;
  return (
    <Empty icon={<TriangleAlert />} action={action} curl={curl}>
      {/* Of what changes in it, that alone is read out. */}
      <span role="alert" aria-atomic={false}>
        <FailedAgain isTrying={isTrying} />
        {messageOf(error)}
        <RequestId error={error} />
      </span>
    </Empty>
  );
}

/** What stands beside what could not be done. Nothing without an error. */
export function Problem({ error }: { error: unknown }) {
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
