import { fileURLToPath } from 'node:url';
import type { Profile } from './probe.ts';

const ROOT = new URL('../../..', import.meta.url).href;
const ENTRIES = 5;
/** V8's name for idle time. */
const IDLE = '(idle)';
/** V8's name for the profiler itself. */
const OURS = 'node:inspector';

/** Returns the functions with the most self time, one per line with their share of non-idle time. */
export function heaviest({ nodes, samples = [], timeDeltas = [] }: Profile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const own = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? IDLE;
    if (name !== IDLE && !name.includes(OURS)) own.set(name, (own.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const busy = [...own.values()].reduce((sum, each) => sum + each, 0);
  return [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, ENTRIES)
    .map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}`);
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const location = url.startsWith(ROOT) ? fileURLToPath(url).slice(fileURLToPath(ROOT).length) : url;
  return `${name}  ${location}:${lineNumber + 1}`;
}
