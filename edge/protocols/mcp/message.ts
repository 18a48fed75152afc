import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../../lib/errors.ts';
import { checkStorable } from '../../input/json.ts';
import { receiveJson } from '../../register-route.ts';
import { INVALID_PARAMS, INVALID_REQUEST, JsonRpcError, PARSE_ERROR, type RequestId } from './json-rpc.ts';

export const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);

/** A JSON-RPC message of a request body. */
export interface ReceivedMessage {
  value: Record<string, unknown>;
  /** Empty for a response. */
  method: string;
  id: RequestId;
  params: Record<string, unknown>;
}

/**
 * Reads the message of a request. The library reports some malformed messages with codes of its own choice, so the form of
 * JSON-RPC is checked before. Refuses with UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or a JSON-RPC error.
 */
export async function receiveMessage(raw: IncomingMessage): Promise<ReceivedMessage> {
  const value = await receiveJson(raw, MAX_BODY_BYTES).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'INVALID_REQUEST')
      throw new JsonRpcError(PARSE_ERROR, error.message);
    throw error;
  });
  if (Array.isArray(value))
    throw invalid('Batches are not supported. Send each message in a request of its own.');
  if (!isObject(value)) throw invalid('The body must be a JSON-RPC message: an object.');
  const { jsonrpc, id = null, method, params = {} } = value;
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  const known = isId ? (id as RequestId) : null;
  if (jsonrpc !== '2.0') throw invalid('`jsonrpc` must be "2.0".', known);
  if ('id' in value && !isId) throw invalid('`id` must be a string or an integer.');
  const extra = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (extra !== undefined) throw invalid(`Unknown member ${quote(extra)} of the message.`, known);
  const isResponse = method === undefined && isId && ('result' in value || 'error' in value);
  if (!isResponse && typeof method !== 'string') throw invalid('`method` must be a string.', known);
  if (!isObject(params)) throw new JsonRpcError(INVALID_PARAMS, '`params` must be an object.', known);
  checkMeta(params._meta, known);
  checkResponses(params.inputResponses, known);
  checkText(value, known);
  return { value, method: typeof method === 'string' ? method : '', id: known, params };
}

function checkMeta(meta: unknown, id: RequestId): void {
  if (meta === undefined) return;
  if (!isObject(meta)) throw new JsonRpcError(INVALID_PARAMS, '`params._meta` must be an object.', id);
  const { progressToken: token } = meta;
  if (token === undefined || typeof token === 'string' || Number.isSafeInteger(token)) return;
  throw new JsonRpcError(INVALID_PARAMS, '`params._meta.progressToken` must be a string or an integer.', id);
}

/** The library ignores responses of another form. */
function checkResponses(responses: unknown, id: RequestId): void {
  if (responses === undefined || (isObject(responses) && Object.values(responses).every(isObject))) return;
  throw new JsonRpcError(INVALID_PARAMS, '`params.inputResponses` must be an object of objects.', id);
}

function checkText(value: unknown, id: RequestId): void {
  try {
    checkStorable(value);
  } catch (error) {
    if (error instanceof Refusal) throw new JsonRpcError(INVALID_PARAMS, error.message, id);
    throw error;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const invalid = (message: string, id: RequestId = null) => new JsonRpcError(INVALID_REQUEST, message, id);
const quote = (text: string) => JSON.stringify(text.slice(0, 100).toWellFormed());
