import { ChevronRight } from 'lucide-react';
import { memo, useMemo, useState } from 'react';
import type { Turn } from '../../../gen/index.ts';
import type { DurableEvent } from '../../../journal/event.ts';
import { timelineOf, turnTimes } from '../../../journal/turn-timeline.ts';
import { countText, tokensText } from '../../../journal/usage-text.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { exactDurationText } from '../../../parts/text/duration.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { TurnChart } from './turn-chart.tsx';
import { useTurnEvents } from './use-turn-events.ts';

export interface TurnCardProps {
  turn: Turn;
  /** Position of the turn in the session, from 1. */
  number: number;
  /** The newest events of the session. */
  newest: readonly DurableEvent[];
  /** The current time in Unix milliseconds; for a finished turn its end. */
  now: number;
  event: number | undefined;
  /** The card is open at first. */
  opens: boolean;
}

const STATES: Record<Turn['status'], { tone: Tone; text: string; live?: boolean }> = {
  queued: { tone: 'plain', text: 'Queued' },
  in_progress: { tone: 'accent', text: 'In progress', live: true },
  blocked: { tone: 'warn', text: 'Blocked' },
  completed: { tone: 'good', text: 'Completed' },
  failed: { tone: 'bad', text: 'Failed' },
  interrupted: { tone: 'plain', text: 'Interrupted' },
  cancelled: { tone: 'plain', text: 'Cancelled' },
};

/** The message of the turn was delivered into a running turn, and the turn itself has not started. */
const DELIVERED: (typeof STATES)[Turn['status']] = { tone: 'plain', text: 'Delivered to a running turn' };

/** A turn with the figures of the API. Its events are loaded when it is open. */
export const TurnCard = memo(function TurnCard({ turn, number, newest, now, event, opens }: TurnCardProps) {
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? opens;
  const { start, end } = turnTimes(turn);
  const state = turn.delivered_to_turn_id ? DELIVERED : STATES[turn.status];
  return (
    <Card className="overflow-hidden">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
        <h2 className="font-medium tabular-nums">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setChosen(!isOpen)}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded text-start"
          >
            <ChevronRight
              className={classes('size-4 transition-transform', isOpen && 'rotate-90')}
              aria-hidden
            />
            Turn {number}
            <Badge tone={state.tone} live={state.live ?? false}>
              {state.text}
            </Badge>
            {turn.kind === 'compaction' && <Badge>Compaction</Badge>}
            <span>{exactDurationText((end ?? Math.max(now, start)) - start)}</span>
          </button>
        </h2>
        <span className="text-[13px] text-muted">
          {turn.started_at === null ? 'queued' : 'started'} <Time at={turn.started_at ?? turn.created_at} />
        </span>
      </div>
      {turn.error && (
        <p className="bg-bad-soft px-4 py-2 text-bad wrap-anywhere">
          {turn.error.message} <code className="font-mono text-xs">{turn.error.code}</code>
        </p>
      )}
      {isOpen && <TurnDetails turn={turn} label={`turn ${number}`} newest={newest} now={now} event={event} />}
    </Card>
  );
});

type TurnDetailsProps = Pick<TurnCardProps, 'turn' | 'newest' | 'now' | 'event'> & { label: string };

function TurnDetails({ turn, label, newest, now, event }: TurnDetailsProps) {
  const sessionId = turn.session_id;
  const { events, loaded, total, error, isRetrying, onRetry } = useTurnEvents(sessionId, turn, newest);
  const timeline = useMemo(() => events && timelineOf(turn, events), [turn, events]);
  if (error) return <ErrorState error={error} isRetrying={isRetrying} onRetry={onRetry} />;
  if (!timeline)
    return (
      <p role="status" className="border-t border-line px-4 py-3 text-[13px] text-muted tabular-nums">
        {total === undefined
          ? 'Loading events'
          : `Loading ${loaded.toLocaleString('en')} of ${total.toLocaleString('en')} events`}
      </p>
    );
  return (
    <>
      <TurnFigures turn={turn} hasUnreportedTokens={timeline.hasUnreportedTokens} />
      <TurnChart timeline={timeline} label={label} now={now} sessionId={sessionId} event={event} />
    </>
  );
}

function TurnFigures({ turn, hasUnreportedTokens }: { turn: Turn; hasUnreportedTokens: boolean }) {
  const { usage, created_at: createdAt, started_at: startedAt } = turn;
  if (startedAt === null) return null;
  const figures = [
    `active ${exactDurationText(usage.active_seconds * 1_000)}`,
    `queued ${exactDurationText(Date.parse(startedAt) - Date.parse(createdAt))}`,
    tokensText(usage, turn.status, hasUnreportedTokens),
    countText(usage.steps, 'step'),
    countText(usage.tool_calls, 'call'),
  ];
  return (
    <p className="border-t border-line px-4 py-2 text-[13px] text-muted tabular-nums">
      {figures.join(' · ')}
    </p>
  );
}
