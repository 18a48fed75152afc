import { REST, type ResponseLike } from '@discordjs/rest';
import type { Secret } from '../../../../lib/secret.ts';
import { ProductError } from '../product-error.ts';
import { type DiscordRefusal, refusalOf, toProductError } from './errors.ts';
import type { DiscordTransport } from './transport.ts';

const REQUEST_MS = 30_000;
const UPLOAD_MS = 120_000;

export interface RestApiOptions {
  apiUrl: string;
  transport: DiscordTransport;
}

interface ApiRequest {
  body?: object;
  files?: { name: string; data: Buffer; contentType: string }[];
  query?: Record<string, string>;
  /** False: the path contains the token of an interaction. */
  auth?: boolean;
  /** The permission whose absence Discord reports without its name. */
  permission?: string;
  /** Returns or throws another result for a refusal. Undefined: the refusal is an error. */
  accept?: (refusal: DiscordRefusal) => object | undefined;
}

/** Calls of the REST API with the token of one bot. Each call is sent once. */
export class RestApi {
  readonly #token: Secret;
  readonly #rest: REST;

  constructor(token: Secret | undefined, { apiUrl, transport }: RestApiOptions) {
    if (!token) throw new ProductError('unauthorized', 'The token of the bot is missing.');
    this.#token = token;
    this.#rest = new REST({
      api: apiUrl,
      retries: 0,
      timeout: UPLOAD_MS,
      rejectOnRateLimit: () => true,
      // The library's timers would outlive the client.
      hashSweepInterval: 0,
      handlerSweepInterval: 0,
      makeRequest: (url, init) =>
        transport.send(url, init as unknown as RequestInit) as unknown as Promise<ResponseLike>,
    });
  }

  /** Returns the JSON of the answer. Throws ProductError, or the reason of the signal. */
  async request<Result = unknown>(
    method: 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: `/${string}`,
    { query, permission, accept, ...request }: ApiRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    signal.throwIfAborted();
    // The library forgets the token after a refusal.
    this.#rest.setToken(this.#token.reveal());
    const limit = AbortSignal.timeout(request.files ? UPLOAD_MS : REQUEST_MS);
    try {
      const result = await this.#rest[method](path, {
        ...request,
        ...(query && { query: new URLSearchParams(query) }),
        signal: AbortSignal.any([signal, limit]),
      });
      return result as Result;
    } catch (error) {
      signal.throwIfAborted();
      const refusal = accept && refusalOf(error);
      const accepted = refusal && accept(refusal);
      if (accepted) return accepted as Result;
      throw toProductError(error, permission);
    }
  }

  /** For the client of the gateway. It sends no request. */
  withGateway<Information>(information: Information): REST {
    return Object.assign(Object.create(this.#rest), { get: async () => information });
  }

  revealToken(): string {
    return this.#token.reveal();
  }
}
