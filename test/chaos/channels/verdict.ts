import type { PulledPost } from '../../support/channel-client.ts';
import type { ChannelTurn } from '../../support/channel-turns.ts';
import type { ChannelClient, SentMessage } from './senders.ts';

export interface ChannelVerdict {
  /** Acknowledged messages that have no turn. */
  lost: string[];
  /** Messages with several turns or deliveries, and turns with several messages. */
  repeated: string[];
  /** Turns of conversations that are in several sessions, or in a session with another conversation. */
  misplaced: string[];
  /** Messages that were sent after another one was acknowledged, and whose turn comes before. */
  disordered: string[];
  /** Turns whose last post is not their answer. */
  untold: string[];
}

/** Compares the turns of a channel and its pulled posts with the messages that were sent. */
export function judgeTurns(
  sent: readonly SentMessage[],
  turns: readonly ChannelTurn[],
  posts: readonly PulledPost[],
): ChannelVerdict {
  const messages = new Map(sent.map((message) => [message.id, message]));
  const handled = Map.groupBy(
    turns.flatMap((turn) => turn.messages.map((id) => ({ id, turn }))),
    ({ id }) => id,
  );
  const bySession = Map.groupBy(turns, ({ sessionId }) => sessionId);
  const conversations = Array.from(bySession.values(), (some) =>
    some.flatMap(({ messages: [id = ''] }) => messages.get(id) ?? []),
  );
  const names = conversations.map((some) => new Set(some.map(({ conversation }) => conversation)));
  const placed = names.flatMap((some) => [...some]);
  const finals = new Map(posts.filter(({ final }) => final).map((post) => [post.turn_id, post.text]));
  return {
    lost: sent.filter(({ id }) => !handled.has(id)).map(({ id }) => id),
    repeated: [
      ...sent.filter(({ id, deliveries }) => deliveries.size !== 1 || (handled.get(id)?.length ?? 0) > 1),
      ...turns.filter((turn) => turn.messages.length !== 1).map(({ turnId }) => ({ id: turnId })),
    ].map(({ id }) => id),
    misplaced: [
      ...names.filter((some) => some.size !== 1).map((some) => [...some].join(' and ')),
      ...placed.filter((name, index) => placed.indexOf(name) !== index),
    ],
    disordered: conversations.flatMap(disordered),
    untold: turns
      .filter(({ turnId, answer, end }) => end !== 'turn.completed' || finals.get(turnId) !== answer)
      .map(({ turnId }) => turnId),
  };
}

/** Messages that were under way at the same time have no order. */
function disordered(inTurnOrder: readonly SentMessage[]): string[] {
  const wrong: string[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const { id, sentAt, acknowledgedAt } of inTurnOrder.toReversed()) {
    if (earliest <= sentAt) wrong.push(id);
    earliest = Math.min(earliest, acknowledgedAt);
  }
  return wrong;
}

/** Pulls all posts. The last revision of each one counts. */
export async function pullAll(client: ChannelClient): Promise<PulledPost[]> {
  const posts = new Map<string, PulledPost>();
  for (let after = '', size = 1; size > 0; ) {
    const page = await client.pull(after);
    for (const post of page.posts) posts.set(post.post_id, post);
    after = page.next_after;
    size = page.posts.length;
  }
  return [...posts.values()];
}
