import type { Metrics } from '../../../lib/metrics.ts';
import { PROVIDERS, type Provider } from '../domain/channels/channel.ts';
import type { PostStateName } from '../domain/channels/post-state.ts';

/** Counts a post that got a state. */
export type PostCounter = (provider: Provider, state: PostStateName) => void;

export function createPostCounter(metrics: Metrics): PostCounter {
  const posts = metrics.counter({
    name: 'ahs_channel_posts_total',
    help: 'Posts of channels that got a state: wanted, posting, posted, failed or dead.',
    labels: ['provider', 'state'],
  });
  for (const provider of PROVIDERS) posts.labels(provider, 'posted').inc(0);
  return (provider, state) => posts.labels(provider, state).inc();
}
