import type { MetricData } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { createMetricProducer } from '../../lib/telemetry/metric-producer.ts';

async function convert(text: string): Promise<MetricData[]> {
  const producer = createMetricProducer({ text: async () => text }, { name: 'scope', version: '1' });
  const { resourceMetrics } = await producer.collect();
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
}

describe('the metrics for OTLP', () => {
  it('have the names of the conventions for model calls', async () => {
    const labels = 'gen_ai_request_model="gpt-5",gen_ai_token_type="input",error_type="timeout"';
    const [usage, first] = await convert(`# HELP gen_ai_client_token_usage Tokens.
# TYPE gen_ai_client_token_usage summary
gen_ai_client_token_usage_sum{${labels}} 30
gen_ai_client_token_usage_count{${labels}} 2

# TYPE gen_ai_client_operation_time_to_first_chunk summary
gen_ai_client_operation_time_to_first_chunk_sum 0.5
gen_ai_client_operation_time_to_first_chunk_count 1
`);
    expect(usage).toMatchObject({
      descriptor: { name: 'gen_ai.client.token.usage', unit: '{token}', description: 'Tokens.' },
      dataPoints: [
        {
          attributes: {
            'gen_ai.request.model': 'gpt-5',
            'gen_ai.token.type': 'input',
            'error.type': 'timeout',
          },
          value: { sum: 30, count: 2, buckets: { boundaries: [], counts: [2] } },
        },
      ],
    });
    expect(first?.descriptor).toMatchObject({
      name: 'gen_ai.client.operation.time_to_first_chunk',
      unit: 's',
      description: '',
    });
  });

  it('omit lines and types of another form', async () => {
    const metrics = await convert(`# a comment
stray 1
# TYPE odd unknown
odd 1
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 5e+06
no value
`);
    expect(metrics.map(({ descriptor: { name, unit }, dataPoints }) => [name, unit, dataPoints])).toEqual([
      ['process_resident_memory', 'By', [expect.objectContaining({ value: 5_000_000, attributes: {} })]],
    ]);
  });
});
