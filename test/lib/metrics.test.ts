import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../lib/metrics.ts';

describe('metrics', () => {
  it('are written as Prometheus reads them', async () => {
    const metrics = createMetrics(async () => 'others 1\n');
    const about = { name: 'seconds', help: 'How long.', labels: ['route', 'code'], buckets: [0.1, 1] };
    const child = metrics.histogram(about).of('GET "/"', 'a\\b\nc');
    for (const value of [0.05, 0.1, 0.5, 7]) child.observe(value);
    metrics.counter({ name: 'calls', help: 'How many.' }).of().add(2);
    metrics.gauge({ name: 'waiting', help: 'Now.', labels: ['who'] }, (set) => set(3, 'me'));
    const labels = String.raw`route="GET \"/\"",code="a\\b\nc"`;
    expect(await metrics.text()).toBe(`others 1
# HELP seconds How long.
# TYPE seconds histogram
seconds_bucket{${labels},le="0.1"} 2
seconds_bucket{${labels},le="1"} 3
seconds_bucket{${labels},le="+Inf"} 4
seconds_sum{${labels}} 7.65
seconds_count{${labels}} 4
# HELP calls How many.
# TYPE calls counter
calls 2
# HELP waiting Now.
# TYPE waiting gauge
waiting{who="me"} 3
`);
  });

  it('of one name are one family, whichever module asks', async () => {
    const metrics = createMetrics();
    for (const who of ['a', 'b', 'a'])
      metrics
        .counter({ name: 'calls', help: 'How many.', labels: ['who'] })
        .of(who)
        .add();
    for (const who of ['a', 'b'])
      metrics.gauge({ name: 'waiting', help: 'Now.', labels: ['who'] }, (set) => set(1, who));
    const lines = (await metrics.text()).split('\n').filter((line) => !line.startsWith('#'));
    expect(lines).toEqual([
      'calls{who="a"} 2',
      'calls{who="b"} 1',
      'waiting{who="a"} 1',
      'waiting{who="b"} 1',
      '',
    ]);
  });
});
