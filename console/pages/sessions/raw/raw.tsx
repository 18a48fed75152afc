import { useDeferredValue } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { JournalView } from '../../../journal/view.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { Select } from '../../../ui/select.tsx';
import { AllEvents } from './all.tsx';
import { FAMILIES, typesIn } from './families.ts';
import { Inspector } from './inspector.tsx';
import { useSettled } from './settled.ts';
import { SomeEvents } from './some.tsx';

export interface RawProps {
  session: Session;
  view: JournalView;
  mayWrite: boolean;
  /** The seq of the event that is looked at. */
  event: number | undefined;
  onEvent: (event?: number) => void;
  /** The beginning of the types that are shown. */
  types: string | undefined;
  onTypes: (types: string | undefined) => void;
}

/** Every event as it stands in the journal. */
export function Raw({ session, view, mayWrite, event, onEvent, types, onTypes }: RawProps) {
  const sessionId = session.session_id;
  const wanted = types ? typesIn(types) : [];
  const lastSeq = useDeferredValue(useSettled(Math.max(view.lastSeq, session.last_seq)));
  const list = { sessionId, lastSeq, selected: event, onSelect: onEvent };
  const query = wanted.length > 0 ? `?types=${wanted.join(',')}` : '';
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 sm:px-8">
        <Select
          label="Types"
          value={wanted.length > 0 ? (types ?? 'all') : 'all'}
          options={FAMILIES}
          onChange={(chosen) => onTypes(chosen === 'all' ? undefined : chosen)}
        />
        <CopyCurl path={`/sessions/${sessionId}/events${query}`} />
        <span className="ms-auto text-[13px] text-muted tabular-nums">
          {lastSeq.toLocaleString('en')} {lastSeq === 1 ? 'event' : 'events'}
        </span>
      </div>
      <div className="relative flex min-h-0 flex-1">
        {wanted.length > 0 ? <SomeEvents types={wanted} {...list} /> : <AllEvents {...list} />}
        {event !== undefined && (
          <Inspector
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
