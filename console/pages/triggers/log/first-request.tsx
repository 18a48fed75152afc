import { CircleCheck, CircleX, Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { InvocationLog } from '../../../api/invocations.ts';
import { ButtonLink } from '../../../parts/links.tsx';
import { classes } from '../../../ui/classes.ts';
import { reasonOf, wordsFor } from './reasons.ts';

/** Stands on the page until the trigger has accepted its first request. To those who hear it, the log below tells it. */
export function FirstRequest({ log }: { log: InvocationLog }) {
  const accepted = log.entries.findLast(({ result }) => result === 'accepted');
  // Of what is not loaded, something may have been accepted.
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
              ? 'A request has arrived, and was refused'
              : 'Waiting for your first request'}
        </div>
        <p>
          {accepted
            ? 'It was signed rightly, and has started a session.'
            : refused
              ? `${wordsFor(refused.reason)} ${(refused.reason && reasonOf(refused.reason)?.remedy) ?? ''} Waiting for the next one.`
              : 'It shows here as soon as it comes. The code under “Send a request” signs one.'}
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
