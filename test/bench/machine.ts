import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** On what the figures were taken. They compare with nothing taken elsewhere; their ratios do. */
export function describeMachine(postgresVersion: string): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1);
  const [load = 0] = loadavg();
  return [
    `${availableParallelism()} cores (${model}), ${gigabytes} GiB, ${platform()} ${release()}`,
    `Node ${process.versions.node}, PostgreSQL ${postgresVersion}; load before the run: ${load.toFixed(2)}`,
  ].join('\n');
}
