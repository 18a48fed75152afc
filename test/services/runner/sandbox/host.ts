import { connect } from 'node:net';
import { systemClock } from '../../../../lib/clock.ts';
import { createLog } from '../../../../lib/log.ts';
import { openBubblewrap } from '../../../../services/runner/sandbox/bubblewrap/open.ts';
import type { Sandbox, SandboxProvider } from '../../../../services/runner/sandbox/sandbox.ts';
import type { WorkspaceTree } from '../../../../services/runner/sandbox/tree.ts';
import type { Answer, Ask, HostOptions, Told } from './remote.ts';
import { ids } from './shell.ts';

/**
 * A process with a provider of its own, asked by a test: it can be another user than the test, and it can be killed.
 */
const sandboxes = new Map<string, Sandbox>();
const trees = new Map<string, WorkspaceTree>();
const commands = new Map<number, AbortController>();
let provider: SandboxProvider;

process.on('message', (message: Ask | { stop: number }) => {
  if ('stop' in message) commands.get(message.stop)?.abort();
  else void reply(message);
});
process.on('disconnect', () => process.exit());
tell({ kind: 'here' });

async function reply({ id, method, args }: Ask): Promise<void> {
  try {
    tell({ kind: 'answer', id, value: await methods[method]?.(id, ...args) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    tell({
      kind: 'answer',
      id,
      failure: { message: `${error instanceof Error ? error.message : error}${cause}`, code },
    });
  }
}

function tell(told: Told): void {
  process.send?.(told);
}

const known = (sandbox: Sandbox | undefined): Answer | undefined => {
  if (!sandbox) return undefined;
  sandboxes.set(sandbox.sandboxId, sandbox);
  const { sandboxId, limits } = sandbox;
  return { sandboxId, provider: sandbox.provider, limits };
};

// biome-ignore lint/suspicious/noExplicitAny: both sides are written from the same interface
const methods: Record<string, (id: number, ...args: any[]) => Promise<unknown>> = {
  async open(_, directory: string, { names = {}, upstream = 0, ...more }: HostOptions) {
    const log = createLog({
      level: 'info',
      pretty: false,
      destination: { write: (text) => tell({ kind: 'log', text }) },
    });
    // The internet of a test: names of its choice, and one server behind all of them.
    const outside = {
      resolve: async (host: string) => names[host] ?? [],
      dial: () => connect({ host: '127.0.0.1', port: upstream }),
    };
    const settings = { directory, firstUid: 1_900_000_000, shown: [], hidden: [], clock: systemClock };
    const opened = await openBubblewrap({ ...settings, ids, log, outside, ...more });
    if ('reason' in opened) throw new Error(opened.reason);
    provider = opened.provider;
  },
  create: async (_, spec) => known(await provider.create(spec)),
  attach: async (_, spec) => known(await provider.attach(spec)),
  sweep: (_, kept) => provider.sweep(kept),
  async run(id, sandboxId: string, command, isStopped: boolean) {
    const stop = new AbortController();
    if (isStopped) stop.abort();
    commands.set(id, stop);
    const output = (bytes: Uint8Array, stream: 'stdout' | 'stderr') =>
      tell({ kind: 'output', id, bytes, stream });
    try {
      return await sandboxes.get(sandboxId)?.run({ ...command, output, signal: stop.signal });
    } finally {
      commands.delete(id);
    }
  },
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
  async scan(_, key: string, seen) {
    return { scan: await trees.get(key)?.scan(seen), seen };
  },
  async note(_, key: string, seen) {
    await trees.get(key)?.note(seen);
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
