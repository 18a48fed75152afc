import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeContext } from '../../context.ts';
import type { Cookies } from '../../door/cookies.ts';
import { createQueryReader, type RawQuery } from '../../input/query.ts';
import { closed, optional, text } from '../../schemas/common.ts';
import { anonymous, urlOf } from '../../serve.ts';

export const LOGIN_PATH = '/auth/login';
export const CALLBACK_PATH = '/auth/callback';

export const LoginQuery = closed({
  return_to: optional(
    text('Where the browser goes after the login: a path of this origin. Anything else becomes `/`.', {
      maxLength: 2_000,
    }),
  ),
});

/** The two ends of a login: the way to the identity provider, and back. Both only send the browser on. */
export function serveLogin(app: FastifyInstance, { clients: { auth } }: EdgeContext, cookies: Cookies): void {
  const readQuery = createQueryReader(LoginQuery);

  async function begin(request: FastifyRequest, reply: FastifyReply) {
    const { return_to: returnTo = '' } = readQuery(request.query as RawQuery);
    const begun = await auth.beginLogin({ returnTo, address: request.address }, anonymous(request, reply));
    cookies.keepAttempt(reply, begun.attempt, begun.lifetimeSeconds);
    return reply.redirect(begun.authorizationUrl, 302);
  }

  async function finish(request: FastifyRequest, reply: FastifyReply) {
    const { cookie = '' } = request.headers;
    const attempt = cookies.attempt(cookie);
    // Good for one return, whatever becomes of it.
    if (attempt) cookies.dropAttempt(reply);
    const finished = await auth.finishLogin(
      { attempt, query: queryOf(request), login: cookies.login(cookie), address: request.address },
      anonymous(request, reply),
    );
    cookies.keepLogin(reply, finished.login, finished.lifetimeSeconds);
    return reply.redirect(finished.returnTo, 302);
  }

  // Who only looks for what would be answered begins and ends no login: there is no HEAD.
  const route = { method: 'GET', exposeHeadRoute: false, config: { access: 'open', isPage: true } } as const;
  app.route({ ...route, url: urlOf(LOGIN_PATH), handler: begin });
  app.route({ ...route, url: urlOf(CALLBACK_PATH), handler: finish });
}

/** Everything behind the question mark, as it came. */
function queryOf({ url }: FastifyRequest): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
