import { messageOf, RequestId, RetryButton, RetryFailedText } from '../../parts/errors/error-state.tsx';

export interface DisconnectedBannerProps {
  /** The session is deleted, or the user has lost access to it. */
  isDeleted: boolean;
  /** Error that ended the event stream. */
  error: Error | undefined;
  isRetrying: boolean;
  onRetry: () => void;
}

/** Shown when the session page receives no more updates. */
export function DisconnectedBanner({
  isDeleted: isGone,
  error,
  isRetrying,
  onRetry,
}: DisconnectedBannerProps) {
  if (!isGone && !error) return null;
  return (
    <div className="mx-4 mb-2 flex flex-wrap items-center gap-3 rounded-lg border border-bad bg-bad-soft px-3 py-2 text-bad sm:mx-8">
      <p role="alert" aria-atomic={false} className="min-w-0 flex-1 basis-60 wrap-anywhere">
        {isGone ? (
          'This session was deleted, or you no longer have access to it. The page shows the last loaded state.'
        ) : (
          <>
            <RetryFailedText isRetrying={isRetrying} />
            {messageOf(error)} This page receives no updates.
            <RequestId error={error} />
          </>
        )}
      </p>
      {!isGone && <RetryButton isRetrying={isRetrying} onRetry={onRetry} />}
    </div>
  );
}
