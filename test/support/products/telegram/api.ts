import type { FaultPlan } from '../faults.ts';
import { json, type ProductRequest, type ProductResponse } from '../http-server.ts';
import type { BotAccount } from './bots.ts';
import { TelegramError, tooManyRequests } from './errors.ts';
import type { TelegramState } from './methods/context.ts';
import { findMethod } from './methods/index.ts';
import { createParameters, type Parameters, readParameters } from './parameters.ts';

const FAILURES = { 500: 'Internal Server Error', 502: 'Bad Gateway', 503: 'Service Unavailable' };

export interface TelegramRequest {
  bot: number | undefined;
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
  method: string;
  parameters: Record<string, unknown>;
  /** The names and sizes of uploaded files. */
  files: { name: string; size: number }[];
  /** The status of the response, or `cut` if the connection ended without one. Undefined while the request waits. */
  status: number | 'cut' | undefined;
  /** The description of a refusal. */
  description?: string;
}

export interface TelegramApi {
  handle(request: ProductRequest): Promise<ProductResponse>;
  /** Executes a method that a webhook named in its response. Its result and its refusal are lost. */
  executeReply(bot: BotAccount, values: Record<string, unknown>): Promise<void>;
}

export interface TelegramApiParts {
  bots: BotAccount[];
  state: TelegramState;
  faults: FaultPlan;
  requests: TelegramRequest[];
  /** Returns the seconds to wait before the bot may send to the chat, or undefined if it may now. */
  floodWait(bot: BotAccount, method: string, chatId: string): number | undefined;
}

/** Answers `/bot<token>/<method>` and `/file/bot<token>/<path>`. */
export function createTelegramApi({
  bots,
  state,
  faults,
  requests,
  floodWait,
}: TelegramApiParts): TelegramApi {
  async function call(bot: BotAccount, name: string, parameters: Parameters, signal: AbortSignal) {
    const method = findMethod(name);
    if (!method) throw new TelegramError(404, 'Not Found');
    return await method.run({ bot, state, parameters, signal });
  }

  async function execute(request: ProductRequest, token: string, name: string): Promise<ProductResponse> {
    const bot = bots.find((one) => one.token === token);
    const method = findMethod(name)?.name ?? name;
    const record: TelegramRequest = {
      bot: bot?.user.id,
      at: state.now().getTime(),
      method,
      parameters: {},
      files: [],
      status: undefined,
    };
    requests.push(record);
    const fault = bot && faults.forRequest(method);
    let answer: Exclude<ProductResponse, 'cut'>;
    try {
      if (!bot) throw new TelegramError(401, 'Unauthorized');
      const parameters = await readParameters(request);
      record.parameters = parameters.values;
      record.files = parameters.files.map(({ name, bytes }) => ({ name, size: bytes.length }));
      if (fault?.kind === 'rate_limited') throw tooManyRequests(fault.retryAfterSeconds);
      if (fault?.kind === 'server_error') throw new TelegramError(fault.status, FAILURES[fault.status]);
      const wait = floodWait(bot, method, parameters.text('chat_id') ?? '');
      if (wait !== undefined) throw tooManyRequests(wait);
      answer = success(await call(bot, name, parameters, request.signal));
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      record.description = error.message;
      answer = refusal(error);
    }
    record.status = fault?.kind === 'applied_then_cut' ? 'cut' : answer.status;
    return record.status === 'cut' ? 'cut' : answer;
  }

  function download(token: string, path: string): ProductResponse {
    if (!bots.some((bot) => bot.token === token)) return refusal(new TelegramError(401, 'Unauthorized'));
    const fault = faults.forRequest('download');
    if (fault?.kind === 'rate_limited') return refusal(tooManyRequests(fault.retryAfterSeconds));
    if (fault?.kind === 'server_error') return { status: fault.status, body: FAILURES[fault.status] };
    if (fault) return 'cut';
    const { downloadLocation: location } = state.overrides;
    if (location !== undefined) return { status: 302, headers: { location } };
    const file = state.files.byPath(path);
    if (!file) return refusal(new TelegramError(404, 'Not Found'));
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: file.bytes };
  }

  return {
    async handle(request) {
      const [, token, name] = /^\/bot([^/]+)\/(\w+)$/.exec(request.path) ?? [];
      if (token !== undefined && name !== undefined)
        return await execute(request, decodeURIComponent(token), name);
      const [, owner, path] = /^\/file\/bot([^/]+)\/(.+)$/.exec(request.path) ?? [];
      if (owner !== undefined && path !== undefined) return download(decodeURIComponent(owner), path);
      return refusal(new TelegramError(404, 'Not Found'));
    },
    async executeReply(bot, { method, ...values }) {
      const record: TelegramRequest = {
        bot: bot.user.id,
        at: state.now().getTime(),
        method: String(method),
        parameters: values,
        files: [],
        status: 200,
      };
      requests.push(record);
      try {
        await call(bot, record.method, createParameters(values), new AbortController().signal);
      } catch (error) {
        if (!(error instanceof TelegramError)) throw error;
        Object.assign(record, { status: error.code, description: error.message });
      }
    },
  };
}

type JsonResponse = Exclude<ProductResponse, 'cut'>;

const success = (result: unknown) => json({ ok: true, result }) as JsonResponse;

function refusal({ code, message, parameters }: TelegramError): JsonResponse {
  const headers: Record<string, string> =
    parameters?.retry_after === undefined ? {} : { 'retry-after': String(parameters.retry_after) };
  const body = { ok: false, error_code: code, description: message, ...(parameters && { parameters }) };
  return json(body, code, headers) as JsonResponse;
}
