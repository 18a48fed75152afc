import { CircleCheck, CircleX, Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { InvocationLog } from '../../../../api/invocations.ts';
import { ButtonLink } from '../../../../parts/navigation/links.tsx';
import { classes } from '../../../../ui/classes.ts';
import { rejectionReason, rejectionText } from './rejection-reasons.ts';

/** Shown until the webhook has accepted its first request. The request log announces requests to screen readers. */
export function FirstRequest({ log }: { log: InvocationLog }) {
  const accepted = log.entries.findLast(({ result }) => result === 'accepted');
  // Entries that are not loaded may include an accepted request.
  const isWaiting = accepted === undefined && log.next === undefined;
  const [hasWaited, setWaited] = useState(isWaiting);
  useEffect(() => {
    if (isWaiting) setWaited(true);
  }, [isWaiting]);
  if (!isWaiting && !(hasWaited && accepted)) return null;
  const refused = isWaiting ? log.entries[0] : undefined;
  return (
    <div
      className={classes(
        'mb-5 flex flex-wrap items-start gap-x-3 gap-y-2 rounded-xl border p-4',
        accepted
          ? 'border-good bg-good-soft'
          : refused
            ? 'border-warn bg-warn-soft'
            : 'border-accent bg-accent-soft',
      )}
    >
      {accepted ? (
        <CircleCheck className="mt-0.5 size-5 text-good" aria-hidden />
      ) : refused ? (
        <CircleX className="mt-0.5 size-5 text-warn" aria-hidden />
      ) : (
        <Radio className="mt-0.5 size-5 text-accent motion-safe:animate-blink" aria-hidden />
      )}
      <div className="min-w-0 flex-1 basis-56 wrap-anywhere">
        <div className="font-medium">
          {accepted
            ? 'Your first request has arrived'
            : refused
              ? 'A request arrived and was rejected'
              : 'Waiting for your first request'}
        </div>
        <p>
          {accepted
            ? 'The signature was valid and a session was started.'
            : refused
              ? `${rejectionText(refused.reason)} ${(refused.reason && rejectionReason(refused.reason)?.remedy) ?? ''} Waiting for the next request.`
              : 'Requests appear here as they arrive. The code under “Send a request” sends a signed request.'}
        </p>
      </div>
      {accepted?.session_id && (
        <ButtonLink to="/sessions/$sessionId" params={{ sessionId: accepted.session_id }} look="primary">
          Open the session
        </ButtonLink>
      )}
    </div>
  );
}
