import { describe, expect, it } from 'vitest';
import { EMPTY, readDraft } from '../../console/pages/environments/draft.ts';
import { choicesOf, NETWORKS, OFFERED, PROVIDERS } from '../../console/pages/environments/words.ts';
import * as sandboxes from '../../lib/sandboxes.ts';

const KINDS: [name: string, kind: sandboxes.ProviderKind][] = Object.entries(sandboxes.PROVIDERS);
const AVAILABLE = KINDS.filter(([, kind]) => kind.available);
const valuesOf = (choices: readonly { value: string }[]) => choices.map(({ value }) => value);

describe('the editor of environments', () => {
  it('knows the providers and networks that there can be', () => {
    expect(valuesOf(PROVIDERS)).toEqual([...sandboxes.PROVIDER_CHOICES]);
    expect(valuesOf(NETWORKS)).toEqual([...sandboxes.NETWORKS]);
  });

  it('offers what a provider of this release can keep, and nothing else', () => {
    const networks = new Set(AVAILABLE.flatMap(([, kind]) => kind.networks));
    expect(OFFERED).toEqual({
      providers: ['auto', ...AVAILABLE.map(([name]) => name)],
      networks: sandboxes.NETWORKS.filter((network) => networks.has(network)),
      images: AVAILABLE.some(([, kind]) => kind.images),
    });
  });

  it('leaves what an environment has in its place, offered or not', () => {
    expect(valuesOf(choicesOf(NETWORKS, ['none', 'limited'], 'unrestricted'))).toEqual(valuesOf(NETWORKS));
    expect(valuesOf(choicesOf(NETWORKS, ['none', 'limited'], 'none'))).toEqual(['none', 'limited']);
  });

  it('takes the numbers that the service takes', () => {
    const fields = {
      cpuMillis: ['/sandbox/cpu_millis', sandboxes.RANGES.cpu_millis],
      memoryMib: ['/sandbox/memory_mib', sandboxes.RANGES.memory_mib],
      pids: ['/sandbox/pids', sandboxes.RANGES.pids],
      diskMib: ['/sandbox/disk_mib', sandboxes.RANGES.disk_mib],
      commandTimeout: ['/sandbox/command_timeout_seconds', sandboxes.RANGES.command_timeout_seconds],
      idleTimeout: ['/idle/timeout_seconds', sandboxes.RANGES.idle_timeout_seconds],
    } as const;
    for (const [field, [pointer, { min, max }]] of Object.entries(fields)) {
      const problems = (value: number) =>
        Object.keys(readDraft({ ...EMPTY, name: 'one', [field]: String(value) }).problems);
      expect([min, max].flatMap(problems)).toEqual([]);
      expect([min - 1, max + 1].flatMap(problems)).toEqual([pointer, pointer]);
    }
  });
});
