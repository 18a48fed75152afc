import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Span, SpanOptions, Tracer } from '../../../lib/telemetry/tracer.ts';
import { startTrace } from '../../../lib/trace.ts';
import {
  GetSessionCredentialsResponse,
  LendResponse,
  ReportRefusalResponse,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { Canaries, databaseDump } from '../../support/canaries.ts';
import { type RecordedTraffic, recordTraffic } from '../../support/recorded-traffic.ts';
import { runOn } from '../../support/sql.ts';
import { AGENT } from './fake-targets.ts';
import { host, model, modelKey, variable, variableMembers } from './shared-credentials.ts';
import { administrator, openVaultsSystem, type VaultsSystem } from './system.ts';

/** A tracer that keeps the names and attributes of all spans. */
function recordSpans(): { tracer: Tracer; spans: unknown[] } {
  const spans: unknown[] = [];
  const start = (name: string, { attributes, ...options }: SpanOptions = {}): Span => {
    spans.push(name, attributes);
    return {
      trace: options.parent ?? startTrace(),
      silent: false,
      set: (added) => void spans.push(added),
      rename: (renamed) => void spans.push(renamed),
      link: () => {},
      end: (error) => void spans.push(error),
    };
  };
  const beginShared: Tracer['beginShared'] = (name, _, options) => start(name, options);
  return { tracer: { silent: false, begin: start, beginShared }, spans };
}

const SERVER_TYPES = [
  { type: 'bearer', secret: 'token', public: undefined },
  { type: 'header', secret: 'value', public: { $case: 'header' as const, value: { name: 'X-Key' } } },
  { type: 'basic', secret: 'password', public: { $case: 'basic' as const, value: { username: 'deploy' } } },
];

/** The credentials that sandboxes and models use, each with its need. */
const NAMED = [
  {
    secret: 'token',
    members: { type: 'bearer', host: 'attached.example.org' },
    need: host('attached.example.org'),
  },
  {
    secret: 'value',
    members: variableMembers('API_KEY', ['variable.example.org']),
    need: variable('API_KEY', 'variable.example.org'),
  },
  { secret: 'key', members: modelKey('anthropic'), need: model('anthropic') },
];

describe('secrets of lent credentials', () => {
  const canaries = new Canaries();
  const { tracer, spans } = recordSpans();
  const stack = new AsyncDisposableStack();
  const answers: Uint8Array[] = [];
  const opened: string[] = [];
  let traffic: RecordedTraffic;
  let system: VaultsSystem;

  beforeAll(async () => {
    const callThrough = async (port: number) => {
      traffic = stack.use(await recordTraffic(port));
      return traffic.port;
    };
    system = stack.use(await openVaultsSystem('call streams', { tracer, callThrough }));
    const { vaultId } = await system.createVault();
    const target = { of: { $case: 'agentId' as const, value: AGENT } };
    await system.edge.putAssignments({ target, vaultIds: [vaultId], ifRevisions: undefined }, administrator);
    const servers = SERVER_TYPES.map(({ type, secret, public: of }) => {
      const { mcpServerId, url } = system.targets.addServer();
      return {
        secret,
        members: { type, mcpServerUrl: url, public: of && { of } },
        need: system.needOf(mcpServerId),
      };
    });
    for (const { secret, members, need } of [...servers, ...NAMED]) {
      const create = (name: string) => canaries.create(`${members.type}-${name}`);
      const { credential } = await system.createCredential(
        { vaultId, ...members },
        { [secret]: create('first') },
      );
      const lease = system.leases.lease();
      const call = { requestId: system.context.ids('req') };
      const lent = await system.runner.lend({ lease, needs: [need] }, call);
      answers.push(LendResponse.encode(lent).finish());
      await system.updateCredential(credential!, {}, { [secret]: create('second') });
      const refusal = await system.runner.reportRefusal(
        {
          ...{ lease, need, credentialId: credential!.credentialId },
          ...{ generation: 1, status: 401, wwwAuthenticate: 'Bearer' },
        },
        { requestId: system.context.ids('req') },
      );
      answers.push(ReportRefusalResponse.encode(refusal).finish());
      const described = await system.runner.getSessionCredentials({ lease });
      answers.push(GetSessionCredentialsResponse.encode(described).finish());
      const [result] = await system.lendFor(lease, [need]);
      opened.push(JSON.stringify(result));
      system.auditLog.failsToRecord = true;
      await system.lendFor(system.leases.lease(), [need]).catch(() => {});
      system.auditLog.failsToRecord = false;
      await runOn(
        system.databaseUrl,
        `update vaults.credentials set sealed = '\\x00' where credential_id = '${credential!.credentialId}'`,
      );
      await system.lendFor(system.leases.lease(), [need]);
    }
  });
  afterAll(() => stack.disposeAsync());

  it('reach the runner in the headers or the value of each type', () => {
    expect(opened).toHaveLength(SERVER_TYPES.length + NAMED.length);
    for (const lent of opened) expect(lent).toMatch(/canary|Basic/);
  });

  it('are in no answer and not in the traffic between processes', () => {
    const bytes = traffic.bytes();
    for (const text of ['X-Key', 'deploy', AGENT]) expect(bytes.includes(text), text).toBe(true);
    expect(canaries.in(bytes)).toEqual([]);
    for (const answer of answers) expect(canaries.in(answer)).toEqual([]);
  });

  it('are in no log line, span, audit entry, journaled use or table', async () => {
    expect(spans).toEqual(expect.arrayContaining(['lending.shared', 'lending.named', 'lending.assigned']));
    const seen = [system.lines, spans, system.auditLog.acts, system.auditLog.data, system.leases.uses];
    expect(canaries.in(JSON.stringify(seen))).toEqual([]);
    for (const { table, row } of await databaseDump(system.databaseUrl))
      expect(canaries.in(row), table).toEqual([]);
  });
});
