import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../../../lib/clock.ts';
import { createLog } from '../../../../lib/log.ts';
import type { Sandbox, SandboxProvider } from '../../../../services/runner/sandbox/sandbox.ts';
import type { WorkspaceTree } from '../../../../services/runner/sandbox/workspace-tree.ts';
import { openBubblewrap } from '../../../../services/runner/sandbox-providers/bubblewrap/open.ts';
import { readDiskSpace } from '../../../../services/runner/sandbox-providers/space/disk-reserve.ts';
import { SpaceMonitor } from '../../../../services/runner/sandbox-providers/space/space-monitor.ts';
import type {
  ProviderMessage,
  ProviderProcessOptions,
  ProviderRequest,
  RemoteSandbox,
} from './remote-provider.ts';
import { ids } from './run-script.ts';
import { DEFAULT_LIMITS, openSkillDirectory } from './space-fixture.ts';

/**
 * Program that serves a bubblewrap provider to a test over IPC. It can run as another user than the test, and the test
 * can kill it.
 */
const sandboxes = new Map<string, Sandbox>();
const trees = new Map<string, WorkspaceTree>();
const commands = new Map<number, AbortController>();
let provider: SandboxProvider;

process.on('message', (message: ProviderRequest | { stop: number }) => {
  if ('stop' in message) commands.get(message.stop)?.abort();
  else void reply(message);
});
process.on('disconnect', () => process.exit());
send({ kind: 'ready' });

async function reply({ id, method, args }: ProviderRequest): Promise<void> {
  try {
    send({ kind: 'answer', id, value: await methods[method]?.(id, ...args) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    send({
      kind: 'answer',
      id,
      failure: { message: `${error instanceof Error ? error.message : error}${cause}`, code },
    });
  }
}

function send(message: ProviderMessage): void {
  process.send?.(message);
}

const register = (sandbox: Sandbox): RemoteSandbox => {
  sandboxes.set(sandbox.sandboxId, sandbox);
  const { sandboxId, limits } = sandbox;
  return { sandboxId, provider: sandbox.provider, limits };
};

// biome-ignore lint/suspicious/noExplicitAny: the arguments match the calls in remote-provider.ts
const methods: Record<string, (id: number, ...args: any[]) => Promise<unknown>> = {
  async open(
    _,
    directory: string,
    { names = {}, upstream = 0, limits, totalBytes, ...more }: ProviderProcessOptions,
  ) {
    const log = createLog({
      level: 'info',
      destination: { write: (text) => send({ kind: 'log', text }) },
    });
    // Resolves the names of the test only, and connects to its server for every address.
    const dialer = {
      resolve: async (host: string) => names[host] ?? [],
      dial: () => connect({ host: '127.0.0.1', port: upstream }),
    };
    mkdirSync(directory, { recursive: true });
    const monitor = new SpaceMonitor({
      readDisk: () => readDiskSpace(directory),
      clock: systemClock,
      totalBytes,
    });
    const skillDirectory = openSkillDirectory(join(directory, 'skills')).path;
    const settings = { directory, skillDirectory, firstUid: 1_900_000_000, clock: systemClock };
    const opened = await openBubblewrap({
      readableDirectories: [],
      hiddenPaths: [],
      ...settings,
      ids,
      log,
      dialer,
      egressMetrics: { noteRequest() {} },
      monitor,
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...more,
    });
    if ('reason' in opened) throw new Error(opened.reason);
    provider = opened.provider;
  },
  create: async (_, spec) => register(await provider.create(spec)),
  sweep: () => provider.sweep(),
  async run(id, sandboxId: string, command, isStopped: boolean) {
    const abort = new AbortController();
    if (isStopped) abort.abort();
    commands.set(id, abort);
    const output = (bytes: Uint8Array, stream: 'stdout' | 'stderr') =>
      send({ kind: 'output', id, bytes, stream });
    try {
      return await sandboxes.get(sandboxId)?.run({ ...command, output, signal: abort.signal });
    } finally {
      commands.delete(id);
    }
  },
  removeWorkspace: async (_, sandboxId: string, workspaceId: string) =>
    sandboxes.get(sandboxId)?.removeWorkspace(workspaceId),
  suspend: async (_, sandboxId: string) => sandboxes.get(sandboxId)?.suspend(),
  resume: async (_, sandboxId: string) => sandboxes.get(sandboxId)?.resume(),
  destroy: async (_, sandboxId: string) => sandboxes.get(sandboxId)?.destroy(),
  async workspace(_, sandboxId: string, workspaceId: string) {
    const tree = await sandboxes.get(sandboxId)?.workspace(workspaceId);
    if (tree) trees.set(`${sandboxId} ${workspaceId}`, tree);
  },
  async tree(_, key: string, method: 'clear' | 'remove' | 'makeDirectory' | 'putSymlink', ...args: string[]) {
    const tree = trees.get(key);
    const [path = '', target = ''] = args;
    if (method === 'clear') await tree?.clear();
    else if (method === 'putSymlink') await tree?.putSymlink(path, target);
    else await tree?.[method](path);
  },
  async putFile(_, key: string, path: string, content: Uint8Array, about) {
    await trees.get(key)?.putFile(path, once(content), about);
  },
  requireSpace: async (_, key: string, size) => trees.get(key)?.requireSpace(size),
  listChanges: async (_, key: string, seen, max: number) => trees.get(key)?.listChanges(seen, max),
  async scan(_, key: string, seen) {
    return { scan: await trees.get(key)?.scan(seen), seen };
  },
  async note(_, key: string, seen) {
    await trees.get(key)?.updateIndex(seen);
    return { seen };
  },
  async read(_, key: string, path: string) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of trees.get(key)?.read(path) ?? []) chunks.push(chunk);
    return Buffer.concat(chunks);
  },
};

async function* once(content: Uint8Array) {
  yield content;
}
