import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { shownUser, UserShape } from '../schemas/auth.ts';
import { closed, pageRequest, paging, search } from '../schemas/common.ts';

const ONE = '/admin/users/{user_id}';

export const userRoutes = [
  route({
    method: 'GET',
    path: '/admin/users',
    operationId: 'listUsers',
    tag: 'Users',
    summary: 'List the users',
    description: 'For administrators. Everybody who has logged in, newest first.',
    query: closed({ ...paging, q: search('A part of the name or the address, or an id.') }),
    success: { status: 200, description: 'A page of users.', data: UserShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const { users, page } = await clients.auth.listUsers(
        { page: pageRequest(query), q: query.q ?? '' },
        call,
      );
      return list(users.map(shownUser), page);
    },
  }),

  ...[
    {
      verb: 'enable',
      enabled: true,
      summary: 'Enable a user',
      description: 'For administrators. Logins and tokens that have not ended otherwise hold again.',
    },
    {
      verb: 'disable',
      enabled: false,
      summary: 'Disable a user',
      description:
        'For administrators, about anybody but themselves. The user is refused everywhere from the moment of the answer, ' +
        'whatever they carry; their streams end within seconds, and nothing starts in their name.',
    },
  ].map(({ verb, enabled, summary, description }) =>
    route({
      method: 'POST',
      path: `${ONE}/${verb}`,
      operationId: `${verb}User`,
      tag: 'Users',
      summary,
      description,
      success: { status: 200, description: 'The user as they are now.', data: UserShape },
      errors: ['FORBIDDEN', 'USER_NOT_FOUND', 'RESOURCE_IN_USE'],
      async answer({ clients, call, param }) {
        const { user } = await clients.auth.setUserEnabled({ userId: param('user_id'), enabled }, call);
        return ok(shownUser(user));
      },
    }),
  ),
];
