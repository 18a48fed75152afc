import type { InboundEvent } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type {
  CallbackRequest,
  ParsedEvent,
} from '../../../../../services/deployments/channels/products/product.ts';
import type { Headers } from '../fixtures.ts';

/** The event of a result that can be for the agent. */
export function eventOf(parsed: ParsedEvent): InboundEvent {
  if (parsed.outcome !== 'event') throw new Error(`the event is ${JSON.stringify(parsed)}`);
  return parsed.event;
}

/** The outcome, and the reason if there is one. */
export function resultOf(parsed: ParsedEvent): string {
  return 'reason' in parsed ? `${parsed.outcome} ${parsed.reason}` : parsed.outcome;
}

export function request(body: string | Uint8Array, headers: Headers): CallbackRequest {
  return { body: Buffer.from(body), headers: headers.map(([name, value]) => ({ name, value })) };
}

/** The headers with the value of one replaced. */
export function withHeader(headers: Headers, name: string, change: (value: string) => string): Headers {
  return headers.map(([one, value]) => [one, one === name ? change(value) : value]);
}

export function without(headers: Headers, name: string): Headers {
  return headers.filter(([one]) => one !== name);
}
