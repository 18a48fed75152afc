import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import { sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { contextChangedAt } from '../../../journal/context-change.ts';
import type { JournalView } from '../../../journal/view.ts';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { classes } from '../../../ui/classes.ts';
import { isAboveThreshold, usedPercent } from './context-figures.ts';

// Its code loads when it is opened.
const ContextPopover = lazy(async () => ({
  default: (await loadChunk(() => import('./context-popover.tsx'))).ContextPopover,
}));

export interface ContextMeterProps {
  session: Session;
  view: JournalView;
  /** The viewer is the owner. */
  isMine: boolean;
}

/** Shows how much of the context window the next turn uses. It opens to the parts. */
export function ContextMeter({ session: { session_id: sessionId }, view, isMine }: ContextMeterProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  // It stays mounted, so that it returns the focus when it closes.
  const [wasOpened, setWasOpened] = useState(false);
  if (isOpen && !wasOpened) setWasOpened(true);
  const isReady = view.streamStatus !== 'opening';
  const { data, error } = useQuery({
    ...sessions.context(sessionId, contextChangedAt(view.events)),
    // Requests for sessions of other users write entries to the audit log.
    enabled: isReady && (isMine || isOpen),
  });
  const percent = data && usedPercent(data);
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className={classes(
          'flex items-center gap-1.5 rounded whitespace-nowrap tabular-nums hover:text-ink',
          data && isAboveThreshold(data) && 'text-warn',
        )}
      >
        Context
        {percent !== undefined && (
          <>
            <span aria-hidden className="h-1.5 w-10 overflow-hidden rounded-full bg-line">
              <span
                className="block h-full rounded-full bg-current"
                style={{ width: `${Math.min(100, percent)}%` }}
              />
            </span>
            <span>{percent}%</span>
          </>
        )}
      </button>
      <Suspense fallback={null}>
        {wasOpened && (
          <ContextPopover
            anchor={button}
            open={isOpen}
            onClose={() => setOpen(false)}
            sessionId={sessionId}
            context={data}
            error={error}
          />
        )}
      </Suspense>
    </>
  );
}
