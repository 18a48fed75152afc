import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Session, Turn } from '../../../gen/index.ts';
import type { DurableEvent } from '../../../journal/event.ts';
import { linkedTurnIndex } from '../../../journal/linked-turn.ts';
import { turnOfEvent } from '../../../journal/turn-pages.ts';
import type { JournalView } from '../../../journal/view.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ActivityLine } from '../activity-line.tsx';
import { LoadMoreButton } from '../load-more-button.tsx';
import { TurnCard } from './turn.tsx';
import { useTurns } from './use-turns.ts';

export interface TimelineProps {
  session: Session;
  view: JournalView;
  activity: string | undefined;
  /** Sequence number of the linked event. */
  event: number | undefined;
}

const TICK_MS = 200;
const SHOWN_TURNS = 50;

/** The turns of a session with their model calls and tool calls as time spans, newest first. */
export function Timeline({ session, view, activity, event }: TimelineProps) {
  const { turns, failure } = useTurns(session.session_id, view);
  const linkedTurn = useQuery({
    ...turnOfEvent(session.session_id, event ?? 0),
    enabled: event !== undefined,
  });
  return (
    <>
      <section
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-8"
      >
        {turns && !linkedTurn.isLoading ? (
          <TurnCards turns={turns} newest={view.events} event={event} linkedTurnId={linkedTurn.data} />
        ) : failure ? (
          <ErrorState {...failure} />
        ) : (
          <Skeleton label="Loading turns" />
        )}
      </section>
      <ActivityLine text={activity} wide />
    </>
  );
}

type TurnCardsProps = Pick<TimelineProps, 'event'> & {
  turns: readonly Turn[];
  newest: readonly DurableEvent[];
  linkedTurnId: string | null | undefined;
};

function TurnCards({ turns, newest, event, linkedTurnId }: TurnCardsProps) {
  const [shown, setShown] = useState(SHOWN_TURNS);
  const now = useNow(turns.some(({ finished_at: finishedAt }) => finishedAt === null));
  if (turns.length === 0) return <p className="py-16 text-center text-muted">No turns yet.</p>;
  const linked = linkedTurnIndex(turns, event, linkedTurnId);
  const first = Math.min(Math.max(0, turns.length - shown), Math.max(0, linked));
  return (
    <div className="flex flex-col gap-4">
      {turns
        .slice(first)
        .map((turn, index) => (
          <TurnCard
            key={turn.turn_id}
            turn={turn}
            number={first + index + 1}
            newest={newest}
            now={turn.finished_at === null ? now : Date.parse(turn.finished_at)}
            event={event}
            opens={first + index === linked}
          />
        ))
        .reverse()}
      {first > 0 && (
        <LoadMoreButton
          isLoading={false}
          error={undefined}
          onLoad={() => setShown(turns.length - first + SHOWN_TURNS)}
        >
          Show earlier turns
        </LoadMoreButton>
      )}
    </div>
  );
}

/** The current time, updated while a turn runs. It is the clock of the browser, which may differ from the service's. */
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
