import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { serializeUser, serializeUserName, UserNameShape, UserShape } from '../schemas/auth.ts';
import { closed, optional, pageRequest, paging, search } from '../schemas/common.ts';

const ONE = '/admin/users/{user_id}';

export const userRoutes = [
  route({
    method: 'GET',
    path: '/users',
    operationId: 'findUsers',
    tag: 'Users',
    summary: 'Find users by name or e-mail address',
    description:
      'Returns at most 20 enabled users whose name or e-mail address contains `q`, or the names of the users with the given ids, ' +
      'newest first. In local mode, there is one user.',
    query: closed({
      q: search('A part of the name or the e-mail address, at least 2 characters. Required without `id`.'),
      id: optional(
        Type.Array(Type.String({ maxLength: 100 }), {
          maxItems: 100,
          description: 'usr_…: the id of a user, who may be disabled. Can be repeated up to 100 times.',
        }),
      ),
    }),
    success: { status: 200, description: 'The users.', data: UserNameShape, list: true },
    errors: [],
    async answer({ clients, call, query }) {
      const { users } = await clients.auth.findUsers({ q: query.q ?? '', userIds: query.id ?? [] }, call);
      return list(users.map(serializeUserName), { nextCursor: '' });
    },
  }),

  route({
    method: 'GET',
    path: '/admin/users',
    operationId: 'listUsers',
    tag: 'Users',
    summary: 'List users',
    description: 'Requires an administrator. Returns all users who have logged in, newest first.',
    query: closed({ ...paging, q: search('Matches a part of the name or the e-mail address, or an id.') }),
    success: { status: 200, description: 'A page of users.', data: UserShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const { users, page } = await clients.auth.listUsers(
        { page: pageRequest(query), q: query.q ?? '' },
        call,
      );
      return list(users.map(serializeUser), page);
    },
  }),

  ...[
    {
      verb: 'enable',
      enabled: true,
      summary: 'Enable a user',
      description:
        'Requires an administrator. Logins and tokens that have not expired or been revoked are valid again.',
    },
    {
      verb: 'disable',
      enabled: false,
      summary: 'Disable a user',
      description:
        'Requires an administrator. Administrators cannot disable themselves. All requests of the user are refused immediately, ' +
        'open streams end within seconds, and no turn starts in the name of the user.',
    },
  ].map(({ verb, enabled, summary, description }) =>
    route({
      method: 'POST',
      path: `${ONE}/${verb}`,
      operationId: `${verb}User`,
      tag: 'Users',
      summary,
      description,
      success: { status: 200, description: 'The updated user.', data: UserShape },
      errors: ['FORBIDDEN', 'USER_NOT_FOUND', 'RESOURCE_IN_USE'],
      async answer({ clients, call, param }) {
        const { user } = await clients.auth.setUserEnabled({ userId: param('user_id'), enabled }, call);
        return ok(serializeUser(user));
      },
    }),
  ),
];
