import { refuse } from '../../../lib/errors.ts';
import type { EventType } from '../../../lib/event-types.ts';
import type { EventData } from '../../../lib/events.ts';
import { MAX_MESSAGE_BYTES } from '../../../lib/grpc/transport.ts';
import type { NewEvent } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** An event and its envelope must fit into one message between services. */
const MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 256 * 1024;

interface QueuedEvent {
  event: NewEvent;
  bytes: number;
  /** Size including the events behind it that must be in the same report. */
  groupBytes: number;
  /** The id of the open message after this event, empty for none; absent when the event does not change it. */
  open: string | undefined;
}

interface TakenEvents {
  events: NewEvent[];
  bytes: number;
  /** The id of the open message after these events, empty for none; absent when they do not change it. */
  openMessageId: string | undefined;
}

/** The events of a turn that no report has yet, in their order. */
export class UnreportedEvents {
  #events: QueuedEvent[] = [];
  #added = 0;

  /** The number of events that were added. */
  get added(): number {
    return this.#added;
  }

  /** The number of events that no report has. */
  get length(): number {
    return this.#events.length;
  }

  /** Whether the type of an event matches. */
  some(matches: (type: string) => boolean): boolean {
    return this.#events.some(({ event }) => matches(event.type));
  }

  /** Throws PAYLOAD_TOO_LARGE when the event does not fit into a message between services. */
  add<T extends EventType>(type: T, data: EventData<T>, open?: string): void {
    this.#push(type, data, open);
  }

  /** Adds events that are in the same report as the last event, unless they exceed the size of one. */
  addWithLast<T extends EventType>(type: T, all: readonly EventData<T>[]): void {
    const last = this.#events.at(-1);
    for (const data of all) {
      const { bytes } = this.#push(type, data);
      if (last) last.groupBytes += bytes;
    }
  }

  /** Removes and returns the next events that fit into `maxBytes`, or one that does not if `atLeastOne`. */
  take(maxBytes: number, atLeastOne: boolean): TakenEvents {
    const taken: TakenEvents = { events: [], bytes: 0, openMessageId: undefined };
    for (const { event, bytes, groupBytes, open } of this.#events) {
      if (taken.bytes + groupBytes > maxBytes && !(atLeastOne && taken.events.length === 0)) break;
      taken.bytes += bytes;
      taken.events.push(event);
      taken.openMessageId = open ?? taken.openMessageId;
    }
    this.#events = this.#events.slice(taken.events.length);
    return taken;
  }

  clear(): void {
    this.#events = [];
  }

  #push<T extends EventType>(type: T, data: EventData<T>, open?: string): QueuedEvent {
    const dataJson = JSON.stringify(data);
    const bytes = Buffer.byteLength(dataJson) + type.length + 16;
    if (bytes > MAX_EVENT_BYTES)
      throw refuse(
        'PAYLOAD_TOO_LARGE',
        `An event of ${bytes} bytes exceeds the limit of ${MAX_EVENT_BYTES} bytes.`,
      );
    const queued = { event: { type, dataJson }, bytes, groupBytes: bytes, open };
    this.#events.push(queued);
    this.#added++;
    return queued;
  }
}
