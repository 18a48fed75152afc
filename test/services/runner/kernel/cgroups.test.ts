import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ancestorGroups, readHierarchies } from '../../../../services/runner/kernel/cgroups/hierarchy.ts';
import { openParentGroups } from '../../../../services/runner/kernel/cgroups/parent-groups.ts';

const read = (files: Record<string, string>) => readHierarchies((name) => files[name] ?? '');

describe('readHierarchies and openParentGroups', () => {
  it('finds the group of this process in each version 1 hierarchy', () => {
    const found = read({
      cgroup: '5:pids:/\n4:memory:/a b/c\n3:cpu,cpuacct:/user\n1:name=systemd:/\n',
      mountinfo: [
        '30 24 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory',
        '31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
        '32 24 0:28 / /sys/fs/cgroup/with\\040blank rw - cgroup cgroup rw,pids',
        '33 24 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd',
        '34 24 8:1 / / rw - ext4 /dev/sda1 rw',
      ].join('\n'),
    });
    expect(found.map(({ own, controllers }) => [own, ...controllers])).toEqual([
      ['/sys/fs/cgroup/memory/a b/c', 'memory'],
      ['/sys/fs/cgroup/cpu,cpuacct/user', 'cpu'],
      ['/sys/fs/cgroup/with blank', 'pids'],
    ]);
  });

  it('finds the group of this process and its ancestors in version 2', () => {
    const [hierarchy] = read({
      cgroup: '0::/system.slice/service.scope\n',
      mountinfo: '30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n',
    });
    expect(hierarchy).toMatchObject({ version: 2, controllers: ['memory', 'pids', 'cpu'] });
    expect(hierarchy && ancestorGroups(hierarchy)).toEqual([
      '/sys/fs/cgroup/system.slice/service.scope',
      '/sys/fs/cgroup/system.slice',
      '/sys/fs/cgroup',
    ]);
  });

  it('maps the group to the mounted part of the hierarchy in a container', () => {
    const mount = (root: string) => `30 24 0:26 ${root} /sys/fs/cgroup rw - cgroup2 cgroup rw\n`;
    const own = (root: string, path: string) =>
      read({ cgroup: `0::${path}\n`, mountinfo: mount(root) })[0]?.own;
    expect(own('/docker/abc', '/docker/abc')).toBe('/sys/fs/cgroup');
    expect(own('/docker/abc', '/docker/abc/inner')).toBe('/sys/fs/cgroup/inner');
    expect(own('/docker/abc', '/elsewhere')).toBe('/sys/fs/cgroup');
    expect(own('/', '/')).toBe('/sys/fs/cgroup');
  });

  it('returns no parent group when a hierarchy is not writable or enforces no limit', () => {
    const top = mkdtempSync(join(tmpdir(), 'ahs-cgroups-'));
    const own = join(top, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'cgroup.subtree_control'), '');
    writeFileSync(join(top, 'cgroup.subtree_control'), 'io\n');
    const controllers = ['memory', 'pids', 'cpu'] as const;
    try {
      expect(openParentGroups([{ version: 2, top, own, controllers }], 'ours')).toEqual([]);
      expect(
        openParentGroups([{ version: 1, top, own: join(top, 'gone/far'), controllers: [] }], 'ours'),
      ).toEqual([]);
      expect(openParentGroups([], 'ours')).toEqual([]);
    } finally {
      rmSync(top, { recursive: true });
    }
  });
});
