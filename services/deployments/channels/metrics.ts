import type { Metrics } from '../../../lib/metrics.ts';
import { PROVIDERS } from '../domain/channels/channel.ts';

/** Counts the posts that got a state. */
export function createPostCounter(metrics: Metrics): (provider: string, state: string) => void {
  const posts = metrics.counter({
    name: 'ahs_channel_posts_total',
    help: 'Posts of channels that got a state: wanted, posting, posted, failed or dead.',
    labels: ['provider', 'state'],
  });
  for (const provider of PROVIDERS) posts.labels(provider, 'posted').inc(0);
  return (provider, state) => posts.labels(provider, state).inc();
}
