import { Type } from 'typebox';
import { list, ok } from '../../envelope.ts';
import { route } from '../../route.ts';
import { closed, optional, pageRequest, paging } from '../../schemas/common.ts';
import { POST_STATES, PostShape, serializePost } from '../../schemas/deployments/posts.ts';
import { deploymentRef, OF_CHANNEL, ONE } from './address.ts';

const filters = {
  state: optional(Type.Enum([...POST_STATES], { description: 'Only posts in this state.' })),
  conversation: optional(Type.String({ maxLength: 500, description: 'Only posts of this conversation.' })),
};

export const postRoutes = [
  route({
    method: 'GET',
    path: `${ONE}/posts`,
    access: 'read',
    operationId: 'listPosts',
    tag: 'Deployments',
    summary: 'List the posts of a channel',
    description: 'Returns the messages of the service at the product, newest first, with their state.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of posts.', data: PostShape, list: true },
    errors: [...OF_CHANNEL, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const { posts, page } = await clients.deployments.listPosts(
        {
          ...deploymentRef(exchange),
          page: pageRequest(query),
          state: query.state ?? '',
          conversation: query.conversation ?? '',
        },
        call,
      );
      return list(posts.map(serializePost), page);
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/posts/{post_id}/resend`,
    access: 'write',
    operationId: 'resendPost',
    tag: 'Deployments',
    summary: 'Send a post again',
    description:
      'Tries a `failed` or `dead` post again. Another post is returned unchanged. Fails with CHANNEL_NOT_CONNECTED while the ' +
      'channel is disabled.',
    success: { status: 200, description: 'The post.', data: PostShape },
    errors: [...OF_CHANNEL, 'POST_NOT_FOUND', 'CHANNEL_NOT_CONNECTED'],
    async answer(exchange) {
      const { post } = await exchange.clients.deployments.resendPost(
        { ...deploymentRef(exchange), postId: exchange.param('post_id') },
        exchange.call,
      );
      return ok(serializePost(post));
    },
  }),
];
