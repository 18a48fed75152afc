import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Api, type Envelope, sendTrigger } from '../../support/api.ts';

/** Operations of users that the load repeats. */
export const OPERATIONS = ['webhook', 'message', 'command', 'upload', 'download', 'list'] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Load {
  /** Ids of the sessions whose webhook or first message was acknowledged. */
  acknowledged: string[];
  /** Checksums of the acknowledged uploads by path. */
  uploads: ReadonlyMap<string, string>;
  /** Responses that no client can handle: unnamed errors, status 500, lost connections, wrong contents. */
  violations: string[];
  /** Numbers of responses by `operation code`. */
  responses: Record<string, number>;
  /** The time of the last success of each operation, as performance.now(). */
  lastSuccess: Record<Operation, number>;
  /** Reads every acknowledged upload. Returns the paths that are missing or have other contents. */
  lostUploads(): Promise<string[]>;
  stop(): Promise<void>;
}

const PAUSE_MS: Record<Operation, number> = {
  webhook: 15,
  message: 50,
  command: 200,
  upload: 50,
  download: 50,
  list: 50,
};
const MAX_BYTES = 100_000;
/** 408: the edge has closed a connection that had no request for ten seconds, just when the client sent one. */
const AVAILABILITY = new Set([408, 503, 504, 507]);
const AGENT = { model: 'rehearsal/script', model_options: { steps: [{ text: 'answer to {{input}}' }] } };

/** Uploads follow the turn of their session, and a fault may fail a command, so that neither has a known end. */
export const answerTo = (input: string): string | undefined =>
  /^(webhook|message) /.test(input) ? `answer to ${input}` : undefined;

export interface LoadOptions {
  /** Factor for the pauses between the operations of a user. */
  slowdown?: number;
  /** Whether requests may remain without a response at the moment, because the edge itself fails. */
  isEdgeAway?: () => boolean;
}

/** Starts users of every kind on a ready service. */
export async function startLoad(
  api: Api,
  random: () => number,
  { slowdown = 1, isEdgeAway = () => false }: LoadOptions = {},
): Promise<Load> {
  const agent = await api.createAgent(AGENT);
  const webhook = await api.createWebhook(agent);
  const shell = await api.createAgent({ model: 'rehearsal/shell' });
  const files = await openSession(api, agent, 'files');
  const acknowledged: string[] = [files];
  const uploads = new Map<string, string>();
  const violations: string[] = [];
  const responses: Record<string, number> = {};
  const lastSuccess = Object.fromEntries(OPERATIONS.map((name) => [name, 0])) as Record<Operation, number>;
  let stopped = false;

  /** Returns the response when it is a success, and checks it otherwise. */
  async function perform(operation: Operation, send: () => Promise<Response>): Promise<Buffer | undefined> {
    try {
      const response = await send();
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.ok) {
        count(operation, 'OK');
        lastSuccess[operation] = performance.now();
        return bytes;
      }
      const envelope = JSON.parse(bytes.toString()) as Envelope;
      count(operation, envelope.code);
      const { error } = envelope;
      const isNamed = error?.code === envelope.code && error.status_code === response.status;
      if (!isNamed || !AVAILABILITY.has(response.status) || !error.retryable)
        violations.push(`${operation}: ${response.status} ${bytes}`);
    } catch (error) {
      count(operation, 'no response');
      if (!isEdgeAway()) violations.push(`${operation}: ${describe(error)}`);
    }
    return undefined;
  }

  function count(operation: Operation, code: string): void {
    const key = `${operation} ${code}`;
    responses[key] = (responses[key] ?? 0) + 1;
  }

  const request = (method: string, path: string, body?: string | Buffer) =>
    fetch(`${api.origin}/api/v1${path}`, {
      method,
      headers: {
        ...api.credentials,
        'Content-Type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
      },
      ...(body === undefined ? {} : { body }),
    } as RequestInit);
  const converse = (operation: Operation, agentId: string, message: string) =>
    perform(operation, () =>
      request('POST', `/agents/${agentId}/conversations`, JSON.stringify({ message })),
    );
  const download = (path: string) => request('GET', `/sessions/${files}/files/content?path=${path}`);
  let number = 0;

  const users: Record<Operation, () => Promise<unknown>> = {
    async webhook() {
      const body = `webhook ${number++}`;
      const accepted = await perform('webhook', () => sendTrigger(webhook, body));
      if (accepted) acknowledged.push(sessionOf(accepted));
    },
    async message() {
      const accepted = await converse('message', agent, `message ${number++}`);
      if (accepted) acknowledged.push(sessionOf(accepted));
    },
    // Its turn may fail while a part is away, so that only the acknowledgement counts.
    // Its result has a line for each time that it took effect.
    command: () => converse('command', shell, `$ echo command ${number++} >> effects; cat effects`),
    async upload() {
      const path = `f${number++}.bin`;
      const bytes = randomBytes(1 + Math.floor(random() * MAX_BYTES));
      if (
        await perform('upload', () => request('PUT', `/sessions/${files}/files/content?path=${path}`, bytes))
      )
        uploads.set(path, sha256(bytes));
    },
    async download() {
      const paths = [...uploads.keys()];
      const path = paths[Math.floor(random() * paths.length)];
      if (path === undefined) return;
      const bytes = await perform('download', () => download(path));
      if (bytes && sha256(bytes) !== uploads.get(path))
        violations.push(`download: ${path} has other contents`);
    },
    list: () => perform('list', () => request('GET', '/sessions?limit=10')),
  };

  const sending = Promise.all(
    OPERATIONS.map(async (operation) => {
      while (!stopped) {
        await users[operation]();
        await pause(PAUSE_MS[operation] * slowdown);
      }
    }),
  );

  return {
    acknowledged,
    uploads,
    violations,
    responses,
    lastSuccess,
    async lostUploads() {
      const lost: string[] = [];
      for (const [path, checksum] of uploads) {
        const response = await download(path);
        if (!response.ok || sha256(Buffer.from(await response.arrayBuffer())) !== checksum) lost.push(path);
      }
      return lost;
    },
    async stop() {
      stopped = true;
      await sending;
    },
  };
}

async function openSession(api: Api, agent: string, message: string): Promise<string> {
  const { body } = await api.post(`/agents/${agent}/conversations`, { message });
  return String(body.data.session_id);
}

/** The cause of a failed `fetch` is in a member of the error. */
const describe = (error: unknown) =>
  error instanceof Error && error.cause ? `${error}: ${error.cause}` : String(error);
const sessionOf = (response: Buffer) => String((JSON.parse(response.toString()) as Envelope).data.session_id);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
