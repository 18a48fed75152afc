import type { ErrorCode } from '../../../lib/errors.ts';
import type { Envelope } from '../../support/api.ts';
import { CookieJar } from '../../support/cookie-jar.ts';
import type { IdentityProvider } from '../../support/identity-provider.ts';

/** An answer, with its body where that is JSON. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  /** OK or a code of the error table; empty for what is no envelope. */
  code: ErrorCode | 'OK' | '';
  data: Envelope['data'];
}

export async function seen(response: Response): Promise<Seen> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  const { code = '', data = {} } = isJson && text ? JSON.parse(text) : {};
  return { status, headers, text, code, data };
}

const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** A browser as far as cookies, Origin and redirects go. */
export class Browser {
  readonly jar = new CookieJar();
  readonly #origin: string;
  /** What its pages come from. */
  #page: string;

  /** `page` is the origin as the browser sees it; that of the service when absent. */
  constructor(origin: string, page = origin) {
    this.#origin = origin;
    this.#page = page;
  }

  /** One request, from a page of the service unless `headers` say otherwise. Redirects are shown, not followed. */
  async send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Seen> {
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
    return seen(response);
  }

  get(path: string): Promise<Seen> {
    return this.send('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<Seen> {
    return this.send('POST', path, body);
  }

  /** The whole way there and back. Gives the last answer. */
  async logIn(provider: IdentityProvider, subject: string, returnTo = '/docs'): Promise<Seen> {
    const begun = await this.get(`/api/v1/auth/login?return_to=${encodeURIComponent(returnTo)}`);
    const query = await provider.login(begun.headers.get('location') ?? '', subject);
    const finished = await this.get(`/api/v1/auth/callback?${query}`);
    if (finished.status !== 302) throw new Error(`the login ends with ${finished.status}: ${finished.text}`);
    return finished;
  }

  /** A personal access token of whoever has logged in. */
  async token(scopes: string[], days?: number): Promise<{ id: string; value: string }> {
    const asked = { name: scopes.join(' '), scopes, ...(days ? { expires_in_days: days } : {}) };
    const { status, text, data } = await this.post('/api/v1/auth/tokens', asked);
    if (status !== 201) throw new Error(`no token was made: ${text}`);
    return { id: String(data.token_id), value: String(data.value) };
  }

  async userId(): Promise<string> {
    const { data } = await this.get('/api/v1/auth/session');
    return String((data.user as { user_id: string }).user_id);
  }
}
