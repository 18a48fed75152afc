import type { createChannelClient } from '../../support/channel-client.ts';
import { runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import type { ConsoleFixture } from './console-fixture.ts';

export interface ChannelRef {
  agentId: string;
  deploymentId: string;
}

const sqlOf = (fixture: ConsoleFixture, sql: string) =>
  runOn(fixture.system.databaseUrl, `set search_path = deployments; ${sql}`);

async function ownerOf({ api }: ConsoleFixture, { agentId, deploymentId }: ChannelRef): Promise<string> {
  const { body } = await api.get(`/admin/agents/${agentId}/deployments/${deploymentId}`);
  return String(body.data.created_by);
}

/** Writes to the bot from an account without a link. Returns the path of the link that the bot offers. */
export async function offeredLink(product: ReturnType<typeof createChannelClient>): Promise<string> {
  await product.sendMessage('room-2', 'm1', 'Hello', 'ada');
  return until('a link is offered', async () => {
    const { posts } = await product.pull();
    return posts.map(({ text }) => /\/link\/[\w-]+/.exec(text)?.[0]).find(Boolean);
  });
}

/** Stores a conversation with deliveries and posts of each state, and a linked account, as channel workers leave them. */
export async function storeConversation(fixture: ConsoleFixture, channel: ChannelRef): Promise<void> {
  const { deploymentId } = channel;
  const owner = await ownerOf(fixture, channel);
  const started = await fixture.api.post(`/agents/${channel.agentId}/conversations`, { message: 'Hello' });
  const session = String(started.body.data.session_id);
  const ids = (prefix: string, at: number) => `${prefix}_${deploymentId.slice(4, -1)}${at}`;
  const deliveries = [
    ['accepted', null, session],
    ['refused', 'not_linked', null],
    ['ignored', 'not_addressed', null],
    ['failed', 'unavailable', null],
  ].map(
    ([result, reason, of], at) =>
      `('${ids('dlv', at)}', '${deploymentId}', '${owner}', 'event ${at}', 'message', '${result}', ${textOf(reason)},
        'room-1', 'grace', 'Grace Hopper', ${textOf(of)}, 10, now())`,
  );
  const posts = [
    ['posted', 'message', ''],
    ['wanted', 'approval', ''],
    ['failed', 'file', 'The file is too large.'],
    ['dead', 'notice', 'The product could not be reached.'],
  ].map(
    ([state, kind, error], at) =>
      `('${ids('pst', at)}', '${deploymentId}', 'room-1', '${owner}', '${kind}', 'key ${at}', '${state}',
        ${at === 0}, '${error}', now(), now())`,
  );
  await sqlOf(
    fixture,
    `insert into deliveries (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, reason, conversation, sender_id,
       sender_name, session_id, size, created_at) values ${deliveries.join(', ')};
     insert into conversations (deployment_id, conversation, owner_id, title, place, session_id, session_owner_id, last_in_at, created_at)
     values ('${deploymentId}', 'room-1', '${owner}', 'The first room', '{"place":"room-1","thread":"","is_group":false}',
       '${session}', '${owner}', now(), now());
     insert into conversation_people values ('${deploymentId}', 'room-1', '${deploymentId}', 'grace', 'Grace Hopper', now()),
       ('${deploymentId}', 'room-1', '${deploymentId}', 'ada', 'Ada Lovelace', now());
     insert into posts (post_id, deployment_id, conversation, owner_id, kind, key, state, maybe_duplicate, error, created_at, updated_at)
     values ${posts.join(', ')};
     insert into links values ('${ids('lnk', 0)}', 'http', '${deploymentId}', 'grace', 'Grace Hopper', '${owner}', 'confirmed', now())`,
  );
}

const textOf = (text: string | null | undefined) => (text ? `'${text}'` : 'null');
