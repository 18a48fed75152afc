import { useDeferredValue } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { JournalView } from '../../../journal/view.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { Select } from '../../../ui/select.tsx';
import { AllEvents } from './all-events.tsx';
import { FilteredEvents } from './filtered-events.tsx';
import { EventInspector } from './inspector.tsx';
import { TYPE_FILTERS, typesWithPrefix } from './type-filters.ts';
import { useThrottled } from './use-throttled.ts';

export interface RawJournalProps {
  session: Session;
  view: JournalView;
  mayWrite: boolean;
  /** Sequence number of the selected event. */
  event: number | undefined;
  onEvent: (event?: number) => void;
  /** Prefix of the displayed event types. */
  types: string | undefined;
  onTypes: (types: string | undefined) => void;
}

/** The raw view: every event of the journal. */
export function RawJournal({ session, view, mayWrite, event, onEvent, types, onTypes }: RawJournalProps) {
  const sessionId = session.session_id;
  const selectedTypes = types ? typesWithPrefix(types) : [];
  const lastSeq = useDeferredValue(useThrottled(Math.max(view.lastSeq, session.last_seq)));
  const list = { sessionId, lastSeq, selected: event, onSelect: onEvent };
  const query = selectedTypes.length > 0 ? `?types=${selectedTypes.join(',')}` : '';
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 sm:px-8">
        <Select
          label="Types"
          value={selectedTypes.length > 0 ? (types ?? 'all') : 'all'}
          options={TYPE_FILTERS}
          onChange={(chosen) => onTypes(chosen === 'all' ? undefined : chosen)}
        />
        <CopyCurl path={`/sessions/${sessionId}/events${query}`} />
        <span className="ms-auto text-[13px] text-muted tabular-nums">
          {lastSeq.toLocaleString('en')} {lastSeq === 1 ? 'event' : 'events'}
        </span>
      </div>
      <div className="relative flex min-h-0 flex-1">
        {selectedTypes.length > 0 ? (
          <FilteredEvents types={selectedTypes} {...list} />
        ) : (
          <AllEvents {...list} />
        )}
        {event !== undefined && (
          <EventInspector
            session={session}
            seq={event}
            lastSeq={lastSeq}
            mayFork={mayWrite}
            onSeq={onEvent}
            onClose={() => onEvent(undefined)}
          />
        )}
      </div>
    </div>
  );
}
