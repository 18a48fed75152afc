import { type Bench, percentile, within } from '../../bench.ts';
import type { MetadataSystem } from './metadata.ts';

/** Median milliseconds of a write with the table of metadata, and without it. */
export interface MetadataWrite {
  what: string;
  indexedMs: number;
  bareMs: number;
}

const WRITES = 400;
const WARM_UPS = 20;

/** Alternates between both, and between their orders. */
export async function measureMetadataWrites(
  bench: Pick<Bench, 'print' | 'scale'>,
  indexed: MetadataSystem,
  bare: MetadataSystem,
): Promise<MetadataWrite[]> {
  const metadataOf = (time: number) => ({
    env: 'production',
    team: `${time % 4}`,
    customer: `${Math.abs(time) % 1_000}`,
  });
  const newest = new Map<MetadataSystem, string>();
  const operations: Record<string, (system: MetadataSystem, time: number) => Promise<void>> = {
    'create with three members': async (system, time) => {
      const conversation = { metadata: metadataOf(time) };
      const { status, body } = await system.owner.post(`/agents/${system.agent}/conversations`, conversation);
      if (status !== 201) throw new Error(`a conversation was answered with ${status}`);
      newest.set(system, String(body.data.session_id));
    },
    'change one of three members': async (system, time) => {
      const change = { metadata: { team: `other ${time}` } };
      const { status } = await system.owner.send('PATCH', `/sessions/${newest.get(system)}`, change);
      if (status !== 200) throw new Error(`a change of metadata was answered with ${status}`);
    },
  };
  const measured: MetadataWrite[] = [];
  for (const [what, write] of Object.entries(operations)) {
    const times = new Map([indexed, bare].map((system) => [system, [] as number[]]));
    for (let time = -WARM_UPS; time < WRITES * bench.scale; time++)
      for (const system of time % 2 === 0 ? [indexed, bare] : [bare, indexed]) {
        const ms = await timed(system, () => write(system, time));
        if (time >= 0) times.get(system)?.push(ms);
      }
    const medianOf = (system: MetadataSystem) => percentile(times.get(system) ?? [], 0.5);
    const [indexedMs, bareMs] = [medianOf(indexed), medianOf(bare)];
    bench.print("h'", `${what}: ${indexedMs.toFixed(2)} ms, without the table ${bareMs.toFixed(2)} ms`);
    measured.push({ what, indexedMs, bareMs });
  }
  return measured;
}

async function timed({ failed }: MetadataSystem, write: () => Promise<void>): Promise<number> {
  const begunAt = performance.now();
  await Promise.race([failed, within('a write', write())]);
  return performance.now() - begunAt;
}
