import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateCredentialRequest, Credential } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import {
  administrator,
  credentialRequest,
  member,
  newToken,
  openVaultsSystem,
  refusalOf,
  UNKNOWN_VAULT,
  type VaultsSystem,
} from './system.ts';

const UNKNOWN = 'crd_01M7XYC91CC5TE06JQWDWRTJVA';

type Members = Partial<CreateCredentialRequest>;

const variable = (members: object = {}, request: Members = {}): Members => ({
  type: 'environment_variable',
  allowedHosts: ['api.github.com'],
  host: undefined,
  public: {
    of: {
      $case: 'environmentVariable',
      value: {
        name: 'GITHUB_TOKEN',
        inject: { headers: ['Authorization'], basic: true, query: [] },
        methods: [],
        pathPrefixes: [],
        placeholderPrefix: '',
        ...members,
      },
    },
  },
  ...request,
});
const header = (name: string): Members => ({
  type: 'header',
  public: { of: { $case: 'header', value: { name } } },
});
const basic = (username: string): Members => ({
  type: 'basic',
  public: { of: { $case: 'basic', value: { username } } },
});
const modelKey = (provider: string): Members => ({
  type: 'model_key',
  host: undefined,
  public: { of: { $case: 'modelKey', value: { provider } } },
});
const server = (mcpServerUrl: string): Members => ({ mcpServerUrl, host: undefined });

const TOKEN = { token: 'a-token-of-at-least-20-characters' };

describe.each(TRANSPORTS)('credentials, %s', (transport) => {
  let system: VaultsSystem;
  let vaultId: string;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
    ({ vaultId } = await system.createVault());
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const create = (members: Members, secrets: Record<string, string>) =>
    system.createCredential({ vaultId, ...members }, secrets);

  it('returns a created bearer token with its fingerprint and last characters, and without its value', async () => {
    const { credential, replayed } = await create({ label: 'GitHub' }, TOKEN);
    expect(replayed).toBe(false);
    expect(credential).toMatchObject({
      credentialId: expect.stringMatching(/^crd_/),
      vaultId,
      label: 'GitHub',
      type: 'bearer',
      enabled: true,
      mcpServerUrl: '',
      hosts: ['api.example.org'],
      public: undefined,
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      lastFour: 'ters',
      status: 'active',
      revision: 1,
      createdBy: administrator.caller.userId,
    });
    const address = { vaultId, credentialId: credential?.credentialId ?? '' };
    expect((await system.edge.getCredential(address, administrator)).credential).toEqual(credential);
    const { vault } = await system.edge.getVault({ vaultId }, administrator);
    expect(vault?.credentialCount).toBeGreaterThan(0);
  });

  it.each([
    [header('X-Api-Key'), { value: 'v' }, { name: 'X-Api-Key' }],
    [basic('build'), { password: 'pässword with spaces' }, { username: 'build' }],
    [modelKey('anthropic'), { key: 'sk-1' }, { provider: 'anthropic' }],
    [modelKey('local'), { key: 'sk-2' }, { provider: 'local' }],
    [
      variable({ methods: ['get'], pathPrefixes: ['/repos/', '/user%20s'], placeholderPrefix: 'ghp_' }),
      { value: 'ghp_secret' },
      {
        name: 'GITHUB_TOKEN',
        inject: { headers: ['authorization'], basic: true, query: [] },
        methods: ['GET'],
        pathPrefixes: ['/repos/', '/user%20s'],
        placeholderPrefix: 'ghp_',
      },
    ],
  ])('stores %j and returns its public members', async (members, secrets, expected) => {
    const { credential } = await create(members, secrets);
    expect(credential?.public?.of?.value).toEqual(expected);
    const [value = ''] = Object.values(secrets);
    expect(credential?.lastFour).toBe(value.length < 20 ? '' : value.slice(-4));
    expect(await system.test(credential!)).toBe('unknown');
  });

  it.each([
    ['https://mcp.example.org', 'https://mcp.example.org/'],
    ['HTTPS://MCP.example.org:443/a/../b?c=d', 'https://mcp.example.org/b?c=d'],
    ['http://mcp.internal.example:8443/mcp', 'http://mcp.internal.example:8443/mcp'],
  ])('binds a credential to the server %s in canonical form', async (url, stored) => {
    const { credential } = await create(server(url), TOKEN);
    expect(credential).toMatchObject({ mcpServerUrl: stored, hosts: [] });
  });

  it.each<[string, Members, Record<string, string>, string]>([
    ['an unknown type', { type: 'ssh' }, TOKEN, '/type'],
    ['a type that is not offered yet', { type: 'oauth2' }, TOKEN, '/type'],
    ['public members of another type', { ...header('X-Key'), type: 'basic' }, { password: 'p' }, '/type'],
    ['neither a server nor a host', { host: undefined }, TOKEN, '/mcp_server_url'],
    [
      'both a server and a host',
      { mcpServerUrl: 'https://a.example.org', host: 'b.example.org' },
      TOKEN,
      '/host',
    ],
    ['allowed hosts of a bearer token', { allowedHosts: ['a.example.org'] }, TOKEN, '/allowed_hosts'],
    ['a host of a model key', { ...modelKey('openai'), host: 'api.openai.com' }, { key: 'k' }, '/host'],
    [
      'a server of a variable',
      variable({}, server('https://a.example.org')),
      { value: 'v' },
      '/mcp_server_url',
    ],
    ['an http URL', server('http://mcp.example.org/'), TOKEN, '/mcp_server_url'],
    ['another scheme', server('ftp://mcp.example.org/'), TOKEN, '/mcp_server_url'],
    ['a text that is not a URL', server('mcp.example.org'), TOKEN, '/mcp_server_url'],
    ['a URL with a password', server('https://a:b@mcp.example.org/'), TOKEN, '/mcp_server_url'],
    ['a URL with a fragment', server('https://mcp.example.org/#a'), TOKEN, '/mcp_server_url'],
    ['a private server', server('https://10.0.0.1/'), TOKEN, '/mcp_server_url'],
    ['a hidden private server', server('https://0x7f.1/'), TOKEN, '/mcp_server_url'],
    ['a metadata server', server('https://169.254.169.254/'), TOKEN, '/mcp_server_url'],
    [
      'a listed private host at another port',
      server('http://mcp.internal.example/'),
      TOKEN,
      '/mcp_server_url',
    ],
    ['a private host', { host: '192.168.1.1' }, TOKEN, '/host'],
    ['localhost', { host: 'localhost' }, TOKEN, '/host'],
    ['a malformed host', { host: 'a b' }, TOKEN, '/host'],
    ['a whole top-level domain', { host: '*.com' }, TOKEN, '/host'],
    ['no allowed host', variable({}, { allowedHosts: [] }), { value: 'v' }, '/allowed_hosts'],
    [
      '17 allowed hosts',
      variable({}, { allowedHosts: Array.from({ length: 17 }, (_, index) => `h${index}.example.org`) }),
      { value: 'v' },
      '/allowed_hosts',
    ],
    [
      'a repeated allowed host',
      variable({}, { allowedHosts: ['a.example.org', 'A.example.org'] }),
      { value: 'v' },
      '/allowed_hosts/1',
    ],
    [
      'a private allowed host',
      variable({}, { allowedHosts: ['127.0.0.1'] }),
      { value: 'v' },
      '/allowed_hosts/0',
    ],
    ['a hop-by-hop header', header('Transfer-Encoding'), { value: 'v' }, '/name'],
    ['the header Host', header('host'), { value: 'v' }, '/name'],
    ['a header with a line break', header('X-A\r\nX-B'), { value: 'v' }, '/name'],
    ['a user name with a colon', basic('a:b'), { password: 'p' }, '/username'],
    ['no user name', basic(''), { password: 'p' }, '/username'],
    ['an unknown model provider', modelKey('unknown'), { key: 'k' }, '/provider'],
    ['a model provider without keys', modelKey('rehearsal'), { key: 'k' }, '/provider'],
    ['a malformed variable', variable({ name: '1A' }), { value: 'v' }, '/name'],
    ['a reserved variable', variable({ name: 'LD_PRELOAD' }), { value: 'v' }, '/name'],
    ['an unknown method', variable({ methods: ['CONNECT'] }), { value: 'v' }, '/methods/0'],
    ['a repeated method', variable({ methods: ['GET', 'get'] }), { value: 'v' }, '/methods/1'],
    ['a relative path', variable({ pathPrefixes: ['repos'] }), { value: 'v' }, '/path_prefixes/0'],
    ['a path with dot segments', variable({ pathPrefixes: ['/a/../b'] }), { value: 'v' }, '/path_prefixes/0'],
    [
      'a path with an encoded slash',
      variable({ pathPrefixes: ['/a%2Fb'] }),
      { value: 'v' },
      '/path_prefixes/0',
    ],
    ['a path with a query', variable({ pathPrefixes: ['/a?b'] }), { value: 'v' }, '/path_prefixes/0'],
    [
      'a placeholder prefix with a space',
      variable({ placeholderPrefix: 'a b' }),
      { value: 'v' },
      '/placeholder_prefix',
    ],
    [
      'a variable that is replaced nowhere',
      variable({ inject: { headers: [], basic: false, query: [] } }),
      { value: 'v' },
      '/inject',
    ],
    [
      'a connection header',
      variable({ inject: { headers: ['Connection'], basic: true, query: [] } }),
      { value: 'v' },
      '/inject/headers/0',
    ],
    ['a missing secret', {}, {}, '/token'],
    ['an empty secret', {}, { token: '' }, '/token'],
    ['a secret of another type', {}, { value: 'v', token: 't' }, '/value'],
    ['a token with a line break', {}, { token: 'a\nb' }, '/token'],
    ['a token with a space', {}, { token: 'a b' }, '/token'],
    ['a header value with a line break', header('X-Key'), { value: 'a\r\nX-B: c' }, '/value'],
    ['a header value that ends with a space', header('X-Key'), { value: 'a ' }, '/value'],
    ['a password with a control character', basic('u'), { password: 'a\u0000b' }, '/password'],
    ['a secret of more than 16 KiB', {}, { token: 't'.repeat(16 * 1024 + 1) }, '/token'],
    ['a long label', { label: 'l'.repeat(201) }, TOKEN, '/label'],
  ])('refuses %s and names the member, not its value', async (_, members, secrets, pointer) => {
    const refused = create(members, secrets);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const error: { message: string; details: { pointer: string; message: string }[] } = await refused.catch(
      (reason) => reason,
    );
    expect(error.details.map((detail) => detail.pointer)).toContain(pointer);
    const text = JSON.stringify([error.message, error.details]);
    for (const secret of Object.values(secrets).filter((value) => value.length > 2))
      expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  it('accepts a secret of exactly 16 KiB', async () => {
    const { credential } = await create({}, { token: 't'.repeat(16 * 1024) });
    expect(credential?.lastFour).toBe('tttt');
  });

  it('shows equal secrets of one vault by equal fingerprints, which differ between vaults', async () => {
    const token = newToken();
    const [one, two, other] = await Promise.all([
      system.createToken(vaultId, token),
      system.createToken(vaultId, token),
      system.createToken(vaultId),
    ]);
    const elsewhere = await system.createToken((await system.createVault()).vaultId, token);
    expect(two.fingerprint).toBe(one.fingerprint);
    expect(other.fingerprint).not.toBe(one.fingerprint);
    expect(elsewhere.fingerprint).not.toBe(one.fingerprint);
  });

  it('creates one credential for repeated requests with an Idempotency-Key, also with another sealed box', async () => {
    const members = { idempotencyKey: `key-${transport}`, label: 'once' };
    const first = await create(members, TOKEN);
    const second = await create(members, TOKEN);
    expect(second).toEqual({ ...first, replayed: true });
    expect(await refusalOf(create(members, { token: newToken() }))).toBe('IDEMPOTENCY_KEY_CONFLICT');
    expect(await refusalOf(create({ ...members, label: 'other' }, TOKEN))).toBe('IDEMPOTENCY_KEY_CONFLICT');
  });

  it('changes label, state and secret, and counts the revision', async () => {
    const credential = await system.createToken(vaultId);
    const { credential: named } = await system.updateCredential(credential, { label: 'new', enabled: false });
    expect(named).toMatchObject({ label: 'new', enabled: false, status: 'disabled', revision: 2 });
    const { credential: changed } = await system.updateCredential(credential, {}, { token: newToken() });
    expect(changed).toMatchObject({ label: 'new', revision: 3 });
    expect(changed?.fingerprint).not.toBe(credential.fingerprint);
    const { credential: same } = await system.updateCredential(credential, { label: 'new' });
    expect(same).toEqual(changed);
    expect(await system.test(credential)).toBe('unknown');
    expect(await refusalOf(system.updateCredential(credential, {}, { token: 'a\nb' }))).toBe(
      'INVALID_REQUEST /token',
    );
    expect(await refusalOf(system.updateCredential(credential, {}, { value: 'v' }))).toBe(
      'INVALID_REQUEST /value /token',
    );
  });

  it('ends the status refused when the secret is changed', async () => {
    const credential = await system.createToken(vaultId);
    await runOn(
      system.databaseUrl,
      `update vaults.credentials set status = 'refused', status_reason = 'HTTP 401'
       where credential_id = '${credential.credentialId}'`,
    );
    const { credential: named } = await system.updateCredential(credential, { label: 'still refused' });
    expect(named).toMatchObject({ status: 'refused', statusReason: 'HTTP 401' });
    const { credential: renewed } = await system.updateCredential(credential, {}, { token: newToken() });
    expect(renewed).toMatchObject({ status: 'active', statusReason: '' });
  });

  it('keeps every secret readable when many changes of one credential race', async () => {
    const credential = await system.createToken(vaultId);
    const changes = Array.from({ length: 6 }, () =>
      refusalOf(system.updateCredential(credential, {}, { token: newToken() })),
    );
    const results = await Promise.all(changes);
    expect(results.filter((code) => code === 'OK').length).toBeGreaterThan(0);
    for (const code of results) expect(['OK', 'DEPENDENCY_UNAVAILABLE']).toContain(code);
    expect(await system.test(credential)).toBe('unknown');
    const { credential: last } = await system.edge.getCredential(credential, administrator);
    expect(last?.revision).toBe(1 + results.filter((code) => code === 'OK').length);
  });

  it('refuses a change or deletion at an unexpected revision', async () => {
    const credential = await system.createToken(vaultId);
    const stale = { ifRevisions: { revisions: [2] } };
    expect(await refusalOf(system.updateCredential(credential, { ...stale, label: 'x' }))).toBe(
      'VERSION_CONFLICT',
    );
    const address = { vaultId, credentialId: credential.credentialId };
    expect(await refusalOf(system.edge.deleteCredential({ ...address, ...stale }, administrator))).toBe(
      'VERSION_CONFLICT',
    );
    const current = { ...address, ifRevisions: { revisions: [1] } };
    expect(await refusalOf(system.edge.deleteCredential(current, administrator))).toBe('OK');
    expect(await refusalOf(system.edge.getCredential(address, administrator))).toBe('CREDENTIAL_NOT_FOUND');
  });

  it('finds a credential only in its own vault', async () => {
    const credential = await system.createToken(vaultId);
    const other = await system.createVault();
    for (const [address, code] of [
      [{ ...credential, vaultId: other.vaultId }, 'CREDENTIAL_NOT_FOUND'],
      [{ ...credential, credentialId: UNKNOWN }, 'CREDENTIAL_NOT_FOUND'],
      [{ ...credential, credentialId: 'crd_1' }, 'CREDENTIAL_NOT_FOUND'],
      [{ ...credential, vaultId: UNKNOWN_VAULT }, 'VAULT_NOT_FOUND'],
    ] as const) {
      const { vaultId: vault, credentialId } = address;
      const at = { vaultId: vault, credentialId, ifRevisions: undefined };
      expect(await refusalOf(system.edge.getCredential(at, administrator))).toBe(code);
      expect(await refusalOf(system.updateCredential(address, { label: 'x' }))).toBe(code);
      expect(await refusalOf(system.edge.deleteCredential(at, administrator))).toBe(code);
      expect(await system.test(address)).toBe(code);
    }
    expect(await refusalOf(system.createCredential({ vaultId: UNKNOWN_VAULT }, TOKEN))).toBe(
      'VAULT_NOT_FOUND',
    );
    expect(await refusalOf(system.createCredential({ vaultId: 'vlt_1' }, TOKEN))).toBe('VAULT_NOT_FOUND');
  });

  it('lists the credentials of a vault by page, newest first', async () => {
    const vault = await system.createVault();
    const made: Credential[] = [];
    for (let index = 0; index < 3; index++) made.push(await system.createToken(vault.vaultId));
    const list = (cursor: string, of = vault.vaultId) =>
      system.edge.listCredentials({ vaultId: of, page: { limit: 2, cursor } }, administrator);
    const first = await list('');
    expect(first.credentials).toEqual([made[2], made[1]]);
    const cursor = first.page?.nextCursor ?? '';
    const second = await list(cursor);
    expect(second.credentials).toEqual([made[0]]);
    expect(second.page?.nextCursor).toBe('');
    expect(await refusalOf(list(cursor, vaultId))).toBe('INVALID_CURSOR');
    expect(await refusalOf(list('', UNKNOWN_VAULT))).toBe('VAULT_NOT_FOUND');
  });

  it('permits 200 credentials in a vault, also for concurrent requests', async () => {
    const vault = await system.createVault();
    const { credentialId } = await system.createToken(vault.vaultId);
    await runOn(
      system.databaseUrl,
      `insert into vaults.credentials (credential_id, vault_id, type, label, enabled, hosts, public, sealed, key_generation,
         fingerprint, last_four, status, created_by, created_at, updated_at)
       select 'crd_' || lpad(n::text, 26, '0'), vault_id, type, label, enabled, hosts, public, sealed, key_generation,
         fingerprint, last_four, status, created_by, created_at, updated_at
       from vaults.credentials, generate_series(1, 197) n where credential_id = '${credentialId}'
       on conflict do nothing`,
    );
    const calls = Array.from({ length: 4 }, () =>
      refusalOf(system.createCredential({ vaultId: vault.vaultId }, TOKEN)),
    );
    expect((await Promise.all(calls)).toSorted()).toEqual(['INVALID_REQUEST', 'INVALID_REQUEST', 'OK', 'OK']);
    await system.edge.deleteVault({ vaultId: vault.vaultId, ifRevisions: undefined }, administrator);
  });

  it('is for administrators only, and refuses credentials of a personal vault', async () => {
    const credential = await system.createToken(vaultId);
    const { credentialId } = credential;
    const address = { vaultId, credentialId, ifRevisions: undefined };
    for (const call of [
      () => system.createCredential({ vaultId }, TOKEN, member),
      () => system.edge.listCredentials({ vaultId, page: undefined }, member),
      () => system.edge.getCredential(address, member),
      () => system.updateCredential(credential, { label: 'x' }, undefined, member),
      () => system.edge.deleteCredential(address, member),
      () => system.edge.testCredential(address, member),
    ])
      expect(await refusalOf(call())).toBe('FORBIDDEN');
    const personal = await system.createVault();
    await system.createToken(personal.vaultId);
    await runOn(
      system.databaseUrl,
      `update vaults.vaults set kind = 'personal', owner_id = '${personal.vaultId}' where vault_id = '${personal.vaultId}'`,
    );
    const { credentials } = await system.edge.listCredentials(
      { vaultId: personal.vaultId, page: undefined },
      administrator,
    );
    const [owned] = credentials;
    expect(await refusalOf(system.createCredential({ vaultId: personal.vaultId }, TOKEN))).toBe('FORBIDDEN');
    expect(await refusalOf(system.updateCredential(owned!, {}, TOKEN))).toBe('FORBIDDEN');
    expect(await system.test(owned!)).toBe('FORBIDDEN');
    expect(await refusalOf(system.updateCredential(owned!, { enabled: false }))).toBe('OK');
  });

  it('refuses a sealed box of another request, another method or another peer', async () => {
    const requestId = system.context.ids('req');
    const request = { ...credentialRequest({ vaultId }), secret: { box: Buffer.from('not a sealed box') } };
    const call = system.edge.createCredential(request, { ...administrator, requestId });
    expect(await refusalOf(call)).toBe('PEER_REJECTED');
  });

  it('records each action before it is made, and refuses an action that cannot be recorded', async () => {
    system.auditLog.takeActs();
    const credential = await system.createToken(vaultId);
    const { credentialId } = credential;
    await system.updateCredential(credential, {}, { token: newToken() });
    await system.test(credential);
    await system.edge.deleteCredential({ vaultId, credentialId, ifRevisions: undefined }, administrator);
    const { userId } = administrator.caller;
    expect(system.auditLog.takeActs()).toEqual(
      ['create', 'update', 'test', 'delete'].map(
        (action) => `${userId} credential.${action} ${credentialId}`,
      ),
    );
    const kept = await system.createToken(vaultId);
    const before = await rowsOn(
      system.databaseUrl,
      'select * from vaults.credentials order by credential_id',
    );
    system.auditLog.failsToRecord = true;
    try {
      const at = { vaultId, credentialId: kept.credentialId, ifRevisions: undefined };
      for (const call of [
        () => system.createCredential({ vaultId }, TOKEN),
        () => system.updateCredential(kept, { label: 'x' }),
        () => system.updateCredential(kept, {}, TOKEN),
        () => system.edge.testCredential(at, administrator),
        () => system.edge.deleteCredential(at, administrator),
      ])
        expect(await refusalOf(call())).toBe('DEPENDENCY_UNAVAILABLE');
    } finally {
      system.auditLog.failsToRecord = false;
    }
    const after = await rowsOn(system.databaseUrl, 'select * from vaults.credentials order by credential_id');
    expect(after).toEqual(before);
  });
});
