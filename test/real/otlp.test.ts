import { describe, expect, it } from 'vitest';
import { PROTOCOLS, SIGNALS } from '../../lib/telemetry/options.ts';
import { cleanUpInstallations, createInstallation } from '../support/installations.ts';
import { startOtlpReceiver } from '../support/otlp/receiver.ts';
import { until } from '../support/wait.ts';

cleanUpInstallations();

describe('the program with a collector', () => {
  it.each(PROTOCOLS)('exports all signals over %s and keeps its log', async (protocol) => {
    await using receiver = await startOtlpReceiver();
    const installation = await createInstallation();
    const program = await installation.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? receiver.grpcUrl : receiver.httpUrl,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20token',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      SERVICE_LOG_LEVEL: 'debug',
    });
    await installation.api.get('/agents');
    const textOf = (signal: string) =>
      JSON.stringify(receiver.exports.filter((one) => one.signal === signal).map(({ message }) => message));
    const expected = { traces: 'GET /api/v1/agents', metrics: 'ahs_rpc_duration', logs: 'a call ended' };
    for (const signal of SIGNALS)
      await until(`${signal} arrive`, () => textOf(signal).includes(`"${expected[signal]}"`));
    expect(new Set(receiver.exports.map(({ token }) => token))).toEqual(new Set(['a token']));
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    // The last line of the log arrives before the end of the process.
    expect(textOf('logs')).toContain('"stopping"');
    const lines = program.output().split('\n');
    expect(lines.filter((line) => line.includes('"msg":"stopping"'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('cannot be delivered'))).toEqual([]);
  });
});
