import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import { CHUNK, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { Failure } from '../../../parts/faults/failure.tsx';
import { useFailure } from '../../../parts/faults/use-failure.ts';
import { jsonText } from '../../../parts/text/json.ts';
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

/** Who comes from another view of the session has left what they pressed there; who closes an event goes back to the list. */
function useFocusHere() {
  const place = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const section = place.current;
    const list = section?.parentElement?.querySelector<HTMLElement>('[role=listbox]');
    if (document.activeElement === document.body) section?.focus();
    return () => {
      if (section?.contains(document.activeElement)) list?.focus();
    };
  }, []);
  return place;
}

/** One event, whole. */
export function Inspector({ session, seq, lastSeq, mayFork, onSeq, onClose }: InspectorProps) {
  const place = useFocusHere();
  const number = Math.floor((seq - 1) / CHUNK);
  const upTo = Math.min((number + 1) * CHUNK, lastSeq);
  const query = useQuery(sessions.chunk(session.session_id, number, upTo));
  const failure = useFailure(query);
  const event = query.data?.find((one) => one.seq === seq);
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label={`Event ${seq}`}
      className="outline-none absolute inset-0 z-10 flex flex-col overflow-y-auto border-line bg-surface md:static md:w-[26rem] md:shrink-0 md:border-s xl:w-[36rem]"
    >
      <div className="flex items-center gap-1 border-b border-line py-1.5 ps-4 pe-2">
        <h2 className="min-w-0 flex-1 truncate font-mono text-[13px] font-medium">
          {seq} {event?.type}
        </h2>
        <IconButton
          label="The event before"
          icon={<ChevronUp />}
          disabled={seq <= 1}
          onClick={() => onSeq(seq - 1)}
        />
        <IconButton
          label="The event after"
          icon={<ChevronDown />}
          disabled={seq >= lastSeq}
          onClick={() => onSeq(seq + 1)}
        />
        <EventMenu session={session} seq={seq} mayFork={mayFork} />
        <IconButton label="Close the event" icon={<X />} onClick={onClose} />
      </div>
      <div className="flex flex-col gap-3 p-4">
        {failure ? <Failure {...failure} /> : query.isPending && <Skeleton lines={5} />}
        {query.isSuccess && !event && <p className="text-muted">There is no such event yet.</p>}
        {event && (
          <>
            <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
              <dt className="text-muted">When</dt>
              <dd>
                <Time at={event.created_at} />
              </dd>
              <dt className="text-muted">By</dt>
              <dd className="truncate font-mono text-xs" title={event.actor.id}>
                {event.actor.type} {event.actor.id}
              </dd>
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
