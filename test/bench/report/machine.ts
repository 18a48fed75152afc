import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** Describes the machine. Absolute figures of different machines are not comparable; ratios are. */
export function describeMachine(postgresVersion: string): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1);
  const [load = 0] = loadavg();
  return [
    `${availableParallelism()} cores (${model}), ${gigabytes} GiB, ${platform()} ${release()}`,
    `Node ${process.versions.node}, PostgreSQL ${postgresVersion}; load before the run: ${load.toFixed(2)}`,
  ].join('\n');
}
