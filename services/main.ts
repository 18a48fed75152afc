import { systemClock } from '../lib/clock.ts';
import type { HeldDirectory } from '../lib/directory.ts';
import type { SettingProblem } from '../lib/env.ts';
import { createLog } from '../lib/log.ts';
import { House } from '../lib/modules.ts';
import { asProblem } from './house/failure.ts';
import { layGround } from './house/ground.ts';
import { openModules } from './house/open.ts';
import { type Plan, readPlan } from './house/plan.ts';
import { preflight } from './house/preflight.ts';
import { banner, problemScreen } from './house/screen.ts';
import { readTarget } from './house/target.ts';

/** From the signal to the end, whatever hangs. */
const STOP_LIMIT_MS = 4_800;

const problems: SettingProblem[] = [];
const target = readTarget(process.argv.slice(2), problems);
// biome-ignore lint/style/noProcessEnv: the one place where the environment is read
const plan = readPlan(target ?? 'all', process.env, problems);
const directory = target && (await preflight(plan, problems));
if (problems.length > 0) {
  process.stderr.write(problemScreen(problems));
  process.exit(1);
}
await run(plan, directory);

async function run(plan: Plan, directory: HeldDirectory | undefined): Promise<void> {
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
    const ground = await layGround(plan, house, log, directory?.path);
    const url = await openModules(plan, house, ground);
    const isTeam = plan.house.authMode === 'oidc';
    const facts = { dataDir: directory?.path, standIns: ground.standIns, isTeam };
    if (url) process.stdout.write(banner({ url, ...facts }));
    else log.info({ target: plan.target, listen: plan.house.grpcListen }, 'serving');
  } catch (error) {
    const problem = asProblem(error);
    if (problem) process.stderr.write(problemScreen([problem]));
    else if (!leaving) log.fatal({ err: error }, 'the start failed');
    await leave(1);
  }
}
