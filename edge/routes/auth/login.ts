import type { FastifyRequest } from 'fastify';
import type { RawQuery } from '../../input/query.ts';
import { anonymousCall } from '../../register-route.ts';
import { type RawResponse, route } from '../../route.ts';
import { closed, optional, text } from '../../schemas/common.ts';

export const LOGIN_PATH = '/auth/login';

const LoginQuery = closed({
  return_to: optional(
    text(
      'The path of this origin to which the browser is redirected after the login. Other values become `/`.',
      {
        maxLength: 2_000,
      },
    ),
  ),
});

const redirect = (description: string): RawResponse => ({
  description,
  headers: ['Location', 'Set-Cookie'],
});

/**
 * Redirects to and from the identity provider. HEAD is not served: a request that only asks for headers must not begin or
 * finish a login.
 */
export const loginRoutes = [
  route.raw({
    method: 'GET',
    path: LOGIN_PATH,
    access: 'open',
    operationId: 'beginLogin',
    tag: 'Authentication',
    summary: 'Log in with a browser',
    description: 'Redirects to the identity provider, which redirects back to `return_to`.',
    query: LoginQuery,
    responses: { 302: redirect('A redirect to the identity provider.') },
    errors: ['LOGIN_NOT_AVAILABLE', 'RATE_LIMITED'],
    head: false,
    config: { isPage: true },
    createHandler({ clients: { auth }, authenticator: { cookies } }, readQuery) {
      return async (request, reply) => {
        const { return_to: returnTo = '' } = readQuery(request.query as RawQuery);
        const login = await auth.beginLogin(
          { returnTo, address: request.address },
          anonymousCall(request, reply),
        );
        cookies.setAttempt(reply, login.attempt, login.lifetimeSeconds);
        return reply.redirect(login.authorizationUrl, 302);
      };
    },
  }),

  route.raw({
    method: 'GET',
    path: '/auth/callback',
    access: 'open',
    operationId: 'finishLogin',
    tag: 'Authentication',
    summary: 'Finish a login',
    description:
      'The identity provider redirects the browser to this URL with the result in the query. Each login attempt can be ' +
      'finished once.',
    responses: { 302: redirect('A redirect to the `return_to` of the login.') },
    errors: ['LOGIN_FAILED', 'LOGIN_NOT_AVAILABLE', 'RATE_LIMITED'],
    head: false,
    config: { isPage: true },
    createHandler:
      ({ clients: { auth }, authenticator: { cookies } }) =>
      async (request, reply) => {
        const { cookie = '' } = request.headers;
        const attempt = cookies.attempt(cookie);
        // An attempt is valid for one callback, whether it succeeds or fails.
        if (attempt) cookies.clearAttempt(reply);
        const finished = await auth.finishLogin(
          { attempt, query: queryText(request), login: cookies.login(cookie), address: request.address },
          anonymousCall(request, reply),
        );
        cookies.setLogin(reply, finished.login, finished.lifetimeSeconds);
        return reply.redirect(finished.returnTo, 302);
      },
  }),
];

/** The query of the URL, not decoded. */
function queryText({ url }: FastifyRequest): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
