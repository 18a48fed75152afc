import { FailedAgain, messageOf, RequestId, TryAgain } from '../../parts/faults/failure.tsx';

export interface LostProps {
  /** The session is deleted, or not shared any more. */
  isGone: boolean;
  /** Why nothing comes any more. */
  error: Error | undefined;
  isTrying: boolean;
  onRetry: () => void;
}

/** Says that what is shown of a session is not followed any more, and why. Nothing while it is. */
export function Lost({ isGone, error, isTrying, onRetry }: LostProps) {
  if (!isGone && !error) return null;
  return (
    <div className="mx-4 mb-2 flex flex-wrap items-center gap-3 rounded-lg border border-bad bg-bad-soft px-3 py-2 text-bad sm:mx-8">
      <p role="alert" aria-atomic={false} className="min-w-0 flex-1 basis-60 wrap-anywhere">
        {isGone ? (
          'The session is deleted, or not shared with you any more. What is shown here was read before.'
        ) : (
          <>
            <FailedAgain isTrying={isTrying} />
            {messageOf(error)} Nothing new is shown.
            <RequestId error={error} />
          </>
        )}
      </p>
      {!isGone && <TryAgain isTrying={isTrying} onRetry={onRetry} />}
    </div>
  );
}
