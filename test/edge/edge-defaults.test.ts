import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { TSchema } from 'typebox';
import { expect, it } from 'vitest';
import { createApp } from '../../edge/app.ts';
import { settings } from '../../edge/config.ts';
import { isRaw, type JsonRoute } from '../../edge/route.ts';
import { ROUTES } from '../../edge/routes.ts';
import { systemClock } from '../../lib/clock.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import { refuse } from '../../lib/errors.ts';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition, type IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import descriptors from '../../proto/gen/descriptors.json' with { type: 'json' };
import { standaloneContext } from '../../scripts/reference/access.ts';

const PROTO = fileURLToPath(new URL('../../proto/', import.meta.url));
const ORIGIN = 'http://127.0.0.1:8080';
/** Every text that the client of a test request chooses contains this. */
const GIVEN = 'given';
/** A time that the client of a test request chooses. */
const TIME = '2026-01-01T00:00:00.000Z';
const IDS: Record<string, string> = {
  ...{ agent_id: 'agt', assistant_id: 'ast', session_id: 'ses', turn_id: 'trn', approval_id: 'apr' },
  ...{ environment_id: 'env', sandbox_id: 'sbx', deployment_id: 'dep', token_id: 'tok', user_id: 'usr' },
  ...{ run_id: 'run', backfill_id: 'bkf', post_id: 'pst', link_id: 'lnk' },
  ...{ vault_id: 'vlt', credential_id: 'crd', rotation_id: 'rot', mcp_server_id: 'mcp', skill_id: 'skl' },
};
const ID = '01KAK3V9Q6W1X2Y3Z4A5B6C7D8';
/** The route, its path or other members decide these values. */
const BY_ROUTE = [
  'ahs.deployments.v1.CreateDeploymentRequest.accepts_sealed_secret=true',
  'ahs.auth.v1.SetUserEnabledRequest.enabled=true',
  'ahs.sessions.v1.ListSessionsRequest.reach=all',
  'ahs.agents.v1.GetSkillVersionRequest.version=1',
  // The default depends on another member.
  'ahs.vaults.v1.OAuthPublic.client_authentication=none',
  'ahs.vaults.v1.OAuthPublic.client_authentication=client_secret_basic',
  `google.protobuf.Timestamp.seconds=${Date.parse(TIME) / 1_000}`,
  'ahs.agents.v1.ListSkillFilesRequest.version=1',
];
/** A digest of a random value in a cookie of the browser. */
const BY_COOKIE = 'ahs.vaults.v1.BeginConnectionRequest.browser_sha256=';
const IDENTITY: IdentifyResponse = {
  user: {
    ...{ userId: 'usr_1', displayName: '', email: '', enabled: true, groups: [] },
    ...{ roles: ['administrator'], createdAt: undefined, lastSeenAt: undefined },
  },
  scopes: ['read', 'write', 'admin', 'mcp', 'approve'],
  credential: 'local',
};

const file = descriptors.map(({ descriptor }) =>
  fromBinary(FileDescriptorProtoSchema, Buffer.from(descriptor, 'base64')),
);
const registry = createFileRegistry({ $typeName: 'google.protobuf.FileDescriptorSet', file });

/** Returns `<message>.<field>=<value>` for each value in a message other than false, 0 and the empty text. */
function valuesOf(message: ReflectMessage): string[] {
  return message.fields.flatMap((field): string[] => {
    if (!message.isSet(field)) return [];
    const show = (value: unknown) =>
      value ? [`${field.parent.typeName}.${field.name}=${String(value)}`] : [];
    const found = message.get(field);
    if (field.fieldKind === 'message') return valuesOf(found as ReflectMessage);
    if (field.fieldKind !== 'list') return show(found);
    const isMessage = field.listKind === 'message';
    return [...(found as Iterable<unknown>)].flatMap((item) =>
      isMessage ? valuesOf(item as ReflectMessage) : show(item),
    );
  });
}

/** A client that reports the values of each request and gets no answer, except for its identity. */
function capturingClient<C extends Contract>(contract: C, report: (values: string[]) => void): Client<C> {
  const capture = async (method: string, request: unknown) => {
    if (method === 'identify') return IDENTITY;
    const { requestType } = contract.methods[method] ?? {};
    const input = registry.getService(contract.fullName)?.method[method]?.input;
    if (!requestType || !input) throw new Error(`${contract.name} has no method ${method}`);
    report(valuesOf(reflect(input, fromBinary(input, requestType.encode(request).finish()))));
    throw refuse('INTERNAL', 'The request is captured.');
  };
  const transport = {
    unary: capture,
    async *stream(): AsyncGenerator<never> {},
  };
  return createClient({ contract, self: 'edge', secret: '', clock: systemClock, transport });
}

/** One of several members of which a body must have exactly one, although the schema requires none. */
const ALTERNATIVES: Record<string, object> = { submitToolResult: { output: GIVEN } };

/** The smallest value that fits a schema, without optional members. */
function minimal(schema: TSchema): unknown {
  const {
    enum: values,
    const: value,
    anyOf,
    type,
    required,
    properties,
    minItems,
    items,
    minimum,
    format,
  } = schema as {
    [key: string]: unknown;
    enum?: unknown[];
    anyOf?: TSchema[];
    required?: string[];
    properties?: Record<string, TSchema>;
    items?: TSchema;
  };
  if (values) return values[0];
  if (value !== undefined) return value;
  if (anyOf?.[0]) return minimal(anyOf[0]);
  if (type === 'object')
    return Object.fromEntries((required ?? []).map((name) => [name, minimal(properties?.[name] ?? {})]));
  if (type === 'array') return minItems && items ? [minimal(items)] : [];
  if (format === 'date-time') return TIME;
  if (type === 'string') return GIVEN;
  return type === 'boolean' ? false : (minimum ?? 0);
}

/** The schemas of the bodies that a route accepts. A route without a body has one that is undefined. */
function bodySchemas({ body }: JsonRoute): (TSchema | undefined)[] {
  const { anyOf } = (body ?? {}) as { anyOf?: TSchema[] };
  return anyOf ?? [body];
}

/** Returns the values that the edge sends although the client left them out, for one route and one kind of body. */
async function addedBy(
  send: (route: JsonRoute, path: string, body: unknown) => Promise<string[]>,
  route: JsonRoute,
  schema: TSchema | undefined,
) {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) =>
    name === 'version' ? '1' : `${IDS[name]}_${ID}`,
  );
  const query = new URLSearchParams((route.query ? minimal(route.query) : {}) as Record<string, string>);
  const body = schema && { ...(minimal(schema) as object), ...ALTERNATIVES[route.operationId] };
  const chosen = Object.values((body ?? {}) as object)
    .flat()
    .map(String);
  const sent = await send(route, `/api/v1${path}?${query}`, body);
  return sent.filter((text) => {
    const value = text.slice(text.indexOf('=') + 1);
    // The sealed members of a body.
    const isSealed = text.startsWith('ahs.common.v1.SealedForPeer.box=');
    // A signature covers the request line and the headers, so they are passed on as received.
    const isSigned = /^ahs\.deployments\.v1\.(CallbackHeader\.|PullPostsRequest\.target=)/.test(text);
    const isGiven =
      isSealed || isSigned || value.includes(GIVEN) || value.endsWith(ID) || value === '127.0.0.1';
    return !isGiven && !chosen.includes(value) && !BY_ROUTE.includes(text) && !text.startsWith(BY_COOKIE);
  });
}

/** Sends the smallest request to every route with a JSON body and returns all added values. */
async function addedDefaults(): Promise<string[]> {
  let sent: string[] = [];
  const connect = <C extends Contract>(contract: C) => capturingClient(contract, (values) => (sent = values));
  const clients = {
    agents: connect(AgentsServiceDefinition),
    auth: connect(AuthServiceDefinition),
    deployments: connect(DeploymentsServiceDefinition),
    vaults: connect(VaultsServiceDefinition),
    files: connect(FilesServiceDefinition),
    sessions: connect(SessionsServiceDefinition),
  };
  const config = { ...readSettings(settings, {}, []), authMode: 'local' as const };
  const { app, setListeningUrl } = await createApp({ ...standaloneContext(), clients }, config);
  setListeningUrl(new URL(ORIGIN));
  const send = async ({ method }: JsonRoute, url: string, body: unknown) => {
    sent = [];
    const headers = { host: new URL(ORIGIN).host, 'idempotency-key': GIVEN };
    const payload = body === undefined ? {} : { payload: body as object };
    const { statusCode, body: text } = await app.inject({ method, url, headers, ...payload });
    // A captured request is answered with 500, and routes without a call with 200.
    expect([200, 500], `${method} ${url}: ${text}`).toContain(statusCode);
    return sent;
  };
  const added = new Set<string>();
  for (const route of ROUTES) {
    if (isRaw(route)) continue;
    for (const schema of bodySchemas(route))
      for (const text of await addedBy(send, route, schema)) added.add(text);
  }
  await app.close();
  return [...added].toSorted();
}

/** Returns `<message>.<field>=<value>` for each comment `Edge default: <value>.` of a contract. */
async function statedDefaults(): Promise<string[]> {
  const stated: string[] = [];
  for (const { proto } of registry.files) {
    if (!proto.package.startsWith('ahs.')) continue;
    const text = await readFile(join(PROTO, proto.name), 'utf8');
    const before = stated.length;
    let message = '';
    let value: string | undefined;
    for (const line of text.split('\n')) {
      message = /^message (\w+)/.exec(line)?.[1] ?? message;
      value = /\/\/ .*Edge default: (\S+)\.$/.exec(line)?.[1] ?? value;
      const field = /^ {2}[\w.<>, ]+ (\w+) = \d+;/.exec(line)?.[1];
      if (field === undefined) continue;
      if (value !== undefined) stated.push(`${proto.package}.${message}.${field}=${value}`);
      value = undefined;
    }
    const comments = text.match(/Edge default/g)?.length ?? 0;
    expect(stated.length - before, proto.name).toBe(comments);
  }
  return stated.toSorted();
}

it('the contracts state every default that the edge adds to a request, and no other', async () => {
  const added = await addedDefaults();
  expect(added.length).toBeGreaterThan(10);
  expect(await statedDefaults()).toEqual(added);
});
