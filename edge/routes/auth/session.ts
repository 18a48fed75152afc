import { Type } from 'typebox';
import { Refusal } from '../../../lib/errors.ts';
import { ok } from '../../envelope.ts';
import { routeUrl } from '../../register-route.ts';
import { type Exchange, route } from '../../route.ts';
import { LoginSessionShape, serializeUser } from '../../schemas/auth.ts';
import { nullable, text } from '../../schemas/common.ts';
import { LOGIN_PATH } from './login.ts';

export const loginSessionRoutes = [
  route({
    method: 'GET',
    path: '/auth/session',
    access: 'open',
    operationId: 'getLogin',
    tag: 'Authentication',
    summary: 'Get the current login',
    description:
      'Returns the user of the request. Without a valid credential, `authenticated` is false and `user` is null.',
    success: { status: 200, description: 'The user and the scopes of the request.', data: LoginSessionShape },
    errors: ['RATE_LIMITED'],
    async answer(exchange) {
      const { mode } = exchange.authenticator;
      const identity = await identityOf(exchange);
      return ok({
        mode,
        authenticated: identity !== undefined,
        user: identity ? serializeUser(identity.user) : null,
        scopes: identity?.scopes ?? [],
        login_url: mode === 'oidc' ? routeUrl(LOGIN_PATH) : null,
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
      'Ends the login of this browser immediately. To end the login at the identity provider as well, redirect the browser to ' +
      '`end_session_url`.',
    success: {
      status: 200,
      description: 'The login has ended.',
      data: Type.Object({
        logged_out: Type.Literal(true),
        end_session_url: nullable(text('The logout URL of the identity provider; null if it has none.'), {
          examples: ['https://login.example.com/end'],
        }),
      }),
    },
    errors: [],
    async answer({ clients, call, authenticator, request, reply }) {
      const { login } = request.credential;
      const { endSessionUrl } = await clients.auth.endLogin({ login, address: request.address }, call);
      if (login) authenticator.cookies.clearLogin(reply);
      return ok({ logged_out: true, end_session_url: endSessionUrl || null });
    },
  }),
];

async function identityOf({ clients, call, request }: Exchange) {
  const { address, credential } = request;
  const { bearer, login } = credential;
  // A malformed bearer token identifies no user, even if there is also a cookie.
  if (bearer === '') return undefined;
  try {
    return await clients.auth.identify({ bearer: bearer ?? '', login, address }, call);
  } catch (error) {
    const isRejected =
      error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
    if (isRejected) return undefined;
    throw error;
  }
}
