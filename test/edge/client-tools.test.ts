import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const TOOL = {
  type: 'client',
  name: 'get_location',
  description: 'Returns the position of the device.',
  input_schema: { type: 'object', properties: { precise: { type: 'boolean', default: 1.5 } } },
};
const agent = (tools: unknown) => ({ name: 'Guide', model: 'rehearsal/echo', tools });
/** A schema of so many levels. */
const nested = (levels: number): unknown =>
  levels === 1 ? { type: 'object' } : { type: 'object', properties: { a: nested(levels - 1) } };

describe('client tools of agents and assistants', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(['agent', 'assistant'])(
    'an %s keeps them exactly, beside permissions of built-in tools',
    async (kind) => {
      const tools = [{ name: 'bash', permission: 'deny' }, TOOL];
      const { status, body } = await api.post(`/${kind}s`, agent(tools));
      expect([status, body.data.tools]).toEqual([201, tools]);
      const path = `/${kind}s/${body.data[`${kind}_id`]}`;
      const changed = { ...TOOL, description: 'Where am I?' };
      expect((await api.send('PATCH', path, { tools: [changed] })).body.data.tools).toEqual([changed]);
      expect((await api.get(path)).body.data.tools).toEqual([changed]);
    },
  );

  it('a change of a schema makes a new version, and the same schema does not', async () => {
    const { body } = await api.post('/agents', agent([TOOL]));
    const path = `/agents/${body.data.agent_id}`;
    const versionAfter = async (tools: unknown[]) =>
      (await api.send('PATCH', path, { tools })).body.data.version;
    expect(await versionAfter([TOOL])).toBe(1);
    expect(await versionAfter([{ ...TOOL, input_schema: { type: 'object' } }])).toBe(2);
  });

  it.each<[string, unknown[], string]>([
    ['the name of a built-in tool', [{ ...TOOL, name: 'bash' }], '/tools/0/name'],
    ['the name ask_user', [{ ...TOOL, name: 'ask_user' }], '/tools/0/name'],
    ['a name that begins with mcp__', [{ ...TOOL, name: 'mcp__a__b' }], '/tools/0/name'],
    ['a repeated name', [TOOL, TOOL], '/tools/1/name'],
    ['an empty name', [{ ...TOOL, name: '' }], '/tools/0/name'],
    ['a blank in the name', [{ ...TOOL, name: 'get location' }], '/tools/0/name'],
    ['a name of 65 characters', [{ ...TOOL, name: 'a'.repeat(65) }], '/tools/0/name'],
    ['no name', [{ ...TOOL, name: undefined }], '/tools/0/name'],
    ['no description', [{ ...TOOL, description: undefined }], '/tools/0/description'],
    ['no schema', [{ ...TOOL, input_schema: undefined }], '/tools/0/input_schema'],
    ['a schema that is a text', [{ ...TOOL, input_schema: '{}' }], '/tools/0/input_schema'],
    ['a schema of a string', [{ ...TOOL, input_schema: { type: 'string' } }], '/tools/0/input_schema/type'],
    ['a schema without a type', [{ ...TOOL, input_schema: {} }], '/tools/0/input_schema/type'],
    [
      'a schema with an unknown type',
      [{ ...TOOL, input_schema: { type: 'object', properties: { a: { type: 'text' } } } }],
      '/tools/0/input_schema/properties/a/type',
    ],
    [
      'a schema with a remote reference',
      [{ ...TOOL, input_schema: { type: 'object', properties: { a: { $ref: 'http://a.example/b' } } } }],
      '/tools/0/input_schema/properties/a/$ref',
    ],
    [
      'a schema of more than 64 KiB',
      [{ ...TOOL, input_schema: { type: 'object', description: 'x'.repeat(65_536) } }],
      '/tools/0/input_schema',
    ],
    ['a permission', [{ ...TOOL, permission: 'allow' }], '/tools/0/permission'],
    ['an unknown type', [{ ...TOOL, type: 'server' }], '/tools/0/type'],
  ])('a tool with %s is refused with its pointer', async (_, tools, pointer) => {
    const { status, body } = await api.post('/agents', agent(tools));
    expect([status, body.code], body.message).toEqual([400, 'INVALID_REQUEST']);
    const { details } = body.error as unknown as { details: { pointer: string }[] };
    expect(details.map((one) => one.pointer)).toEqual([pointer]);
  });

  it('a schema may have 32 levels, and a deeper one is refused', async () => {
    expect((await api.post('/agents', agent([{ ...TOOL, input_schema: nested(32) }]))).status).toBe(201);
    const { status, body } = await api.post('/agents', agent([{ ...TOOL, input_schema: nested(33) }]));
    const { details } = body.error as unknown as { details: { pointer: string }[] };
    expect(status).toBe(400);
    expect(details[0]?.pointer).toMatch(/^\/tools\/0\/input_schema/);
  });
});
