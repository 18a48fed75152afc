import { ZoomIn, ZoomOut } from 'lucide-react';
import { memo, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { ticksOf, tickText } from '../../../journal/time-axis.ts';
import type { TurnTimeline } from '../../../journal/turn-timeline.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { type ChartTimes, percent, SpanRow, shareOf } from './span-row.tsx';

const MAX_ZOOM = 64;
/** Least distance of two ticks, which is more than the width of "59 min 45 s". */
const TICK_PX = 80;
/** Width that each character of a tick needs at most. */
const CHARACTER_PX = 8;
/** The axis ends before the edge of the chart, as in `SpanRow`. */
const END_PX = 32;
/** Assumed width before the first measurement. */
const INITIAL_WIDTH_PX = 900;
/** Rows of a long turn are shown in parts. */
const SHOWN_SPANS = 200;

export interface TurnChartProps {
  timeline: TurnTimeline;
  /** Name of the turn. */
  label: string;
  /** The current time; for a finished turn its end. */
  now: number;
  sessionId: string;
  event: number | undefined;
}

/** The spans of a turn on a time axis, which scrolls sideways when it is zoomed in. */
export const TurnChart = memo(function TurnChart({ timeline, label, now, sessionId, event }: TurnChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const [shown, setShown] = useState(SHOWN_SPANS);
  const trackPx = useTrackWidth(box, zoom);
  useFixedCentre(box, zoom);
  const { start, spans } = timeline;
  const times: ChartTimes = { start, end: Math.max(timeline.end ?? now, start + 1), now };
  const linked = spans.findIndex(({ seq, children }) =>
    [seq, ...children.map((child) => child.seq)].includes(event ?? 0),
  );
  const count = Math.max(shown, linked + 1);
  return (
    <>
      <div className="flex items-center justify-end gap-1 px-2 py-1">
        <Button small look="quiet" disabled={zoom === 1} onClick={() => setZoom(1)}>
          Whole turn
        </Button>
        <IconButton
          label="Zoom out"
          icon={<ZoomOut />}
          disabled={zoom === 1}
          onClick={() => setZoom(zoom / 2)}
        />
        <IconButton
          label="Zoom in"
          icon={<ZoomIn />}
          disabled={zoom === MAX_ZOOM}
          onClick={() => setZoom(zoom * 2)}
        />
      </div>
      <section
        ref={box}
        aria-label={`Time axis of ${label}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="overflow-x-auto rounded-b-xl pb-2 [--label-width:11rem] sm:[--label-width:18rem]"
      >
        <div
          className="relative min-w-full"
          style={{ width: `calc(var(--label-width) + (100% - var(--label-width)) * ${zoom})` }}
        >
          <Axis times={times} widthPx={trackPx} />
          {/* Covers the ticks that are scrolled below the names. */}
          <div className="sticky start-0 z-10 h-6 w-(--label-width) border-e border-line bg-surface" />
          <ol className="relative">
            {spans.slice(0, count).map((span) => (
              <SpanRow key={span.key} span={span} times={times} sessionId={sessionId} event={event} />
            ))}
          </ol>
          {spans.length === 0 && <p className="px-4 py-1 text-[13px] text-muted">No activity.</p>}
        </div>
        {spans.length > count && (
          <div className="sticky start-0 px-4 pt-2">
            <Button small onClick={() => setShown(count + SHOWN_SPANS)}>
              Show more steps
            </Button>
          </div>
        )}
      </section>
    </>
  );
});

function Axis({ times, widthPx }: { times: ChartTimes; widthPx: number }) {
  const duration = times.end - times.start;
  const ticks = ticksOf(duration, widthPx / TICK_PX);
  const isInside = (tick: number, text: string) =>
    text.length * CHARACTER_PX < (1 - tick / duration) * (widthPx - END_PX) + END_PX;
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-y-0 start-(--label-width) end-8 text-xs text-muted"
    >
      {ticks.map((tick) => {
        const text = tickText(tick);
        return (
          <span
            key={tick}
            data-tick={tick}
            className="absolute inset-y-0 border-s border-line ps-1 whitespace-nowrap tabular-nums"
            style={{ insetInlineStart: percent(shareOf(times, times.start + tick)) }}
          >
            {isInside(tick, text) && text}
          </span>
        );
      })}
    </div>
  );
}

/** Width of the time axis in pixels. */
function useTrackWidth(box: RefObject<HTMLElement | null>, zoom: number): number {
  const [width, setWidth] = useState(INITIAL_WIDTH_PX);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const label = element.querySelector('ol span')?.clientWidth ?? 0;
      setWidth(element.clientWidth - label);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return Math.max(1, width) * zoom;
}

/** Keeps the time in the centre of the box when the zoom changes. */
function useFixedCentre(box: RefObject<HTMLElement | null>, zoom: number): void {
  const before = useRef(zoom);
  useLayoutEffect(() => {
    const element = box.current;
    const factor = zoom / before.current;
    before.current = zoom;
    if (!element || factor === 1) return;
    const half = element.clientWidth / 2;
    element.scrollLeft = (element.scrollLeft + half) * factor - half;
  }, [box, zoom]);
}
