import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import { EVENTS_PER_CHUNK, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { jsonText } from '../../../parts/text/json.ts';
import { isProtocolActor, ProtocolActor } from '../../../parts/tokens/protocol-actor.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { EventMenu } from '../event-menu.tsx';

export interface InspectorProps {
  session: Session;
  seq: number;
  lastSeq: number;
  mayFork: boolean;
  onSeq: (seq: number) => void;
  onClose: () => void;
}

/** Focuses the inspector when it opens from another view, and the event list when it closes. */
function useInspectorFocus() {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = section.current;
    const list = element?.parentElement?.querySelector<HTMLElement>('[role=listbox]');
    if (document.activeElement === document.body) element?.focus();
    return () => {
      if (element?.contains(document.activeElement)) list?.focus();
    };
  }, []);
  return section;
}

/** Panel with all fields of an event. */
export function EventInspector({ session, seq, lastSeq, mayFork, onSeq, onClose }: InspectorProps) {
  const section = useInspectorFocus();
  const number = Math.floor((seq - 1) / EVENTS_PER_CHUNK);
  const upTo = Math.min((number + 1) * EVENTS_PER_CHUNK, lastSeq);
  const query = useQuery(sessions.chunk(session.session_id, number, upTo));
  const failure = useQueryFailure(query);
  const event = query.data?.find((candidate) => candidate.seq === seq);
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label={`Event ${seq}`}
      className="outline-none absolute inset-0 z-10 flex flex-col overflow-y-auto border-line bg-surface md:static md:w-[26rem] md:shrink-0 md:border-s xl:w-[36rem]"
    >
      <div className="flex items-center gap-1 border-b border-line py-1.5 ps-4 pe-2">
        <h2 className="min-w-0 flex-1 truncate font-mono text-[13px] font-medium">
          {seq} {event?.type}
        </h2>
        <IconButton
          label="Previous event"
          icon={<ChevronUp />}
          disabled={seq <= 1}
          onClick={() => onSeq(seq - 1)}
        />
        <IconButton
          label="Next event"
          icon={<ChevronDown />}
          disabled={seq >= lastSeq}
          onClick={() => onSeq(seq + 1)}
        />
        <EventMenu session={session} seq={seq} mayFork={mayFork} />
        <IconButton label="Close event" icon={<X />} onClick={onClose} />
      </div>
      <div className="flex flex-col gap-3 p-4">
        {failure ? <ErrorState {...failure} /> : query.isPending && <Skeleton lines={5} />}
        {query.isSuccess && !event && <p className="text-muted">This event does not exist yet.</p>}
        {event && (
          <>
            <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
              <dt className="text-muted">Time</dt>
              <dd>
                <Time at={event.created_at} />
              </dd>
              <dt className="text-muted">Actor</dt>
              <dd className="truncate font-mono text-xs" title={event.actor.id}>
                {event.actor.type} {event.actor.id}
              </dd>
              {isProtocolActor(event.actor) && (
                <>
                  <dt className="text-muted">Client</dt>
                  <dd className="truncate">
                    <ProtocolActor actor={event.actor} ownerId={session.created_by} />
                  </dd>
                </>
              )}
              {event.turn_id && (
                <>
                  <dt className="text-muted">Turn</dt>
                  <dd className="truncate font-mono text-xs">{event.turn_id}</dd>
                </>
              )}
              {event.traceparent && (
                <>
                  <dt className="text-muted">Trace</dt>
                  <dd className="truncate font-mono text-xs" title={event.traceparent}>
                    {event.traceparent}
                  </dd>
                </>
              )}
            </dl>
            <Code text={jsonText(event)} label={`JSON of event ${seq}`} className="[&>section]:max-h-none" />
          </>
        )}
      </div>
    </section>
  );
}
