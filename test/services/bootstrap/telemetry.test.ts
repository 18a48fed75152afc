import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';
import { telemetryOptions } from '../../../services/bootstrap/telemetry-config.ts';

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
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'user:hush@collector'],
    ['OTEL_TRACES_EXPORTER', 'console'],
    ['OTEL_SDK_DISABLED', '1'],
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

describe('the exported signals', () => {
  const receivers = (env: Record<string, string>) => {
    const { common, problems } = read(env);
    expect(problems).toEqual([]);
    return telemetryOptions(common, 'all').receivers;
  };
  const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  const at = (url: string | undefined) => ({ protocol: 'http/protobuf', url, headers: {} });

  it('are none without a collector', () => {
    expect(receivers({})).toEqual({});
  });

  it('are traces and metrics with a collector', () => {
    expect(receivers(BASE)).toEqual({
      traces: at('http://collector:4318/v1/traces'),
      metrics: at('http://collector:4318/v1/metrics'),
    });
  });

  it('include logs on request, with the default URL if there is no other', () => {
    expect(receivers({ ...BASE, OTEL_LOGS_EXPORTER: 'otlp' }).logs).toEqual(
      at('http://collector:4318/v1/logs'),
    );
    expect(receivers({ OTEL_LOGS_EXPORTER: 'otlp' })).toEqual({ logs: at(undefined) });
  });

  it.each([
    [{ OTEL_SDK_DISABLED: 'true', OTEL_LOGS_EXPORTER: 'otlp' }, []],
    [{ OTEL_TRACES_EXPORTER: 'none' }, ['metrics']],
    [{ OTEL_METRICS_EXPORTER: 'none' }, ['traces']],
  ])('are reduced by %j', (env, signals) => {
    expect(Object.keys(receivers({ ...BASE, ...env }))).toEqual(signals);
  });

  it('can have receivers of their own', () => {
    expect(
      receivers({
        ...BASE,
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4317',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://metrics/any/path',
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'b=2',
      }),
    ).toEqual({
      traces: { protocol: 'grpc', url: 'http://traces:4317', headers: { a: '1' } },
      metrics: { protocol: 'http/protobuf', url: 'http://metrics/any/path', headers: { b: '2' } },
    });
  });
});
