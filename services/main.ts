import { systemClock } from '../lib/clock.ts';
import { PostgresProblem } from '../lib/db/embedded.ts';
import { MigrationProblem } from '../lib/db/migrations.ts';
import { DirectoryProblem } from '../lib/directory.ts';
import type { SettingProblem } from '../lib/env.ts';
import { createLog } from '../lib/log.ts';
import { House } from '../lib/modules.ts';
import { layGround } from './house/ground.ts';
import { openModules } from './house/open.ts';
import { type Plan, readPlan } from './house/plan.ts';
import { preflight } from './house/preflight.ts';
import { banner, problemScreen } from './house/screen.ts';
import { MODULES, targetIn } from './house/target.ts';

/** From the signal to the end, whatever hangs. */
const STOP_LIMIT_MS = 5_000;

const target = targetIn(process.argv.slice(2));
if (!target)
  fail([
    {
      variable: '--target',
      problem: 'names no module',
      expected: ['all', ...MODULES].join(', '),
      fix: 'name one of these',
    },
  ]);

const problems: SettingProblem[] = [];
// biome-ignore lint/style/noProcessEnv: the one place where the environment is read
const plan = readPlan(target, process.env, problems);
const directory = await preflight(plan, problems);
if (problems.length > 0) fail(problems);
await run(plan, directory?.path);

async function run(plan: Plan, dataDir: string | undefined): Promise<void> {
  const log = createLog({ level: plan.house.logLevel, pretty: process.stdout.isTTY === true });
  const house = new House(systemClock, (message, error) => log.warn({ err: error }, message));
  let leaving = false;

  async function leave(code: number): Promise<never> {
    if (!leaving) {
      leaving = true;
      setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
      await house.stop();
      await directory?.release();
      process.exit(code);
    }
    return new Promise(() => {});
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!leaving) log.info({ signal }, 'stopping');
      void leave(0);
    });
  }

  try {
    const ground = await layGround(plan, house, log, dataDir);
    const url = await openModules(plan, house, ground);
    if (url) process.stdout.write(banner({ url, dataDir, standIns: ground.standIns }));
    else log.info({ target: plan.target, listen: plan.house.grpcListen }, 'serving');
  } catch (error) {
    if (
      error instanceof PostgresProblem ||
      error instanceof DirectoryProblem ||
      error instanceof MigrationProblem
    ) {
      process.stderr.write(`\nThe Agent Hosting Service cannot start: ${error.message}\n\n`);
    } else log.fatal({ err: error }, 'the start failed');
    await leave(1);
  }
}

function fail(problems: SettingProblem[]): never {
  process.stderr.write(problemScreen(problems));
  process.exit(1);
}
