import { Type } from 'typebox';
import { Refusal } from '../../../lib/errors.ts';
import { ok } from '../../envelope.ts';
import { type Exchange, route } from '../../route.ts';
import { SessionShape, shownUser } from '../../schemas/auth.ts';
import { nullable, text } from '../../schemas/common.ts';
import { urlOf } from '../../serve.ts';
import { LOGIN_PATH } from './login.ts';

export const loginRoutes = [
  route({
    method: 'GET',
    path: '/auth/session',
    access: 'open',
    operationId: 'getLogin',
    tag: 'Authentication',
    summary: 'Ask who you are',
    description: 'Whoever asks is answered: nobody is not a refusal.',
    success: { status: 200, description: 'Who has sent the request.', data: SessionShape },
    errors: ['RATE_LIMITED'],
    async answer(exchange) {
      const { mode } = exchange.door;
      const identity = await identityOf(exchange);
      return ok({
        mode,
        authenticated: identity !== undefined,
        user: identity ? shownUser(identity.user) : null,
        scopes: identity?.scopes ?? [],
        login_url: mode === 'oidc' ? urlOf(LOGIN_PATH) : null,
      });
    },
  }),

  route({
    method: 'POST',
    path: '/auth/logout',
    access: 'open',
    operationId: 'logOut',
    tag: 'Authentication',
    summary: 'Log out',
    description:
      'The login of this browser is worth nothing from the answer on. Its login at the identity provider ends where ' +
      '`end_session_url` leads.',
    success: {
      status: 200,
      description: 'Nobody is logged in with this browser.',
      data: Type.Object({
        logged_out: Type.Literal(true),
        end_session_url: nullable(text('Where to send the browser next; null when there is no such place.'), {
          examples: ['https://login.example.com/end'],
        }),
      }),
    },
    errors: [],
    async answer({ clients, call, door, request, reply }) {
      const { login } = request.credential;
      const { endSessionUrl } = await clients.auth.endLogin({ login, address: request.address }, call);
      if (login) door.cookies.dropLogin(reply);
      return ok({ logged_out: true, end_session_url: endSessionUrl || null });
    },
  }),
];

async function identityOf({ clients, call, request }: Exchange) {
  const { address, credential } = request;
  const { bearer, login } = credential;
  // What is no token is nobody's, also beside a cookie.
  if (bearer === '') return undefined;
  try {
    return await clients.auth.identify({ bearer: bearer ?? '', login, address }, call);
  } catch (error) {
    const isNobody =
      error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
    if (isNobody) return undefined;
    throw error;
  }
}
