import { until } from '../../support/wait.ts';
import { type Lodgings, openLodgings } from './lodgings.ts';
import { dataOf, open, type RunnerSettings, type RunnerUnderTest } from './open.ts';
import { asked, type Journal, type QueuedTurn } from './sessions.ts';

export interface Result {
  output: string;
  is_error: boolean;
  workspace_version: number | undefined;
}

/** A runner with sandboxes, and an agent that does what it is told. */
export interface ShellUnderTest extends RunnerUnderTest {
  lodgings: Lodgings;
  /** Has commands run in a new turn of this session, one after the other. */
  tell(turn: Partial<QueuedTurn> & { turnId: string }, ...commands: string[]): void;
  /** The same, and gives what came of each when the turn has ended. */
  run(sessionId: string, ...commands: string[]): Promise<Result[]>;
  /** Has a command run that does not end by itself; resolves with its turn when it has said that it runs. */
  begins(sessionId: string, before?: string): Promise<string>;
  /** The sandboxes that are on the disk. */
  onDisk(): string[];
  /** Everything that they have there. */
  filesOnDisk(): string[];
}

export async function openShell(settings: RunnerSettings = {}): Promise<ShellUnderTest> {
  await using opened = new AsyncDisposableStack();
  const lodgings = opened.use(openLodgings());
  const world = opened.use(await open({ sandboxes: lodgings.providers, ...settings }));
  const stack = opened.move();
  let turns = 0;
  const shell: ShellUnderTest = Object.assign(Object.create(world), {
    lodgings,
    tell(turn: Partial<QueuedTurn> & { turnId: string }, ...commands: string[]) {
      const text = commands.map((command) => `$ ${command}`).join('\n');
      world.ask({ model: 'rehearsal/shell' }, { ...asked(turn.turnId, text), ...turn });
    },
    async run(sessionId: string, ...commands: string[]) {
      const turnId = `trn_run_${++turns}`;
      shell.tell({ turnId, sessionId }, ...commands);
      return resultsOf(await world.ended(turnId));
    },
    async begins(sessionId: string, before = ':') {
      const turnId = `trn_begun_${++turns}`;
      const marker = `running-${turnId}`;
      shell.tell({ turnId, sessionId }, `${before}; touch ${marker}; while true; do sleep 0.05; done`);
      const isThere = () => shell.filesOnDisk().some((path) => path.endsWith(`/${marker}`));
      await until('the command runs', () => isThere());
      return turnId;
    },
    filesOnDisk: () => lodgings.files(),
    onDisk: () => shell.filesOnDisk().filter((path) => /\/sbx_[0-9A-Z]+$/.test(path)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  });
  return shell;
}

/** What came of the calls of a turn. */
export function resultsOf(journal: Journal): Result[] {
  return dataOf<Result>(journal, 'agent.tool_result');
}
