import { systemClock } from '../../../../lib/clock.ts';
import { createIds } from '../../../../lib/ids.ts';
import type {
  Command,
  CommandResult,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
} from '../../../../services/runner/sandbox/sandbox.ts';

export const ids = createIds(systemClock);

export function sandboxSpec(spec: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    sandboxId: ids('sbx'),
    limits: {},
    network: { mode: 'none', allowedHosts: [] },
    variables: {},
    image: '',
    ...spec,
  };
}

export interface CompletedScript {
  stdout: string;
  stderr: string;
  end: CommandResult;
}

/** Runs a script, and returns its result with the output. */
export async function runScript(
  sandbox: Sandbox,
  script: string,
  more: Partial<Command> = {},
): Promise<CompletedScript> {
  const printed = { stdout: '', stderr: '' };
  const end = await sandbox.run({
    script,
    workspaceId: workspaceIdOf(sandbox),
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    maxOutputBytes: 4 * 1024 * 1024,
    output: (bytes, stream) => {
      printed[stream] += Buffer.from(bytes).toString();
    },
    ...more,
  });
  return { ...printed, end };
}

/** Returns the id of the workspace for tests that use one workspace per sandbox. */
export const workspaceIdOf = ({ sandboxId }: Sandbox): string => sandboxId.replace('sbx', 'wsp');

/** Creates sandboxes, and destroys them after the test. */
export class SandboxFixture implements AsyncDisposable {
  readonly provider: SandboxProvider;
  readonly #created = new Set<Sandbox>();

  constructor(provider: SandboxProvider) {
    this.provider = provider;
  }

  async create(spec: Partial<SandboxSpec> = {}): Promise<Sandbox> {
    const sandbox = await this.provider.create(sandboxSpec(spec));
    this.#created.add(sandbox);
    return sandbox;
  }

  /** Stops tracking the sandboxes, so they are not destroyed after the test. */
  forget(): void {
    this.#created.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const sandbox of this.#created) await sandbox.destroy();
  }
}
