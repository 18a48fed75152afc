import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * The cookies of a browser: the login, and the login attempt in progress. Both hold random values that only auth interprets.
 * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html
 */
export interface Cookies {
  /** The name of the login cookie. */
  name: string;
  /** The login in a Cookie header; empty without one. */
  login(header: string): string;
  attempt(header: string): string;
  setLogin(reply: FastifyReply, value: string, seconds: number): void;
  setAttempt(reply: FastifyReply, value: string, seconds: number): void;
  clearLogin(reply: FastifyReply): void;
  clearAttempt(reply: FastifyReply): void;
}

/** With `secure`, the cookies have the prefix `__Host-`: only this host can set them, and browsers send them only over TLS. */
export function createCookies(app: FastifyInstance, secure: boolean): Cookies {
  const prefix = secure ? '__Host-' : '';
  const login = `${prefix}ahs_login`;
  const attempt = `${prefix}ahs_attempt`;
  const flags = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const;
  const read = (header: string, name: string) =>
    header.includes(name) ? (app.parseCookie(header)[name] ?? '') : '';
  return {
    name: login,
    login: (header) => read(header, login),
    attempt: (header) => read(header, attempt),
    setLogin: (reply, value, maxAge) => void reply.setCookie(login, value, { ...flags, maxAge }),
    setAttempt: (reply, value, maxAge) => void reply.setCookie(attempt, value, { ...flags, maxAge }),
    clearLogin: (reply) => void reply.clearCookie(login, flags),
    clearAttempt: (reply) => void reply.clearCookie(attempt, flags),
  };
}
