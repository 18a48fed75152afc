import { collectDefaultMetrics, Registry } from 'prom-client';

/** What Node says of this process: memory, CPU, garbage collection, the lag of its event loop. */
export function watchProcess(): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return async () => `${await registry.metrics()}\n`;
}
