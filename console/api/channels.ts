import { queryOptions } from '@tanstack/react-query';
import {
  type ChannelConversation,
  confirmLink,
  type Delivery,
  deleteChannelLink,
  deleteLink,
  getChannelSetup,
  getLinkCode,
  listChannelConversations,
  listChannelLinks,
  listDeliveries,
  listLinks,
  listPosts,
  type Post,
  probeChannel,
  resendPost,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { type DeploymentRef, pathOf } from './deployments.ts';
import { type ListPolling, pagedQuery } from './pages.ts';

/** Messages arrive at any time. */
const LIVE_MS = 3_000;

const polling = <Item>(isActive: (item: Item) => boolean): ListPolling<Item> => ({
  active: 2_000,
  idle: 10_000,
  recent: 5_000,
  isActive,
});

/** Queries and mutations of channels. Query keys begin with the key of the deployment. */
export const channels = {
  setup: (channel: DeploymentRef) =>
    queryOptions({
      queryKey: ['deployments', channel.deployment_id, 'setup'],
      queryFn: ({ signal }) => unwrapData(getChannelSetup({ ...pathOf(channel), signal })),
      refetchInterval: ({ state }) => state.data?.steps.some(({ done }) => !done) === true && LIVE_MS,
    }),
  probe: (channel: DeploymentRef) => unwrapData(probeChannel(pathOf(channel))),
  deliveries: (channel: DeploymentRef, result?: Delivery['result']) =>
    pagedQuery(
      ['deployments', channel.deployment_id, 'deliveries', result],
      (cursor, signal) =>
        unwrapPage(listDeliveries({ ...pathOf(channel), query: { result, cursor }, signal })),
      polling(({ result: now }: Delivery) => now === 'pending'),
    ),
  conversations: (channel: DeploymentRef) =>
    pagedQuery(
      ['deployments', channel.deployment_id, 'conversations'],
      (cursor, signal) =>
        unwrapPage(listChannelConversations({ ...pathOf(channel), query: { cursor }, signal })),
      polling(({ state }: ChannelConversation) => state !== 'idle'),
    ),
  posts: (channel: DeploymentRef, state?: Post['state']) =>
    pagedQuery(
      ['deployments', channel.deployment_id, 'posts', state],
      (cursor, signal) => unwrapPage(listPosts({ ...pathOf(channel), query: { state, cursor }, signal })),
      polling(({ state: now }: Post) => now === 'wanted' || now === 'posting'),
    ),
  resend: (channel: DeploymentRef, postId: string) =>
    unwrapData(resendPost({ path: { ...pathOf(channel).path, post_id: postId } })),
  links: (channel: DeploymentRef) =>
    pagedQuery(['deployments', channel.deployment_id, 'links'], (cursor, signal) =>
      unwrapPage(listChannelLinks({ ...pathOf(channel), query: { cursor }, signal })),
    ),
  endLink: (channel: DeploymentRef, linkId: string) =>
    unwrapData(deleteChannelLink({ path: { ...pathOf(channel).path, link_id: linkId } })),
};

/** The user's own accounts of messaging products. Query keys begin with `links`. */
export const links = {
  own: pagedQuery(['links'], (cursor, signal) => unwrapPage(listLinks({ query: { cursor }, signal }))),
  end: (linkId: string) => unwrapData(deleteLink({ path: { link_id: linkId } })),
  code: (code: string) =>
    queryOptions({
      queryKey: ['link-codes', code],
      queryFn: ({ signal }) => unwrapData(getLinkCode({ path: { code }, signal })),
      retry: false,
    }),
  confirm: (code: string) => unwrapData(confirmLink({ path: { code } })),
};
