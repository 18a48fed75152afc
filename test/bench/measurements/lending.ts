import { readSettings } from '../../../lib/env/read-settings.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Client, Contract } from '../../../lib/grpc/contract.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { OpenService, ServiceContext } from '../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { type Lease, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { settings as authSettings } from '../../../services/auth/config.ts';
import { openAuth } from '../../../services/auth/service.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { openVaults } from '../../../services/vaults/service.ts';
import { AGENT, FakeTargets } from '../../services/vaults/fake-targets.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { type Bench, percentile, type Spread, spreadOf } from '../bench.ts';
import type { BenchDatabase } from '../subjects/postgres.ts';

/** Times of Lend. Audit entry, lending and event are durable before it returns. */
export interface Lending {
  /** The first call of a turn. */
  first: Spread;
  /** A later call of the turn, which writes nothing. */
  later: Spread;
  /** Three commits of one row each, one after the other. */
  bareMs: number;
}

const TIMES = 200;
const WARM_UPS = 20;
const KEY = 'the sealing key of the benchmark of lending';
const USER = { userId: 'usr_01M7XYC91CC5TE06JQWDWRTJVA', roles: ['administrator'] };
const OUTBOUND = { kmsSocket: undefined, kmsTimeoutSeconds: 5, isPrivateHost: () => false };
const SESSIONS = {
  ...{ pool: 8, leaseSeconds: 600, approvalTtlSeconds: 600, maxFailures: 2, maxTurnsPerAgent: 10_000 },
  ...{ quotaTurnsPerDay: 0, purgeAfterSeconds: 3_600 },
};

/** n': lending by the services vaults, sessions and auth, in this process, over the in-process transport. */
export async function measureLending(bench: Bench): Promise<Lending> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await bench.postgres.createDatabase());
  const context = createContext(database.url);
  const targets = new FakeTargets();
  const open = async (opening: Promise<OpenService>) => stack.adopt(await opening, (one) => one.stop());
  const clientOf = <C extends Contract>(contract: C, self: string, { endpoint }: OpenService): Client<C> =>
    createClient({
      ...{ contract, self, secret: context.serviceSecret, clock: context.clock },
      transport: localTransport(endpoint),
    });
  const agentsFor = (self: string) => {
    const resolveAgent = async () => ({ agentId: AGENT, version: 1 });
    return fakeService(AgentsServiceDefinition, { ...targets.handlers, resolveAgent }, self, context);
  };
  const auth = await open(openAuth(context, readSettings(authSettings, {}, [])));
  const sessions = await open(
    openSessions(context, SESSIONS, {
      agents: agentsFor('sessions'),
      files: fakeService(FilesServiceDefinition, {}, 'sessions', context),
      auth: clientOf(AuthServiceDefinition, 'sessions', auth),
    }),
  );
  const vaults = await open(
    openVaults(
      context,
      { ...OUTBOUND, pool: 4 },
      {
        agents: agentsFor('vaults'),
        auth: clientOf(AuthServiceDefinition, 'vaults', auth),
        sessions: clientOf(SessionsServiceDefinition, 'vaults', sessions),
      },
      { read: async () => KEY, create: async () => KEY },
      () => 'http://127.0.0.1:8080',
    ),
  );
  const { mcpServerId, url } = targets.addServer();
  await createToken(context, clientOf(VaultsServiceDefinition, 'edge', vaults), url);
  const runner = clientOf(VaultsServiceDefinition, 'runner', vaults);
  const startTurn = turnStarter(
    clientOf(SessionsServiceDefinition, 'edge', sessions),
    clientOf(SessionsServiceDefinition, 'runner', sessions),
  );
  const lend = async (lease: Lease): Promise<number> => {
    const startedAt = performance.now();
    const needs = [{ target: { $case: 'mcpServerId' as const, value: mcpServerId } }];
    const { results } = await runner.lend({ lease, needs }, { requestId: context.ids('req') });
    if (results[0]?.result?.$case !== 'lent') throw new Error('the credential was not lent');
    return performance.now() - startedAt;
  };
  await database.run('create table commits (number integer)');
  const [first, later, bare]: [number[], number[], number[]] = [[], [], []];
  for (let time = -WARM_UPS; time < TIMES * bench.scale; time++) {
    const lease = await startTurn();
    const times = [await lend(lease), await lend(lease), await commit(database)] as const;
    if (time < 0) continue;
    for (const [index, list] of [first, later, bare].entries()) list.push(times[index] ?? 0);
  }
  const lending = { first: spreadOf(first), later: spreadOf(later), bareMs: percentile(bare, 0.5) };
  const shown = (ms: number) => `${ms.toFixed(2)} ms`;
  const { p50Ms } = lending.first;
  bench.print(
    "n'",
    `lend: first in a turn ${shown(p50Ms)}, later ${shown(lending.later.p50Ms)}, three commits ${shown(lending.bareMs)}`,
  );
  return lending;
}

async function commit(database: BenchDatabase): Promise<number> {
  const startedAt = performance.now();
  for (let row = 0; row < 3; row++) await database.run(`insert into commits values (${row})`);
  return performance.now() - startedAt;
}

/** Stores a bearer token for the server in a vault of the agent. */
async function createToken(
  { ids, serviceSecret }: ServiceContext,
  edge: Client<typeof VaultsServiceDefinition>,
  mcpServerUrl: string,
): Promise<void> {
  const caller = USER;
  const request = { name: 'Vault', description: '', enabled: true, idempotencyKey: '' };
  const { vault } = await edge.createVault(request, { caller });
  const vaultId = vault?.vaultId ?? '';
  const requestId = ids('req');
  const call = {
    ...{ contract: VaultsServiceDefinition, peer: 'vaults', requestId },
    method: 'createCredential' as const,
  };
  const secret = createPeerSealer('edge', serviceSecret).seal({ token: 'a-token-of-the-benchmark' }, call);
  const credential = {
    ...{ vaultId, label: '', type: 'bearer', mcpServerUrl, allowedHosts: [], public: undefined },
    ...{ secret, idempotencyKey: '', expiresAt: undefined },
  };
  await edge.createCredential(credential, { caller, requestId });
  const target = { of: { $case: 'agentId' as const, value: AGENT } };
  await edge.putAssignments({ target, vaultIds: [vaultId], ifRevisions: undefined }, { caller });
}

function turnStarter(
  edge: Client<typeof SessionsServiceDefinition>,
  runner: Client<typeof SessionsServiceDefinition>,
): () => Promise<Lease> {
  const contentJson = JSON.stringify([{ type: 'text', text: 'hello' }]);
  const request = { agentId: AGENT, contentJson, title: '', metadata: {}, idempotencyKey: '' };
  return async () => {
    await edge.createConversation(request, { caller: USER });
    for (;;) {
      const { turns } = await runner.claimTurns({ runnerId: 'rnr_1', slots: 1, waitMs: 0 });
      const [turn] = turns;
      if (turn) return { sessionId: turn.sessionId, turnId: turn.turnId, fence: turn.fence };
    }
  };
}
