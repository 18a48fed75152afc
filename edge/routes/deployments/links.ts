import { list, ok } from '../../envelope.ts';
import { route } from '../../route.ts';
import { closed, deleted, id, pageRequest, paging } from '../../schemas/common.ts';
import {
  LinkCodeShape,
  LinkShape,
  serializeLink,
  serializeLinkCode,
} from '../../schemas/deployments/links.ts';
import { deploymentRef, OF_CHANNEL, ONE } from './address.ts';

const OWN = '/auth/links';
const CODE = '/auth/link-codes/{code}';
/** The links of the caller. */
const NO_CHANNEL = { agentId: '', deploymentId: '' };

const deletedLink = deleted('link', id('lnk', 'the link'));

export const linkRoutes = [
  route({
    method: 'GET',
    path: `${ONE}/links`,
    access: 'read',
    operationId: 'listChannelLinks',
    tag: 'Deployments',
    summary: 'List the linked people of a channel',
    description: 'Returns the links of people who have written to the channel, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of links.', data: LinkShape, list: true },
    errors: [...OF_CHANNEL, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const request = { ...deploymentRef(exchange), page: pageRequest(query) };
      const { links, page } = await clients.deployments.listLinks(request, call);
      return list(links.map(serializeLink), page);
    },
  }),

  route({
    method: 'DELETE',
    path: `${ONE}/links/{link_id}`,
    access: 'write',
    operationId: 'deleteChannelLink',
    tag: 'Deployments',
    summary: 'End a link of a person of a channel',
    description:
      'The account is no longer linked to the user, in every channel of the same product and workspace.',
    success: { status: 200, description: 'The link was ended.', data: deletedLink },
    errors: [...OF_CHANNEL, 'LINK_NOT_FOUND'],
    async answer(exchange) {
      const linkId = exchange.param('link_id');
      await exchange.clients.deployments.deleteLink({ ...deploymentRef(exchange), linkId }, exchange.call);
      return ok({ link_id: linkId, deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: OWN,
    operationId: 'listLinks',
    tag: 'Authentication',
    summary: 'List your linked accounts',
    description: 'Returns your accounts of messaging products, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of links.', data: LinkShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer({ query, clients, call }) {
      const request = { ...NO_CHANNEL, page: pageRequest(query) };
      const { links, page } = await clients.deployments.listLinks(request, call);
      return list(links.map(serializeLink), page);
    },
  }),

  route({
    method: 'DELETE',
    path: `${OWN}/{link_id}`,
    operationId: 'deleteLink',
    tag: 'Authentication',
    summary: 'End one of your links',
    description: 'Messages of the account no longer count as yours. Takes effect within one second.',
    success: { status: 200, description: 'The link was ended.', data: deletedLink },
    errors: ['LINK_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const linkId = param('link_id');
      await clients.deployments.deleteLink({ ...NO_CHANNEL, linkId }, call);
      return ok({ link_id: linkId, deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: CODE,
    operationId: 'getLinkCode',
    tag: 'Authentication',
    summary: 'Get the account of a link code',
    description: 'Returns the account that a one-time link of a bot connects. The code is not used up.',
    success: { status: 200, description: 'The account.', data: LinkCodeShape },
    errors: ['LINK_NOT_FOUND'],
    async answer({ clients, call, param }) {
      return ok(serializeLinkCode(await clients.deployments.getLinkCode({ code: param('code') }, call)));
    },
  }),

  route({
    method: 'POST',
    path: CODE,
    operationId: 'confirmLink',
    tag: 'Authentication',
    summary: 'Link an account',
    description:
      'Links the account of the code to the caller, in place of an earlier user. Messages of the account then count as those ' +
      'of the caller. Requires a login, not a token. The code can be used once.',
    success: { status: 201, description: 'The new link.', data: LinkShape },
    errors: ['FORBIDDEN', 'LINK_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { link } = await clients.deployments.confirmLink({ code: param('code') }, call);
      return ok(serializeLink(link));
    },
  }),
];
