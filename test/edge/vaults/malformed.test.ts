import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { Canaries } from '../../support/canaries.ts';
import { type System, startSystem } from '../../support/system.ts';
import { CREDENTIALS } from './credential-bodies.ts';

const BODIES = 2_000;
const AT_ONCE = 4;

describe('POST /admin/vaults/{vault_id}/credentials', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const canaries = new Canaries();
  const canary = canaries.create('body');

  /** Changes of a valid body that make it invalid. */
  const changes = fc.oneof(
    fc.constantFrom<[string, (body: Record<string, unknown>, secret: string) => unknown]>(
      ['no secret', (body, secret) => ({ ...body, [secret]: undefined })],
      ['an empty secret', (body, secret) => ({ ...body, [secret]: '' })],
      ['a secret with a line break', (body, secret) => ({ ...body, [secret]: `${canary}\n` })],
      ['a long secret', (body, secret) => ({ ...body, [secret]: canary.padEnd(16_385, 'x') })],
      ['a list as the secret', (body, secret) => ({ ...body, [secret]: [canary] })],
      ['an unknown member', (body) => ({ ...body, unknown: canary })],
      ['an unknown type', (body) => ({ ...body, type: canary })],
      ['no type', (body) => ({ ...body, type: undefined })],
      ['two destinations', (body) => ({ ...body, host: 'a.example', mcp_server_url: 'https://b.example' })],
      ['a malformed host', (body) => ({ ...body, host: canary, mcp_server_url: undefined })],
      ['a private host', (body) => ({ ...body, host: '10.0.0.1', mcp_server_url: undefined })],
      ['a password in the URL', (body) => ({ ...body, mcp_server_url: `https://x:${canary}@b.example` })],
      ['a long label', (body) => ({ ...body, label: canary.padEnd(201, 'x') })],
      ['a list', (body) => [body]],
    ),
    fc
      .tuple(
        fc.constantFrom('type', 'label', 'secret'),
        fc
          .jsonValue()
          .filter((value) => typeof value !== 'string')
          .map((value) => (value === undefined ? null : value)),
      )
      .map(([member, value]): [string, (body: Record<string, unknown>, secret: string) => unknown] => [
        `a value of another kind as the ${member}`,
        (body, secret) => ({ ...body, [member === 'secret' ? secret : member]: value }),
      ]),
  );
  /** Damage of the JSON text. */
  const damages = fc.oneof(
    { arbitrary: fc.constant((text: string) => text), weight: 4 },
    fc.nat().map((at) => (text: string) => text.slice(0, at % text.length)),
    fc.constantFrom(
      (text: string) => `${text},`,
      (text: string) => text.replace('{', '{"type":"bearer",'),
      (text: string) => text.replace('{', '{"__proto__":{},'),
      (text: string) => text.replace(':', ':'.repeat(2)),
    ),
  );

  it(`refuses ${BODIES} malformed bodies with 400, without their values, and stores nothing`, async () => {
    const { body } = await api.post('/admin/vaults', { name: 'Malformed' });
    const vault = `/admin/vaults/${body.data.vault_id}`;
    const samples = fc.sample(fc.tuple(fc.constantFrom(...CREDENTIALS), changes, damages), {
      numRuns: BODIES,
      seed: 21,
    });
    const wrong: string[] = [];
    const rest = samples.values();
    const worker = async () => {
      for (const [{ body: valid, secret }, [name, change], damage] of rest) {
        const text = damage(JSON.stringify(change({ ...valid, [secret]: canary }, secret)));
        const response = await fetch(`${system.url}/api/v1${vault}/credentials`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: text,
        });
        const answer = await response.text();
        if (response.status !== 400 || canaries.in(answer).length > 0)
          wrong.push(`${valid.type}, ${name}: ${text.slice(0, 300)}: ${response.status} ${answer}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect((await api.get(vault)).body.data).toMatchObject({ credential_count: 0 });
    expect((await api.get(`${vault}/credentials`)).body.data).toEqual([]);
  });
});
