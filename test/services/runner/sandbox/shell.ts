import { systemClock } from '../../../../lib/clock.ts';
import { createIds } from '../../../../lib/ids.ts';
import type {
  Command,
  CommandEnd,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
} from '../../../../services/runner/sandbox/sandbox.ts';

export const ids = createIds(systemClock);

export function specOf(spec: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    sandboxId: ids('sbx'),
    limits: {},
    network: { mode: 'none', allowedHosts: [] },
    variables: {},
    image: '',
    ...spec,
  };
}

export interface Printed {
  stdout: string;
  stderr: string;
  end: CommandEnd;
}

/** Runs a script to its end, and keeps what it prints. */
export async function sh(sandbox: Sandbox, script: string, more: Partial<Command> = {}): Promise<Printed> {
  const said = { stdout: '', stderr: '' };
  const end = await sandbox.run({
    script,
    workspaceId: workspaceOf(sandbox),
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    maxOutputBytes: 4 * 1024 * 1024,
    output: (bytes, stream) => {
      said[stream] += Buffer.from(bytes).toString();
    },
    ...more,
  });
  return { ...said, end };
}

/** The workspace that a sandbox has in tests which need only one. */
export const workspaceOf = ({ sandboxId }: Sandbox): string => sandboxId.replace('sbx', 'wsp');

/** Makes sandboxes, and removes them after the test. */
export class Sandboxes implements AsyncDisposable {
  readonly provider: SandboxProvider;
  readonly #made = new Set<Sandbox>();

  constructor(provider: SandboxProvider) {
    this.provider = provider;
  }

  async make(spec: Partial<SandboxSpec> = {}): Promise<Sandbox> {
    const sandbox = await this.provider.create(specOf(spec));
    this.#made.add(sandbox);
    return sandbox;
  }

  /** They are removed by others. */
  forget(): void {
    this.#made.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const sandbox of this.#made) await sandbox.destroy();
  }
}
