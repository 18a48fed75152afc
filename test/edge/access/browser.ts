import type { ErrorCode } from '../../../lib/error-codes.ts';
import type { Envelope } from '../../support/api.ts';
import { CookieJar } from '../../support/cookie-jar.ts';
import type { IdentityProvider } from '../../support/identity-provider.ts';

/** A response, with its parsed body if it is JSON. */
export interface ParsedResponse {
  status: number;
  headers: Headers;
  text: string;
  /** `OK` or an error code, also of errors in the shape of a protocol; empty for other responses. */
  code: ErrorCode | 'OK' | '';
  data: Envelope['data'];
}

export async function parseResponse(response: Response): Promise<ParsedResponse> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  const { error, data = {}, code = codeOf(error) } = isJson && text ? JSON.parse(text) : {};
  return { status, headers, text, code, data };
}

/** The code of an error without envelope: of JSON-RPC, of A2A, or in the shape of OpenAI. */
function codeOf(error?: {
  code?: string | number;
  data?: { code?: string } | [{ reason?: string }];
}): string {
  const { code: own, data } = error ?? {};
  const code = (Array.isArray(data) ? data[0].reason : data?.code) ?? own ?? '';
  // A number is a code of JSON-RPC.
  if (typeof code === 'number') return '';
  return code === 'model_not_found' ? 'AGENT_NOT_FOUND' : code;
}

const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** A minimal browser with cookies, Origin and redirects. */
export class Browser {
  readonly jar = new CookieJar();
  readonly #origin: string;
  /** The origin of its pages. */
  #page: string;

  /** `page` is the origin that the browser sees. Default: the origin of the service. */
  constructor(origin: string, page = origin) {
    this.#origin = origin;
    this.#page = page;
  }

  /** Sends a request from a page of the service unless `headers` say otherwise. Redirects are not followed. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ParsedResponse> {
    const from = CHANGES.includes(method) ? { origin: this.#page } : {};
    const cookie = this.jar.header();
    const response = await fetch(this.#origin + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie ? { cookie } : {}),
        ...(headers ?? from),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.jar.keep(response.headers);
    return parseResponse(response);
  }

  get(path: string): Promise<ParsedResponse> {
    return this.send('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<ParsedResponse> {
    return this.send('POST', path, body);
  }

  /** Performs a complete login. Returns the last response. */
  async logIn(provider: IdentityProvider, subject: string, returnTo = '/docs'): Promise<ParsedResponse> {
    const begun = await this.get(`/api/v1/auth/login?return_to=${encodeURIComponent(returnTo)}`);
    const query = await provider.login(begun.headers.get('location') ?? '', subject);
    const finished = await this.get(`/api/v1/auth/callback?${query}`);
    if (finished.status !== 302) throw new Error(`the login ends with ${finished.status}: ${finished.text}`);
    return finished;
  }

  /** Creates a personal access token of the logged-in user. */
  async token(scopes: string[], days?: number): Promise<{ id: string; value: string }> {
    const creation = { name: scopes.join(' '), scopes, ...(days ? { expires_in_days: days } : {}) };
    const { status, text, data } = await this.post('/api/v1/auth/tokens', creation);
    if (status !== 201) throw new Error(`creating a token failed: ${text}`);
    return { id: String(data.token_id), value: String(data.value) };
  }

  async userId(): Promise<string> {
    const { data } = await this.get('/api/v1/auth/session');
    return String((data.user as { user_id: string }).user_id);
  }
}
