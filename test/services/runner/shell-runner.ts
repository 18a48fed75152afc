import { until } from '../../support/wait.ts';
import { type Journal, type QueuedTurn, queuedTurn } from './fake-sessions.ts';
import { dataOf, openTestRunner, type RunnerSettings, type RunnerUnderTest } from './runner-fixture.ts';
import { openSimulatedProviders, type SimulatedProviders } from './simulated-providers.ts';

export interface ToolResult {
  output: string;
  is_error: boolean;
  workspace_version: number | undefined;
}

/** A runner with simulated sandboxes and an agent whose model runs the commands of the prompt. */
export interface ShellRunner extends RunnerUnderTest {
  simulated: SimulatedProviders;
  /** Starts a turn that runs commands one after the other. */
  startTurn(turn: Partial<QueuedTurn> & { turnId: string }, ...commands: string[]): void;
  /** Starts such a turn in a session, and returns the results of the commands when it has ended. */
  run(sessionId: string, ...commands: string[]): Promise<ToolResult[]>;
  /** Starts a turn with an endless command. Returns its id when the command runs. */
  startEndless(sessionId: string, before?: string): Promise<string>;
  /** Returns the paths of the sandbox directories. */
  sandboxDirectories(): string[];
  /** Returns the paths of all files and directories of sandboxes. */
  filesOnDisk(): string[];
}

export async function openShellRunner(settings: RunnerSettings = {}): Promise<ShellRunner> {
  await using opening = new AsyncDisposableStack();
  const simulated = opening.use(openSimulatedProviders());
  const runner = opening.use(await openTestRunner({ sandboxes: simulated.providers, ...settings }));
  const opened = opening.move();
  let turns = 0;
  const shell: ShellRunner = Object.assign(Object.create(runner), {
    simulated,
    startTurn(turn: Partial<QueuedTurn> & { turnId: string }, ...commands: string[]) {
      const text = commands.map((command) => `$ ${command}`).join('\n');
      runner.queueTurns({ model: 'rehearsal/shell' }, { ...queuedTurn(turn.turnId, text), ...turn });
    },
    async run(sessionId: string, ...commands: string[]) {
      const turnId = `trn_run_${++turns}`;
      shell.startTurn({ turnId, sessionId }, ...commands);
      return resultsOf(await runner.waitForOutcome(turnId));
    },
    async startEndless(sessionId: string, before = ':') {
      const turnId = `trn_endless_${++turns}`;
      const marker = `running-${turnId}`;
      shell.startTurn({ turnId, sessionId }, `${before}; touch ${marker}; while true; do sleep 0.05; done`);
      const isRunning = () => shell.filesOnDisk().some((path) => path.endsWith(`/${marker}`));
      await until('the command runs', () => isRunning());
      return turnId;
    },
    filesOnDisk: () => simulated.files(),
    sandboxDirectories: () => shell.filesOnDisk().filter((path) => /\/sbx_[0-9A-Z]+$/.test(path)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  });
  return shell;
}

/** Returns the results of the tool calls of a turn. */
export function resultsOf(journal: Journal): ToolResult[] {
  return dataOf<ToolResult>(journal, 'agent.tool_result');
}
