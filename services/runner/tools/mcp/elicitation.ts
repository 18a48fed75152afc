import type { JsonObject } from '../../../../lib/mcp-catalogue/catalogue.ts';
import { isJsonObject } from '../../../../lib/mcp-catalogue/catalogue.ts';
import type { InputAnswer, InputDetails } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';

/** A call that waits for input. The state of its approval is this as JSON. */
export interface PendingInput {
  /** How often the server has asked in this call. */
  round: number;
  /** What the server gets back unchanged. */
  requestState: string | undefined;
  /** The requests without a response, in the order of the server. */
  requests: { key: string; request: JsonObject }[];
  responses: Record<string, JsonObject>;
  /** Notes for the model about requests that were declined. */
  notes: string[];
}

export const MAX_ROUNDS = 5;

/** Words in the name or title of a field that ask for a secret. */
const SECRET =
  /pass(word|phrase|code)|secret|token|credential|api[ _-]?key|private[ _-]?key|\b(pin|otp|cvv)\b/i;

const DECLINED: JsonObject = { action: 'decline' };

/** Returns what an approval of kind `input` shows for a request; otherwise the reason for which it is declined. */
export function detailsOf(
  request: JsonObject,
  server: Pick<InputDetails, 'mcp_server_id' | 'name'>,
  isAllowedLink: (url: URL) => boolean,
): InputDetails | { declined: string } {
  const { method, params } = request;
  if (method !== 'elicitation/create' || !isJsonObject(params))
    return { declined: 'a request of a kind that is not offered' };
  const message = typeof params.message === 'string' ? params.message : '';
  if (params.mode === 'url') {
    const url = typeof params.url === 'string' && URL.canParse(params.url) ? new URL(params.url) : undefined;
    if (!url || !isAllowedLink(url)) return { declined: 'a link that is not https' };
    return { ...server, message, url: url.href };
  }
  const { requestedSchema: form } = params;
  if (!isJsonObject(form) || !isJsonObject(form.properties)) return { declined: 'a form without fields' };
  const asksForSecret = Object.entries(form.properties).some(
    ([name, field]) => SECRET.test(name) || (isJsonObject(field) && SECRET.test(String(field.title ?? ''))),
  );
  return asksForSecret ? { declined: 'a form that asks for a secret' } : { ...server, message, form };
}

/** Declines the first request. The model is told. */
export function decline(pending: PendingInput, reason: string): PendingInput {
  const note = `[The server asked for input: ${reason}. It was declined.]`;
  return { ...respond(pending, DECLINED), notes: [...pending.notes, note] };
}

/** Adds the answer of a person to the first request. */
export function answer(pending: PendingInput, { decision, content }: InputAnswer): PendingInput {
  if (decision === 'accept') return respond(pending, { action: decision, ...(content && { content }) });
  return respond(pending, { action: decision === 'decline' ? 'decline' : 'cancel' });
}

function respond({ requests, responses, ...pending }: PendingInput, response: JsonObject): PendingInput {
  const [first, ...others] = requests;
  const more = first ? { [first.key]: response } : {};
  return { ...pending, requests: others, responses: { ...responses, ...more } };
}

export function encodeState(pending: PendingInput): Buffer {
  return Buffer.from(JSON.stringify(pending));
}

/** Throws a ToolError for a state that cannot be read. */
export function decodeState(state: Uint8Array): PendingInput {
  try {
    return JSON.parse(Buffer.from(state).toString());
  } catch {
    throw new ToolError('The call cannot continue, because its state is lost.');
  }
}
