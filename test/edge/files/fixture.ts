import { settings } from '../../../edge/config.ts';
import { openEdge } from '../../../edge/server.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { createKeyDeriver } from '../../../lib/derived-key.ts';
import { readSettings } from '../../../lib/env/read-settings.ts';
import type { Contract } from '../../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { createIds } from '../../../lib/ids.ts';
import { createLog } from '../../../lib/log.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { silentTracer } from '../../../lib/telemetry/tracer.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { fakeEndpoint, fakeService } from '../../support/fake-service.ts';
import { identity } from '../../support/identity.ts';
import { createFakeFiles, type FakeFiles } from './fake-files.ts';

export const SESSION = `ses_${'0'.repeat(26)}`;
export const ASSISTANT = `ast_${'0'.repeat(26)}`;

/** An edge with a fake files service, without a database. */
export interface FileFixture extends AsyncDisposable {
  url: string;
  files: FakeFiles;
}

export async function openFileFixture(
  transport: TransportName = 'in process',
  env: Record<string, string> = {},
  /** The clock of the edge. */
  clock: Clock = systemClock,
): Promise<FileFixture> {
  await using stack = new AsyncDisposableStack();
  const context = createContext('');
  const files = createFakeFiles(new Set([SESSION, ASSISTANT]));
  const fake = <C extends Contract>(contract: C) => fakeService(contract, {}, 'edge', context);
  const auth = fakeService(AuthServiceDefinition, { identify: async () => identity() }, 'edge', context);
  const endpoint = fakeEndpoint(FilesServiceDefinition, files.handlers, 'edge', context);
  const connected = stack.use(await connect(FilesServiceDefinition, endpoint, transport, context));
  const edge = await openEdge(
    {
      clock,
      ids: createIds(clock),
      log: createLog({ level: 'error' }),
      bus: context.bus,
      metrics: createMetrics(),
      tracer: silentTracer,
      sealer: createPeerSealer('edge', context.serviceSecret),
      deriveKey: createKeyDeriver(context.serviceSecret),
      clients: {
        auth,
        files: connected.as('edge'),
        agents: fake(AgentsServiceDefinition),
        sessions: fake(SessionsServiceDefinition),
        deployments: fake(DeploymentsServiceDefinition),
        vaults: fake(VaultsServiceDefinition),
      },
      readiness: async () => [],
      backends: [],
      configuration: [],
    },
    { ...readSettings(settings, { SERVICE_PORT: '0', ...env }, []), authMode: 'local' },
  );
  stack.defer(() => edge.stop?.());
  const opened = stack.move();
  return { url: edge.url, files, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
