import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * The cookies of a browser: the login, the login attempt in progress, and the value that ties attempts to connect to the
 * browser. All of them hold random values.
 * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html
 */
export interface Cookies {
  /** The name of the login cookie. */
  name: string;
  /** The login in a Cookie header; empty without one. */
  login(header: string): string;
  attempt(header: string): string;
  /** The value of attempts to connect to MCP servers; empty without a valid one. */
  connection(header: string): string;
  setLogin(reply: FastifyReply, value: string, seconds: number): void;
  setAttempt(reply: FastifyReply, value: string, seconds: number): void;
  setConnection(reply: FastifyReply, value: string): void;
  clearLogin(reply: FastifyReply): void;
  clearAttempt(reply: FastifyReply): void;
}

const CONNECTION_VALUE = /^[\w-]{43}$/;
/** As long as an attempt to connect. */
const CONNECTION_SECONDS = 30 * 60;

/** With `secure`, the cookies have the prefix `__Host-`: only this host can set them, and browsers send them only over TLS. */
export function createCookies(app: FastifyInstance, secure: boolean): Cookies {
  const prefix = secure ? '__Host-' : '';
  const login = `${prefix}ahs_login`;
  const attempt = `${prefix}ahs_attempt`;
  const connection = `${prefix}ahs_connection`;
  const flags = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const;
  const read = (header: string, name: string) =>
    header.includes(name) ? (app.parseCookie(header)[name] ?? '') : '';
  return {
    name: login,
    login: (header) => read(header, login),
    attempt: (header) => read(header, attempt),
    connection(header) {
      const value = read(header, connection);
      return CONNECTION_VALUE.test(value) ? value : '';
    },
    setConnection: (reply, value) =>
      void reply.setCookie(connection, value, { ...flags, maxAge: CONNECTION_SECONDS }),
    setLogin: (reply, value, maxAge) => void reply.setCookie(login, value, { ...flags, maxAge }),
    setAttempt: (reply, value, maxAge) => void reply.setCookie(attempt, value, { ...flags, maxAge }),
    clearLogin: (reply) => void reply.clearCookie(login, flags),
    clearAttempt: (reply) => void reply.clearCookie(attempt, flags),
  };
}
