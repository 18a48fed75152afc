import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';

function read(env: Record<string, string>) {
  const problems: SettingProblem[] = [];
  return { common: readProcessConfig('all', env, problems).common, problems };
}

describe('telemetry settings', () => {
  it('disable tracing by default', () => {
    const { common, problems } = read({});
    expect(problems).toEqual([]);
    expect(common).toMatchObject({
      otlpEndpoint: undefined,
      otlpProtocol: 'http/protobuf',
      tracesSampler: 'parentbased_always_on',
      tracesSamplerRatio: 1,
      metricsListen: undefined,
    });
  });

  it('accept the formats of OpenTelemetry', () => {
    const { common, problems } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: ' authorization=Basic%20YTpi==, x-team = blue ,',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '.25',
      OTEL_SERVICE_NAME: 'agents-eu',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%2Cb,host.name=here',
    });
    expect(problems).toEqual([]);
    expect(common).toMatchObject({
      otlpHeaders: { authorization: 'Basic YTpi==', 'x-team': 'blue' },
      tracesSamplerRatio: 0.25,
      otelResourceAttributes: { 'deployment.environment.name': 'a,b', 'host.name': 'here' },
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hush'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hush%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hush%0d%0ax: y'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'just a text'],
    ['SERVICE_METRICS_LISTEN', '9464'],
  ])('report %s=%s without revealing a secret', (variable, value) => {
    const { problems } = read({ [variable]: value });
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });
});
