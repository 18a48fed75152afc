import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, NETWORKS, PROVIDER_CHOICES, PROVIDERS, type ProviderKind } from '../../../lib/sandboxes.ts';
import type { CreateEnvironmentRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { environmentRequest, SPEC, specWith } from './environments.ts';
import { type AgentsSystem, administrator, openAgentsSystem } from './system.ts';

describe('CreateEnvironment', () => {
  let agents: AgentsSystem;
  beforeAll(async () => {
    agents = await openAgentsSystem('in process');
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const create = (overrides: Partial<CreateEnvironmentRequest>) =>
    agents.edge.createEnvironment(environmentRequest(overrides), administrator);
  /** The pointers of all problems; empty when the environment is created. */
  const refused = (overrides: Partial<CreateEnvironmentRequest>): Promise<string[]> =>
    create(overrides).then(
      () => [],
      (error: { code: string; details: { pointer: string }[] }) => {
        expect(['INVALID_REQUEST', 'INVALID_TEXT']).toContain(error.code);
        return error.details.map(({ pointer }) => pointer);
      },
    );
  const hosts = (...allowedHosts: string[]) => ({
    spec: specWith({ network: { mode: 'limited', allowedHosts } }),
  });
  const variables = (entries: Record<string, string>) => ({ spec: { ...SPEC, variables: entries } });

  it('reports the problems of the strongest provider when no provider fits', async () => {
    const request = create({ spec: specWith({ network: { mode: 'unrestricted', allowedHosts: [] } }) });
    await expect(request).rejects.toMatchObject({
      details: [
        {
          pointer: '/network/mode',
          message: 'is not supported: the provider bubblewrap supports only the networks none, limited',
        },
      ],
    });
  });

  it('accepts every field at its maximum and at its minimum', async () => {
    const mib = 4_194_304;
    const sandbox = {
      cpuMillis: 1_000_000,
      memoryMib: mib,
      pids: 1_000_000,
      diskMib: mib,
      workspaceMib: mib,
    };
    expect(
      await refused({
        name: 'n'.repeat(64),
        spec: specWith({
          sandbox: { ...sandbox, commandTimeoutSeconds: 86_400 },
          network: {
            mode: 'limited',
            allowedHosts: Array.from({ length: 100 }, (_, n) => `h${n}.example.com`),
          },
          idle: { timeoutSeconds: 2_592_000, action: 'release' },
          tenancy: 'agent',
        }),
      }),
    ).toEqual([]);
    const least = {
      cpuMillis: 10,
      memoryMib: 16,
      pids: 2,
      diskMib: 1,
      workspaceMib: 1,
      commandTimeoutSeconds: 1,
    };
    expect(
      await refused({ name: '-', spec: specWith({ sandbox: least, idle: { timeoutSeconds: 1 } }) }),
    ).toEqual([]);
  });

  it.each<[what: string, overrides: Partial<CreateEnvironmentRequest>, pointer: string]>([
    ['no name', { name: '' }, '/name'],
    ['a long name', { name: 'n'.repeat(65) }, '/name'],
    ['a name with capitals', { name: 'Name' }, '/name'],
    ['a name with a space', { name: 'a name' }, '/name'],
    ['a name with a line break', { name: 'name\n' }, '/name'],
    ['a name with NUL', { name: '\0' }, '/name'],
    ['an unknown provider', { spec: specWith({ sandbox: { provider: 'vm' } }) }, '/sandbox/provider'],
    [
      'a provider of a later release',
      { spec: specWith({ sandbox: { provider: 'docker' } }) },
      '/sandbox/provider',
    ],
    [
      'an image, which no provider supports',
      { spec: specWith({ sandbox: { image: 'debian:13' } }) },
      '/sandbox/image',
    ],
    ['too little CPU', { spec: specWith({ sandbox: { cpuMillis: 9 } }) }, '/sandbox/cpu_millis'],
    ['too much memory', { spec: specWith({ sandbox: { memoryMib: 4_194_305 } }) }, '/sandbox/memory_mib'],
    ['a limit of one process', { spec: specWith({ sandbox: { pids: 1 } }) }, '/sandbox/pids'],
    ['a disk limit of 0', { spec: specWith({ sandbox: { diskMib: 0 } }) }, '/sandbox/disk_mib'],
    [
      'a workspace limit of 0',
      { spec: specWith({ sandbox: { workspaceMib: 0 } }) },
      '/sandbox/workspace_mib',
    ],
    [
      'a command timeout of 0',
      { spec: specWith({ sandbox: { commandTimeoutSeconds: 0 } }) },
      '/sandbox/command_timeout_seconds',
    ],
    ['an unknown network mode', { spec: specWith({ network: { mode: 'some' } }) }, '/network/mode'],
    [
      'an unrestricted network, which no provider supports',
      { spec: specWith({ network: { mode: 'unrestricted' } }) },
      '/network/mode',
    ],
    ['an unknown tenancy', { spec: specWith({ tenancy: 'all' }) }, '/tenancy'],
    ['an idle timeout of 0', { spec: specWith({ idle: { timeoutSeconds: 0 } }) }, '/idle/timeout_seconds'],
    ['an unknown idle action', { spec: specWith({ idle: { action: 'burn' } }) }, '/idle/action'],
    [
      'allowed hosts without a limited network',
      { spec: specWith({ network: { allowedHosts: ['a.de'] } }) },
      '/network/allowed_hosts',
    ],
    ['a limited network without hosts', hosts(), '/network/allowed_hosts'],
    ['101 hosts', hosts(...Array.from({ length: 101 }, (_, n) => `h${n}.de`)), '/network/allowed_hosts'],
    ['a repeated host', hosts('a.de', 'b.de', 'A.DE'), '/network/allowed_hosts/2'],
    ['a variable with a dash', variables({ 'A-B': '' }), '/variables'],
    ['a variable without a name', variables({ '': '' }), '/variables'],
    ['a variable that begins with a digit', variables({ '1A': '' }), '/variables'],
    ['a long variable name', variables({ ['A'.repeat(129)]: '' }), '/variables'],
    ['a long variable value', variables({ A: 'x'.repeat(4_097) }), '/variables/A'],
    ['a variable with NUL', variables({ A: '\0' }), '/variables/A'],
    [
      '101 variables',
      variables(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`V${n}`, '']))),
      '/variables',
    ],
    [
      'more than 32 KiB of variables',
      variables(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`V${n}`, 'x'.repeat(4_000)]))),
      '/variables',
    ],
  ])('refuses %s', async (_, overrides, pointer) => {
    expect(await refused(overrides)).toEqual([pointer]);
  });

  it.each([
    'PATH',
    'HOME',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'BASH_ENV',
    'IFS',
    'https_proxy',
    'NO_PROXY',
    'BASH_FUNC_x',
  ])('refuses the reserved variable %s', async (name) => {
    expect(await refused(variables({ [name]: 'x' }))).toEqual([`/variables/${name}`]);
  });

  it.each(['Path', 'MY_PATH', 'home', 'OLD_LD_X', 'MY_PROXY', '_', 'ENVIRONMENT'])(
    'takes the variable %s',
    async (name) => {
      expect(await refused(variables({ [name]: 'line\nline' }))).toEqual([]);
    },
  );

  it('reports all problems, including missing parts', async () => {
    expect(await refused({ name: '', spec: undefined })).toEqual([
      '/name',
      '/sandbox/provider',
      '/sandbox/command_timeout_seconds',
      '/network/mode',
      '/tenancy',
      '/idle/timeout_seconds',
      '/idle/action',
    ]);
  });

  it.each([
    'example.com',
    'EXAMPLE.com',
    'a-b.example.co.uk',
    '*.example.com',
    'example.com:8443',
    '*.example.com:1',
    'registry',
    '1.example.com',
    'xn--bcher-kva.example',
    '93.184.215.14',
    '93.184.215.14:8080',
    '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]',
    '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443',
    'notlocalhost',
  ])('accepts the allowed host %s', async (host) => {
    expect(await refused(hosts(host))).toEqual([]);
  });

  it.each([
    ...[
      '',
      ' ',
      '*',
      '*.',
      '*.*',
      '*.com',
      'a.*.com',
      'a b',
      '-a.com',
      'a-.com',
      'a..com',
      '.com',
      'com.',
      'a_b.com',
    ],
    ...[
      'https://example.com',
      'example.com/',
      'example.com:',
      'example.com:0',
      'example.com:65536',
      'example.com:x',
    ],
    ...[
      'user@example.com',
      'bücher.example',
      'example.com\n',
      'a\0.com',
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(127)}com`,
    ],
    ...['localhost', 'LOCALHOST:80', 'a.localhost', '*.a.localhost', 'metadata.google.internal'],
    ...[
      '127.0.0.1',
      '127.0.0.1:8080',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
    ],
    ...[
      '0.0.0.0',
      '255.255.255.255',
      '224.0.0.1',
      '168.63.129.16',
      '100.100.100.200',
      '192.0.2.1',
      '*.127.0.0.1',
    ],
    ...[
      '127.1',
      '2130706433',
      '0x7f.0.0.1',
      '0x7f000001',
      '0177.0.0.1',
      '0xa9fea9fe',
      '1.2.3.0x4',
      '1.2.3.4.5',
      '256.1.1.1',
    ],
    ...[
      '::1',
      '[::1]',
      '[::]',
      '[fe80::1]',
      '[fe80::1%25eth0]',
      '[fd00:ec2::254]',
      '[::ffff:169.254.169.254]',
      '[::ffff:7f00:1]',
    ],
    ...[
      '[64:ff9b::a9fe:a9fe]',
      '[2002:7f00:1::]',
      '[ff02::1]',
      '[]',
      '[1.2.3.4]',
      '[2606::1',
      '*.[2606:2800::1]',
    ],
  ])('refuses the allowed host %j', async (host) => {
    expect(await refused(hosts('example.com', host))).toEqual(['/network/allowed_hosts/1']);
  });

  it('accepts exactly the combinations that a provider of this release supports', async () => {
    const kinds = Object.entries<ProviderKind>(PROVIDERS);
    const limit = fc.option(fc.constant(1_000), { nil: undefined });
    const requirements = fc.record({
      provider: fc.constantFrom(...PROVIDER_CHOICES),
      image: fc.constantFrom('', 'debian:13'),
      mode: fc.constantFrom(...NETWORKS),
      limits: fc.record({
        cpu_millis: limit,
        memory_mib: limit,
        pids: limit,
        disk_mib: limit,
        workspace_mib: limit,
      }),
    });
    await fc.assert(
      fc.asyncProperty(requirements, async ({ provider, image, mode, limits }) => {
        const keeps = ([name, kind]: [string, ProviderKind]) =>
          (provider === 'auto' || provider === name) &&
          kind.available &&
          (image === '' || kind.images) &&
          kind.networks.includes(mode) &&
          LIMITS.every((one) => limits[one] === undefined || kind.limits.includes(one));
        const {
          cpu_millis: cpuMillis,
          memory_mib: memoryMib,
          pids,
          disk_mib: diskMib,
          workspace_mib: workspaceMib,
        } = limits;
        const spec = specWith({
          sandbox: { provider, image, cpuMillis, memoryMib, pids, diskMib, workspaceMib },
          network: { mode, allowedHosts: mode === 'limited' ? ['example.com'] : [] },
        });
        const pointers = await refused({ spec });
        expect(pointers.length === 0).toBe(kinds.some(keeps));
      }),
      { numRuns: 150 },
    );
  });
});
