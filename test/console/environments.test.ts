import { describe, expect, it } from 'vitest';
import { EMPTY_ENVIRONMENT_DRAFT, readEnvironmentDraft } from '../../console/pages/environments/draft.ts';
import {
  NETWORK_LABELS,
  PROVIDER_LABELS,
  SUPPORTED,
  selectableValues,
} from '../../console/pages/environments/labels.ts';
import * as sandboxes from '../../lib/sandboxes.ts';

const KINDS: [name: string, kind: sandboxes.ProviderKind][] = Object.entries(sandboxes.PROVIDERS);
const AVAILABLE = KINDS.filter(([, kind]) => kind.available);
const valuesOf = (choices: readonly { value: string }[]) => choices.map(({ value }) => value);

describe('environment editor', () => {
  it('lists every provider and network mode of the service', () => {
    expect(valuesOf(PROVIDER_LABELS)).toEqual([...sandboxes.PROVIDER_CHOICES]);
    expect(valuesOf(NETWORK_LABELS)).toEqual([...sandboxes.NETWORKS]);
  });

  it('offers exactly the settings that the providers of this release support', () => {
    const networks = new Set(AVAILABLE.flatMap(([, kind]) => kind.networks));
    expect(SUPPORTED).toEqual({
      providers: ['auto', ...AVAILABLE.map(([name]) => name)],
      networks: sandboxes.NETWORKS.filter((network) => networks.has(network)),
      images: AVAILABLE.some(([, kind]) => kind.images),
    });
  });

  it('keeps the saved value selectable even when it is not supported', () => {
    expect(valuesOf(selectableValues(NETWORK_LABELS, ['none', 'limited'], 'unrestricted'))).toEqual(
      valuesOf(NETWORK_LABELS),
    );
    expect(valuesOf(selectableValues(NETWORK_LABELS, ['none', 'limited'], 'none'))).toEqual([
      'none',
      'limited',
    ]);
  });

  it('accepts the same number ranges as the service', () => {
    const fields = {
      cpuMillis: ['/sandbox/cpu_millis', sandboxes.RANGES.cpu_millis],
      memoryMib: ['/sandbox/memory_mib', sandboxes.RANGES.memory_mib],
      pids: ['/sandbox/pids', sandboxes.RANGES.pids],
      diskMib: ['/sandbox/disk_mib', sandboxes.RANGES.disk_mib],
      workspaceMib: ['/sandbox/workspace_mib', sandboxes.RANGES.workspace_mib],
      commandTimeout: ['/sandbox/command_timeout_seconds', sandboxes.RANGES.command_timeout_seconds],
      idleTimeout: ['/idle/timeout_seconds', sandboxes.RANGES.idle_timeout_seconds],
    } as const;
    for (const [field, [pointer, { min, max }]] of Object.entries(fields)) {
      const problems = (value: number) =>
        Object.keys(
          readEnvironmentDraft({ ...EMPTY_ENVIRONMENT_DRAFT, name: 'one', [field]: String(value) }).problems,
        );
      expect([min, max].flatMap(problems)).toEqual([]);
      expect([min - 1, max + 1].flatMap(problems)).toEqual([pointer, pointer]);
    }
  });
});
