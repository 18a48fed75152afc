import { expect } from 'vitest';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { ConnectionRun } from '../../../services/channels/connections/connection-run.ts';
import type { EventReceiver, ProductClient } from '../../../services/channels/products/product.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { CONFIG, createFakeDeployments } from './fake-deployments.ts';

const NEVER = async () => {
  throw new Error('not used');
};
const IDENTITY = {
  ...{ botId: 'B1', botProfileId: '', name: 'agent', appId: '' },
  ...{ teamId: 'T1', teamName: '' },
};
const PAUSE_LIMIT_MS = 5_000;

interface Connection {
  receiver: EventReceiver;
  /** Ends it as the product does, or with an error of its client. */
  end(error?: Error): void;
}

/** A run at a product whose connections last until they are ended. The random part of each delay is 0. */
export function openConnectionRun({
  remove = false,
  resumeState = '',
  client: more = {} as Partial<ProductClient>,
} = {}) {
  const fakeClock = createFakeClock();
  /** The durations of the timers so far. */
  const timers: number[] = [];
  const clock: FakeClock = {
    now: fakeClock.now,
    advance: fakeClock.advance,
    get pending() {
      return fakeClock.pending;
    },
    after(ms, callback) {
      timers.push(ms);
      return fakeClock.after(ms, callback);
    },
  };
  const context = createContext('', { clock });
  const deployments = createFakeDeployments(context);
  const connections: Connection[] = [];
  const requests: string[] = [];
  let isReleased = false;
  const client: ProductClient = {
    ...{ isReceiving: true, probe: NEVER, createPost: NEVER, editPost: NEVER, deletePost: NEVER },
    ...{ uploadFile: NEVER, downloadFile: NEVER, answer: NEVER, close: async () => {} },
    async me() {
      requests.push('me');
      return IDENTITY;
    },
    async register() {
      requests.push('register');
    },
    async unregister() {
      requests.push('unregister');
    },
    connect: (receiver, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        connections.push({ receiver, end: (error) => (error ? reject(error) : resolve()) });
      }),
    ...more,
  };
  const requestId = 'req_claim';
  const call = {
    ...({
      contract: DeploymentsServiceDefinition,
      method: 'claimWork',
      peer: 'channels',
      requestId,
    } as const),
  };
  const sealed =
    resumeState &&
    createPeerSealer('deployments', context.serviceSecret).sealBytes(Buffer.from(resumeState), call);
  const run = new ConnectionRun(
    { deploymentId: 'dep_1', fence: 1, remove, resumeState: sealed || undefined },
    {
      channel: {
        ...{ deploymentId: 'dep_1', agentId: 'agt_1', agentName: 'Echo', provider: 'slack', config: CONFIG },
        ...{ revision: 1, publicUrl: '', product: { provider: 'slack' } as never, client },
      },
      release: () => {
        isReleased = true;
      },
    },
    clock.now().getTime() + 30_000,
    {
      ...{ clock, ids: context.ids, log: context.log, deployments: deployments.client, random: () => 0 },
      ...{ sealer: createPeerSealer('channels', context.serviceSecret), workerId: 'wrk_1', fileMaxBytes: 1 },
      ...{ sessions: NEVER as never, files: NEVER as never },
    },
    requestId,
  );
  const ended = run.run();
  const pausesFor = (ms: number) =>
    until(`the run pauses for ${ms} ms`, () => timers.at(-1) === ms, PAUSE_LIMIT_MS);
  const reports = () => deployments.connectionReports.map(({ state, error }) => [state, error]);
  return {
    ...{ clock, deployments, connections, requests, run, ended, reports, pausesFor },
    isReleased: () => isReleased,
    connection: (number: number) => until(`connection ${number} opens`, () => connections[number - 1]),
    reported: (count: number) => until(`${count} reports`, () => reports().length === count),
    /** Waits until the run pauses for this time, and checks that it then opens the next connection. */
    async expectPause(ms: number) {
      const { length } = connections;
      await pausesFor(ms);
      expect(connections).toHaveLength(length);
      clock.advance(ms);
      await until('the connection is opened again', () => connections.length === length + 1);
    },
  };
}
