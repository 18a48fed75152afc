import { type JsonObject, objectIn, parseObject, textIn } from '../json-members.ts';
import type { CallbackRequest } from '../product.ts';

/**
 * An event in the form of Socket Mode: `{type: "events_api" | "interactive" | "slash_commands", payload}`
 * (https://docs.slack.dev/apis/events-api/using-socket-mode). The Events API sends the payload of the first type as JSON,
 * interactions as a form with the member `payload`, and commands as a form.
 */
export interface SlackEnvelope {
  type: string;
  payload: JsonObject;
}

export function envelopeOf(event: unknown): SlackEnvelope {
  const { type, payload } = objectIn(event);
  return { type: textIn(type), payload: objectIn(payload) };
}

/** Undefined for a body of another form. */
export function decodeCallback({ headers, body }: CallbackRequest): SlackEnvelope | undefined {
  const contentType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  if (!contentType.toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    const payload = parseObject(body);
    return payload && { type: 'events_api', payload };
  }
  const form = Object.fromEntries(new URLSearchParams(Buffer.from(body).toString('utf8')));
  if (form.payload === undefined) return { type: 'slash_commands', payload: form };
  const payload = parseObject(form.payload);
  return payload && { type: 'interactive', payload };
}
