import { Api, GrammyError, HttpError } from 'grammy';
import type { Update } from 'grammy/types';
import type { Secret } from '../../../../lib/secret.ts';
import { ProductError } from '../product-error.ts';
import { refusalError, type TelegramRefusal } from './refusal.ts';
import type { TelegramTransport } from './transport.ts';

const TIMEOUT_SECONDS = 90;

/** Errors of a connection that was never made, so the request had no effect. */
const NOT_SENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_PROXY_TUNNEL',
];

/** The signal type of grammY's own shim; Node's signals have its members. */
export type ApiSignal = Parameters<Api['getMe']>[0];

type UpdateType = Exclude<keyof Update, 'update_id'>;

/** Calls the Bot API once for each request. The library repeats no request of `Api` by itself. */
export class BotApi {
  readonly #api: Api;
  readonly #token: Secret;

  constructor(token: Secret, { apiRoot, agent }: TelegramTransport) {
    this.#token = token;
    this.#api = new Api(token.reveal(), {
      apiRoot,
      timeoutSeconds: TIMEOUT_SECONDS,
      // Redirects would send the token to another host.
      baseFetchConfig: { agent, compress: true, redirect: 'error' },
    });
  }

  /**
   * Sends a request. `accept` returns the result for a refusal that counts as success, or throws; without a result the
   * refusal is translated. Rejects with a ProductError, or with the reason of the signal.
   */
  async call<Result>(
    send: (api: Api, signal: ApiSignal) => Promise<Result>,
    signal: AbortSignal,
    accept: (refusal: TelegramRefusal) => Promise<Result | undefined> | Result | undefined = () => undefined,
  ): Promise<Result> {
    signal.throwIfAborted();
    try {
      return await send(this.#api, signal as ApiSignal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const refusal = refusalOf(error);
      if (!refusal) throw connectionError(error);
      const accepted = await accept(refusal);
      if (accepted !== undefined) return accepted;
      throw refusalError(refusal);
    }
  }

  /** Sends all updates to the URL, with the secret in a header. Updates that wait at Telegram are kept. */
  async setWebhook(
    url: string,
    secret: Secret,
    allowedUpdates: readonly UpdateType[],
    signal: AbortSignal,
  ): Promise<void> {
    const options = { secret_token: secret.reveal(), allowed_updates: allowedUpdates };
    await this.call((bot, apiSignal) => bot.setWebhook(url, options, apiSignal), signal);
  }

  /** The path of a file below the root of the API. It contains the token. */
  filePath(path: string): string {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return `/file/bot${this.#token.reveal()}/${encoded}`;
  }
}

function refusalOf(error: unknown): TelegramRefusal | undefined {
  if (!(error instanceof GrammyError)) return undefined;
  const { error_code: code, description, parameters } = error;
  return {
    ...{ code, description },
    retryAfterSeconds: parameters.retry_after,
    migrateToChatId: parameters.migrate_to_chat_id,
  };
}

/** The original error is not kept: it can contain the address, and so the token. */
export function connectionError(error: unknown): ProductError {
  if (error instanceof ProductError) return error;
  const inner: unknown = error instanceof HttpError ? error.error : error;
  if (inner instanceof ProductError) return inner;
  const code = typeof inner === 'object' && inner !== null && 'code' in inner ? String(inner.code) : '';
  if (NOT_SENT.includes(code)) return new ProductError('unavailable', `Telegram cannot be reached: ${code}.`);
  return new ProductError('ambiguous', 'The answer of Telegram was lost.');
}
