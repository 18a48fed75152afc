import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

describe('lists filter by metadata, created_after and created_before', () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent({ metadata: { team: 'blue', 'a b/ä': 'x&y=[1]' } });
    await api.createAgent({ metadata: { team: 'red' } });
    await api.post('/assistants', { name: 'A', model: 'rehearsal/echo', metadata: { team: 'blue' } });
    for (const metadata of [{ team: 'blue', order: '1' }, { team: 'blue', 'a b/ä': 'x&y=[1]' }, {}])
      await api.post(`/agents/${agent}/conversations`, { metadata });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const sessionLists = () => ['/sessions', `/agents/${agent}/sessions`, '/admin/sessions'];
  const lists = () => [...sessionLists(), '/agents', '/assistants'];
  const found = async (path: string, parameters: Record<string, string>) => {
    const { status, body } = await api.get(`${path}?${new URLSearchParams(parameters)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data.length;
  };

  it('return the resources whose metadata has the value', async () => {
    for (const path of sessionLists()) {
      expect(await found(path, { 'metadata[team]': 'blue' }), path).toBe(2);
      expect(await found(path, { 'metadata[team]': 'blue', 'metadata[order]': '1' })).toBe(1);
      expect(await found(path, { 'metadata[a b/ä]': 'x&y=[1]' })).toBe(1);
      for (const value of ['red', '', 'Blue', 'blue '])
        expect(await found(path, { 'metadata[team]': value })).toBe(0);
      expect(await found(path, { 'metadata[__proto__]': 'blue' })).toBe(0);
    }
    expect(await found('/agents', { 'metadata[team]': 'blue' })).toBe(1);
    expect(await found('/agents', { 'metadata[team]': 'blue', 'metadata[a b/ä]': 'x&y=[1]' })).toBe(1);
    expect(await found('/agents', { 'metadata[team]': 'blue', 'metadata[order]': '1' })).toBe(0);
    expect(await found('/assistants', { 'metadata[team]': 'blue' })).toBe(1);
    expect(await found('/assistants', { 'metadata[team]': 'red' })).toBe(0);
  });

  it('follow a change of the metadata, the archive and a deletion', async () => {
    const { body } = await api.post(`/agents/${agent}/conversations`, { metadata: { step: 'one' } });
    const path = `/sessions/${body.data.session_id}`;
    const count = (step: string, archived = 'false') =>
      found('/sessions', { 'metadata[step]': step, archived });
    expect(await count('one')).toBe(1);
    await api.send('PATCH', path, { metadata: { step: 'two' } });
    expect([await count('one'), await count('two')]).toEqual([0, 1]);
    await api.send('PATCH', path, { title: 'A title' });
    expect(await count('two')).toBe(1);
    await api.post(`${path}/archive`);
    expect([await count('two'), await count('two', 'true')]).toEqual([0, 1]);
    await api.send('DELETE', path);
    expect([await count('two'), await count('two', 'true')]).toEqual([0, 0]);
  });

  it('return the resources that were created between two times', async () => {
    const past = '2020-02-29T23:59:59.5+01:00';
    const future = '2999-12-31T00:00:00z';
    for (const path of lists()) {
      expect(await found(path, { created_after: past, created_before: future }), path).toBeGreaterThan(0);
      expect(await found(path, { created_after: future })).toBe(0);
      expect(await found(path, { created_before: past })).toBe(0);
    }
    const [session] = (await api.get(`/sessions?limit=1`)).body.data as unknown as [Record<string, string>];
    const at = session.created_at ?? '';
    const earlier = new Date(Date.parse(at) - 1).toISOString();
    const idsOf = async (query: object) => {
      const { body } = await api.get(`/sessions?${new URLSearchParams(Object.entries(query))}`);
      return (body.data as unknown as Record<string, string>[]).map(({ session_id: id }) => id);
    };
    expect(await idsOf({ created_after: earlier })).toContain(session.session_id);
    expect(await idsOf({ created_after: at })).not.toContain(session.session_id);
    expect(await idsOf({ created_before: at })).not.toContain(session.session_id);
  });

  it.each([
    ['created_after=yesterday', '/created_after'],
    ['created_after=2026-01-01', '/created_after'],
    ['created_after=2026-01-01T00:00:00', '/created_after'],
    ['created_after=2026-02-30T00:00:00Z', '/created_after'],
    ['created_after=2026-01-01T24:00:00Z', '/created_after'],
    ['created_after=2026-01-01T25:00:00Z', '/created_after'],
    ['created_before=0000-01-01T00:00:00Z', '/created_before'],
    ['created_before=9999-12-31T23:59:59-01:00', '/created_before'],
    ['created_before=1767225600', '/created_before'],
    ['created_before=', '/created_before'],
    ['metadata=blue', '/metadata'],
    ['metadata[team]=a&metadata[team]=b', '/metadata/team'],
    [`metadata[${'k'.repeat(65)}]=a`, '/metadata'],
    ['metadata[]=a', '/metadata'],
    [`metadata[team]=${'v'.repeat(501)}`, '/metadata/team'],
    [Array.from({ length: 6 }, (_, index) => `metadata[k${index}]=a`).join('&'), '/metadata'],
    ['metadata[team][x]=a&q[x]=1', '/q[x]'],
  ])('refuse %s', async (query, pointer) => {
    for (const path of lists()) {
      const { status, body } = await api.get(`${path}?${query}`);
      expect({ status, code: body.code }, path).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      const pointers = (body.error as unknown as { details: { pointer: string }[] }).details.map(
        (one) => one.pointer,
      );
      expect(
        pointers.some((one) => one.startsWith(pointer)),
        pointers.join(),
      ).toBe(true);
    }
  });

  it('refuse NUL characters with INVALID_TEXT', async () => {
    for (const query of ['metadata[team]=%00', 'metadata[%00]=a'])
      expect((await api.get(`/sessions?${query}`)).body.code).toBe('INVALID_TEXT');
  });

  it('are deep objects in the OpenAPI document', async () => {
    interface Parameter {
      name?: string;
      $ref?: string;
    }
    const document = (await (await fetch(`${system.url}/openapi.json`)).json()) as {
      paths: Record<string, { get: { parameters: Parameter[] } }>;
      components: { parameters: Record<string, Parameter> };
    };
    const { paths, components } = document;
    const resolved = (one: Parameter) => components.parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one;
    for (const path of [
      '/sessions',
      '/agents/{agent_id}/sessions',
      '/admin/sessions',
      '/agents',
      '/assistants',
    ]) {
      const parameter = paths[path]?.get.parameters.map(resolved).find(({ name }) => name === 'metadata');
      expect(parameter, path).toMatchObject({ style: 'deepObject', explode: true });
    }
  });
});
