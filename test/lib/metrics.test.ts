import { describe, expect, it } from 'vitest';
import { createMetrics, createProcessMetrics, type HistogramDetail } from '../../lib/metrics.ts';

describe('createMetrics', () => {
  it('returns the same metric for repeated requests of a name', async () => {
    const metrics = createMetrics();
    for (const who of ['a', 'b', 'a'])
      metrics
        .counter({ name: 'calls', help: 'How many.', labels: ['who'] })
        .labels(who)
        .inc();
    for (const who of ['a', 'b'])
      metrics.gauge({ name: 'waiting', help: 'Now.', labels: ['who'] }, (set) => set(1, who));
    const about = { name: 'seconds', help: 'How long.', labels: ['route'], buckets: [0.1, 1] };
    for (const value of [0.05, 7]) metrics.histogram(about).labels('/').observe(value);
    const lines = (await metrics.text()).split('\n').filter((line) => line && !line.startsWith('#'));
    expect(lines).toEqual([
      'calls{who="a"} 2',
      'calls{who="b"} 1',
      'waiting{who="a"} 1',
      'waiting{who="b"} 1',
      'seconds_bucket{le="0.1",route="/"} 1',
      'seconds_bucket{le="1",route="/"} 1',
      'seconds_bucket{le="+Inf",route="/"} 2',
      'seconds_sum{route="/"} 7.05',
      'seconds_count{route="/"} 2',
    ]);
  });

  it('exports a distribution as sum and count, and with buckets if its detail is chosen', async () => {
    const about = { name: 'seconds', help: 'How long.', labels: ['route'], buckets: [1] };
    const lines = async (histograms: readonly HistogramDetail[]) => {
      const metrics = createMetrics({ histograms });
      const routes = metrics.distribution({ ...about, detail: 'routes' });
      for (const value of [0.1, 0.2]) routes.labels('/"quoted"\n\\').observe(value);
      return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'));
    };
    const series = [
      'seconds_sum{route="/\\"quoted\\"\\n\\\\"} 0.3',
      'seconds_count{route="/\\"quoted\\"\\n\\\\"} 2',
    ];
    expect(await lines(['statements'])).toEqual(['# TYPE seconds summary', ...series]);
    const histogram = await lines(['routes']);
    expect(histogram[0]).toBe('# TYPE seconds histogram');
    expect(histogram).toHaveLength(5);
    expect(histogram.at(-1)).toBe(series[1]);
  });

  it('adds the default metrics of Node to those of the process', async () => {
    const metrics = createProcessMetrics();
    metrics.counter({ name: 'calls', help: 'How many.' }).labels().inc(2);
    const text = await metrics.text();
    expect(text).toContain('\ncalls 2\n');
    expect(text).toContain('\nprocess_resident_memory_bytes ');
    // Only counters may have this suffix.
    expect(text).not.toMatch(/^nodejs_active_\w+_total/m);
  });
});
