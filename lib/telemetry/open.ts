import type { Telemetry, TelemetryOptions } from './options.ts';
import { silentTracer } from './tracer.ts';

/** Loads the export libraries only when a collector is configured. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { endpoint, sampler } = options;
  if (endpoint === undefined || sampler === 'always_off')
    return { name: 'telemetry', tracer: () => silentTracer, stop: async () => {} };
  const { exportTraces } = await import('./otlp.ts');
  return exportTraces({ ...options, endpoint });
}
