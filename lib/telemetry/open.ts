import type { Telemetry, TelemetryOptions } from './options.ts';
import { silentTracer } from './tracer.ts';

/** Loads OpenTelemetry only when a signal is exported, because loading takes time and memory. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { traces, ...others } = options.receivers;
  // Without a sampled span there is nothing to export.
  const receivers = traces && options.sampler !== 'always_off' ? { ...others, traces } : others;
  if (Object.keys(receivers).length === 0)
    return { name: 'telemetry', tracer: () => silentTracer, stop: async () => {} };
  const { startExport } = await import('./sdk.ts');
  return startExport({ ...options, receivers });
}
