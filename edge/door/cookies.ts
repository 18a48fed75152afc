import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * The two cookies of a browser: its login, and the attempt to log in that is under way. They hold random values that
 * mean something to auth alone. https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html
 */
export interface Cookies {
  /** What its login is called. */
  name: string;
  /** The login in a Cookie header; empty for none. */
  login(header: string): string;
  attempt(header: string): string;
  keepLogin(reply: FastifyReply, value: string, seconds: number): void;
  keepAttempt(reply: FastifyReply, value: string, seconds: number): void;
  dropLogin(reply: FastifyReply): void;
  dropAttempt(reply: FastifyReply): void;
}

/** With `secure`, nobody but this very host can have set them, and they travel encrypted only. */
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
    keepLogin: (reply, value, maxAge) => void reply.setCookie(login, value, { ...flags, maxAge }),
    keepAttempt: (reply, value, maxAge) => void reply.setCookie(attempt, value, { ...flags, maxAge }),
    dropLogin: (reply) => void reply.clearCookie(login, flags),
    dropAttempt: (reply) => void reply.clearCookie(attempt, flags),
  };
}
