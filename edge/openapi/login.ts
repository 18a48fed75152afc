import { CALLBACK_PATH, LOGIN_PATH, LoginQuery } from '../routes/auth/login.ts';
import type { Components } from './components.ts';
import { errorResponses, impliedErrors } from './errors.ts';
import type { Operation } from './operation.ts';
import { queryParameters } from './parameters.ts';

/** The operations that only send a browser on. */
export function loginOperations(components: Components): Operation[] {
  return [
    [
      LOGIN_PATH,
      'GET',
      {
        operationId: 'beginLogin',
        tags: ['Authentication'],
        summary: 'Log in with a browser',
        description: 'Leads to the identity provider, and from there back to `return_to`.',
        security: [],
        parameters: queryParameters(LoginQuery, components),
        responses: {
          302: redirect('To the identity provider.'),
          ...errorResponses([
            ...impliedErrors({ path: LOGIN_PATH, query: LoginQuery, access: 'open' }),
            'LOGIN_NOT_AVAILABLE',
            'RATE_LIMITED',
          ]),
        },
      },
    ],
    [
      CALLBACK_PATH,
      'GET',
      {
        operationId: 'finishLogin',
        tags: ['Authentication'],
        summary: 'Come back from the identity provider',
        description:
          'For the identity provider, which says in the query how it went. One attempt comes back once.',
        security: [],
        responses: {
          302: redirect('To where the browser wanted to be.'),
          ...errorResponses([
            ...impliedErrors({ path: CALLBACK_PATH, access: 'open' }),
            'LOGIN_FAILED',
            'LOGIN_NOT_AVAILABLE',
            'RATE_LIMITED',
          ]),
        },
      },
    ],
  ];
}

const redirect = (description: string) => ({
  description,
  headers: {
    Location: { description: 'Where the browser goes.', schema: { type: 'string' } },
    'Set-Cookie': { description: 'For this origin and this browser.', schema: { type: 'string' } },
  },
});
