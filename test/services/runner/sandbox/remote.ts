import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type {
  Command,
  CommandEnd,
  LimitsInForce,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
} from '../../../../services/runner/sandbox/sandbox.ts';
import type { FileFacts, Scan, TreeIndex, WorkspaceTree } from '../../../../services/runner/sandbox/tree.ts';

export interface Ask {
  id: number;
  method: string;
  args: unknown[];
}

export interface HostOptions {
  /** The addresses that names have in a limited network. */
  names?: Record<string, string[]>;
  /** The port of the server that answers at all of them. */
  upstream?: number;
  hidden?: string[];
  shown?: string[];
}

export interface Answer {
  sandboxId: string;
  provider: SandboxProvider['name'];
  limits: LimitsInForce;
}

export type Told =
  | { kind: 'here' }
  | { kind: 'answer'; id: number; value?: unknown; failure?: { message: string; code: string | undefined } }
  | { kind: 'log'; text: string }
  | { kind: 'output'; id: number; bytes: Uint8Array; stream: 'stdout' | 'stderr' };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  output?: Command['output'] | undefined;
}

/** A runner in a process of its own, as far as sandboxes go. */
export class Runner implements AsyncDisposable {
  readonly process: ChildProcess;
  /** The lines that it has logged. */
  readonly log: string[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  private constructor(process: ChildProcess) {
    this.process = process;
    process.on('message', (told: Told) => this.#hear(told));
    process.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the runner has ended'));
    });
  }

  /** `before` is what stands before its program, so that it is another user. */
  static async start(before: readonly string[]): Promise<Runner> {
    const [program = process.execPath, ...args] = [
      ...before,
      process.execPath,
      join(import.meta.dirname, 'host.ts'),
    ];
    const child = spawn(program, args, {
      // What a service has in its environment, and nobody else may see.
      env: { ...process.env, SERVICE_SECRET: 'only-the-service-knows' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    await once(child, 'message');
    return new Runner(child);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  ask<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#ask(method, args).answer as Promise<T>;
  }

  async openProvider(directory: string, more: HostOptions = {}): Promise<SandboxProvider> {
    await this.ask('open', directory, more);
    const known = (answer: Answer | undefined) => answer && this.#sandbox(answer);
    return {
      name: 'bubblewrap',
      create: async (spec: SandboxSpec) => this.#sandbox(await this.ask<Answer>('create', spec)),
      attach: async (spec: SandboxSpec) => known(await this.ask<Answer | undefined>('attach', spec)),
      sweep: (kept) => this.ask('sweep', kept),
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
    if (!this.process.connected) throw new Error('the runner has ended');
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, output });
    });
    this.process.send({ id, method, args } satisfies Ask);
    return { id, answer };
  }

  #hear(told: Told): void {
    if (told.kind === 'here') return;
    if (told.kind === 'log') {
      this.log.push(told.text);
      return;
    }
    const waiting = this.#waiting.get(told.id);
    if (told.kind === 'output') {
      waiting?.output?.(told.bytes, told.stream);
      return;
    }
    this.#waiting.delete(told.id);
    const { failure } = told;
    if (failure) waiting?.reject(Object.assign(new Error(failure.message), { code: failure.code }));
    else waiting?.resolve(told.value);
  }

  #sandbox({ sandboxId, provider, limits }: Answer): Sandbox {
    return {
      sandboxId,
      provider,
      limits,
      workspace: async (workspaceId) => {
        await this.ask('workspace', sandboxId, workspaceId);
        return this.#tree(`${sandboxId} ${workspaceId}`);
      },
      run: async ({ signal, output, ...command }) => {
        const { id, answer } = this.#ask('run', [sandboxId, command, signal.aborted], output);
        const stop = () => this.process.connected && this.process.send({ stop: id });
        signal.addEventListener('abort', stop, { once: true });
        return (await answer) as CommandEnd;
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
      remove: (path) => ask('tree', key, 'remove', path),
      makeDirectory: (path) => ask('tree', key, 'makeDirectory', path),
      putSymlink: (path, target) => ask('tree', key, 'putSymlink', path, target),
      async putFile(path: string, content: AsyncIterable<Uint8Array>, about: FileFacts) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of content) chunks.push(chunk);
        await ask('putFile', key, path, Buffer.concat(chunks), about);
      },
      async scan(seen) {
        const answer = await ask<{ scan: Scan; seen: TreeIndex }>('scan', key, seen);
        replace(seen, answer.seen);
        return answer.scan;
      },
      async note(seen) {
        replace(seen, (await ask<{ seen: TreeIndex }>('note', key, seen)).seen);
      },
      async *read(path) {
        yield await ask<Uint8Array>('read', key, path);
      },
    };
  }
}
