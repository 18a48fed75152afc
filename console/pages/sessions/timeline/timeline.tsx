import { useEffect, useMemo, useState } from 'react';
import type { Session } from '../../../gen/index.ts';
import { timelineOf } from '../../../journal/timeline.ts';
import type { JournalView } from '../../../journal/view.ts';
import { Earlier } from '../earlier.tsx';
import { WaitingLine } from '../waiting-line.tsx';
import { TurnCard } from './turn.tsx';

export interface TimelineProps {
  session: Session;
  view: JournalView;
  waiting: string | undefined;
  /** The seq of the event that a link leads to. */
  event: number | undefined;
  onEarlier: () => void;
}

const TICK_MS = 200;

/** The turns of a session, and in them model calls and tools as stretches of time. Newest first. */
export function Timeline({ session, view, waiting, event, onEarlier }: TimelineProps) {
  const turns = useMemo(() => timelineOf(view.events).reverse(), [view.events]);
  const isMoving = turns.some(({ end }) => end === undefined);
  const now = useNow(isMoving);
  return (
    <>
      <section
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-8"
      >
        <div className="flex flex-col gap-4">
          {turns.length === 0 && <p className="py-16 text-center text-muted">No turn has begun yet.</p>}
          {turns.map((turn) => (
            <TurnCard key={turn.turnId} turn={turn} now={now} sessionId={session.session_id} event={event} />
          ))}
          <Earlier view={view} onEarlier={onEarlier}>
            Show earlier turns
          </Earlier>
        </div>
      </section>
      <WaitingLine text={waiting} wide />
    </>
  );
}

/** What time it is, as long as something goes on; by the clock of this machine, which may differ from the service's. */
function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isMoving]);
  return now;
}
