import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type {
  Command,
  CommandResult,
  EffectiveLimits,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
} from '../../../../services/runner/sandbox/sandbox.ts';
import type {
  FileAttributes,
  ScanResult,
  TreeIndex,
  WorkspaceTree,
} from '../../../../services/runner/sandbox/workspace-tree.ts';
import type { SpaceLimits } from '../../../../services/runner/sandbox-providers/space/space-limits.ts';

export interface ProviderRequest {
  id: number;
  method: string;
  args: unknown[];
}

export interface ProviderProcessOptions {
  /** Addresses by host name, for limited networks. */
  names?: Record<string, string[]>;
  /** The port of the local server that receives connections to all addresses. */
  upstream?: number;
  hiddenPaths?: string[];
  readableDirectories?: string[];
  limits?: Partial<SpaceLimits>;
  /** Limit of all copies together. */
  totalBytes?: number;
}

export interface RemoteSandbox {
  sandboxId: string;
  provider: SandboxProvider['name'];
  limits: EffectiveLimits;
}

export type ProviderMessage =
  | { kind: 'ready' }
  | { kind: 'answer'; id: number; value?: unknown; failure?: { message: string; code: string | undefined } }
  | { kind: 'log'; text: string }
  | { kind: 'output'; id: number; bytes: Uint8Array; stream: 'stdout' | 'stderr' };

interface PendingRequest {
  resolve(value: unknown): void;
  reject(error: Error): void;
  output?: Command['output'] | undefined;
}

/** A process that serves a bubblewrap provider, as a runner does. */
export class RunnerProcess implements AsyncDisposable {
  readonly process: ChildProcess;
  /** Its log lines. */
  readonly log: string[] = [];
  readonly #waiting = new Map<number, PendingRequest>();
  #last = 0;

  private constructor(process: ChildProcess) {
    this.process = process;
    process.on('message', (message: ProviderMessage) => this.#receive(message));
    process.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The runner process has ended.'));
    });
  }

  /** `prefix` is a command that runs the program as another user. */
  static async start(prefix: readonly string[]): Promise<RunnerProcess> {
    const [program = process.execPath, ...args] = [
      ...prefix,
      process.execPath,
      join(import.meta.dirname, 'provider-process.ts'),
    ];
    const child = spawn(program, args, {
      // A secret of the service, which commands must not see.
      env: { ...process.env, SERVICE_SECRET: 'only-the-service-knows' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    await once(child, 'message');
    return new RunnerProcess(child);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  ask<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#ask(method, args).answer as Promise<T>;
  }

  async openProvider(directory: string, more: ProviderProcessOptions = {}): Promise<SandboxProvider> {
    await this.ask('open', directory, more);
    return {
      name: 'bubblewrap',
      create: async (spec: SandboxSpec) => this.#sandbox(await this.ask<RemoteSandbox>('create', spec)),
      sweep: () => this.ask('sweep'),
    };
  }

  async kill(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill();
  }

  #ask(method: string, args: unknown[], output?: Command['output']) {
    const id = ++this.#last;
    if (!this.process.connected) throw new Error('The runner process has ended.');
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, output });
    });
    this.process.send({ id, method, args } satisfies ProviderRequest);
    return { id, answer };
  }

  #receive(message: ProviderMessage): void {
    if (message.kind === 'ready') return;
    if (message.kind === 'log') {
      this.log.push(message.text);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (message.kind === 'output') {
      waiting?.output?.(message.bytes, message.stream);
      return;
    }
    this.#waiting.delete(message.id);
    const { failure } = message;
    if (failure) waiting?.reject(Object.assign(new Error(failure.message), { code: failure.code }));
    else waiting?.resolve(message.value);
  }

  #sandbox({ sandboxId, provider, limits }: RemoteSandbox): Sandbox {
    return {
      sandboxId,
      provider,
      limits,
      workspace: async (workspaceId) => {
        await this.ask('workspace', sandboxId, workspaceId);
        return this.#tree(`${sandboxId} ${workspaceId}`);
      },
      removeWorkspace: (workspaceId) => this.ask('removeWorkspace', sandboxId, workspaceId),
      run: async ({ signal, output, ...command }) => {
        const { id, answer } = this.#ask('run', [sandboxId, command, signal.aborted], output);
        const stop = () => this.process.connected && this.process.send({ stop: id });
        signal.addEventListener('abort', stop, { once: true });
        return (await answer) as CommandResult;
      },
      suspend: () => this.ask('suspend', sandboxId),
      resume: () => this.ask('resume', sandboxId),
      destroy: () => this.ask('destroy', sandboxId),
    };
  }

  #tree(key: string): WorkspaceTree {
    const ask = this.ask.bind(this);
    const replace = (seen: TreeIndex, now: TreeIndex) => {
      seen.clear();
      for (const [path, one] of now) seen.set(path, one);
    };
    return {
      clear: () => ask('tree', key, 'clear'),
      requireSpace: (size) => ask('requireSpace', key, size),
      listChanges: (seen, max) => ask('listChanges', key, seen, max),
      remove: (path) => ask('tree', key, 'remove', path),
      makeDirectory: (path) => ask('tree', key, 'makeDirectory', path),
      putSymlink: (path, target) => ask('tree', key, 'putSymlink', path, target),
      async putFile(path: string, content: AsyncIterable<Uint8Array>, about: FileAttributes) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of content) chunks.push(chunk);
        await ask('putFile', key, path, Buffer.concat(chunks), about);
      },
      async scan(seen) {
        const answer = await ask<{ scan: ScanResult; seen: TreeIndex }>('scan', key, seen);
        replace(seen, answer.seen);
        return answer.scan;
      },
      async updateIndex(seen) {
        replace(seen, (await ask<{ seen: TreeIndex }>('note', key, seen)).seen);
      },
      async *read(path) {
        yield await ask<Uint8Array>('read', key, path);
      },
    };
  }
}
