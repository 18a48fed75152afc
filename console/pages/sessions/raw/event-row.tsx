import type { Event } from '../../../gen/index.ts';
import { classes } from '../../../ui/classes.ts';

export const ROW_PX = 32;
/** Maximum length of the data preview. */
const PREVIEW_CHARS = 400;

const TONES: readonly [begin: string, tone: string][] = [
  ['user.', 'text-accent'],
  ['approval.', 'text-warn'],
  ['session.error', 'text-bad'],
  ['turn.failed', 'text-bad'],
  ['agent.tool', 'text-good'],
];

export interface RowProps {
  /** Undefined while the event loads. */
  event: Event | undefined;
  seq: number;
  /** Position in the list, from 1. */
  position: number;
  count: number;
  isSelected: boolean;
  /** Distance from the top of the list. */
  topPx: number;
}

/** A row of fixed height. The list has the focus and handles clicks. */
export function EventRow({ event, seq, position, count, isSelected, topPx }: RowProps) {
  const tone = TONES.find(([begin]) => event?.type.startsWith(begin))?.[1];
  return (
    <div
      id={`event-${seq}`}
      data-seq={seq}
      role="option"
      aria-selected={isSelected}
      aria-posinset={position}
      aria-setsize={count}
      tabIndex={-1}
      style={{ transform: `translateY(${topPx}px)`, height: ROW_PX }}
      className={classes(
        'absolute inset-x-0 top-0 flex cursor-pointer items-center gap-3 px-4 font-mono text-xs sm:px-8',
        isSelected ? 'bg-accent-soft' : 'hover:bg-sunken',
      )}
    >
      <span className="w-14 shrink-0 text-end text-muted tabular-nums">{seq}</span>
      {event ? (
        <>
          <span className={classes('w-44 shrink-0 truncate font-medium', tone)}>{event.type}</span>
          <span className="hidden w-24 shrink-0 text-muted tabular-nums sm:block">
            {event.created_at.slice(11, 23)}
          </span>
          <span className="min-w-0 flex-1 truncate text-muted">
            {JSON.stringify(event.data).slice(0, PREVIEW_CHARS)}
          </span>
        </>
      ) : (
        <span className="h-3 flex-1 rounded bg-sunken">
          <span className="sr-only">Loading</span>
        </span>
      )}
    </div>
  );
}
