import { Link } from '@tanstack/react-router';
import type { TimelineSpan } from '../../../journal/timeline-span.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { classes } from '../../../ui/classes.ts';

const BARS: Record<TimelineSpan['kind'], string> = {
  queue: 'bg-strong-line',
  step: 'bg-strong-line',
  model: 'bg-accent',
  tool: 'bg-good',
  approval: 'bg-warn',
  retry: 'bg-warn',
  idle: 'border border-dashed border-muted',
  message: 'bg-accent',
  compaction: 'bg-ink',
};

/** The time that the chart covers, in Unix milliseconds. */
export interface ChartTimes {
  start: number;
  end: number;
  /** The current time. */
  now: number;
}

export interface SpanRowProps {
  span: TimelineSpan;
  times: ChartTimes;
  sessionId: string;
  /** Sequence number of the linked event. */
  event: number | undefined;
  isNested?: boolean;
}

/** Position of a time in the chart, from 0 to 1. */
export const shareOf = ({ start, end }: ChartTimes, at: number) =>
  Math.min(1, Math.max(0, (at - start) / (end - start)));

export const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

/** A span with its bar, and below it the model request and the calls of a step. */
export function SpanRow({ span, times, sessionId, event, isNested = false }: SpanRowProps) {
  const isTarget = span.seq !== undefined && span.seq === event;
  const look = classes('group flex items-stretch -outline-offset-2', isTarget && 'bg-accent-soft');
  const content = <RowContent span={span} times={times} isNested={isNested} isTarget={isTarget} />;
  return (
    <li className={isNested ? undefined : '[contain-intrinsic-size:auto_4rem] [content-visibility:auto]'}>
      {span.seq === undefined ? (
        <div className={look}>{content}</div>
      ) : (
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId }}
          search={{ view: 'raw', event: span.seq }}
          title={aboutSpan(span, times)}
          className={look}
        >
          {content}
        </Link>
      )}
      {span.children.length > 0 && (
        <ol>
          {span.children.map((child) => (
            <SpanRow
              key={child.key}
              span={child}
              times={times}
              sessionId={sessionId}
              event={event}
              isNested
            />
          ))}
        </ol>
      )}
    </li>
  );
}

type RowContentProps = Pick<SpanRowProps, 'span' | 'times'> & { isNested: boolean; isTarget: boolean };

function RowContent({ span, times, isNested, isTarget }: RowContentProps) {
  const isOpen = span.end === undefined;
  const end = span.end ?? Math.max(times.now, span.start);
  const left = shareOf(times, span.start);
  return (
    <>
      <span
        className={classes(
          'sticky start-0 z-10 flex w-(--label-width) shrink-0 items-center gap-2 border-e border-line py-1 ps-4 pe-2 group-hover:bg-sunken',
          isTarget ? 'bg-accent-soft' : 'bg-surface',
        )}
      >
        <span
          dir="auto"
          className={classes(
            'min-w-0 flex-1 text-[13px]',
            span.kind === 'retry' || span.kind === 'compaction' || span.exitCode !== undefined
              ? 'wrap-anywhere'
              : 'truncate',
            isNested && 'ps-3',
            span.isError ? 'text-bad' : span.exitCode !== undefined && 'text-warn',
            span.kind === 'idle' && 'text-muted',
          )}
        >
          {nameOf(span)}
          {span.isError && <span className="sr-only"> failed</span>}
          {span.kind === 'compaction' && <span className="block text-xs text-muted">{span.detail}</span>}
        </span>
        {/* The line of a retry contains its duration. */}
        {(span.kind !== 'retry' || isOpen) && (
          <span className="text-xs whitespace-nowrap text-muted tabular-nums">
            {durationText(end - span.start)}
            <span className="sr-only">
              {isOpen && ' so far'}
              {span.detail && span.kind !== 'compaction' && `, ${span.detail}`}
            </span>
          </span>
        )}
      </span>
      <span className="relative me-8 flex-1 group-hover:bg-sunken" aria-hidden>
        <span
          className={classes(
            'absolute top-1/2 min-w-[3px] -translate-y-1/2 rounded-full',
            span.kind === 'step' ? 'h-1' : 'h-3',
            barOf(span),
            isOpen && 'motion-safe:animate-blink',
          )}
          style={{ insetInlineStart: percent(left), width: percent(shareOf(times, end) - left) }}
        />
      </span>
    </>
  );
}

const nameOf = ({ name, exitCode }: TimelineSpan) =>
  exitCode === undefined ? name : `${name}, exit code ${exitCode}`;

function barOf({ kind, isError, exitCode }: TimelineSpan): string {
  if (isError && kind !== 'step') return 'bg-bad';
  return exitCode === undefined ? BARS[kind] : 'bg-warn';
}

function aboutSpan(span: TimelineSpan, { now }: ChartTimes): string {
  const took = durationText((span.end ?? Math.max(now, span.start)) - span.start);
  return [
    nameOf(span),
    `${took}${span.end === undefined ? ' so far' : ''}`,
    ...(span.detail ? [span.detail] : []),
    ...(span.isError ? ['failed'] : []),
  ].join(' · ');
}
