import { Link } from '@tanstack/react-router';
import type { Span, TurnSpans } from '../../../journal/timeline.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { Tooltip } from '../../../ui/tooltip.tsx';

export interface TurnCardProps {
  turn: TurnSpans;
  /** Unix milliseconds. */
  now: number;
  sessionId: string;
  event: number | undefined;
}

const STATES: Record<TurnSpans['status'], { tone: Tone; text: string; live?: boolean }> = {
  queued: { tone: 'plain', text: 'Queued' },
  in_progress: { tone: 'accent', text: 'In progress', live: true },
  blocked: { tone: 'warn', text: 'Blocked' },
  completed: { tone: 'good', text: 'Completed' },
  failed: { tone: 'bad', text: 'Failed' },
  interrupted: { tone: 'plain', text: 'Interrupted' },
  cancelled: { tone: 'plain', text: 'Cancelled' },
};

export function TurnCard({ turn, now, sessionId, event }: TurnCardProps) {
  const end = Math.max(turn.end ?? now, ...turn.spans.map((span) => span.end ?? span.start), turn.start + 1);
  const state = STATES[turn.status];
  const { usage } = turn;
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5">
        <h2 className="flex items-center gap-3 font-medium tabular-nums">
          <span className="sr-only">Turn:</span>
          <Badge tone={state.tone} live={state.live ?? false}>
            {state.text}
          </Badge>
          {durationText(end - turn.start)}
        </h2>
        <span className="text-[13px] text-muted">
          began <Time at={new Date(turn.start).toISOString()} />
        </span>
        {turn.retries > 0 && (
          <Badge tone="warn">
            {turn.retries} {turn.retries === 1 ? 'retry' : 'retries'}
          </Badge>
        )}
        <span className="ms-auto text-[13px] text-muted tabular-nums">
          {usage &&
            `${usage.input_tokens.toLocaleString('en')} tokens in, ${usage.output_tokens.toLocaleString('en')} out, ` +
              `${usage.steps} ${usage.steps === 1 ? 'step' : 'steps'}`}
        </span>
      </div>
      {turn.error && (
        <p className="bg-bad-soft px-4 py-2 text-bad wrap-anywhere">
          {turn.error.message} <code className="font-mono text-xs">{turn.error.code}</code>
        </p>
      )}
      <ol className="py-2">
        {turn.spans.map((span) => (
          <SpanRow
            key={span.key}
            span={span}
            from={turn.start}
            to={end}
            now={now}
            sessionId={sessionId}
            isSought={span.seq === event}
          />
        ))}
        {turn.spans.length === 0 && (
          <li className="px-4 py-1 text-[13px] text-muted">Nothing has been done in it.</li>
        )}
      </ol>
    </Card>
  );
}

const BARS: Record<Span['kind'], string> = {
  queue: 'bg-line',
  model: 'bg-accent',
  tool: 'bg-good',
  approval: 'bg-warn',
  retry: 'bg-warn',
};

interface SpanRowProps {
  span: Span;
  /** What the bar is a part of, in Unix milliseconds. */
  from: number;
  to: number;
  now: number;
  sessionId: string;
  isSought: boolean;
}

function SpanRow({ span, from, to, now, sessionId, isSought }: SpanRowProps) {
  const end = span.end ?? Math.max(now, span.start);
  const share = (ms: number) => `${((ms / (to - from)) * 100).toFixed(3)}%`;
  const took = `${durationText(end - span.start)}${span.end === undefined ? ' so far' : ''}`;
  const about = [span.name, took, ...(span.detail ? [span.detail] : []), ...(span.isError ? ['failed'] : [])];
  return (
    <li>
      <Tooltip text={about.join(' · ')}>
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId }}
          search={{ view: 'raw', event: span.seq }}
          className={classes(
            'grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)_4.5rem] items-center gap-3 px-4 py-1 -outline-offset-2 hover:bg-sunken sm:grid-cols-[minmax(0,14rem)_minmax(0,1fr)_5rem]',
            isSought && 'bg-accent-soft',
          )}
        >
          <span className={classes('truncate text-[13px]', span.isError && 'text-bad')} dir="auto">
            {span.name}
            {span.isError && <span className="sr-only"> failed</span>}
          </span>
          <span className="relative h-3 rounded-full bg-sunken" aria-hidden>
            <span
              className={classes(
                'absolute inset-y-0 min-w-[3px] rounded-full',
                span.isError ? 'bg-bad' : BARS[span.kind],
                span.end === undefined && 'motion-safe:animate-blink',
              )}
              style={{ insetInlineStart: share(span.start - from), width: share(end - span.start) }}
            />
          </span>
          <span className="text-end text-xs text-muted tabular-nums">
            {durationText(end - span.start)}
            <span className="sr-only">
              {span.end === undefined && ' so far'}
              {span.detail && `, ${span.detail}`}
            </span>
          </span>
        </Link>
      </Tooltip>
    </li>
  );
}
